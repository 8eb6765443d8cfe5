#include "ui/evaluate/sample_lists.h"

#include <algorithm>
#include <numeric>

namespace lockstep::ui {

namespace {

float confidence(const LabelledAnswer& answer) { return answer.answer.probabilities[0]; }

template <class Wanted>
SampleList surestFirst(std::span<const LabelledAnswer> answers, Wanted wanted) {
    SampleList list;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (wanted(answers[i])) list.push_back(static_cast<std::int64_t>(i));
    }
    std::ranges::stable_sort(list, std::ranges::greater{},
                             [&](std::int64_t i) { return confidence(answers[static_cast<std::size_t>(i)]); });
    return list;
}

bool areSameSamples(const Evaluation& first, const Evaluation& second) {
    const auto label = [](const LabelledAnswer& answer) { return answer.label; };
    return first.data == second.data && first.split == second.split && !first.answers.empty() &&
           std::ranges::equal(first.answers, second.answers, {}, label, label);
}

}  // namespace

bool isRight(const LabelledAnswer& answer) { return answer.label >= 0 && answer.answer.classes[0] == answer.label; }

SampleList samplesOfCell(std::span<const LabelledAnswer> answers, std::int64_t label, std::int64_t answer) {
    return surestFirst(
        answers, [=](const LabelledAnswer& each) { return each.label == label && each.answer.classes[0] == answer; });
}

SampleList mistakes(std::span<const LabelledAnswer> answers, std::optional<std::int64_t> label) {
    return surestFirst(answers, [=](const LabelledAnswer& each) {
        return each.answer.classes[0] >= 0 && !isRight(each) && (!label || each.label == *label);
    });
}

std::optional<BothAnswers> compareAnswers(const Evaluation& first, const Evaluation& second) {
    if (!areSameSamples(first, second)) return std::nullopt;
    BothAnswers both;
    for (const std::int64_t at : surestFirst(first.answers, [](const auto&) { return true; })) {
        const auto i = static_cast<std::size_t>(at);
        const bool one = isRight(first.answers[i]), other = isRight(second.answers[i]);
        if (one) (other ? both.bothRight : both.onlyFirst).push_back(at);
        else if (!other) both.bothWrong.push_back(at);
    }
    for (const std::int64_t at : surestFirst(second.answers, isRight)) {
        if (!isRight(first.answers[static_cast<std::size_t>(at)])) both.onlySecond.push_back(at);
    }
    return both;
}

std::vector<std::int64_t> classesInOrder(const ConfusionMatrix& matrix, ClassOrder order, std::size_t most) {
    std::vector<std::int64_t> classes(static_cast<std::size_t>(matrix.classes()));
    std::iota(classes.begin(), classes.end(), std::int64_t{0});
    const auto wrong = [&](std::int64_t id) {
        return matrix.ofClass(id) + matrix.answered(id) - 2 * matrix.at(id, id);
    };
    if (order == ClassOrder::MostConfused) {
        std::vector<std::int64_t> sums;
        for (const std::int64_t id : classes) sums.push_back(wrong(id));
        std::ranges::stable_sort(classes, std::ranges::greater{},
                                 [&](std::int64_t id) { return sums[static_cast<std::size_t>(id)]; });
    }
    if (most > 0 && classes.size() > most) classes.resize(most);
    return classes;
}

}  // namespace lockstep::ui
