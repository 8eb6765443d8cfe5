#include "ui/compare/curves_view.h"

#include <QHBoxLayout>
#include <QPointer>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/compare/curve_panel.h"
#include "ui/compare/target_list.h"
#include "ui/plot/plot_view.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

// Scenes that come faster, while a brush is dragged, are drawn so far apart that drawing them takes a twentieth of the
// time; the last one as soon as the brush rests.
constexpr int kSceneMilliseconds = 30, kRestMilliseconds = 150, kTimesApart = 20;
constexpr int kTargetWidth = 230, kWithTargets = 620, kWithLegend = 720;  // pixels of width

}  // namespace

CurvesView::CurvesView(HistoryService* history, TrialSelection* selection, QWidget* parent)
    : CompareView(selection, parent), m_history(*history), m_controls(new CurvesControls), m_targets(new TargetList) {
    setObjectName("curvesView");
    setMinimumSize(300, 220);  // whatever stands beside the plots while there is room
    build();
    m_soon.setSingleShot(true);
    m_rest.setSingleShot(true);
    for (QTimer* each : {&m_soon, &m_rest}) connect(each, &QTimer::timeout, this, &CurvesView::takeScene);
    connect(m_controls, &CurvesControls::chosen, this, &CurvesView::takeScene);
    connect(m_targets, &TargetList::pointed, this, &CurvesView::pointAt);
    connect(m_targets, &TargetList::picked, this, &CurvesView::pick);
    connect(m_targets, &TargetList::opened, this, &CurvesView::openWanted);
}

CurvesView::~CurvesView() = default;

void CurvesView::build() {
    auto* plots = new QVBoxLayout;
    plots->setSpacing(space::kSmall);
    for (CurvePanel*& panel : m_panels) {
        panel = new CurvePanel(&m_history);
        plots->addWidget(panel, 1);
    }
    m_panels[1]->hide();
    m_targets->setFixedWidth(kTargetWidth);
    m_targets->hide();
    auto* body = new QHBoxLayout;
    body->addLayout(plots, 1);
    body->addWidget(m_targets);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(space::kSmall);
    column->addWidget(m_controls);
    column->addLayout(body, 1);
    connectPanel(*m_panels[0], *m_panels[1]);
    connectPanel(*m_panels[1], *m_panels[0]);
}

void CurvesView::connectPanel(CurvePanel& panel, CurvePanel& other) {
    PlotView& plot = panel.plot();
    connect(&plot, &PlotView::hovered, &other.plot(), &PlotView::setCrosshair);
    connect(&plot, &PlotView::pointed, this, &CurvesView::pointAt);
    connect(&plot, &PlotView::picked, this, &CurvesView::pick);
    connect(&plot, &PlotView::opened, this, [this](qint64 trial) {
        pick(trial);  // back: the first click has picked it
        emit openWanted(trial);
    });
    connect(&panel, &CurvePanel::drawn, this, &CurvesView::wordsChanged);
}

void CurvesView::sceneChanged() {
    const bool isDragged = m_taken && m_taken->table == scene()->table;
    const auto apart = isDragged ? kTimesApart * m_milliseconds - m_sinceTaken.elapsed() : 0;
    if (!m_soon.isActive()) m_soon.start(static_cast<int>(std::max<qint64>(apart, kSceneMilliseconds)));
    if (isDragged) m_rest.start(kRestMilliseconds);
    emit wordsChanged();
}

std::string CurvesView::objectiveKey() const {
    const CompareTable& table = *scene()->table;
    const Metric* metric = table.objective ? table.axes[*table.objective].metric : nullptr;
    return metric ? std::string(metric->key) : std::string();
}

void CurvesView::takeScene() {
    m_soon.stop(), m_rest.stop();
    if (!scene()) return;
    m_sinceTaken.start();
    const CompareTable& table = *scene()->table;
    m_controls->offer(table);
    m_taken = scene();
    m_groups = std::make_shared<const std::vector<CurveGroup>>(curveGroups(*scene(), selection()));
    m_pinned = selection().pinned();
    const CurveChoice choice = m_controls->choice();
    m_panels[0]->setInput({scene(), m_groups, choice, choice.metric.empty() ? objectiveKey() : choice.metric});
    m_panels[1]->setVisible(choice.second.has_value());
    if (choice.second) m_panels[1]->setInput({scene(), m_groups, choice, *choice.second});
    readTargets();
    lightChanged();
    // Behind the plots' own drawing, which they have put off likewise.
    QTimer::singleShot(0, this, [this] { m_milliseconds = m_sinceTaken.elapsed(); });
}

// Of the objective, whatever is shown: what the target is of.
void CurvesView::readTargets() {
    if (!scene()->target || objectiveKey().empty()) {
        m_ranking.clear();
        return showTargets();
    }
    std::vector<std::int64_t> trials;
    for (const ComparedTrial& each : scene()->table->trials) trials.push_back(each.trial);
    m_history.readProgress(
        std::move(trials), objectiveKey(),
        [view = QPointer(this), asked = scene()](const std::shared_ptr<const ProgressOfTrials>& progress) {
            if (!view || view->scene() != asked || !view->m_groups) return;
            view->m_ranking = rankedByTarget(*asked, *view->m_groups, *progress, view->m_controls->choice().axis);
            view->showTargets();
        });
}

void CurvesView::showTargets() {
    m_targets->setRanking(m_ranking, m_controls->choice().axis);
    fitParts();
    emit wordsChanged();
}

// In a narrow card the curves have all the room. The list of the target names the curves, too.
void CurvesView::fitParts() {
    const bool hasTargets = !m_ranking.empty() && width() >= kWithTargets;
    m_targets->setVisible(hasTargets);
    for (CurvePanel* panel : m_panels) panel->plot().setLegendShown(!hasTargets && width() >= kWithLegend);
}

void CurvesView::lightChanged() {
    if (m_pinned != selection().pinned() && !m_soon.isActive()) m_soon.start(0);
    for (CurvePanel* panel : m_panels) panel->setHovered(selection().hovered());
    const CurveGroup* group = groupOf(selection().hovered());
    m_targets->light(group ? std::optional(m_taken->table->trials[group->lead].trial) : std::nullopt);
}

const CurveGroup* CurvesView::groupOf(std::optional<std::int64_t> trial) const {
    const auto row = trial && m_taken ? m_taken->table->rowOf(*trial) : std::nullopt;
    if (!row) return nullptr;
    const auto found = std::ranges::find(*m_groups, m_taken->table->trials[*row].group, &CurveGroup::group);
    return found == m_groups->end() ? nullptr : &*found;
}

void CurvesView::resizeEvent(QResizeEvent* event) {
    CompareView::resizeEvent(event);
    fitParts();
}

void CurvesView::pointAt(std::optional<qint64> trial) {
    if (scene()) hover(trial ? scene()->table->rowOf(*trial) : std::nullopt);
}

void CurvesView::pick(qint64 trial) {
    if (groupOf(trial)) selection().pin(trial, !selection().placeOf(trial));
}

// Without an objective there may be quantities of steps to choose.
QString CurvesView::emptyText() const {
    return scene()->table->trials.empty() ? scene()->table->whyNoValues() : QString();
}

QString CurvesView::targetWords() const {
    if (m_ranking.empty()) return {};
    const auto reached =
        std::ranges::count_if(m_ranking, [](const RankedTarget& each) { return each.summary.median.has_value(); });
    if (reached == 0) return tr(" None of them has reached the target.");
    return tr(" The target was reached by %1 of %2, first by %3: %4.")
        .arg(reached)
        .arg(m_ranking.size())
        .arg(m_ranking.front().name, targetText(m_ranking.front(), m_controls->choice().axis));
}

QString CurvesView::summary() const {
    if (!m_groups) return tr("The curves are being read.");
    const CompareTable& table = *scene()->table;
    QString words =
        tr("Curves of %1 settings, of %2 trials that are shown.").arg(m_groups->size()).arg(scene()->passing());
    if (!m_groups->empty() && table.objective && std::isfinite(m_groups->front().objective))
        words += tr(" The best by %1 is %2, with %3.")
                     .arg(table.axes[*table.objective].name, m_groups->front().name,
                          table.axes[*table.objective].text(m_groups->front().objective));
    return words + targetWords();
}

QByteArray CurvesView::csv() const {
    QString text = "metric,trials,step,epoch,samples,seconds,device_seconds,value,low,high\r\n";
    for (const CurvePanel* panel : m_panels)
        if (m_groups && panel->isVisibleTo(this)) text += panel->csv();
    return text.toUtf8();
}

void CurvesView::save(QSettings& settings) const { m_controls->save(settings); }

void CurvesView::restore(const QSettings& settings) { m_controls->restore(settings); }

void CurvesView::paintPicture(QPainter& painter, const QRectF& area) const {
    const bool hasSecond = m_panels[1]->isVisibleTo(this);
    const double height = area.height() / (hasSecond ? 2 : 1);
    m_panels[0]->plot().paintInto(painter, QRectF(area.topLeft(), QSizeF(area.width(), height)));
    if (!hasSecond) return;
    m_panels[1]->plot().paintInto(painter, QRectF(area.left(), area.top() + height, area.width(), height));
}

}  // namespace lockstep::ui
