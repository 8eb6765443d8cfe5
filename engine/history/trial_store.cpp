#include "engine/history/trial_store.h"

#include <span>

#include "engine/history/database.h"
#include "engine/history/evaluation_rows.h"
#include "engine/history/history_writer.h"
#include "engine/history/run_folders.h"
#include "engine/history/series_level.h"
#include "engine/history/trial_rows.h"

namespace lockstep {

namespace {

using SQLite::Database;
using SQLite::Statement;

constexpr const char* kPurge = "DELETE FROM trial WHERE id = ?1";
constexpr const char* kTrash = "UPDATE trial SET deleted = 1 WHERE id = ?1";

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

    // Runs `work` where the row is as it was seen. The transaction has begun with the lock of a writer, so that nobody
    // writes in between.
    template <class Work>
    bool changeSeen(const TrialSeen& seen, const Work& work) {
        bool isSame = false;
        writer.run([&](Database& database) {
            Statement row(database, "UPDATE trial SET state = state WHERE id = ?1 AND state = ?2 AND attempts = ?3");
            row.bind(1, seen.trial), row.bind(2, seen.state), row.bind(3, seen.attempts);
            isSame = row.exec() > 0;
            if (isSame) work(database);
        });
        return isSame;
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
    try {
        m_impl->writer.run([&](Database& database) {
            trial = claimRunFolder(runs, nextTrial(database));
            insertTrial(database, trial, spec, runs / std::to_string(trial));
        });
    } catch (...) {
        std::error_code kept;
        if (trial > 0) std::filesystem::remove(runs / std::to_string(trial), kept);
        throw;
    }
    return trial;
}

void TrialStore::adoptTrial(const AdoptedTrial& trial, const std::filesystem::path& runDirectory) {
    m_impl->writer.run([&](Database& database) { insertAdopted(database, trial, runDirectory); });
}

std::int64_t TrialStore::beginAttempt(std::int64_t trial, std::int64_t fromStep) {
    std::int64_t attempt = 0;
    m_impl->writer.run([&](Database& database) {
        const auto number = insertAttempt(database, trial, fromStep);
        if (!number) m_impl->refuseUnknown(trial);
        attempt = *number;
    });
    return attempt;
}

std::int64_t TrialStore::addEvaluation(const Evaluation& evaluation, const DataKnown& known) {
    std::int64_t id = 0;
    m_impl->writer.run([&](Database& database) {
        Statement row(database, "SELECT trained_on FROM trial WHERE id = ?");
        row.bind(1, evaluation.trial);
        if (!row.executeStep()) m_impl->refuseUnknown(evaluation.trial);
        const bool isNew = row.getColumn(0).isNull() && !known.trainedOn.empty();
        row.reset();
        if (isNew) replaceKnown(database, evaluation.trial, known);
        id = insertEvaluation(database, evaluation);
    });
    return id;
}

void TrialStore::setKnown(std::int64_t trial, const DataKnown& known) {
    m_impl->writer.run([&](Database& database) {
        if (!replaceKnown(database, trial, known)) m_impl->refuseUnknown(trial);
    });
}

void TrialStore::setState(std::int64_t trial, RunState state) {
    m_impl->writer.run([&](Database& database) {
        if (!writeState(database, trial, state)) m_impl->refuseUnknown(trial);
    });
}

bool TrialStore::changeState(const TrialSeen& seen, RunState state) {
    return m_impl->changeSeen(seen, [&](Database& database) { writeState(database, seen.trial, state); });
}

bool TrialStore::failTrial(const TrialSeen& seen, const RunFailed& why) {
    return m_impl->changeSeen(seen, [&](Database& database) { insertFailure(database, seen.trial, why); });
}

bool TrialStore::deleteTrial(const TrialSeen& seen, bool purge) {
    return m_impl->changeSeen(seen, [&](Database& database) {
        Statement row(database, purge ? kPurge : kTrash);
        row.bind(1, seen.trial);
        row.exec();
    });
}

void TrialStore::setSpec(std::int64_t trial, const TrialSpec& spec) {
    m_impl->writer.run([&](Database& database) {
        if (!replaceSpec(database, trial, spec)) m_impl->refuseUnknown(trial);
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

int TrialStore::addLevels(const std::vector<std::int64_t>& trials) {
    int written = 0;
    for (const std::int64_t trial : trials) {
        m_impl->writer.run([&](Database& database) {
            if (withoutLevels(database, std::span(&trial, 1)).empty()) return;  // it may have gone on
            writeLevels(database, trial);
            ++written;
        });
    }
    return written;
}

void TrialStore::deleteTrial(std::int64_t trial, bool purge) { m_impl->change(purge ? kPurge : kTrash, trial); }

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

HistoryWriter& TrialStore::writer() { return m_impl->writer; }
const std::filesystem::path& TrialStore::file() const { return m_impl->file; }

}  // namespace lockstep
