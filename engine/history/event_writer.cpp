#include "engine/history/event_writer.h"

#include <set>
#include <string>

#include "engine/history/series_level.h"

namespace lockstep {

namespace {

using SQLite::Database;
using SQLite::Statement;

std::int64_t stepOf(const TrainEvent& event) {
    return std::visit(
        []<class Kind>(const Kind& each) -> std::int64_t {
            if constexpr (requires { each.step; }) return each.step;
            return 0;
        },
        event);
}

// Runs `sql` with the trial as ?1 and the others from ?2 on; false: no such trial.
template <class... Values>
bool update(Database& database, const char* sql, std::int64_t trial, const Values&... values) {
    Statement statement(database, sql);
    statement.bind(1, trial);
    int index = 1;
    (statement.bind(++index, values), ...);
    return statement.exec() > 0;
}

// Evaluations beyond the point of resumption happen again, so the best ones are sought among those that stand.
constexpr const char* kCutColumns =
    "WITH standing AS (SELECT json, coalesce(json_extract(json, '$.split'), 'test') AS split FROM event e"
    " WHERE e.trial = ?1 AND e.kind = 'eval_done' AND e.step <= ?2 AND NOT EXISTS (SELECT 1 FROM attempt later"
    " WHERE later.trial = e.trial AND later.number > e.attempt AND later.from_step < e.step))"
    " UPDATE trial SET step = ?2, failure_kind = NULL, failure_where = NULL, failure_what = NULL, failure_rank = NULL,"
    " (best_accuracy, lowest_test_loss) ="
    " (SELECT max(json_extract(json, '$.accuracy')), min(json_extract(json, '$.loss')) FROM standing"
    " WHERE split = (SELECT max(split) FROM standing)) WHERE id = ?1";  // of validation, where there is any

constexpr const char* kChoosingColumns =
    "UPDATE trial SET best_accuracy = max(coalesce(best_accuracy, ?2), coalesce(?2, best_accuracy)),"
    " lowest_test_loss = min(coalesce(lowest_test_loss, ?3), coalesce(?3, lowest_test_loss)) WHERE id = ?1"
    " AND (?4 = 'validation' OR (validation_accuracy IS NULL AND validation_loss IS NULL))";

void setState(Database& database, std::int64_t trial, std::string_view state) {
    if (const auto known = runStateFrom(state)) writeState(database, trial, *known);
}

// What an event means for the trial's own columns.
class TrialColumns {
public:
    TrialColumns(Database& database, std::int64_t trial) : m_database(database), m_trial(trial) {}

    void operator()(const RunStarted&) const {
        update(m_database, "UPDATE trial SET started_at = coalesce(started_at, ?2) WHERE id = ?1", m_trial, utcNow());
    }
    void operator()(const StepDone& e) const {
        update(m_database,
               "UPDATE trial SET step = ?2, epoch = ?3, samples_per_second = ?4, seconds = ?5 WHERE id = ?1", m_trial,
               e.step, e.epoch, e.samplesPerSecond, e.seconds);
    }
    void operator()(const EvalDone& e) const {
        const bool validates = e.split == Split::Validation;
        update(m_database,
               validates ? "UPDATE trial SET step = max(step, ?2), epoch = max(epoch, ?3), validation_loss = ?4,"
                           " validation_accuracy = ?5, seconds = ?6 WHERE id = ?1"
                         : "UPDATE trial SET step = max(step, ?2), epoch = max(epoch, ?3), test_loss = ?4,"
                           " test_accuracy = ?5, seconds = ?6 WHERE id = ?1",
               m_trial, e.step, e.epoch, e.loss, e.accuracy, e.seconds);
        update(m_database, kChoosingColumns, m_trial, e.accuracy, e.loss, std::string(text(e.split)));
    }
    void operator()(const StateChanged& e) const { setState(m_database, m_trial, e.state); }
    void operator()(const RunFinished& e) const {
        update(m_database,
               "UPDATE trial SET step = ?2, epoch = ?3, test_accuracy = coalesce(?4, test_accuracy),"
               " test_loss = coalesce(?5, test_loss), best_accuracy = coalesce(?6, best_accuracy),"
               " samples_per_second = ?7, seconds = ?8 WHERE id = ?1",
               m_trial, e.step, e.epoch, e.testAccuracy, e.testLoss, e.bestAccuracy, e.trainSamplesPerSecond,
               e.seconds);
        setState(m_database, m_trial, e.outcome);
    }
    void operator()(const RunFailed& e) const {
        update(m_database,
               "UPDATE trial SET failure_kind = ?2, failure_where = ?3, failure_what = ?4, failure_rank = ?5"
               " WHERE id = ?1",
               m_trial, e.kind, e.where, e.what, e.rank);
        setState(m_database, m_trial, text(RunState::Failed));
    }
    // Steps that will be done again are not done.
    void operator()(const WorldChanged& e) const {
        update(m_database, "UPDATE trial SET step = ?2 WHERE id = ?1", m_trial, e.step);
    }
    void operator()(const CheckpointWritten&) const {}
    void operator()(const StragglerFound&) const {}
    void operator()(const BindingChanged&) const {}
    void operator()(const TextSample&) const {}
    void operator()(const DataProgress&) const {}
    void operator()(const EvalCounts&) const {}
    void operator()(const Message&) const {}

private:
    Database& m_database;
    std::int64_t m_trial;
};

void writeStateEvent(Database& database, const PostedEvent& posted) {
    Statement row(database, "INSERT INTO event (trial, attempt, number, kind, step, json) VALUES (?, ?, ?, ?, ?, ?)");
    row.bind(1, posted.trial), row.bind(2, posted.attempt), row.bind(3, posted.number);
    row.bind(4, std::string(nameOf(posted.event))), row.bind(5, stepOf(posted.event));
    row.bind(6, toJsonLine(posted.event, posted.number));
    row.exec();
}

void save(Database& database, SeriesChunk& chunk) {
    if (chunk.dirty()) chunk.save(database);
}

bool endsTrial(const TrainEvent& event) {
    if (std::holds_alternative<RunFinished>(event) || std::holds_alternative<RunFailed>(event)) return true;
    const auto* changed = std::get_if<StateChanged>(&event);
    const auto state = changed ? runStateFrom(changed->state) : std::nullopt;
    return state && isFinal(*state);
}

SeriesChunk& chunkFor(Database& database, OpenChunks& open, const PostedEvent& posted, const StepDone& step) {
    const std::pair key(posted.trial, posted.attempt);
    const auto found = open.find(key);
    if (found != open.end()) {
        if (found->second.accepts(posted.number, step)) return found->second;
        save(database, found->second);
        open.erase(found);
    }
    return open.emplace(key, SeriesChunk(posted.trial, posted.attempt, posted.number)).first->second;
}

}  // namespace

bool writeState(Database& database, std::int64_t trial, RunState state) {
    const std::string name(text(state));
    if (!isFinal(state)) {
        return update(database, "UPDATE trial SET state = ?2, finished_at = NULL WHERE id = ?1", trial, name);
    }
    return update(database, "UPDATE trial SET state = ?2, finished_at = coalesce(finished_at, ?3) WHERE id = ?1", trial,
                  name, utcNow());
}

bool cutColumns(Database& database, std::int64_t trial, std::int64_t step) {
    return update(database, kCutColumns, trial, step);
}

OpenChunks writeEvents(Database& database, std::span<const PostedEvent> events, OpenChunks open) {
    std::map<std::int64_t, const PostedEvent*> newestStep;
    std::set<std::int64_t> ended;
    for (const auto& posted : events) {
        if (const auto* step = std::get_if<StepDone>(&posted.event)) {
            chunkFor(database, open, posted, *step).add(*step);
            newestStep[posted.trial] = &posted;
            continue;
        }
        // The trial's columns follow the order of events, so a step before this one goes first.
        if (const auto last = newestStep.extract(posted.trial)) {
            std::visit(TrialColumns(database, posted.trial), last.mapped()->event);
        }
        writeStateEvent(database, posted);
        std::visit(TrialColumns(database, posted.trial), posted.event);
        if (endsTrial(posted.event)) ended.insert(posted.trial);
    }
    for (auto& [key, chunk] : open) save(database, chunk);
    for (const auto& [trial, posted] : newestStep) std::visit(TrialColumns(database, trial), posted->event);
    for (const std::int64_t trial : ended) writeLevels(database, trial);
    return open;
}

}  // namespace lockstep
