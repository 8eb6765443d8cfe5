#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "engine/collective/collective.h"
#include "engine/data/loader.h"
#include "engine/spec/train_event.h"
#include "engine/train/answers.h"
#include "engine/train/metric_sums.h"
#include "engine/train/plan_run.h"
#include "engine/train/replica.h"

namespace lockstep {

// Of the last run of programs[which], which is `program`.
MetricSums sumsOf(const Replica& replica, std::size_t which, const Program& program, double samples);

// What all ranks find out together.
struct EvaluationSums {
    MetricSums metrics;
    AnswerSums answers;
    // By sample, where they were asked for: kAnswerWidth numbers each, see answersIn(); zeros where there is none.
    std::vector<float> samples = {};
};
std::vector<LabelledAnswer> answersIn(const std::vector<float>& samples);
// The figures alone. Of more than five classes it is also counted how often the right one is among the first five.
EvalDone evaluationEvent(const MetricSums& sums, std::size_t classes);

// A rank's part of an evaluation: its batches, in order. Every rank of the group takes part at the same time.
struct EvaluationLoop {
    Collective& group;
    Replica& replica;
    std::size_t full = 0, last = 0;  // of the replica's programs: for a full batch, and for the short one at the end
    const RankPrograms& programs;
    const BatchLayout& layout;
    std::int64_t steps = 0;
    std::int64_t countedClasses = 0;  // 0: answers are not looked at
    std::int64_t keptSamples = 0;     // of how many samples the answers are kept; 0: none
    bool meetsEachStep = false;       // a reproducible run: the order of summing does not depend on the world
    StepScalars scalars;
    std::function<BatchLease()> next;               // may throw
    std::function<const std::byte*()> ahead;        // the batch after it, if it is there: Replica::run's `next`
    std::function<void(std::int64_t)> onStep = {};  // after each: how many are done
};
// Every rank its share; the sums meet once, at the end, or at every step.
EvaluationSums runEvaluation(const EvaluationLoop& loop);

}  // namespace lockstep
