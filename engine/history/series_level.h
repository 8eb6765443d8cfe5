#pragma once
#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/history/series_point.h"

namespace lockstep {

// The table "series_level": what is drawn of a long series of steps, so that nobody reads the whole of it for that.
// Writers inside the caller's transaction.

// A series of so few points is read as it is, and has no levels.
constexpr std::int64_t kReadWhole = 32'768;
constexpr std::size_t kSeenAtOnce =
    2048;  // the finest level has at least so many stretches, and four times as many at most

// Of all metrics of steps that the trial has; in the place of those that are there.
void writeLevels(SQLite::Database& database, std::int64_t trial);
void dropLevels(SQLite::Database& database, std::int64_t trial);  // the trial goes on
std::vector<std::int64_t> withoutLevels(SQLite::Database& database, std::span<const std::int64_t> trials);

// The coarsest that has at least so many stretches; empty: there is none, or it is not of the series as it stands.
std::vector<SeriesStretch> readLevel(SQLite::Database& database, std::int64_t trial, const std::string& metric,
                                     std::size_t stretches);

}  // namespace lockstep
