#include "engine/history/series_chunk.h"

#include "engine/history/schema.h"
#include "tests/fuzz/targets/targets.h"

namespace lockstep::fuzz {

namespace {

struct History {
    SQLite::Database database{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
    History() {
        for (const Migration& migration : migrations()) database.exec(migration.sql);
        database.exec("PRAGMA foreign_keys = OFF");
    }
};

void bind(SQLite::Statement& statement, int index, Input blob) {
    const void* data = blob.data();
    statement.bind(index, blob.empty() ? "" : data, static_cast<int>(blob.size()));  // no pointer: NULL
}

void insertChunk(SQLite::Database& database, Slicer& slicer) {
    SQLite::Statement row(
        database,
        "INSERT INTO series_chunk (id, trial, attempt, first_step, last_step, first_event, last_event,"
        " count, steps, seconds) VALUES (1, 1, 1, ?, ?, ?, ?, ?, ?, ?)");
    for (int index = 1; index <= 4; ++index) row.bind(index, slicer.number<std::int64_t>());
    row.bind(5, std::int64_t{slicer.number<std::uint8_t>()});
    bind(row, 6, slicer.take(slicer.number<std::uint16_t>()));
    bind(row, 7, slicer.take(slicer.number<std::uint16_t>()));
    row.exec();
}

void insertColumns(SQLite::Database& database, Slicer& slicer) {
    const char* metrics[] = {"epoch",         "samples",   "loss",      "accuracy", "learning_rate",
                             "gradient_norm", "compute.0", "compute.1", "wait.0",   "reduce.0"};
    SQLite::Statement value(database, "INSERT OR REPLACE INTO series_value (chunk, metric, data) VALUES (1, ?, ?)");
    while (slicer.more()) {
        const char* metric = metrics[slicer.number<std::uint8_t>() % std::size(metrics)];
        value.reset();
        value.bind(1, metric);
        bind(value, 2, slicer.take(slicer.number<std::uint16_t>()));
        value.exec();
    }
}

}  // namespace

// An event for every two numbers, and SQLite's pages.
std::size_t capOfSeriesChunk(std::size_t bytes) { return bytes / 8 * sizeof(NumberedEvent) + kSmallChange; }

// i64 where the history is cut, i64 from which event it is read, the row (four i64, u8, two blobs), columns (u8 metric,
// blob); blobs are u16 bytes before their bytes.
bool runSeriesChunk(Input input) {
    static History history;
    SQLite::Database& database = history.database;
    Slicer slicer(input);
    const auto cut = slicer.number<std::int64_t>(), first = slicer.number<std::int64_t>();
    const SQLite::Transaction rolledBack(database);
    insertChunk(database, slicer);
    insertColumns(database, slicer);
    bool any = false;
    try {
        any = !readSteps(database, 1, 1, first).empty();
        cutSeries(database, 1, cut);
        readSteps(database, 1, 1, first);
    } catch (const SQLite::Exception&) {  // numbers that the table does not take; see translated()
    }
    return any;
}

}  // namespace lockstep::fuzz
