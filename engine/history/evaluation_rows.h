#pragma once
#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/spec/evaluation.h"

namespace lockstep {

// The table "evaluation"; inside the caller's transaction. One that asked the same of the same checkpoint, in the same
// precision, gives way to the new one, but where its samples were others, or nobody knows whether they were.
std::int64_t insertEvaluation(SQLite::Database& database, const Evaluation& evaluation);  // its number
std::vector<Evaluation> evaluationsOf(SQLite::Database& database, std::int64_t trial);    // newest first; no answers
std::optional<Evaluation> evaluationAt(SQLite::Database& database, std::int64_t id);      // whole

}  // namespace lockstep
