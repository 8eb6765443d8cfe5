#pragma once
#include "app/listing.h"
#include "engine/history/trial_query.h"

namespace lockstep {

const TaskMetrics& metricsOf(const TrialRow& row);  // what counts for it; see metricsFor()
Json trialJson(const TrialRow& row);                // what is not known is null

}  // namespace lockstep
