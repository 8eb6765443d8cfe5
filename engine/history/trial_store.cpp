#include "engine/history/trial_store.h"

#include "engine/history/database.h"
#include "engine/history/history_writer.h"

namespace lockstep {

namespace {

using SQLite::Database;
using SQLite::Statement;

class AttemptSink : public EventSink {
public:
    AttemptSink(HistoryWriter& writer, std::int64_t trial, std::int64_t attempt)
        : m_writer(writer), m_trial(trial), m_attempt(attempt) {}
    void post(std::int64_t number, const TrainEvent& event) override {
        m_writer.post({m_trial, m_attempt, number, event});
    }

private:
    HistoryWriter& m_writer;
    std::int64_t m_trial, m_attempt;
};

std::int64_t insertTrial(Database& database, const TrialSpec& spec) {
    Statement row(database,
                  "INSERT INTO trial (title, state, spec_json, dataset, model, devices, batch, epochs, learning_rate,"
                  " created_at, run_directory) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '')");
    row.bind(1, spec.title), row.bind(2, std::string(text(RunState::Queued))), row.bind(3, toJson(spec));
    row.bind(4, spec.dataset.id), row.bind(5, spec.model.id), row.bind(6, spec.devices);
    row.bind(7, spec.batch), row.bind(8, spec.epochs), row.bind(9, spec.learningRate), row.bind(10, utcNow());
    row.exec();
    return database.getLastInsertRowid();
}

std::int64_t insertAttempt(Database& database, std::int64_t trial, std::int64_t fromStep) {
    Statement row(database,
                  "INSERT INTO attempt (trial, number, from_step, started_at)"
                  " SELECT ?1, attempts, ?2, ?3 FROM trial WHERE id = ?1 RETURNING number");
    row.bind(1, trial), row.bind(2, fromStep), row.bind(3, utcNow());
    row.executeStep();
    return row.getColumn(0).getInt64();
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

// Evaluations beyond the point of resumption happen again, so the best ones are sought among those that stand.
constexpr const char* kBeginAttempt =
    "UPDATE trial SET attempts = attempts + 1, step = ?2, finished_at = NULL, failure_kind = NULL, failure_where ="
    " NULL, failure_what = NULL, failure_rank = NULL, (best_accuracy, lowest_test_loss) ="
    " (SELECT max(json_extract(json, '$.accuracy')), min(json_extract(json, '$.loss')) FROM event e"
    " WHERE e.trial = ?1 AND e.kind = 'eval_done' AND e.step <= ?2 AND NOT EXISTS (SELECT 1 FROM attempt later"
    " WHERE later.trial = e.trial AND later.number > e.attempt AND later.from_step < e.step)) WHERE id = ?1";

}  // namespace

class TrialStore::Impl {
public:
    Impl(std::unique_ptr<Database> database, const std::filesystem::path& path)
        : file(path), writer(std::move(database), path) {}

    // Runs one UPDATE or DELETE whose ?1 is the trial.
    template <class... Values>
    void change(const char* sql, std::int64_t trial, const Values&... values) {
        writer.run([&](Database& database) {
            Statement statement(database, sql);
            statement.bind(1, trial);
            int index = 1;
            (statement.bind(++index, values), ...);
            if (statement.exec() == 0) refuseUnknown(trial);
        });
    }

    [[noreturn]] void refuseUnknown(std::int64_t trial) const {
        throw ProblemError({file.string(), "history.no-such-trial", {std::to_string(trial)}});
    }

    const std::filesystem::path file;
    HistoryWriter writer;
};

TrialStore::TrialStore(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
TrialStore::~TrialStore() = default;

Result<std::unique_ptr<TrialStore>> TrialStore::open(const std::filesystem::path& file) {
    try {
        auto impl = std::make_unique<Impl>(openForWriting(file, migrations()), file);
        return std::unique_ptr<TrialStore>(new TrialStore(std::move(impl)));
    } catch (const ProblemError& error) {
        return error.problem();
    }
}

std::int64_t TrialStore::createTrial(const TrialSpec& spec, const std::filesystem::path& runs) {
    std::int64_t trial = 0;
    m_impl->writer.run([&](Database& database) {
        trial = insertTrial(database, spec);
        Statement place(database, "UPDATE trial SET run_directory = ?2 WHERE id = ?1");
        place.bind(1, trial), place.bind(2, (runs / std::to_string(trial)).string());
        place.exec();
    });
    return trial;
}

std::int64_t TrialStore::beginAttempt(std::int64_t trial, std::int64_t fromStep) {
    std::int64_t attempt = 0;
    m_impl->writer.run([&](Database& database) {
        Statement begin(database, kBeginAttempt);
        begin.bind(1, trial), begin.bind(2, fromStep);
        if (begin.exec() == 0) m_impl->refuseUnknown(trial);
        attempt = insertAttempt(database, trial, fromStep);
        cutSeries(database, trial, fromStep);
    });
    return attempt;
}

void TrialStore::setState(std::int64_t trial, RunState state) {
    m_impl->writer.run([&](Database& database) {
        if (!writeState(database, trial, state)) m_impl->refuseUnknown(trial);
    });
}

void TrialStore::setTitle(std::int64_t trial, const std::string& title) {
    m_impl->change("UPDATE trial SET title = ?2 WHERE id = ?1", trial, title);
}

void TrialStore::setTags(std::int64_t trial, const std::vector<std::string>& tags) {
    m_impl->writer.run([&](Database& database) {
        Statement known(database, "SELECT 1 FROM trial WHERE id = ?");
        known.bind(1, trial);
        if (!known.executeStep()) m_impl->refuseUnknown(trial);
        replaceTags(database, trial, tags);
    });
}

void TrialStore::setStar(std::int64_t trial, bool star) {
    m_impl->change("UPDATE trial SET star = ?2 WHERE id = ?1", trial, star ? 1 : 0);
}

void TrialStore::setArchived(std::int64_t trial, bool archived) {
    m_impl->change("UPDATE trial SET archived = ?2 WHERE id = ?1", trial, archived ? 1 : 0);
}

void TrialStore::setNote(std::int64_t trial, const std::string& note) {
    m_impl->change("UPDATE trial SET note = ?2 WHERE id = ?1", trial, note);
}

void TrialStore::deleteTrial(std::int64_t trial, bool purge) {
    m_impl->change(purge ? "DELETE FROM trial WHERE id = ?1" : "UPDATE trial SET deleted = 1 WHERE id = ?1", trial);
}

void TrialStore::restoreTrial(std::int64_t trial) {
    m_impl->change("UPDATE trial SET deleted = 0 WHERE id = ?1", trial);
}

std::shared_ptr<EventSink> TrialStore::sinkFor(std::int64_t trial, std::int64_t attempt) {
    return std::make_shared<AttemptSink>(m_impl->writer, trial, attempt);
}

void TrialStore::onTrouble(std::function<void(const Problem&)> handler) {
    m_impl->writer.onTrouble(std::move(handler));
}
std::int64_t TrialStore::committedEvent(std::int64_t trial) const { return m_impl->writer.committedEvent(trial); }
void TrialStore::flush() { m_impl->writer.flush(); }

}  // namespace lockstep
