#include "ui/compare/importance_view.h"

#include <QCheckBox>
#include <QCoreApplication>
#include <QMouseEvent>
#include <QPainter>
#include <QPointer>
#include <QSignalBlocker>
#include <QThreadPool>
#include <QVBoxLayout>
#include <algorithm>
#include <numeric>

#include "ui/plot/csv_field.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr double kNamePart = 0.28;  // of the width

QRectF wrapped(const QFontMetricsF& metrics, const QString& text, double width) {
    return metrics.boundingRect(QRectF(0, 0, width, 10'000), Qt::TextWordWrap, text);
}

}  // namespace

ImportanceView::ImportanceView(TrialSelection* selection, QWidget* parent)
    : CompareView(selection, parent), m_brushed(new QCheckBox(tr("Of brushed trials alone"))) {
    setObjectName("importanceView");
    setMinimumHeight(200);
    m_brushed->setObjectName("importanceBrushed");
    connect(m_brushed, &QCheckBox::toggled, this, &ImportanceView::ask);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_brushed);
    column->addStretch(1);
}

void ImportanceView::sceneChanged() {
    const std::int64_t sweep = scene()->sweep ? scene()->sweep->group.id : 0;
    if (std::exchange(m_sweep, sweep) != sweep) {
        const QSignalBlocker quiet(m_brushed);
        m_brushed->setChecked(false);  // it was of the brushes of another
    }
    m_brushed->setEnabled(scene()->passing() < scene()->passes.size());
    if (m_of == scene()->table && !m_brushed->isChecked()) return update();
    ask();
}

// One computation at a time; of those asked for meanwhile the last.
void ImportanceView::ask() {
    if (!scene()) return;
    m_wanted = scene();
    if (m_asked) return;
    m_asked = std::exchange(m_wanted, nullptr);
    const bool ofBrushed = m_brushed->isChecked() && m_brushed->isEnabled();
    QThreadPool::globalInstance()->start([asked = m_asked, ofBrushed, view = QPointer(this)] {
        auto found = std::make_shared<const SettingImportance>(settingImportance(*asked, ofBrushed));
        QMetaObject::invokeMethod(
            qApp,
            [asked, found, view] {
                if (view) view->take(asked, found);
            },
            Qt::QueuedConnection);
    });
}

void ImportanceView::take(const SharedScene& of, std::shared_ptr<const SettingImportance> found) {
    m_asked.reset();
    m_found = std::move(found);
    m_of = of->table;
    if (!m_found->isOfBrushed) emit known(of->table, m_found->byAxis(*of->table));
    update();
    emit wordsChanged();
    if (m_wanted) ask();
}

QString ImportanceView::emptyText() const {
    const auto& axes = scene()->table->axes;
    return std::ranges::any_of(axes, [](const CompareAxis& each) { return each.isSetting; })
               ? QString()
               : tr("These trials differ in no setting.");
}

std::vector<std::size_t> ImportanceView::order() const {
    std::vector<std::size_t> order(m_found ? m_found->axes.size() : 0);
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (order.empty()) return order;
    const auto by = m_found->byAxis(*m_of);
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return by[m_found->axes[i]]; });
    return order;
}

QString ImportanceView::settingName(std::size_t i) const { return m_of->axes[m_found->axes[i]].name; }

QString ImportanceView::explainsText(std::size_t i) const {
    const auto& share = m_found->explains.shares[i];
    if (m_found->explains.verdict != ImportanceVerdict::Sound || !share) return QStringLiteral("–");
    return tr("%1 % ± %2").arg(100 * share->mean, 0, 'f', 1).arg(100 * share->deviation, 0, 'f', 1);
}

QString ImportanceView::decidesText(std::size_t i) const {
    if (m_found->decides.verdict != ImportanceVerdict::Sound) return QStringLiteral("–");
    return tr("%1 %").arg(100 * m_found->decides.shares()[i], 0, 'f', 1);
}

QString ImportanceView::verdictText(ImportanceVerdict verdict, std::size_t tried) const {
    switch (verdict) {
        case ImportanceVerdict::Sound: return {};
        case ImportanceVerdict::NothingVaried: return tr("Nothing to say: no setting has two values.");
        case ImportanceVerdict::TooFewTried:
            return tr("Too few trials to say: %1 of at least %2 have a result.").arg(tried).arg(kFewestTried);
        case ImportanceVerdict::AllAlike: return tr("Nothing to say: too many came to the same.");
        case ImportanceVerdict::Unpredictable:
            return tr("Too few trials to say: what was not seen can hardly be predicted from them.");
        case ImportanceVerdict::Chance: return tr("Too few trials to say: chance alone makes as much of a setting.");
    }
    return {};
}

QString ImportanceView::summary() const {
    if (!m_found) return tr("Being computed.");
    QStringList explains, decides;
    for (const auto i : order()) {
        explains << settingName(i) + ' ' + explainsText(i);
        decides << settingName(i) + ' ' + decidesText(i);
    }
    const QString first = verdictText(m_found->explains.verdict, m_found->explains.tried);
    const QString second = verdictText(m_found->decides.verdict, m_found->decides.tried);
    return tr("Explains the differences between all trials: %1 Decides on the best tenth: %2")
        .arg(first.isEmpty() ? explains.join(", ") + '.' : first, second.isEmpty() ? decides.join(", ") + '.' : second);
}

QByteArray ImportanceView::csv() const {
    QString text = "setting,explains,deviation,decides\r\n";
    const bool decides = m_found && m_found->decides.verdict == ImportanceVerdict::Sound;
    const bool explains = m_found && m_found->explains.verdict == ImportanceVerdict::Sound;
    const auto deciding = decides ? m_found->decides.shares() : std::vector<double>();
    for (const auto i : order()) {
        const auto& share = m_found->explains.shares[i];
        const auto number = [](double value) { return QString::number(value, 'g', 17); };
        text += csvField(QString::fromStdString(m_of->axes[m_found->axes[i]].key)) + ',' +
                (explains && share ? number(share->mean) + ',' + number(share->deviation) : QString(",")) + ',' +
                (decides ? number(deciding[i]) : QString()) + "\r\n";
    }
    return text.toUtf8();
}

QRectF ImportanceView::canvas() const { return QRectF(rect()).adjusted(0, m_brushed->height() + space::kSmall, 0, 0); }

// Of the two columns of bars behind the names.
ImportanceView::Columns ImportanceView::columnsIn(const QRectF& area) const {
    const double names = area.width() * kNamePart, width = (area.width() - names) / 2 - space::kLarge;
    const QFontMetricsF metrics(font());
    double head = 0;
    for (const QString& each : headings()) head = std::max(head, wrapped(metrics, each, width).height());
    const double room = area.height() - head - 1.5 * metrics.height() - footHeight(area);
    const auto count = std::max<double>(1, static_cast<double>(m_found->axes.size()));
    return {.area = area,
            .first = area.left() + names,
            .second = area.left() + names + width + space::kLarge,
            .width = width,
            .top = area.top() + head + 0.3 * metrics.height(),
            .high = std::clamp(room / count, metrics.height() + 2, 2 * metrics.height())};
}

std::array<QString, 2> ImportanceView::headings() {
    return {tr("Explains the differences"), tr("Decides on the best 10 %")};
}

// How many trials it is of, and what keeps from saying more.
QString ImportanceView::footWords() const {
    QStringList words;
    if (m_found->atEpoch == 1) words << tr("With what %1 cells had come to after 1 epoch.").arg(m_found->asked);
    if (m_found->atEpoch > 1)
        words << tr("With what %1 cells had come to after %2 epochs.").arg(m_found->asked).arg(m_found->atEpoch);
    if (m_found->explains.outOfBag && m_found->explains.verdict == ImportanceVerdict::Sound)
        words << tr("R² out of bag %1.").arg(*m_found->explains.outOfBag, 0, 'f', 2);
    for (const auto& [verdict, tried] : {std::pair(m_found->explains.verdict, m_found->explains.tried),
                                         std::pair(m_found->decides.verdict, m_found->decides.tried)}) {
        const QString said = verdictText(verdict, tried);
        if (!said.isEmpty() && !words.contains(said)) words << said;
    }
    return words.join(' ');
}

double ImportanceView::footHeight(const QRectF& area) const {
    return wrapped(QFontMetricsF(font()), footWords(), area.width()).height();
}

void ImportanceView::paintBar(QPainter& painter, const QRectF& row, const FanovaShare& share, const QColor& color) {
    const QRectF track = row.adjusted(0, row.height() * 0.62, 0, -row.height() * 0.12);
    const auto at = [&](double part) { return track.left() + track.width() * std::clamp(part, 0.0, 1.0); };
    painter.fillRect(track, currentTheme().grid);
    painter.fillRect(QRectF(track.topLeft(), QPointF(at(share.mean), track.bottom())), color);
    if (share.deviation <= 0) return;
    painter.setPen(QPen(currentTheme().text, 1.5));
    painter.drawLine(QPointF(at(share.mean - share.deviation), track.center().y()),
                     QPointF(at(share.mean + share.deviation), track.center().y()));
}

void ImportanceView::paintSetting(QPainter& painter, const Columns& columns, std::size_t i, double top) const {
    const Theme& theme = currentTheme();
    const QRectF first(columns.first, top, columns.width, columns.high),
        second(columns.second, top, columns.width, columns.high);
    const QRectF name(columns.area.left(), top, columns.first - columns.area.left() - space::kMedium, columns.high);
    const double below = -0.38 * columns.high;  // where the bars are
    painter.setPen(theme.text);
    painter.drawText(name, Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetricsF(font()).elidedText(settingName(i), Qt::ElideRight, name.width()));
    painter.drawText(first.adjusted(0, 0, 0, below), Qt::AlignRight | Qt::AlignVCenter, explainsText(i));
    painter.drawText(second.adjusted(0, 0, 0, below), Qt::AlignRight | Qt::AlignVCenter, decidesText(i));
    const auto& share = m_found->explains.shares[i];
    const bool explains = m_found->explains.verdict == ImportanceVerdict::Sound && share;
    const bool decides = m_found->decides.verdict == ImportanceVerdict::Sound;
    paintBar(painter, first, explains ? *share : FanovaShare{}, theme.accent);
    paintBar(painter, second, {.mean = decides ? m_found->decides.shares()[i] : 0}, theme.good);
}

// They answer two questions, and are not to be added.
void ImportanceView::paintPicture(QPainter& painter, const QRectF& area) const {
    if (!m_found) return;
    const Columns columns = columnsIn(area);
    painter.save();
    painter.setFont(font());
    painter.setPen(currentTheme().muted);
    const auto words = headings();
    const double headEnd = columns.top - 0.3 * QFontMetricsF(font()).height();
    for (const auto& [left, text] : {std::pair(columns.first, words[0]), std::pair(columns.second, words[1])})
        painter.drawText(QRectF(left, area.top(), columns.width, headEnd - area.top()),
                         Qt::AlignLeft | Qt::AlignBottom | Qt::TextWordWrap, text);
    const double foot = area.bottom() - footHeight(area);
    painter.drawText(QRectF(area.left(), foot, area.width(), area.bottom() - foot + 1),
                     Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, footWords());
    double top = columns.top;
    for (const auto i : order()) {
        if (top + columns.high > foot) break;
        paintSetting(painter, columns, i, top);
        top += columns.high;
    }
    painter.restore();
}

void ImportanceView::paintEvent(QPaintEvent*) {
    if (!scene()) return;
    QPainter painter(this);
    if (m_found) return paintPicture(painter, canvas());
    painter.setPen(currentTheme().muted);
    painter.drawText(canvas(), Qt::AlignCenter, tr("Being computed…"));
}

void ImportanceView::mouseMoveEvent(QMouseEvent* event) {
    if (!m_found) return;
    const Columns columns = columnsIn(canvas());
    const double row = (event->position().y() - columns.top) / columns.high;
    const auto rows = order();
    if (row < 0 || row >= static_cast<double>(rows.size())) return setToolTip({});
    const auto i = rows[static_cast<std::size_t>(row)];
    setToolTip(
        tr("%1\nexplains %2 of the differences between all trials,\nand makes %3 of what sets the best tenth apart")
            .arg(QString::fromStdString(m_of->axes[m_found->axes[i]].key), explainsText(i), decidesText(i)));
}

}  // namespace lockstep::ui
