#pragma once
#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "engine/history/series_point.h"
#include "engine/spec/train_event.h"

namespace lockstep {

// Consecutive step events of one attempt, turned into columns; see series_chunk in resources/schema. See metrics.h
// for their names; those of ranks are "compute.0", "compute.1"…
class SeriesChunk {
public:
    static constexpr std::size_t kCapacity = 512;

    SeriesChunk(std::int64_t trial, std::int64_t attempt, std::int64_t firstEvent);
    bool accepts(std::int64_t number, const StepDone& step) const;  // the next number, room, the same ranks
    void add(const StepDone& step);
    void save(SQLite::Database& database);  // inside the caller's transaction
    bool dirty() const { return m_saved < m_steps.size(); }

private:
    void saveRow(SQLite::Database& database);

    std::int64_t m_trial, m_attempt, m_firstEvent, m_row = 0;
    std::size_t m_saved = 0;
    std::vector<std::int64_t> m_steps;
    std::vector<double> m_seconds;
    std::map<std::string, std::vector<double>> m_columns;
};

// Step events with numbers >= `first` of an attempt, ascending. Blobs may be damaged: what has no step, no time or no
// possible number is left out, and no allocation is larger than an event for every eight bytes of them.
std::vector<NumberedEvent> readSteps(SQLite::Database& database, std::int64_t trial, std::int64_t attempt,
                                     std::int64_t first);

// The trial's points of one column over all attempts; of steps from `from` to `to` at least, and of their chunks.
std::vector<SeriesPoint> readSeries(SQLite::Database& database, std::int64_t trial, const std::string& metric,
                                    std::int64_t from = std::numeric_limits<std::int64_t>::min(),
                                    std::int64_t to = std::numeric_limits<std::int64_t>::max());

// Drops every step beyond `lastStep` from the trial's chunks. Inside the caller's transaction.
void cutSeries(SQLite::Database& database, std::int64_t trial, std::int64_t lastStep);

// The numbers of a blob column.
template <class T>
std::vector<T> numbersOf(const SQLite::Column& column);

}  // namespace lockstep
