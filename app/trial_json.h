#pragma once
#include "app/listing.h"
#include "engine/history/trial_query.h"

namespace lockstep {

Json trialJson(const TrialRow& row);                         // what is not known is null

}  // namespace lockstep
