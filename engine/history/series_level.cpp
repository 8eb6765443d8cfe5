#include "engine/history/series_level.h"

#include <algorithm>

#include "engine/history/series_chunk.h"
#include "engine/spec/metrics.h"
#include "engine/spec/run_state.h"

namespace lockstep {

namespace {

using SQLite::Database;
using SQLite::Statement;

// Narrower stretches would take as much room as the series.
constexpr std::size_t kNarrowest = 16, kFanOut = 4, kCoarser = 16;
constexpr std::int64_t kMostPoints = std::int64_t{1} << 40;  // of a stretch, whatever a damaged blob says
static_assert(kReadWhole == static_cast<std::int64_t>(kNarrowest * kSeenAtOnce));

std::int64_t pointsIn(Database& database, std::int64_t trial) {
    Statement query(database, "SELECT coalesce(sum(count), 0) FROM series_chunk WHERE trial = ?");
    query.bind(1, trial);
    query.executeStep();
    return query.getColumn(0).getInt64();
}

// Chunks come behind each other, so the last one has it. -1: there is none.
std::int64_t lastStepIn(Database& database, std::int64_t trial) {
    Statement query(
        database, "SELECT last_step FROM series_chunk WHERE trial = ? ORDER BY attempt DESC, first_event DESC LIMIT 1");
    query.bind(1, trial);
    return query.executeStep() ? query.getColumn(0).getInt64() : -1;
}

template <class T>
void bindColumn(Statement& row, int index, const std::vector<SeriesStretch>& level, T SeriesStretch::*column) {
    std::vector<T> numbers;
    numbers.reserve(level.size());
    for (const SeriesStretch& each : level) numbers.push_back(each.*column);
    row.bind(index, static_cast<const void*>(numbers.data()), static_cast<int>(numbers.size() * sizeof(T)));
}

void insertLevel(Database& database, std::int64_t trial, const std::string& metric, std::size_t width,
                 const std::vector<SeriesStretch>& level) {
    Statement row(database,
                  "INSERT INTO series_level (trial, metric, width, stretches, last_steps, seconds, counts, lows, highs,"
                  " means) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    row.bind(1, trial), row.bind(2, metric), row.bind(3, static_cast<std::int64_t>(width));
    row.bind(4, static_cast<std::int64_t>(level.size()));
    bindColumn(row, 5, level, &SeriesStretch::step), bindColumn(row, 6, level, &SeriesStretch::seconds);
    bindColumn(row, 7, level, &SeriesStretch::count), bindColumn(row, 8, level, &SeriesStretch::low);
    bindColumn(row, 9, level, &SeriesStretch::high), bindColumn(row, 10, level, &SeriesStretch::mean);
    row.exec();
}

// Blobs may be damaged: what one of them lacks is left out.
std::vector<SeriesStretch> levelIn(Statement& row) {
    const auto steps = numbersOf<std::int64_t>(row.getColumn(0)), counts = numbersOf<std::int64_t>(row.getColumn(2));
    const auto seconds = numbersOf<double>(row.getColumn(1)), lows = numbersOf<double>(row.getColumn(3));
    const auto highs = numbersOf<double>(row.getColumn(4)), means = numbersOf<double>(row.getColumn(5));
    std::vector<SeriesStretch> level(
        std::min({steps.size(), counts.size(), seconds.size(), lows.size(), highs.size(), means.size()}));
    for (std::size_t i = 0; i < level.size(); ++i)
        level[i] = {steps[i], std::clamp<std::int64_t>(counts[i], 0, kMostPoints), seconds[i], lows[i], highs[i],
                    means[i]};
    return level;
}

}  // namespace

void writeLevels(Database& database, std::int64_t trial) {
    dropLevels(database, trial);
    if (pointsIn(database, trial) <= kReadWhole) return;
    for (const Metric& metric : metrics()) {
        if (!metric.step) continue;
        const std::string key(metric.key);
        const auto points = readSeries(database, trial, key);
        std::size_t width = kNarrowest;
        while (points.size() > width * kFanOut * kSeenAtOnce) width *= kFanOut;
        const auto level = inStretches(points, width);
        if (level.empty()) continue;
        insertLevel(database, trial, key, width, level);
        insertLevel(database, trial, key, width * kCoarser, inStretches(level, kCoarser));
    }
}

void dropLevels(Database& database, std::int64_t trial) {
    Statement row(database, "DELETE FROM series_level WHERE trial = ?");
    row.bind(1, trial);
    row.exec();
}

std::vector<std::int64_t> withoutLevels(Database& database, std::span<const std::int64_t> trials) {
    std::vector<std::int64_t> without;
    Statement query(database,
                    "SELECT state FROM trial WHERE id = ?1"
                    " AND NOT EXISTS (SELECT 1 FROM series_level WHERE series_level.trial = ?1)");
    for (const std::int64_t trial : trials) {
        query.reset();
        query.bind(1, trial);
        if (!query.executeStep()) continue;
        const auto state = runStateFrom(query.getColumn(0).getString());
        if (state && isFinal(*state) && pointsIn(database, trial) > kReadWhole) without.push_back(trial);
    }
    return without;
}

std::vector<SeriesStretch> readLevel(Database& database, std::int64_t trial, const std::string& metric,
                                     std::size_t stretches) {
    Statement query(database,
                    "SELECT last_steps, seconds, counts, lows, highs, means FROM series_level"
                    " WHERE trial = ? AND metric = ? AND stretches >= ? ORDER BY width DESC LIMIT 1");
    query.bind(1, trial), query.bind(2, metric), query.bind(3, static_cast<std::int64_t>(stretches));
    if (!query.executeStep()) return {};
    auto level = levelIn(query);
    const bool stands = !level.empty() && level.back().step == lastStepIn(database, trial);
    return stands ? std::move(level) : std::vector<SeriesStretch>();
}

}  // namespace lockstep
