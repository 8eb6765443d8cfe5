#include "engine/history/trial_rows.h"

#include "engine/history/event_writer.h"
#include "engine/history/series_chunk.h"

namespace lockstep {

namespace {

using SQLite::Database;
using SQLite::Statement;

// Evaluations beyond the point of resumption happen again, so the best ones are sought among those that stand.
constexpr const char* kBeginAttempt =
    "UPDATE trial SET attempts = attempts + 1, step = ?2, finished_at = NULL, failure_kind = NULL, failure_where ="
    " NULL, failure_what = NULL, failure_rank = NULL, (best_accuracy, lowest_test_loss) ="
    " (SELECT max(json_extract(json, '$.accuracy')), min(json_extract(json, '$.loss')) FROM event e"
    " WHERE e.trial = ?1 AND e.kind = 'eval_done' AND e.step <= ?2 AND NOT EXISTS (SELECT 1 FROM attempt later"
    " WHERE later.trial = e.trial AND later.number > e.attempt AND later.from_step < e.step)) WHERE id = ?1";

void insertEvents(Database& database, std::int64_t trial, const AdoptedTrial::Attempt& attempt) {
    const auto number = insertAttempt(database, trial, attempt.fromStep);
    Statement began(database, "UPDATE attempt SET started_at = ?3 WHERE trial = ?1 AND number = ?2");
    began.bind(1, trial), began.bind(2, *number), began.bind(3, attempt.startedAt);
    began.exec();
    std::vector<PostedEvent> events;
    for (const auto& each : attempt.events) events.push_back({trial, *number, each.number, each.event});
    writeEvents(database, events, {});
}

void bind(Statement& statement, int index, const std::optional<double>& value) {
    if (value) statement.bind(index, *value);
}

}  // namespace

std::int64_t nextTrial(Database& database) {
    return database.execAndGet("SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'trial'").getInt64();
}

void insertTrial(Database& database, std::int64_t trial, const TrialSpec& spec,
                 const std::filesystem::path& runDirectory) {
    Statement row(database,
                  "INSERT INTO trial (id, title, state, spec_json, dataset, model, devices, batch, epochs,"
                  " learning_rate, created_at, run_directory) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    row.bind(1, trial), row.bind(2, spec.title), row.bind(3, std::string(text(RunState::Queued)));
    row.bind(4, toJson(spec)), row.bind(5, spec.dataset.id), row.bind(6, spec.model.id), row.bind(7, spec.devices);
    row.bind(8, spec.batch), row.bind(9, spec.epochs), row.bind(10, spec.learningRate), row.bind(11, utcNow());
    row.bind(12, runDirectory.string());
    row.exec();
}

std::optional<std::int64_t> insertAttempt(Database& database, std::int64_t trial, std::int64_t fromStep) {
    Statement begin(database, kBeginAttempt);
    begin.bind(1, trial), begin.bind(2, fromStep);
    if (begin.exec() == 0) return std::nullopt;
    Statement row(database,
                  "INSERT INTO attempt (trial, number, from_step, started_at)"
                  " SELECT ?1, attempts, ?2, ?3 FROM trial WHERE id = ?1 RETURNING number");
    row.bind(1, trial), row.bind(2, fromStep), row.bind(3, utcNow());
    row.executeStep();
    const std::int64_t number = row.getColumn(0).getInt64();
    cutSeries(database, trial, fromStep);
    return number;
}

void insertAdopted(Database& database, const AdoptedTrial& trial, const std::filesystem::path& runDirectory) {
    insertTrial(database, trial.id, trial.spec, runDirectory);
    for (const auto& attempt : trial.attempts) insertEvents(database, trial.id, attempt);
    Statement row(database,
                  "UPDATE trial SET state = ?2, created_at = ?3, started_at = ?3, finished_at = ?4,"
                  " step = max(step, ?5), epoch = max(epoch, ?6), best_accuracy = coalesce(best_accuracy, ?7),"
                  " lowest_test_loss = coalesce(lowest_test_loss, ?8), seconds = coalesce(seconds, ?9) WHERE id = ?1");
    row.bind(1, trial.id), row.bind(2, std::string(text(trial.state))), row.bind(3, trial.createdAt);
    row.bind(4, trial.finishedAt), row.bind(5, trial.step), row.bind(6, trial.epoch);
    bind(row, 7, trial.bestAccuracy), bind(row, 8, trial.lowestLoss), bind(row, 9, trial.seconds);
    row.exec();
}

void replaceTags(Database& database, std::int64_t trial, const std::vector<std::string>& tags) {
    Statement clear(database, "DELETE FROM trial_tag WHERE trial = ?");
    clear.bind(1, trial);
    clear.exec();
    Statement row(database, "INSERT OR IGNORE INTO trial_tag (trial, tag) VALUES (?, ?)");
    for (const auto& tag : tags) {
        if (tag.empty()) continue;
        row.bind(1, trial), row.bind(2, tag);
        row.exec();
        row.reset();
    }
}

}  // namespace lockstep
