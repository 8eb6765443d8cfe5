#include "ui/run/run_snapshot.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>

#include "engine/spec/kept_checkpoints.h"

namespace lockstep::ui {

namespace {

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

RunRecord recordOf(const Places& places, const TrialBeginning& beginning) {
    RunRecord record;
    const auto& [query, row, events, after] = beginning;
    if (row.attempts > 1) {
        const std::int64_t next = events.empty() ? after : events.front().number;
        addEarlierEvents(record, places.run(row.id) / "run.log", next);
        std::map<std::string, std::vector<SeriesPoint>> series;
        for (const Metric& metric : metrics()) {
            const std::string key(metric.key);
            if (metric.step || metric.evaluated) series[key] = query.series(row.id, key);
        }
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

}  // namespace

RunSnapshot readSnapshot(const Places& places, const TrialBeginning& beginning) {
    RunSnapshot snapshot;
    snapshot.record = recordOf(places, beginning);
    const auto spec = beginning.query.spec(beginning.row.id);
    snapshot.isReproducible = spec.ok() && spec.value().reproducible();
    return snapshot;
}

// Killed while it wrote the first, a run may have its best alone.
bool hasCheckpoint(const Places& places, std::int64_t trial) {
    return !checkpointsIn(places.run(trial) / "checkpoints").empty();
}

}  // namespace lockstep::ui
