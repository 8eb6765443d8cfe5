#pragma once
#include <QString>
#include <optional>

#include "engine/history/trial_query.h"
#include "ui/run/run_actions.h"
#include "ui/run/run_record.h"
#include "ui/style/explanation.h"

namespace lockstep::ui {

// The sentences of a run's live page.
QString liveTitle(std::int64_t trial, const std::optional<TrialRow>& row);
QString liveSubtitle(const std::optional<TrialRow>& row, const RunRecord& record);  // "fashion-cnn on …, 2 devices"
// "Epoch 3 of 5, step 1,234 of 2,345" "1 min 12 s" "about 40 s left"
QString liveProgress(const RunRecord& record);
// What a run has said, for the list of its messages: "⚠ Device 2 was lost at step 7…". Those of a Message: `explain`'s.
QString liveNote(const RunNote& note, const Explain& explain);
int livePermille(const RunRecord& record);  // of the steps; < 0: unknown
// The state, with what has been asked for and not yet come to pass.
QString liveState(RunState state, std::optional<RunAction> asked);

}  // namespace lockstep::ui
