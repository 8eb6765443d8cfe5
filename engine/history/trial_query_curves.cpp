#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <utility>

#include "engine/history/database.h"
#include "engine/history/series_chunk.h"
#include "engine/history/series_level.h"
#include "engine/history/trial_query.h"
#include "engine/spec/metrics.h"

// What pictures of many trials are drawn from.
namespace lockstep {

namespace {

using Points = std::unordered_map<std::int64_t, std::vector<EvaluationPoint>>;

std::string listOf(std::span<const std::int64_t> trials) {
    std::string list = "[";
    for (const auto trial : trials) list += (list.size() > 1 ? "," : "") + std::to_string(trial);
    return list + ']';
}

std::unordered_map<std::int64_t, TrialWorlds> readWorlds(SQLite::Database& database,
                                                         std::span<const std::int64_t> trials) {
    std::unordered_map<std::int64_t, TrialWorlds> found;
    SQLite::Statement query(
        database,
        "SELECT t.id, t.batch, json_extract(e.json, '$.first_step'), json_array_length(e.json, '$.devices'),"
        " json_extract(e.json, '$.steps_per_epoch'), json_extract(e.json, '$.train_samples'),"
        " json_extract(e.json, '$.bytes_per_device'), e.number IS NULL,"
        " coalesce(json_extract(e.json, '$.task'), '') FROM json_each(?1) AS wanted"
        " CROSS JOIN trial t ON t.id = wanted.value LEFT JOIN event e ON e.trial = t.id AND e.kind = 'run_started'"
        " ORDER BY t.id, e.attempt, e.number");
    query.bind(1, listOf(trials));
    while (query.executeStep()) {
        TrialWorlds& worlds = found[query.getColumn(0).getInt64()];
        worlds.batch = query.getColumn(1).getInt64();
        if (query.getColumn(7).getInt() != 0) continue;
        worlds.task = query.getColumn(8).getString();
        worlds.all.push_back({query.getColumn(2).getInt64(), query.getColumn(3).getInt64(),
                              query.getColumn(4).getInt64(), query.getColumn(5).getInt64(),
                              static_cast<std::uint64_t>(std::max<std::int64_t>(0, query.getColumn(6).getInt64()))});
    }
    return found;
}

// Of the field and the split of `metric`; samples and seconds of devices are not known here.
Points readPoints(SQLite::Database& database, std::span<const std::int64_t> trials, const Metric& metric) {
    Points points;
    SQLite::Statement query(
        database,
        "SELECT e.trial, e.step, json_extract(e.json, '$.epoch'), json_extract(e.json, '$.seconds'),"
        " json_extract(e.json, ?2) FROM json_each(?1) AS wanted CROSS JOIN event e ON e.trial = wanted.value"
        " WHERE e.kind = 'eval_done' AND json_extract(e.json, ?2) >= 0"
        " AND ?3 IN ('train', coalesce(json_extract(e.json, '$.split'), 'test'))"
        " AND NOT EXISTS (SELECT 1 FROM attempt later WHERE later.trial = e.trial AND later.number > e.attempt"
        " AND later.from_step < e.step) ORDER BY e.trial, e.attempt, e.number");
    query.bind(1, listOf(trials)), query.bind(2, "$." + std::string(metric.field));
    query.bind(3, std::string(text(metric.split)));
    while (query.executeStep()) {
        EvaluationPoint point{.step = query.getColumn(1).getInt64(), .epoch = query.getColumn(2).getInt64()};
        point.seconds = query.getColumn(3).getDouble(), point.value = query.getColumn(4).getDouble();
        points[query.getColumn(0).getInt64()].push_back(point);
    }
    return points;
}

void complete(std::vector<EvaluationPoint>& points, const TrialWorlds& worlds) {
    DeviceClock clock(worlds);
    for (EvaluationPoint& each : points) {
        each.samples = static_cast<double>(each.step) * worlds.samplesPerStep();
        each.deviceSeconds = clock.at(each.step, each.seconds);
    }
}

// The narrowest that makes `points` of them.
std::size_t widthFor(std::size_t count, std::size_t points) {
    const std::size_t most = std::max<std::size_t>(1, points);
    return (count + most - 1) / most;
}

template <class Part>
std::vector<SeriesStretch> decimated(const std::vector<Part>& parts, std::size_t points) {
    return inStretches(parts, widthFor(parts.size(), points));
}

std::vector<SeriesStretch> readStretches(SQLite::Database& database, std::int64_t trial, const std::string& metric,
                                         std::size_t points, const std::optional<StepRange>& range) {
    if (range) return decimated(readSeries(database, trial, metric, range->from, range->to), points);
    const auto level = readLevel(database, trial, metric, std::min(points, kSeenAtOnce));
    return level.empty() ? decimated(readSeries(database, trial, metric), points) : decimated(level, points);
}

// The last point of a longer stretch becomes one of its own: a picture ends with what was measured last, not with a
// mean.
void setLastApart(SQLite::Database& database, std::int64_t trial, const std::string& metric,
                  std::vector<SeriesStretch>& stretches) {
    if (stretches.empty() || stretches.back().count <= 1) return;
    const std::int64_t to = stretches.back().step;
    const std::int64_t from = stretches.size() > 1 ? stretches[stretches.size() - 2].step + 1 : 0;
    auto points = readSeries(database, trial, metric, from, to);
    std::erase_if(points, [&](const SeriesPoint& each) { return each.step < from || each.step > to; });
    if (points.size() < 2) return;
    stretches.pop_back();
    const std::span<const SeriesPoint> all = points;
    for (const auto& part : {all.first(all.size() - 1), all.last(1)})
        std::ranges::copy(inStretches(part, part.size()), std::back_inserter(stretches));
}

void derive(const Metric& metric, SeriesStretch& stretch) {
    const double low = metric.derive(stretch.low), high = metric.derive(stretch.high);
    stretch.low = std::min(low, high), stretch.high = std::max(low, high);
    stretch.mean = metric.derive(stretch.mean);
}

}  // namespace

Points TrialQuery::evaluationSeries(std::span<const std::int64_t> trials, const std::string& key) const {
    const Metric* asked = findMetric(key);
    const Metric* measured = asked && asked->derive ? findMetric(asked->from) : asked;
    Points points;
    if (!measured || !measured->evaluated) return points;
    read([&](SQLite::Database& database) {
        points = readPoints(database, trials, *measured);
        std::vector<std::int64_t> found;
        for (const auto& [trial, series] : points) found.push_back(trial);
        const auto worlds = readWorlds(database, found);
        for (auto& [trial, series] : points) {
            const auto known = worlds.find(trial);
            complete(series, known == worlds.end() ? TrialWorlds() : known->second);
        }
    });
    if (asked->derive)
        for (auto& [trial, series] : points)
            for (EvaluationPoint& each : series) each.value = asked->derive(each.value);
    return points;
}

std::unordered_map<std::int64_t, TrialWorlds> TrialQuery::worlds(std::span<const std::int64_t> trials) const {
    std::unordered_map<std::int64_t, TrialWorlds> found;
    read([&](SQLite::Database& database) { found = readWorlds(database, trials); });
    return found;
}

std::vector<SeriesStretch> TrialQuery::decimatedSeries(std::int64_t trial, const std::string& key, std::size_t points,
                                                       const std::optional<StepRange>& range) const {
    const Metric* asked = findMetric(key);
    const bool isDerived = asked && asked->derive;
    std::vector<SeriesStretch> stretches;
    read([&](SQLite::Database& database) {
        const std::string measured = isDerived ? std::string(asked->from) : key;
        stretches = readStretches(database, trial, measured, points, range);
        setLastApart(database, trial, measured, stretches);
    });
    if (isDerived)
        for (SeriesStretch& each : stretches) derive(*asked, each);
    return stretches;
}

std::vector<std::int64_t> TrialQuery::withoutLevels(std::span<const std::int64_t> trials) const {
    std::vector<std::int64_t> without;
    read([&](SQLite::Database& database) { without = lockstep::withoutLevels(database, trials); });
    return without;
}

}  // namespace lockstep
