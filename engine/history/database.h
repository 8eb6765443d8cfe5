#pragma once
#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "engine/core/result.h"
#include "engine/history/schema.h"

namespace lockstep {

// A connection that may write: created and migrated if need be. Throws ProblemError with the codes of TrialStore::open.
// A file that is no history, or a newer one, is not written to.
std::unique_ptr<SQLite::Database> openForWriting(const std::filesystem::path& file, std::span<const Migration> steps);

// A read-only connection to a history of exactly the newest version. Throws ProblemError: the codes of
// TrialQuery::open.
std::unique_ptr<SQLite::Database> openForReading(const std::filesystem::path& file, std::span<const Migration> steps);

// What SQLite's refusal means to a person: "history.corrupt", "history.not-a-history", "history.full", "history.busy",
// "history.unwritable".
Problem problemOf(const SQLite::Exception& error, const std::filesystem::path& file);

// Runs `work`; an SQLite exception leaves as ProblemError.
template <class Work>
auto translated(const std::filesystem::path& file, Work&& work) {
    try {
        return std::forward<Work>(work)();
    } catch (const SQLite::Exception& error) {
        throw ProblemError(problemOf(error, file));
    }
}

}  // namespace lockstep
