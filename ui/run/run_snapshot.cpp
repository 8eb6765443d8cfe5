#include "ui/run/run_snapshot.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>

#include "engine/session/lease.h"

namespace lockstep::ui {

namespace {

constexpr const char* kEarlierMetrics[] = {
    "loss", "accuracy", "learning_rate", "gradient_norm", "samples_per_second", "test_loss", "test_accuracy"};

// The step that the latest attempt started from; what lies beyond it in the series is the attempt's own.
std::int64_t firstStepOf(const std::vector<NumberedEvent>& events) {
    for (const auto& each : events) {
        if (const auto* started = std::get_if<RunStarted>(&each.event)) return started->firstStep;
    }
    return std::numeric_limits<std::int64_t>::max();
}

std::size_t ranksOf(const std::vector<std::string>& metrics) {
    return static_cast<std::size_t>(std::count_if(
        metrics.begin(), metrics.end(), [](const std::string& metric) { return metric.starts_with("compute."); }));
}

// The history tells the events of the latest attempt alone; those before, steps aside, are in the run's log, each line
// a time and an event.
void addEarlierEvents(RunRecord& record, const std::filesystem::path& log, std::int64_t before) {
    std::ifstream in(log);
    for (std::string line; std::getline(in, line);) {
        const auto event = eventFromJsonLine(std::string_view(line).substr(std::min(line.find('{'), line.size())));
        if (event.ok() && event.value().number < before) record.addEarlier(event.value().event);
    }
}

RunRecord wholeRecord(const Places& places, const TrialQuery& query, const TrialRow& row, std::int64_t lastEvent) {
    RunRecord record;
    const auto events = query.events(row.id, 1);
    if (row.attempts > 1) {
        const std::int64_t next = events.empty() ? lastEvent + 1 : events.front().number;
        addEarlierEvents(record, places.run(row.id) / "run.log", next);
        std::map<std::string, std::vector<SeriesPoint>> series;
        for (const char* metric : kEarlierMetrics) series[metric] = query.series(row.id, metric);
        record.addEarlier(series, firstStepOf(events), ranksOf(query.metrics(row.id)));
        record.expect(next);
    }
    for (const auto& event : events) {
        if (record.take(event) != RunRecord::Taken::Gap) continue;
        record.giveUpUntil(event.number);
        record.take(event);
    }
    return record;
}

void readHistory(const Places& places, const SnapshotRequest& request, RunSnapshot& snapshot) {
    auto opened = TrialQuery::open(places.history());
    if (!opened.ok()) {
        snapshot.history = opened.problems().front();
        return;
    }
    const TrialQuery& query = *opened.value();
    snapshot.row = query.find(request.trial);
    if (!snapshot.row) {
        snapshot.history = Problem{places.history().string(), "history.no-such-trial", {std::to_string(request.trial)}};
        return;
    }
    snapshot.lastEvent = query.lastEvent(request.trial);
    if (request.from) {
        snapshot.events = query.events(request.trial, *request.from);
        return;
    }
    snapshot.record = wholeRecord(places, query, *snapshot.row, snapshot.lastEvent);
    if (const auto spec = query.spec(request.trial); spec.ok()) snapshot.spec = spec.value();
}

// Killed while it wrote the first, a run may have its best alone.
bool hasCheckpoint(const std::filesystem::path& folder) {
    std::error_code ignored;
    return std::filesystem::exists(folder / "last.safetensors", ignored) ||
           std::filesystem::exists(folder / "best.safetensors", ignored);
}

}  // namespace

// The lease first: whoever gives it up has written the row's last state before.
RunSnapshot readSnapshot(const Places& places, const SnapshotRequest& request) {
    RunSnapshot snapshot;
    snapshot.held = Lease::isHeld(places.lease(request.trial));
    try {
        readHistory(places, request, snapshot);
    } catch (const ProblemError& error) {
        snapshot.history = error.problem();
    } catch (const std::exception& error) {
        snapshot.history = Problem{places.history().string(), "history.unwritable", {error.what()}};
    }
    snapshot.hasCheckpoint = hasCheckpoint(places.run(request.trial) / "checkpoints");
    if (request.connect && snapshot.held) {
        auto client = SessionClient::connect(places.socket(request.trial));
        if (client.ok()) snapshot.client = std::move(client).value();
        else snapshot.session = client.problems().front();
    }
    return snapshot;
}

RunState stateSeen(const TrialRow& row, bool held) {
    const RunState state = runStateFrom(row.state).value_or(RunState::Queued);
    const bool lost = !held && !isFinal(state) && state != RunState::Queued;
    return lost ? RunState::Crashed : state;
}

}  // namespace lockstep::ui
