#pragma once
#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/history/adopted_trial.h"
#include "engine/spec/data_known.h"
#include "engine/spec/train_event.h"
#include "engine/spec/trial_spec.h"

namespace lockstep {

// What TrialStore writes beside events; all inside the caller's transaction.

// Numbers are never given twice, also when the newest trials have been removed for good.
std::int64_t nextTrial(SQLite::Database& database);
void insertTrial(SQLite::Database& database, std::int64_t trial, const TrialSpec& spec,
                 const std::filesystem::path& runDirectory);
bool replaceSpec(SQLite::Database& database, std::int64_t trial, const TrialSpec& spec);  // false: no such trial
// The number of the new attempt; empty: there is no such trial.
std::optional<std::int64_t> insertAttempt(SQLite::Database& database, std::int64_t trial, std::int64_t fromStep);
// An attempt that did not begin, from where the trial stands: its one event says why.
void insertFailure(SQLite::Database& database, std::int64_t trial, const RunFailed& why);
void insertAdopted(SQLite::Database& database, const AdoptedTrial& trial, const std::filesystem::path& runDirectory);
bool replaceKnown(SQLite::Database& database, std::int64_t trial, const DataKnown& known);  // false: no such trial
void replaceTags(SQLite::Database& database, std::int64_t trial, const std::vector<std::string>& tags);

}  // namespace lockstep
