#include "engine/history/trial_rows.h"

#include <type_traits>
#include <variant>

#include "engine/history/event_writer.h"
#include "engine/history/series_chunk.h"
#include "engine/history/series_level.h"
#include "engine/spec/trial_settings.h"

namespace lockstep {

namespace {

using SQLite::Database;
using SQLite::Statement;

// What the table repeats of a spec, for lists.
struct SpecColumn {
    const char* name;
    std::variant<std::string, std::int64_t, double> value;
};
std::vector<SpecColumn> columnsOf(const TrialSpec& spec) {
    return {{"spec_json", toJson(spec)},         {"dataset", spec.dataset.id}, {"model", spec.model.id},
            {"devices", spec.devices},           {"batch", spec.batch},        {"epochs", spec.epochs},
            {"learning_rate", spec.learningRate}};
}

void bind(Statement& statement, int index, const std::vector<SpecColumn>& columns) {
    for (const SpecColumn& each : columns)
        std::visit([&](const auto& value) { statement.bind(index++, value); }, each.value);
}

// Of what a spec states, but its title, as columns that SQL can compare.
void replaceParams(Database& database, std::int64_t trial, const TrialSpec& spec) {
    Statement clear(database, "DELETE FROM trial_param WHERE trial = ?");
    clear.bind(1, trial);
    clear.exec();
    Statement row(database, "INSERT INTO trial_param (trial, key, number, text) VALUES (?, ?, ?, ?)");
    for (const Setting& each : settingsOf(spec)) {
        if (each.path == "title") continue;
        row.bind(1, trial), row.bind(2, each.path);
        const auto bindValue = [&]<class T>(const T& value) {
            if constexpr (std::is_same_v<T, std::string>) row.bind(4, value);
            else row.bind(3, static_cast<double>(value));
        };
        std::visit(bindValue, each.value);
        row.exec();
        row.reset();
        row.clearBindings();
    }
}

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
    const auto columns = columnsOf(spec);
    std::string names = "id, title, state, created_at, run_directory", values = "?, ?, ?, ?, ?";
    for (const SpecColumn& each : columns) names.append(", ").append(each.name), values.append(", ?");
    Statement row(database, "INSERT INTO trial (" + names + ") VALUES (" + values + ")");
    row.bind(1, trial), row.bind(2, spec.title), row.bind(3, std::string(text(RunState::Queued)));
    row.bind(4, utcNow()), row.bind(5, runDirectory.string());
    bind(row, 6, columns);
    row.exec();
    replaceParams(database, trial, spec);
}

bool replaceSpec(Database& database, std::int64_t trial, const TrialSpec& spec) {
    const auto columns = columnsOf(spec);
    std::string changes;
    for (const SpecColumn& each : columns) changes.append(changes.empty() ? "" : ", ").append(each.name).append(" = ?");
    Statement row(database, "UPDATE trial SET " + changes + " WHERE id = ?");
    bind(row, 1, columns);
    row.bind(static_cast<int>(columns.size()) + 1, trial);
    if (row.exec() == 0) return false;
    replaceParams(database, trial, spec);
    return true;
}

std::optional<std::int64_t> insertAttempt(Database& database, std::int64_t trial, std::int64_t fromStep) {
    if (!cutColumns(database, trial, fromStep)) return std::nullopt;
    Statement begin(database, "UPDATE trial SET attempts = attempts + 1, finished_at = NULL WHERE id = ?");
    begin.bind(1, trial);
    begin.exec();
    Statement row(database,
                  "INSERT INTO attempt (trial, number, from_step, started_at)"
                  " SELECT ?1, attempts, ?2, ?3 FROM trial WHERE id = ?1 RETURNING number");
    row.bind(1, trial), row.bind(2, fromStep), row.bind(3, utcNow());
    row.executeStep();
    const std::int64_t number = row.getColumn(0).getInt64();
    cutSeries(database, trial, fromStep);
    dropLevels(database, trial);
    return number;
}

void insertFailure(Database& database, std::int64_t trial, const RunFailed& why) {
    PostedEvent event{trial, 0, 0, why};
    std::int64_t step = 0;
    {
        Statement row(database,
                      "SELECT step, max(coalesce((SELECT max(number) FROM event WHERE trial = ?1), 0),"
                      " coalesce((SELECT max(last_event) FROM series_chunk WHERE trial = ?1), 0)) FROM trial"
                      " WHERE id = ?1");
        row.bind(1, trial);
        row.executeStep();
        step = row.getColumn(0).getInt64();
        event.number = row.getColumn(1).getInt64() + 1;
    }
    event.attempt = *insertAttempt(database, trial, step);
    writeEvents(database, {&event, 1}, {});
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
    replaceKnown(database, trial.id, trial.known);
}

bool replaceKnown(Database& database, std::int64_t trial, const DataKnown& known) {
    Statement row(database, "UPDATE trial SET trained_on = ?2, fingerprint = ?3 WHERE id = ?1");
    row.bind(1, trial);
    if (!known.trainedOn.empty()) row.bind(2, known.trainedOn);
    if (known.fingerprint) row.bind(3, fingerprintText(*known.fingerprint));
    return row.exec() > 0;
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
