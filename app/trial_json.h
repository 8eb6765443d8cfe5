#pragma once
#include "app/listing.h"
#include "engine/history/trial_query.h"

namespace lockstep {

// Whether trials of the model foretell bytes, so that perplexity counts, not accuracy; false: there is no such model.
bool foretells(const std::string& model);
Json trialJson(const TrialRow& row);  // what is not known is null

}  // namespace lockstep
