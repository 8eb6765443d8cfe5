#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "engine/history/queue_query.h"
#include "engine/search/search_space.h"

namespace lockstep {

// Trials of the history that train what a cell asks for, so that it need not be trained again. Nobody has asked them to
// belong to a sweep: what becomes of it does nothing to them, and one that ends without having finished is given back.
// The thread and the problems of the query. `isTaken`: an engine has the trial, or was started for it.
using IsTaken = std::function<bool(std::int64_t trial)>;

struct SameTrial {
    std::optional<std::int64_t> trial = {};  // to adopt: differs in its title alone, and has finished, runs, or waits
    bool hasFinished = false;
    std::string refusal = {};  // why another one that does is not, for whoever looks why
};
// `finishedOnly`: of a sweep that decides by rungs how far its trials go.
SameTrial sameTrial(const TrialQuery& query, const TrialSpec& spec, const Cell& cell, bool finishedOnly,
                    const IsTaken& isTaken);

// Whether a trial that was adopted may still finish, or has; one that was removed, or ended in another way, does not.
bool mayStayAdopted(const TrialQuery& query, std::int64_t trial, const IsTaken& isTaken);

}  // namespace lockstep
