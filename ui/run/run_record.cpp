#include "ui/run/run_record.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lockstep::ui {

namespace {

constexpr double kMemory = 0.98;  // of the moving means: the weight halves in about 34 steps
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

struct KeptCurve {
    std::string_view key;
    const Metric* metric;  // null: the rate per device
};

// Those of steps first, of them the one that all share their steps with; then those of evaluations.
const std::vector<KeptCurve>& keptCurves() {
    static const std::vector<KeptCurve> kept = [] {
        std::vector<KeptCurve> all;
        for (const Metric& each : lockstep::metrics()) {
            if (each.step) all.push_back({each.key, &each});
        }
        all.push_back({kRatePerDevice, nullptr});
        for (const Metric& each : lockstep::metrics()) {
            if (each.evaluated) all.push_back({each.key, &each});
        }
        return all;
    }();
    return kept;
}

std::size_t stepCurves() {
    static const auto count = static_cast<std::size_t>(
        std::ranges::count_if(keptCurves(), [](const KeptCurve& each) { return !each.metric || each.metric->step; }));
    return count;
}

// What the history calls the metric that a curve is made of.
std::string_view seriesOf(const KeptCurve& kept) { return kept.metric ? kept.key : "samples_per_second"; }

// The value of a metric at a step; the rows are walked once, side by side.
double valueAt(const std::vector<SeriesPoint>* points, std::size_t& cursor, std::int64_t step) {
    if (!points) return kUnknown;
    while (cursor < points->size() && (*points)[cursor].step < step) ++cursor;
    return cursor < points->size() && (*points)[cursor].step == step ? (*points)[cursor].value : kUnknown;
}

const std::vector<SeriesPoint>* find(const std::map<std::string, std::vector<SeriesPoint>>& series,
                                     std::string_view metric) {
    const auto found = series.find(std::string(metric));
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
    for (std::size_t i = 0; i < keptCurves().size(); ++i) {
        const bool along = i > 0 && i < stepCurves();
        m_curves.push_back(std::make_shared<Curve>(along ? Curve::alongside(*m_curves[0]) : Curve()));
    }
}

std::shared_ptr<const Curve> RunRecord::curve(std::string_view key) const {
    const auto found = std::ranges::find(keptCurves(), key, &KeptCurve::key);
    return found == keptCurves().end() ? nullptr : m_curves[static_cast<std::size_t>(found - keptCurves().begin())];
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
    for (std::size_t curve = stepCurves(); curve < m_curves.size(); ++curve) {
        const auto* points = find(series, keptCurves()[curve].key);
        for (std::size_t i = 0; points && i < points->size() && (*points)[i].step <= lastStep; ++i) {
            const auto& [step, seconds, value] = (*points)[i];
            m_curves[curve]->append(static_cast<double>(step), offsetAt(static_cast<double>(step)) + seconds, value);
        }
    }
}

void RunRecord::addEarlierSteps(const std::map<std::string, std::vector<SeriesPoint>>& series, std::int64_t lastStep,
                                std::size_t ranks) {
    const auto* first = find(series, keptCurves().front().key);
    if (!first) return;
    std::vector<std::size_t> cursors(stepCurves());
    for (const auto& [step, seconds, value] : *first) {
        if (step > lastStep) break;
        m_step = step;
        m_seconds = clockAt(step, seconds);
        m_curves[0]->append(static_cast<double>(step), m_seconds, value);
        for (std::size_t i = 1; i < stepCurves(); ++i) {
            const KeptCurve& kept = keptCurves()[i];
            const double whole = valueAt(find(series, seriesOf(kept)), cursors[i], step);
            m_curves[i]->appendValue(kept.metric ? whole : whole / static_cast<double>(ranksAt(step, ranks)));
        }
    }
}

// An attempt begins with the clock of what it started from, or at 0: its first step follows the last that stands, as
// far behind it as that one behind its own.
double RunRecord::clockAt(std::int64_t step, double seconds) {
    const std::size_t known = steps().size();
    if (known == 0) return m_offset + seconds;
    const double last = steps().x(CurveAxis::Seconds, known - 1);
    if (m_offset + seconds < last) {
        m_offset = last - seconds + (known > 1 ? last - steps().x(CurveAxis::Seconds, known - 2) : 0);
        m_restarts.push_back({static_cast<double>(step), m_offset});
    }
    return m_offset + seconds;
}

void RunRecord::cutBackTo(std::int64_t step) {
    const std::size_t points = pointsUpTo(steps(), step);
    if (points < steps().size()) {
        m_curves[0] = headOf(*m_curves[0], points, nullptr);
        for (std::size_t i = 1; i < stepCurves(); ++i) m_curves[i] = headOf(*m_curves[i], points, m_curves[0].get());
    }
    for (std::size_t i = stepCurves(); i < m_curves.size(); ++i) {
        const std::size_t evaluated = pointsUpTo(*m_curves[i], step);
        if (evaluated < m_curves[i]->size()) m_curves[i] = headOf(*m_curves[i], evaluated, nullptr);
    }
    dropAfter(m_evaluations, step);
    dropAfter(m_counts, step);
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
    m_loadingRate = m_trainingRate = 0;
    m_binding.reset();
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
    m_loadingRate = event.loadingRate, m_trainingRate = event.trainingRate;
    if (m_clockKnown) m_eta.addStep(event.seconds - m_clock);
    m_clock = event.seconds;
    m_clockKnown = true;
    addLoads(event);
    const double devices = static_cast<double>(std::max<std::size_t>(1, ranks()));
    for (std::size_t i = 0; i < stepCurves(); ++i) {
        const Metric* metric = keptCurves()[i].metric;
        const double value = metric ? event.*metric->step : event.samplesPerSecond / devices;
        if (i == 0) m_curves[i]->append(static_cast<double>(event.step), m_seconds, value);
        else m_curves[i]->appendValue(value);
    }
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
    const bool chooses = !m_started || event.split == m_started->chooses();
    for (std::size_t i = stepCurves(); i < m_curves.size(); ++i) {
        const Metric& metric = *keptCurves()[i].metric;
        if (metric.split == event.split || (metric.split == Split::Train && chooses))
            m_curves[i]->append(static_cast<double>(event.step), m_offset + event.seconds, event.*metric.evaluated);
    }
}

// Earlier versions named the same ones again and again.
void RunRecord::note(const StragglerFound& found) {
    if (m_named.insert(found.rank).second) m_notes.emplace_back(found);
}

void RunRecord::note(const RunFinished& finished) {
    if (!finished.heldUp.empty() || finished.unreadable > 0) m_notes.emplace_back(finished);
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

std::optional<double> RunRecord::best(const Metric& metric) const {
    const auto measured = curve(metric.derive ? metric.from : metric.key);
    if (!measured) return std::nullopt;
    const auto [low, high] = measured->extremes(CurveAxis::Step, 0, std::numeric_limits<double>::max());
    if (low > high) return std::nullopt;
    const double best = metric.better == Better::Higher ? high : low;
    return metric.derive ? metric.derive(best) : best;
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
