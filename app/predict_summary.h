#pragma once
#include <cstdint>

#include "app/listing.h"
#include "engine/spec/trial_spec.h"
#include "engine/train/predict.h"

namespace lockstep {

// Of all that was asked, besides the answers: how many, how fast, on what.
class PredictSummary {
public:
    // `failed` of the samples could not be answered; `blankLines` were no samples. `spec` outlives this.
    PredictSummary(const PredictResult& result, const TrialSpec& spec, std::int64_t batch, std::int64_t failed,
                   std::int64_t blankLines);

    void print() const;                  // for people, to the standard error
    void printJson(Json remarks) const;  // a line of the standard output

private:
    const TrialSpec& m_spec;
    std::int64_t m_samples, m_batch, m_failed, m_blankLines;
    double m_seconds, m_rate;    // samples per second
    double m_p50, m_p95, m_p99;  // of a batch, in milliseconds
};

}  // namespace lockstep
