#pragma once
#include <QString>

#include "ui/run/run_record.h"
#include "ui/style/explanation.h"

namespace lockstep::ui {

// How a run ended badly, for a person: what happened, why, what to do next; and everything known, to be copied.
struct FailureText {
    QString what, why, next, details;
};

// Of a record whose state is failed or crashed. `logFile` is the run's own log.
FailureText failureText(const RunRecord& record, std::int64_t trial, bool canResume, const QString& logFile,
                        const Explain& explain);

}  // namespace lockstep::ui
