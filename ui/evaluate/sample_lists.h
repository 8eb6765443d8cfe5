#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/spec/evaluation.h"

namespace lockstep::ui {

// Samples of an evaluation by their places, those of which the model was surest first.
using SampleList = std::vector<std::int64_t>;

bool isRight(const LabelledAnswer& answer);  // false also of one without an answer
// Of the class, taken for the answer.
SampleList samplesOfCell(std::span<const LabelledAnswer> answers, std::int64_t label, std::int64_t answer);
// Taken for another class than theirs; of the class alone where there is one.
SampleList mistakes(std::span<const LabelledAnswer> answers, std::optional<std::int64_t> label = std::nullopt);

// Two models, or one at two times, asked about the same samples. Sorted by how sure the first was, or, of `onlySecond`,
// the second.
struct BothAnswers {
    SampleList bothRight, onlyFirst, onlySecond, bothWrong;
};
// Empty where they were not asked about the same samples.
std::optional<BothAnswers> compareAnswers(const Evaluation& first, const Evaluation& second);

// Which classes a matrix shows, in which order.
enum class ClassOrder { AsTheyAre, MostConfused };
// MostConfused: those first that have the most mistakes in their row and column; equal ones as they are. `most`: how
// many of them; 0: all.
std::vector<std::int64_t> classesInOrder(const ConfusionMatrix& matrix, ClassOrder order, std::size_t most = 0);

}  // namespace lockstep::ui
