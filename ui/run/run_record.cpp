#include "ui/run/run_record.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lockstep::ui {

namespace {

constexpr double kMemory = 0.98;  // of the moving means: the weight halves in about 34 steps
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

constexpr std::array<const char*, kStepCurves> kStepMetrics{
    "loss", "accuracy", "learning_rate", "gradient_norm", "samples_per_second", "samples_per_second"};

// The value of a metric at a step; the rows are walked once, side by side.
double valueAt(const std::vector<SeriesPoint>* points, std::size_t& cursor, std::int64_t step) {
    if (!points) return kUnknown;
    while (cursor < points->size() && (*points)[cursor].step < step) ++cursor;
    return cursor < points->size() && (*points)[cursor].step == step ? (*points)[cursor].value : kUnknown;
}

const std::vector<SeriesPoint>* find(const std::map<std::string, std::vector<SeriesPoint>>& series,
                                     const char* metric) {
    const auto found = series.find(metric);
    return found == series.end() ? nullptr : &found->second;
}

std::size_t pointsUpTo(const Curve& curve, std::int64_t step) {
    return curve.within(CurveAxis::Step, 0, static_cast<double>(step)).second;
}

// The first points of a curve; of one that shares its steps with `leader`: with that one's.
std::shared_ptr<Curve> headOf(const Curve& curve, std::size_t points, const Curve* leader) {
    auto head = std::make_shared<Curve>(leader ? Curve::alongside(*leader) : Curve());
    for (std::size_t i = 0; i < std::min(points, curve.size()); ++i) {
        if (leader) head->appendValue(curve.value(i));
        else head->append(curve.x(CurveAxis::Step, i), curve.x(CurveAxis::Seconds, i), curve.value(i));
    }
    return head;
}

void dropAfter(auto& events, std::int64_t step) {
    std::erase_if(events, [step](const auto& each) { return each.step > step; });
}

}  // namespace

RunRecord::RunRecord() {
    m_curves[0] = std::make_shared<Curve>();
    for (std::size_t i = 1; i < kRunCurves; ++i) {
        m_curves[i] = std::make_shared<Curve>(i < kStepCurves ? Curve::alongside(*m_curves[0]) : Curve());
    }
}

void RunRecord::addEarlier(const TrainEvent& event) {
    if (const auto* message = std::get_if<Message>(&event)) m_notes.emplace_back(*message);
    if (const auto* change = std::get_if<WorldChanged>(&event)) m_notes.emplace_back(*change);
    if (const auto* straggler = std::get_if<StragglerFound>(&event)) note(*straggler);
    if (const auto* finished = std::get_if<RunFinished>(&event)) note(*finished);
    if (const auto* sample = std::get_if<TextSample>(&event)) m_texts.push_back(*sample);
    const auto* started = std::get_if<RunStarted>(&event);
    if (!started) return;
    m_named.clear();
    dropAfter(m_texts, started->firstStep);
    std::erase_if(m_worlds, [&](const World& each) { return each.firstStep >= started->firstStep; });
    m_worlds.push_back({started->firstStep, started->devices.size()});
}

std::size_t RunRecord::ranksAt(std::int64_t step, std::size_t otherwise) const {
    const auto after = std::ranges::find_if(m_worlds, [step](const World& each) { return each.firstStep >= step; });
    return std::max<std::size_t>(1, after == m_worlds.begin() ? otherwise : std::prev(after)->ranks);
}

void RunRecord::addEarlier(const std::map<std::string, std::vector<SeriesPoint>>& series, std::int64_t lastStep,
                           std::size_t ranks) {
    addEarlierSteps(series, lastStep, ranks);
    const std::pair<const char*, RunCurve> evaluated[] = {{"test_loss", RunCurve::TestLoss},
                                                          {"test_accuracy", RunCurve::TestAccuracy}};
    for (const auto& [metric, which] : evaluated) {
        const auto* points = find(series, metric);
        for (std::size_t i = 0; points && i < points->size() && (*points)[i].step <= lastStep; ++i) {
            const auto& [step, seconds, value] = (*points)[i];
            at(which).append(static_cast<double>(step), offsetAt(static_cast<double>(step)) + seconds, value);
        }
    }
}

void RunRecord::addEarlierSteps(const std::map<std::string, std::vector<SeriesPoint>>& series, std::int64_t lastStep,
                                std::size_t ranks) {
    const auto* loss = find(series, kStepMetrics[0]);
    if (!loss) return;
    std::array<std::size_t, kStepCurves> cursors{};
    const auto perDevice = static_cast<std::size_t>(RunCurve::RatePerDevice);
    for (const auto& [step, seconds, value] : *loss) {
        if (step > lastStep) break;
        m_step = step;
        m_seconds = clockAt(step, seconds);
        at(RunCurve::Loss).append(static_cast<double>(step), m_seconds, value);
        for (std::size_t i = 1; i < kStepCurves; ++i) {
            const double whole = valueAt(find(series, kStepMetrics[i]), cursors[i], step);
            m_curves[i]->appendValue(i == perDevice ? whole / static_cast<double>(ranksAt(step, ranks)) : whole);
        }
    }
}

// An attempt begins with the clock of what it started from, or at 0: its first step follows the last that stands, as
// far behind it as that one behind its own.
double RunRecord::clockAt(std::int64_t step, double seconds) {
    const Curve& loss = at(RunCurve::Loss);
    const std::size_t known = loss.size();
    if (known == 0) return m_offset + seconds;
    const double last = loss.x(CurveAxis::Seconds, known - 1);
    if (m_offset + seconds < last) {
        m_offset = last - seconds + (known > 1 ? last - loss.x(CurveAxis::Seconds, known - 2) : 0);
        m_restarts.push_back({static_cast<double>(step), m_offset});
    }
    return m_offset + seconds;
}

void RunRecord::cutBackTo(std::int64_t step) {
    const std::size_t points = pointsUpTo(at(RunCurve::Loss), step);
    if (points < at(RunCurve::Loss).size()) {
        m_curves[0] = headOf(*m_curves[0], points, nullptr);
        for (std::size_t i = 1; i < kStepCurves; ++i) m_curves[i] = headOf(*m_curves[i], points, m_curves[0].get());
    }
    for (std::size_t i = kStepCurves; i < kRunCurves; ++i) {
        const std::size_t evaluated = pointsUpTo(*m_curves[i], step);
        if (evaluated < m_curves[i]->size()) m_curves[i] = headOf(*m_curves[i], evaluated, nullptr);
    }
    dropAfter(m_evaluations, step);
    dropAfter(m_texts, step);
    m_step = step;
}

double RunRecord::offsetAt(double step) const {
    double offset = 0;
    for (const auto& restart : m_restarts) {
        if (restart.step <= step) offset = restart.offset;
    }
    return offset;
}

// A resume takes back events whose numbers are not given again: before an attempt's first event none is missing.
RunRecord::Taken RunRecord::take(const NumberedEvent& event) {
    m_reading.reset();
    if (const auto* reading = std::get_if<DataProgress>(&event.event)) {
        on(*reading);
        return Taken::Added;
    }
    if (event.number < m_next) return Taken::Doubled;
    const bool begins = std::holds_alternative<RunStarted>(event.event) && !m_awaitsWorld;
    if (event.number > m_next && !begins) return Taken::Gap;
    m_next = event.number + 1;
    std::visit([this](const auto& each) { on(each); }, event.event);
    return Taken::Added;
}

void RunRecord::giveUpUntil(std::int64_t number) {
    m_missing += std::max<std::int64_t>(0, number - m_next);
    m_next = std::max(m_next, number);
    m_clockKnown = false;
}

void RunRecord::on(const RunStarted& event) {
    m_started = event;
    m_finished.reset();
    m_failed.reset();
    m_state = RunState::Preparing;
    m_awaitsWorld = false;
    m_named.clear();
    cutBackTo(event.firstStep);
    m_latest.assign(event.devices.size(), {});
    m_sums = m_latest;
    m_mass = 0;
    m_clockKnown = false;
    m_eta = {};
}

void RunRecord::on(const WorldChanged& event) {
    m_notes.emplace_back(event);
    m_awaitsWorld = true;
    cutBackTo(event.step);
}

void RunRecord::on(const StepDone& event) {
    m_step = event.step;
    m_epoch = event.epoch;
    m_seconds = clockAt(event.step, event.seconds);
    m_rate = event.samplesPerSecond;
    if (m_clockKnown) m_eta.addStep(event.seconds - m_clock);
    m_clock = event.seconds;
    m_clockKnown = true;
    at(RunCurve::Loss).append(static_cast<double>(event.step), m_seconds, event.loss);
    at(RunCurve::Accuracy).appendValue(event.accuracy);
    at(RunCurve::LearningRate).appendValue(event.learningRate);
    at(RunCurve::GradientNorm).appendValue(event.gradientNorm);
    at(RunCurve::Rate).appendValue(event.samplesPerSecond);
    addLoads(event);
    at(RunCurve::RatePerDevice)
        .appendValue(event.samplesPerSecond / static_cast<double>(std::max<std::size_t>(1, ranks())));
}

void RunRecord::addLoads(const StepDone& event) {
    const std::size_t known = std::min({event.compute.size(), event.reduce.size(), event.wait.size()});
    if (m_latest.size() < known) m_latest.resize(known);
    m_sums.resize(m_latest.size());
    m_mass = kMemory * m_mass + 1;
    for (std::size_t rank = 0; rank < known; ++rank) {
        m_latest[rank] = {event.compute[rank], event.reduce[rank], event.wait[rank]};
        const RankLoad& now = m_latest[rank];
        RankLoad& sum = m_sums[rank];
        sum = {kMemory * sum.compute + now.compute, kMemory * sum.reduce + now.reduce, kMemory * sum.wait + now.wait};
    }
}

// The first step after an evaluation has the checkpoint in its time: it says nothing about steps.
void RunRecord::on(const EvalDone& event) {
    if (m_clockKnown) m_eta.addEvaluation(event.seconds - m_clock);
    m_clockKnown = false;
    m_evaluations.push_back(event);
    m_seconds = std::max(m_seconds, m_offset + event.seconds);
    const auto step = static_cast<double>(event.step);
    at(RunCurve::TestLoss).append(step, m_offset + event.seconds, event.loss);
    at(RunCurve::TestAccuracy).append(step, m_offset + event.seconds, event.accuracy);
}

// Earlier versions named the same ones again and again.
void RunRecord::note(const StragglerFound& found) {
    if (m_named.insert(found.rank).second) m_notes.emplace_back(found);
}

void RunRecord::note(const RunFinished& finished) {
    if (!finished.heldUp.empty()) m_notes.emplace_back(finished);
}

void RunRecord::on(const StateChanged& event) {
    if (const auto state = runStateFrom(event.state)) m_state = *state;
}

void RunRecord::on(const RunFinished& event) {
    note(event);
    m_finished = event;
    m_state = runStateFrom(event.outcome).value_or(RunState::Finished);
}

void RunRecord::on(const RunFailed& event) {
    m_failed = event;
    m_state = RunState::Failed;
}

std::int64_t RunRecord::totalSteps() const { return m_started ? m_started->stepsPerEpoch * m_started->epochs : 0; }

std::pair<double, double> RunRecord::extremes(RunCurve which) const {
    return curve(which)->extremes(CurveAxis::Step, 0, std::numeric_limits<double>::max());
}

std::optional<double> RunRecord::bestAccuracy() const {
    const auto [low, high] = extremes(RunCurve::TestAccuracy);
    return low > high ? std::nullopt : std::optional(high);
}

std::optional<double> RunRecord::lowestTestLoss() const {
    const auto [low, high] = extremes(RunCurve::TestLoss);
    return low > high ? std::nullopt : std::optional(low);
}

RankLoad RunRecord::mean(std::size_t rank) const {
    if (m_mass <= 0) return {};
    const RankLoad& sum = m_sums[rank];
    return {sum.compute / m_mass, sum.reduce / m_mass, sum.wait / m_mass};
}

std::optional<double> RunRecord::remaining() const {
    if (!m_started || isFinal(m_state) || m_state == RunState::Stopping) return std::nullopt;
    const auto steps = std::max<std::int64_t>(0, totalSteps() - m_step);
    const auto perEpoch = std::max<std::int64_t>(1, m_started->stepsPerEpoch);
    return m_eta.remaining(static_cast<double>(steps),
                           std::ceil(static_cast<double>(steps) / static_cast<double>(perEpoch)));
}

}  // namespace lockstep::ui
