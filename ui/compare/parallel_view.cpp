#include "ui/compare/parallel_view.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QJsonDocument>
#include <QLabel>
#include <QMenu>
#include <QPaintEngine>
#include <QPainter>
#include <QPointer>
#include <QSettings>
#include <QSlider>
#include <QToolButton>
#include <QUndoCommand>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "ui/compare/parallel_painter.h"
#include "ui/plot/csv_field.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr int kCalmMilliseconds = 160;
constexpr double kHoveredWidth = 2.8;
constexpr const char* kOrdersKey = "compare/parallel";

}  // namespace

class ParallelView::OrderStep : public QUndoCommand {
public:
    OrderStep(ParallelView& view, const QString& words, AxisOrder before, AxisOrder after)
        : QUndoCommand(words),
          m_view(&view),
          m_scope(view.selection().scope()),
          m_before(std::move(before)),
          m_after(std::move(after)) {}
    void undo() override { become(m_before); }
    void redo() override { become(m_after); }

private:
    void become(const AxisOrder& order) {
        if (m_view) m_view->becomeOrder(m_scope, order);
    }

    QPointer<ParallelView> m_view;
    const std::int64_t m_scope;
    const AxisOrder m_before, m_after;
};

ParallelView::ParallelView(TrialSelection* selection, QWidget* parent)
    : CompareView(selection, parent),
      m_bar(new QWidget(this)),
      m_axesButton(new QToolButton),
      m_best(new QSlider(Qt::Horizontal)),
      m_bestText(new QLabel) {
    setObjectName("parallelView");
    setMinimumHeight(220);
    setFocusPolicy(Qt::StrongFocus);
    buildBar();
    m_calm.setSingleShot(true);
    m_calm.setInterval(kCalmMilliseconds);
    connect(&m_calm, &QTimer::timeout, this, [this] {
        m_isDraft = false;
        m_isStale = true;
        update();
    });
}

void ParallelView::buildBar() {
    m_axesButton->setObjectName("parallelAxes");
    m_axesButton->setPopupMode(QToolButton::InstantPopup);
    m_axesButton->setToolTip(tr("Which axes are shown, and in which order"));
    auto* menu = new QMenu(m_axesButton);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] {
        menu->clear();
        fillAxesMenu(*menu);
    });
    m_axesButton->setMenu(menu);
    m_best->setObjectName("parallelBest");
    m_best->setRange(1, 100);
    m_best->setValue(100);
    m_best->setFixedWidth(140);
    m_best->setAccessibleName(tr("How many of the best trials stay coloured, in percent"));
    m_best->setToolTip(tr("Only the best trials stay coloured; the others are grey"));
    connect(m_best, &QSlider::valueChanged, this, [this](int percent) { setBestShare(percent / 100.0); });
    m_bestText->setProperty("role", "muted");
    m_bestText->setMinimumWidth(m_bestText->fontMetrics().horizontalAdvance(tr("Best %1 %").arg(100)));
    auto* line = new QHBoxLayout(m_bar);
    line->setContentsMargins(0, 0, space::kMedium, 0);
    line->addWidget(m_axesButton);
    line->addStretch(1);
    line->addWidget(m_bestText);
    line->addWidget(m_best);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_bar);
    column->addStretch(1);
}

QRectF ParallelView::plotArea() const { return QRectF(rect()).adjusted(0, m_bar->sizeHint().height() + 2, 0, -2); }

const AxisOrder& ParallelView::order() const {
    static const AxisOrder none;
    const auto found = m_orders.find(selection().scope());
    return found == m_orders.end() ? none : found->second;
}

void ParallelView::setOrder(const AxisOrder& order, const QString& words) {
    if (order != this->order()) selection().push(new OrderStep(*this, words, this->order(), order));
}

void ParallelView::becomeOrder(std::int64_t scope, const AxisOrder& order) {
    m_orders[scope] = order;
    if (scene() && scope == selection().scope()) arrange();
}

// Axes do not change their places under a pointer that is about to take hold of one.
void ParallelView::sceneChanged() {
    m_plot.scene = scene();
    const bool isOther = std::exchange(m_table, scene()->table) != m_table;
    if (std::exchange(m_scope, selection().scope()) != selection().scope()) setBestShare(1);
    const bool isFree = !underMouse() || m_importance.size() != scene()->table->axes.size();
    const bool isReordered = isFree && std::exchange(m_importance, scene()->importance) != scene()->importance;
    if (isOther) rankTrials(m_plot);
    if (isOther || isReordered) arrange();
    becomeStale();
    showWords();
}

void ParallelView::leaveEvent(QEvent* event) {
    CompareView::leaveEvent(event);
    if (m_table && std::exchange(m_importance, scene()->importance) != scene()->importance) arrange();
}

CompareScene ParallelView::ordered() const {
    CompareScene as = *scene();
    as.importance = m_importance;
    return as;
}

// Those for which there is no room stand before the last.
AxisOrder ParallelView::withMovedTo(std::size_t axis, std::size_t place) const {
    const CompareScene as = ordered();
    const std::size_t last = shownAxes(as, order()).size() - 1;
    return withMoved(as, order(), axis, place + 1 == m_plot.axes.size() ? last : place);
}

ParallelPlot ParallelView::plotIn(const QRectF& area) const {
    ParallelPlot plot{.scene = scene(), .bestShare = m_plot.bestShare};
    std::vector<std::size_t> shown = shownAxes(ordered(), order());
    const std::size_t most = mostAxes(area.width());
    if (shown.size() > most) shown.erase(shown.begin() + static_cast<std::ptrdiff_t>(most) - 1, shown.end() - 1);
    for (const std::size_t axis : shown)
        plot.axes.emplace_back(*scene()->table, axis, order().flipped.contains(scene()->table->axes[axis].key));
    plot.layout = layoutOf(area, plot.axes, font());
    return plot;
}

void ParallelView::arrange() {
    ParallelPlot plot = plotIn(plotArea());
    plot.goodness = std::move(m_plot.goodness);
    plot.drawOrder = std::move(m_plot.drawOrder);
    m_plot = std::move(plot);
    for (std::size_t i = 0; m_moved && i < m_plot.axes.size(); ++i)
        if (m_plot.axes[i].index() == *m_moved) m_plot.layout.x[i] = m_movedTo.x();
    m_focused = std::min(m_focused, m_plot.axes.empty() ? 0 : m_plot.axes.size() - 1);
    m_lines.forget();
    m_axesLayer = {};
    becomeStale();
    showWords();
}

void ParallelView::becomeStale() {
    m_isStale = true;
    m_isDraft = ParallelLines::hasDraft(m_plot, devicePixelRatioF());
    if (m_isDraft) m_calm.start();
    update();
}

void ParallelView::setBestShare(double share) {
    m_plot.bestShare = std::clamp(share, 0.0, 1.0);
    m_best->setValue(static_cast<int>(std::lround(100 * m_plot.bestShare)));
    if (scene()) becomeStale();
    showWords();
}

void ParallelView::showWords() {
    const int percent = m_best->value();
    m_bestText->setText(percent == 100 ? tr("All coloured") : tr("Best %1 %").arg(percent));
    if (!scene()) return;
    const std::size_t all = shownAxes(ordered(), order()).size(), shown = m_plot.axes.size();
    m_axesButton->setText(shown == all ? tr("%1 axes").arg(all) : tr("%1 of %2 axes fit").arg(shown).arg(all));
    emit wordsChanged();
}

QString ParallelView::emptyText() const {
    const CompareTable& table = *scene()->table;
    if (table.trials.empty()) return tr("There is no trial to compare.");
    const bool isAlone =
        std::ranges::none_of(table.axes, [](const CompareAxis& axis) { return axis.isSetting && varies(axis); });
    return isAlone ? tr("These trials do not differ in their settings: there is nothing to draw them by. Vary a "
                        "setting, or "
                        "compare other trials.")
                   : QString();
}

QString ParallelView::summary() const {
    const CompareTable& table = *scene()->table;
    if (m_plot.axes.empty() || table.trials.empty()) return {};
    QStringList names;
    for (const ParallelAxis& axis : m_plot.axes) names << axis.axis().name;
    QStringList words{
        tr("%1 trials as lines over %2 axes: %3.").arg(table.trials.size()).arg(names.size()).arg(names.join(", "))};
    if (scene()->passing() < table.trials.size()) words << tr("The brushes leave %1 of them.").arg(scene()->passing());
    const auto failed = std::ranges::count_if(table.trials, &ComparedTrial::hasFailed);
    const auto cut = std::ranges::count_if(table.trials, &ComparedTrial::isCutShort);
    if (failed > 0) words << tr("%1 failed or diverged.").arg(failed);
    if (cut > 0) words << tr("%1 were cut short.").arg(cut);
    const auto best = std::ranges::find_if(scene()->ranking, [&](std::size_t row) { return scene()->passes[row]; });
    if (table.objective && best != scene()->ranking.end())
        words << tr("The best of them is trial %1: %2, with %3.")
                     .arg(table.trials[*best].trial)
                     .arg(table.axes[*table.objective].cell(*best), table.trials[*best].words);
    return words.join(' ');
}

QByteArray ParallelView::csv() const {
    const CompareTable& table = *scene()->table;
    QStringList names{"trial", "state", "epoch", "passes"}, lines;
    for (const ParallelAxis& axis : m_plot.axes) names << csvField(QString::fromStdString(axis.axis().key));
    lines << names.join(',');
    for (std::size_t row = 0; row < table.trials.size(); ++row) {
        const ComparedTrial& trial = table.trials[row];
        const std::string_view state = text(trial.state);
        QStringList fields{QString::number(trial.trial), QString::fromUtf8(state.data(), std::ssize(state)),
                           QString::number(trial.epoch), scene()->passes[row] ? "1" : "0"};
        for (const ParallelAxis& each : m_plot.axes) {
            const CompareAxis& axis = each.axis();
            const bool isThere = axis.absences[row] == Absence::None;
            fields << (!isThere          ? QString()
                       : axis.isChoice() ? csvField(axis.cell(row))
                                         : QString::number(axis.values[row], 'g', 17));
        }
        lines << fields.join(',');
    }
    return (lines.join("\r\n") + "\r\n").toUtf8();
}

AxisBrush ParallelView::brushOf(std::size_t axis) const {
    const auto found = brushes().find(m_plot.axes[axis].axis().key);
    return found == brushes().end() ? AxisBrush() : found->second;
}

void ParallelView::renew() {
    const double ratio = devicePixelRatioF();
    if (m_axesLayer.isNull() || m_axesLayer.devicePixelRatio() != ratio) {
        m_axesLayer = QPixmap(size() * ratio);
        m_axesLayer.setDevicePixelRatio(ratio);
        m_axesLayer.fill(Qt::transparent);
        QPainter painter(&m_axesLayer);
        ParallelPainter(painter, m_plot, font()).paintAxes();
    }
    if (!std::exchange(m_isStale, false)) return;
    m_picture = m_lines.picture(m_plot, m_isDraft ? 1 : ratio, m_isDraft);
}

std::vector<ParallelPainter::Pinned> ParallelView::pinned() const {
    std::vector<ParallelPainter::Pinned> all;
    for (const std::int64_t trial : selection().pinned()) {
        const auto row = scene()->table->rowOf(trial);
        const auto place = selection().placeOf(trial);
        if (row && place) all.push_back({*row, seriesColor(*place, currentTheme()), seriesMarker(*place)});
    }
    return all;
}

void ParallelView::paintEvent(QPaintEvent*) {
    if (!scene() || m_plot.axes.empty()) return;
    renew();
    QPainter painter(this);
    painter.drawImage(m_plot.layout.lines().topLeft(), m_picture);
    painter.drawPixmap(0, 0, m_axesLayer);
    const ParallelPainter above(painter, m_plot, font());
    above.paintBrushes(brushes());
    above.paintMarks();
    above.paintPinned(pinned());
    if (const auto row = hoveredRow()) {
        above.paintTrial(*row, isPinned(*row) ? colorOf(*row) : currentTheme().text, kHoveredWidth);
        above.paintValues(*row);
    }
    if (!hasFocus()) return;
    painter.setPen(QPen(currentTheme().accent, 1.5));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(m_plot.layout.titleRoom(m_focused));
}

void ParallelView::paintPicture(QPainter& painter, const QRectF& area) const {
    if (!m_table) return;
    ParallelPlot plot = plotIn(area);
    plot.goodness = m_plot.goodness;
    plot.drawOrder = m_plot.drawOrder;
    if (plot.axes.empty()) return;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const bool isVector = painter.paintEngine()->type() != QPaintEngine::Raster;
    if (isVector) ParallelLines::paint(painter, plot);
    else
        painter.drawImage(plot.layout.lines().topLeft(),
                          ParallelLines().picture(plot, painter.device()->devicePixelRatioF(), false));
    const ParallelPainter above(painter, plot, font());
    above.paintAxes();
    above.paintBrushes(brushes());
    above.paintMarks();
    above.paintPinned(pinned());
    painter.restore();
}

void ParallelView::resizeEvent(QResizeEvent* event) {
    CompareView::resizeEvent(event);
    if (m_table) arrange();
}

void ParallelView::changeEvent(QEvent* event) {
    CompareView::changeEvent(event);
    const bool isOther = event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange ||
                         event->type() == QEvent::StyleChange;
    if (isOther && m_table) arrange();
}

void ParallelView::save(QSettings& settings) const {
    QJsonObject orders;
    for (const auto& [scope, each] : m_orders)
        if (each != AxisOrder()) orders.insert(QString::number(scope), jsonOf(each));
    settings.setValue(kOrdersKey, QJsonDocument(orders).toJson(QJsonDocument::Compact));
}

void ParallelView::restore(const QSettings& settings) {
    const auto orders = QJsonDocument::fromJson(settings.value(kOrdersKey).toByteArray()).object();
    m_orders.clear();
    for (auto each = orders.begin(); each != orders.end(); ++each)
        m_orders[each.key().toLongLong()] = axisOrderFrom(each->toObject());
    if (m_table) arrange();
}

}  // namespace lockstep::ui
