#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/data/batch_layout.h"
#include "engine/spec/evaluation.h"

namespace lockstep {

// Of a row of logits; empty where they are no numbers.
std::optional<Answer> answerOf(std::span<const float> logits);

// The rows of logits [samples, classes], whatever they were computed in.
class LogitRows {
public:
    explicit LogitRows(HostTensor logits);
    std::size_t count() const { return static_cast<std::size_t>(m_logits.type().shape[0]); }
    std::span<const float> operator[](std::size_t row) const;

private:
    HostTensor m_logits;  // f32
};

// Counts answers class by class. Sums, which those of other ranks may be added to; all of them are whole numbers, also
// confidences, of which there are 2^24 to the one: their order does not matter.
class AnswerSums {
public:
    static constexpr std::size_t kBins = 15;

    explicit AnswerSums(std::int64_t classes);  // 0: nothing is counted
    std::int64_t classes() const { return m_classes; }
    void add(std::int32_t label, const Answer& answer);
    std::span<double> sums() { return m_sums; }
    EvalCounts counts() const;  // without step and epoch

private:
    std::span<double> bins(std::size_t which) {
        return std::span(m_sums).subspan(static_cast<std::size_t>(m_classes * m_classes) + which * kBins, kBins);
    }

    std::int64_t m_classes;
    std::vector<double> m_sums;  // the confusion matrix, then by bin: samples, right ones, confidences
};

}  // namespace lockstep
