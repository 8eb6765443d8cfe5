#include "engine/history/series_chunk.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "engine/spec/metrics.h"

namespace lockstep {

namespace {

static_assert(std::endian::native == std::endian::little, "blobs of the history are little-endian");

// One list of the columns, for writing and reading alike.
void visitScalars(auto& step, auto&& visit) {
    visit(std::string("epoch"), step.epoch), visit(std::string("samples"), step.samples);
    for (const Metric& metric : metrics()) {
        if (metric.step) visit(std::string(metric.key), step.*metric.step);
    }
}
void visitRanks(auto& step, auto&& visit) {
    for (const Metric& metric : metrics()) {
        if (metric.ranks) visit(std::string(metric.key) + '.', step.*metric.ranks);
    }
}

using Columns = std::map<std::string, std::vector<double>>;

template <class T>
void bindBlob(SQLite::Statement& statement, int index, const std::vector<T>& numbers) {
    statement.bind(index, static_cast<const void*>(numbers.data()), static_cast<int>(numbers.size() * sizeof(T)));
}

// A column's number as a field's: doubles beyond the whole numbers become 0.
template <class T>
T fieldOf(double number) {
    if constexpr (std::is_integral_v<T>) return std::abs(number) < 0x1p63 ? static_cast<T>(number) : T{0};
    else return static_cast<T>(number);
}

StepDone stepAt(const Columns& columns, std::size_t row) {
    StepDone step;
    visitScalars(step, [&]<class T>(const std::string& name, T& value) {
        const auto column = columns.find(name);
        if (column != columns.end() && row < column->second.size()) value = fieldOf<T>(column->second[row]);
    });
    visitRanks(step, [&](const std::string& name, std::vector<float>& values) {
        for (std::size_t rank = 0;; ++rank) {
            const auto column = columns.find(name + std::to_string(rank));
            if (column == columns.end() || row >= column->second.size()) return;
            values.push_back(static_cast<float>(column->second[row]));
        }
    });
    return step;
}

Columns readColumns(SQLite::Database& database, std::int64_t chunk) {
    Columns columns;
    SQLite::Statement query(database, "SELECT metric, data FROM series_value WHERE chunk = ?");
    query.bind(1, chunk);
    while (query.executeStep()) columns[query.getColumn(0).getString()] = numbersOf<double>(query.getColumn(1));
    return columns;
}

// Keeps the first `count` rows of a chunk, whose last step is then `lastStep`.
void shorten(SQLite::Database& database, std::int64_t chunk, std::int64_t count, std::int64_t lastStep) {
    SQLite::Statement rows(database,
                           "UPDATE series_chunk SET count = ?2, last_step = ?3, last_event = first_event + ?2 - 1,"
                           " steps = substr(steps, 1, 8 * ?2), seconds = substr(seconds, 1, 8 * ?2) WHERE id = ?1");
    rows.bind(1, chunk), rows.bind(2, count), rows.bind(3, lastStep);
    rows.exec();
    SQLite::Statement values(database, "UPDATE series_value SET data = substr(data, 1, 8 * ?2) WHERE chunk = ?1");
    values.bind(1, chunk), values.bind(2, count);
    values.exec();
}

// Its first step says that it should keep some, but its steps have none to keep.
void drop(SQLite::Database& database, std::int64_t chunk) {
    SQLite::Statement row(database, "DELETE FROM series_chunk WHERE id = ?");
    row.bind(1, chunk);
    row.exec();
}

}  // namespace

template <class T>
std::vector<T> numbersOf(const SQLite::Column& column) {
    std::vector<T> numbers(static_cast<std::size_t>(column.getBytes()) / sizeof(T));
    if (!numbers.empty()) std::memcpy(numbers.data(), column.getBlob(), numbers.size() * sizeof(T));
    return numbers;
}
template std::vector<std::int64_t> numbersOf(const SQLite::Column&);
template std::vector<double> numbersOf(const SQLite::Column&);

SeriesChunk::SeriesChunk(std::int64_t trial, std::int64_t attempt, std::int64_t firstEvent)
    : m_trial(trial), m_attempt(attempt), m_firstEvent(firstEvent) {}

bool SeriesChunk::accepts(std::int64_t number, const StepDone& step) const {
    if (number != m_firstEvent + static_cast<std::int64_t>(m_steps.size()) || m_steps.size() >= kCapacity) return false;
    bool same = true;
    visitRanks(step, [&](const std::string& name, const std::vector<float>& values) {
        same = same && m_columns.contains(name + "0") == !values.empty() &&
               !m_columns.contains(name + std::to_string(values.size())) &&
               (values.empty() || m_columns.contains(name + std::to_string(values.size() - 1)));
    });
    return m_steps.empty() || same;
}

void SeriesChunk::add(const StepDone& step) {
    m_steps.push_back(step.step);
    m_seconds.push_back(step.seconds);
    visitScalars(step,
                 [&](const std::string& name, auto value) { m_columns[name].push_back(static_cast<double>(value)); });
    visitRanks(step, [&](const std::string& name, const std::vector<float>& values) {
        for (std::size_t rank = 0; rank < values.size(); ++rank)
            m_columns[name + std::to_string(rank)].push_back(values[rank]);
    });
}

void SeriesChunk::saveRow(SQLite::Database& database) {
    const char* insert =
        "INSERT INTO series_chunk (trial, attempt, first_step, last_step, first_event, last_event, count, steps,"
        " seconds) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    const char* update =
        "UPDATE series_chunk SET last_step = ?4, last_event = ?6, count = ?7, steps = ?8, seconds = ?9"
        " WHERE trial = ?1 AND attempt = ?2 AND first_event = ?5 AND first_step = ?3";
    SQLite::Statement row(database, m_row == 0 ? insert : update);
    const auto count = static_cast<std::int64_t>(m_steps.size());
    row.bind(1, m_trial), row.bind(2, m_attempt), row.bind(3, m_steps.front()), row.bind(4, m_steps.back());
    row.bind(5, m_firstEvent), row.bind(6, m_firstEvent + count - 1), row.bind(7, count);
    bindBlob(row, 8, m_steps);
    bindBlob(row, 9, m_seconds);
    row.exec();
    if (m_row == 0) m_row = database.getLastInsertRowid();
}

void SeriesChunk::save(SQLite::Database& database) {
    saveRow(database);
    SQLite::Statement value(database,
                            "INSERT INTO series_value (chunk, metric, data) VALUES (?1, ?2, ?3)"
                            " ON CONFLICT (chunk, metric) DO UPDATE SET data = excluded.data");
    for (const auto& [metric, numbers] : m_columns) {
        value.reset();
        value.bind(1, m_row), value.bind(2, metric);
        bindBlob(value, 3, numbers);
        value.exec();
    }
    m_saved = m_steps.size();
}

std::vector<NumberedEvent> readSteps(SQLite::Database& database, std::int64_t trial, std::int64_t attempt,
                                     std::int64_t first) {
    std::vector<NumberedEvent> events;
    SQLite::Statement query(database,
                            "SELECT id, first_event, steps, seconds FROM series_chunk"
                            " WHERE trial = ? AND attempt = ? AND last_event >= ? ORDER BY first_event");
    query.bind(1, trial), query.bind(2, attempt), query.bind(3, first);
    while (query.executeStep()) {
        const Columns columns = readColumns(database, query.getColumn(0).getInt64());
        const std::int64_t firstEvent = query.getColumn(1).getInt64();
        const auto steps = numbersOf<std::int64_t>(query.getColumn(2));
        const auto seconds = numbersOf<double>(query.getColumn(3));
        const std::size_t rows = std::min(steps.size(), seconds.size());
        const bool numbered =
            firstEvent >= 1 && std::in_range<std::int64_t>(static_cast<std::uint64_t>(firstEvent) + rows);
        if (!numbered) continue;
        for (auto row = static_cast<std::size_t>(std::max(first, firstEvent) - firstEvent); row < rows; ++row) {
            StepDone step = stepAt(columns, row);
            step.step = steps[row];
            step.seconds = seconds[row];
            events.push_back({firstEvent + static_cast<std::int64_t>(row), std::move(step)});
        }
    }
    return events;
}

std::vector<SeriesPoint> readSeries(SQLite::Database& database, std::int64_t trial, const std::string& metric,
                                    std::int64_t from, std::int64_t to) {
    std::vector<SeriesPoint> points;
    SQLite::Statement query(
        database,
        "SELECT c.steps, c.seconds, v.data FROM series_chunk c JOIN series_value v ON v.chunk = c.id"
        " WHERE c.trial = ? AND v.metric = ? AND c.last_step >= ? AND c.first_step <= ?"
        " ORDER BY c.attempt, c.first_event");
    query.bind(1, trial), query.bind(2, metric), query.bind(3, from), query.bind(4, to);
    while (query.executeStep()) {
        const auto steps = numbersOf<std::int64_t>(query.getColumn(0));
        const auto seconds = numbersOf<double>(query.getColumn(1)), values = numbersOf<double>(query.getColumn(2));
        const std::size_t count = std::min({steps.size(), seconds.size(), values.size()});
        for (std::size_t i = 0; i < count; ++i) points.push_back({steps[i], seconds[i], values[i]});
    }
    return points;
}

void cutSeries(SQLite::Database& database, std::int64_t trial, std::int64_t lastStep) {
    SQLite::Statement beyond(database, "DELETE FROM series_chunk WHERE trial = ? AND first_step > ?");
    beyond.bind(1, trial), beyond.bind(2, lastStep);
    beyond.exec();
    SQLite::Statement across(database, "SELECT id, steps FROM series_chunk WHERE trial = ? AND last_step > ?");
    across.bind(1, trial), across.bind(2, lastStep);
    while (across.executeStep()) {
        const auto steps = numbersOf<std::int64_t>(across.getColumn(1));
        const auto kept = std::upper_bound(steps.begin(), steps.end(), lastStep) - steps.begin();
        const std::int64_t chunk = across.getColumn(0).getInt64();
        if (kept > 0) shorten(database, chunk, kept, steps[static_cast<std::size_t>(kept) - 1]);
        else drop(database, chunk);
    }
}

}  // namespace lockstep
