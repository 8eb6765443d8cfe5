#include "engine/train/evaluation_loop.h"

#include <algorithm>

namespace lockstep {

namespace {

// Per sample: 1 where there is an answer, the label, classes, probabilities. Classes below 2^24 are exact in f32.
constexpr std::size_t kAnswerWidth = 2 + 2 * Answer::kClasses;

void write(const LabelledAnswer& from, float* to) {
    to[0] = 1;
    to[1] = static_cast<float>(from.label);
    for (std::size_t i = 0; i < Answer::kClasses; ++i) {
        to[2 + i] = static_cast<float>(from.answer.classes[i]);
        to[2 + Answer::kClasses + i] = from.answer.probabilities[i];
    }
}

LabelledAnswer read(const float* from) {
    LabelledAnswer out;
    if (from[0] == 0) return out;
    out.label = static_cast<std::int32_t>(from[1]);
    for (std::size_t i = 0; i < Answer::kClasses; ++i) {
        out.answer.classes[i] = static_cast<std::int32_t>(from[2 + i]);
        out.answer.probabilities[i] = from[2 + Answer::kClasses + i];
    }
    return out;
}

// One value of a field of one element.
template <class T>
T valueIn(const BatchLayout& layout, std::byte* batch, const char* field, std::size_t sample) {
    const auto at = static_cast<std::size_t>(layout.find(field));
    return *reinterpret_cast<const T*>(layout.place(batch, at, sample).data());
}

void lookAt(const EvaluationLoop& loop, const Program& program, const BatchLease& batch, EvaluationSums& sums) {
    const LogitRows rows(loop.replica.readOutput(program, "logits"));
    for (std::size_t i = 0; i < rows.count(); ++i) {
        const auto answer = answerOf(rows[i]);
        const auto label = valueIn<std::int32_t>(loop.layout, batch.data(), "label", i);
        if (!answer || label < 0) continue;  // below 0: it could not be read
        sums.answers.add(label, *answer);
        const auto id = valueIn<std::int64_t>(loop.layout, batch.data(), "ids", i);
        if (id < loop.keptSamples) write({label, *answer}, &sums.samples[static_cast<std::size_t>(id) * kAnswerWidth]);
    }
}

}  // namespace

MetricSums sumsOf(const Replica& replica, std::size_t which, const Program& program, double samples) {
    const auto scalar = [&](const char* name) { return replica.scalar(which, name); };
    const bool counts5 = std::ranges::count(program.scalars.names, "correct5") > 0;
    return {scalar("loss_sum"), scalar("weight"), samples, scalar("correct1"), counts5 ? scalar("correct5") : 0};
}

std::vector<LabelledAnswer> answersIn(const std::vector<float>& samples) {
    std::vector<LabelledAnswer> answers;
    answers.reserve(samples.size() / kAnswerWidth);
    for (std::size_t at = 0; at + kAnswerWidth <= samples.size(); at += kAnswerWidth)
        answers.push_back(read(&samples[at]));
    return answers;
}

EvalDone evaluationEvent(const MetricSums& sums, std::size_t classes) {
    EvalDone done;
    done.samples = static_cast<std::int64_t>(sums.samples);
    done.loss = sums.meanLoss();
    done.accuracy = sums.accuracy();
    if (classes > Answer::kClasses && sums.samples > 0) done.accuracy5 = sums.accuracy5();
    return done;
}

EvaluationSums runEvaluation(const EvaluationLoop& loop) {
    const auto meet = [&](auto* values, std::size_t count, DType dtype) {
        if (count > 0) loop.group.wait(loop.group.allReduce(values, count, dtype));
    };
    const auto meetMetrics = [&](MetricSums& sums) { meet(&sums, sizeof sums / sizeof(double), DType::F64); };
    EvaluationSums total{{}, AnswerSums(loop.countedClasses), {}};
    total.samples.resize(static_cast<std::size_t>(loop.keptSamples) * kAnswerWidth);
    for (std::int64_t step = 0; step < loop.steps; ++step) {
        const BatchLease batch = loop.next();
        loop.group.progress();
        MetricSums sums;
        if (batch.count() > 0) {
            const auto& full = loop.programs.evaluation;
            const bool isFull = full && full->localBatch == batch.count();
            const Program& program = isFull ? *full : *loop.programs.lastEvaluation;
            const std::size_t which = isFull ? loop.full : loop.last;
            loop.replica.run(which, batch.data(), loop.scalars, 0, loop.ahead());
            sums = sumsOf(loop.replica, which, program, static_cast<double>(batch.count()));
            if (loop.countedClasses > 0 || loop.keptSamples > 0) lookAt(loop, program, batch, total);
        }
        if (loop.meetsEachStep) meetMetrics(sums);
        total.metrics.add(sums);
        if (loop.onStep) loop.onStep(step + 1);
    }
    if (!loop.meetsEachStep) meetMetrics(total.metrics);
    meet(total.answers.sums().data(), total.answers.sums().size(), DType::F64);
    meet(total.samples.data(), total.samples.size(), DType::F32);
    return total;
}

}  // namespace lockstep
