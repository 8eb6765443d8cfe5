#include "ui/compare/curve_panel.h"

#include <QPointer>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/spec/metric_text.h"
#include "ui/plot/csv_field.h"
#include "ui/plot/plot_view.h"
#include "ui/plot/run_text.h"

namespace lockstep::ui {

namespace {

constexpr int kHoverMilliseconds = 150;  // before a series is read that the pointer may only pass by

const Metric* measuredOf(const std::string& key) {
    const Metric* metric = findMetric(key);
    return metric && metric->derive ? findMetric(metric->from) : metric;
}

bool isOfSteps(const std::string& key) {
    const Metric* measured = measuredOf(key);
    return measured && measured->step;
}

PlotView::Look lookOf(const std::string& key, const QString& empty) {
    const Metric* metric = findMetric(key);
    if (!metric) return {QString(), empty, {}, {}, {}};
    const auto format = [metric](double value) { return QString::fromStdString(lockstep::metricText(*metric, value)); };
    const QString title = metricText(metric->title);
    if (metric->unit != MetricUnit::Share) return {title, empty, format, {}, {}};
    const auto tick = [](double value) { return QString::number(100 * value, 'g', 4) + " %"; };
    return {title, empty, format, tick, PlotRange{0, 1}};
}

std::int64_t scopeOf(const CompareScene& scene) { return scene.sweep ? scene.sweep->group.id : 0; }

// The steps of a curve that lie on the screen, and those just beside it.
StepRange stepsWithin(const MemberCurve& member, PlotAxis axis, PlotRange x) {
    const Curve& curve = *member.curve;
    const CurveAxis along = axis == PlotAxis::Time         ? CurveAxis::Seconds
                            : axis == PlotAxis::DeviceTime ? CurveAxis::DeviceSeconds
                                                           : CurveAxis::Step;
    double scale = 1;
    if (axis == PlotAxis::Epoch && member.stepsPerEpoch > 0) scale = member.stepsPerEpoch;
    if (axis == PlotAxis::Samples && member.samplesPerStep > 0) scale = 1 / member.samplesPerStep;
    const auto [begin, end] = curve.within(along, x.low * scale, x.high * scale);
    const auto stepAt = [&](std::size_t i) {
        return static_cast<std::int64_t>(curve.x(CurveAxis::Step, std::min(i, curve.size() - 1)));
    };
    return {stepAt(begin > 0 ? begin - 1 : 0), stepAt(end)};
}

}  // namespace

CurvePanel::CurvePanel(HistoryService* history, QWidget* parent)
    : QWidget(parent), m_history(*history), m_stretches(history), m_plot(new PlotView(lookOf({}, tr("Reading…")))) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_plot);
    m_plot->setBare(true);
    m_plot->setPicking(true);
    m_hoverLater.setSingleShot(true);
    connect(&m_hoverLater, &QTimer::timeout, this, &CurvePanel::readStretches);
    connect(&m_stretches, &StretchFeed::read, this, &CurvePanel::draw);
    connect(m_plot, &PlotView::rested, this, &CurvePanel::askDetail);
}

void CurvePanel::setInput(const Input& input) {
    m_input = input;
    if (isOfSteps(input.metric)) return readStretches();
    const bool isKnown = m_asked && m_asked->scene->table == input.scene->table && m_asked->metric == input.metric;
    if (!isKnown) read();
    else if (m_progress) draw();
}

void CurvePanel::read() {
    if (!m_asked || m_asked->metric != m_input.metric) m_progress.reset(), m_curves.clear();
    m_asked = m_input;
    std::vector<std::int64_t> trials;
    for (const ComparedTrial& each : m_input.scene->table->trials) trials.push_back(each.trial);
    m_history.readProgress(std::move(trials), m_input.metric,
                           [panel = QPointer(this), table = m_input.scene->table,
                            metric = m_input.metric](const std::shared_ptr<const ProgressOfTrials>& progress) {
                               if (!panel || panel->m_input.metric != metric) return;
                               if (panel->m_input.scene->table != table) return;
                               panel->m_progress = progress;
                               panel->draw();
                           });
}

std::vector<std::int64_t> CurvePanel::shownTrials() const {
    std::vector<std::int64_t> trials;
    const CompareTable& table = *m_input.scene->table;
    const auto add = [&](const CurveGroup& group) {
        for (const std::size_t row : group.rows) trials.push_back(table.trials[row].trial);
    };
    const ComparedTrial* hovered = hoveredTrial();
    for (const CurveGroup& group : *m_input.groups)
        if (group.isColoured() || (hovered && group.group == hovered->group)) add(group);
    return trials;
}

void CurvePanel::readStretches() {
    if (m_input.scene && isOfSteps(m_input.metric)) m_stretches.want(shownTrials(), m_input.metric);
}

// Of what was decimated and is now magnified.
void CurvePanel::askDetail() {
    if (!m_input.scene || !isOfSteps(m_input.metric)) return;
    bool isOther = false;
    for (const std::int64_t trial : shownTrials()) {
        const MemberCurve member = m_stretches.curveOf(trial);
        const auto current = m_stretches.detailOf(trial);
        if (!member.curve || member.curve->empty() || (!member.measured && !current)) continue;
        const Curve& curve = *member.curve;
        const StepRange whole{static_cast<std::int64_t>(curve.x(CurveAxis::Step, 0)),
                              static_cast<std::int64_t>(curve.x(CurveAxis::Step, curve.size() - 1))};
        const auto wanted =
            StretchFeed::detailFor(stepsWithin(member, m_input.choice.axis, m_plot->shownX()), whole, current);
        const bool isSame = wanted.has_value() == current.has_value() &&
                            (!wanted || (wanted->from == current->from && wanted->to == current->to));
        if (isSame) continue;
        m_stretches.setDetail(trial, wanted);
        isOther = true;
    }
    if (isOther) readStretches();
}

MemberCurve CurvePanel::curveOf(std::int64_t trial) {
    if (isOfSteps(m_input.metric)) return m_stretches.curveOf(trial);
    const auto found = m_progress ? m_progress->find(trial) : ProgressOfTrials::const_iterator();
    if (!m_progress || found == m_progress->end()) return {};
    Known& known = m_curves[trial];
    if (known.of != found->second) known = {found->second, curveOfEvaluations(*found->second)};
    return known.curve;
}

// What is other than it was drawn with.
void CurvePanel::adopt() {
    const bool isFirst = !m_drawn;
    const CurveChoice& choice = m_input.choice;
    const QString why = m_input.scene->table->whyNoValues(), empty = why.isEmpty() ? tr("Not measured yet") : why;
    if (isFirst || m_drawn->metric != m_input.metric || empty != m_empty)
        m_plot->setLook(lookOf(m_input.metric, m_empty = empty));
    if (isFirst || m_drawn->choice.axis != choice.axis) m_plot->setAxis(choice.axis);
    if (isFirst || m_drawn->choice.isLog != choice.isLog) m_plot->setLog(choice.isLog);
    if (isFirst || m_drawn->choice.smoothing != choice.smoothing) m_plot->setSmoothing(choice.smoothing);
    const CompareTable& table = *m_input.scene->table;
    const bool isObjective = table.objective && table.axes[*table.objective].metric &&
                             table.axes[*table.objective].metric->key == m_input.metric;
    m_plot->setTarget(isObjective ? m_input.scene->target : std::nullopt);
}

// What somebody zoomed to stays while the same curves grow.
void CurvePanel::draw() {
    if (!m_input.scene) return;
    const Metric* metric = findMetric(m_input.metric);
    const bool isNoisy = metric && (metric->noisy || (metric->derive && measuredOf(m_input.metric)->noisy));
    const CurveLines::Wish wish{m_input.choice.band, m_input.choice.hasMembers, isNoisy};
    auto lines =
        m_lines.make(*m_input.scene, *m_input.groups, wish, [this](std::int64_t trial) { return curveOf(trial); });
    const bool isOther = !m_drawn || m_drawn->metric != m_input.metric || m_drawn->choice.axis != m_input.choice.axis ||
                         scopeOf(*m_drawn->scene) != scopeOf(*m_input.scene);
    m_plot->setBehind(std::move(lines.behind));
    m_plot->setSeries(std::move(lines.series));
    adopt();
    m_drawn = m_input;
    if (isOther) m_plot->fit();
    else m_plot->refresh();
    raise();
    emit drawn();
}

const ComparedTrial* CurvePanel::hoveredTrial() const {
    const auto row = m_hovered && m_input.scene ? m_input.scene->table->rowOf(*m_hovered) : std::nullopt;
    return row ? &m_input.scene->table->trials[*row] : nullptr;
}

void CurvePanel::setHovered(std::optional<std::int64_t> trial) {
    m_hovered = trial;
    raise();
    const ComparedTrial* hovered = hoveredTrial();
    if (hovered && isOfSteps(m_input.metric) && !lineOf(hovered->group)) m_hoverLater.start(kHoverMilliseconds);
    else m_hoverLater.stop();
}

// The group's, and of several members the one itself.
void CurvePanel::raise() {
    std::vector<PlotSeries> raised;
    const ComparedTrial* trial = hoveredTrial();
    const PlotSeries* line = trial ? lineOf(trial->group) : nullptr;
    if (line) {
        raised.push_back(*line);
        const MemberCurve member = curveOf(trial->trial);
        if (member.curve && !member.curve->empty() && member.curve != line->curve) {
            raised.push_back(*line);
            raised.back().curve = member.curve, raised.back().measured = member.measured;
            raised.back().dashed = true;
        }
    }
    m_plot->setRaised(std::move(raised));
}

QString CurvePanel::csv() const {
    QString text;
    const auto number = [](double value) { return std::isfinite(value) ? QString::number(value, 'g', 17) : QString(); };
    for (const CurveGroup& group : *m_input.groups) {
        const PlotSeries* line = lineOf(group.group);
        if (!line) continue;
        QStringList trials;
        for (const std::size_t row : group.rows) trials << QString::number(m_input.scene->table->trials[row].trial);
        const Curve& curve = *line->curve;
        for (std::size_t i = 0; i < curve.size(); ++i) {
            const double step = curve.x(CurveAxis::Step, i);
            QStringList cells{csvField(QString::fromStdString(m_input.metric)), csvField(trials.join(' ')),
                              number(step)};
            cells << (line->stepsPerEpoch > 0 ? number(step / line->stepsPerEpoch) : QString());
            cells << number(step * line->samplesPerStep) << number(curve.x(CurveAxis::Seconds, i));
            cells << number(curve.x(CurveAxis::DeviceSeconds, i)) << number(curve.value(i));
            cells << (line->band ? number(line->band->low->value(i)) : QString());
            cells << (line->band ? number(line->band->high->value(i)) : QString());
            text += cells.join(',') + "\r\n";
        }
    }
    return text;
}

}  // namespace lockstep::ui
