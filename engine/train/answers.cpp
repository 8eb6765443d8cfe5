#include "engine/train/answers.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/core/half.h"

namespace lockstep {

namespace {

constexpr double kConfidenceSteps = 1 << 24;

HostTensor asFloats(HostTensor logits) {
    logits = widened(std::move(logits));
    if (logits.type().dtype == DType::F32) return logits;
    HostTensor floats({logits.type().shape, DType::F32});
    std::ranges::transform(std::as_const(logits).as<double>(), floats.as<float>().begin(),
                           [](double x) { return static_cast<float>(x); });
    return floats;
}

}  // namespace

std::optional<Answer> answerOf(std::span<const float> logits) {
    if (std::ranges::any_of(logits, [](float z) { return std::isnan(z); })) return std::nullopt;
    Answer answer;
    std::size_t found = 0;
    for (std::size_t c = 0; c < logits.size(); ++c) {
        std::size_t place = found;
        while (place > 0 && logits[static_cast<std::size_t>(answer.classes[place - 1])] < logits[c]) --place;
        if (place == Answer::kClasses) continue;
        found = std::min(found + 1, Answer::kClasses);
        std::shift_right(answer.classes.begin() + static_cast<std::ptrdiff_t>(place), answer.classes.end(), 1);
        answer.classes[place] = static_cast<std::int32_t>(c);
    }
    const double largest = found > 0 ? logits[static_cast<std::size_t>(answer.classes[0])] : 0;
    if (!std::isfinite(largest)) return std::nullopt;
    double sum = 0;
    for (const float z : logits) sum += std::exp(z - largest);
    for (std::size_t i = 0; i < found; ++i)
        answer.probabilities[i] =
            static_cast<float>(std::exp(logits[static_cast<std::size_t>(answer.classes[i])] - largest) / sum);
    return answer;
}

LogitRows::LogitRows(HostTensor logits) : m_logits(asFloats(std::move(logits))) {}

std::span<const float> LogitRows::operator[](std::size_t row) const {
    const auto width = static_cast<std::size_t>(m_logits.type().shape[1]);
    return m_logits.as<float>().subspan(row * width, width);
}

AnswerSums::AnswerSums(std::int64_t classes)
    : m_classes(classes), m_sums(classes > 0 ? static_cast<std::size_t>(classes * classes) + 3 * kBins : 0) {}

void AnswerSums::add(std::int32_t label, const Answer& answer) {
    if (m_classes == 0 || label < 0 || label >= m_classes) return;
    const double confidence = answer.probabilities[0];
    const auto bin = static_cast<std::size_t>(std::clamp(std::ceil(confidence * kBins), 1.0, double{kBins})) - 1;
    m_sums[static_cast<std::size_t>(label * m_classes + answer.classes[0])] += 1;
    bins(0)[bin] += 1;
    bins(1)[bin] += answer.classes[0] == label ? 1 : 0;
    bins(2)[bin] += std::round(confidence * kConfidenceSteps);
}

EvalCounts AnswerSums::counts() const {
    EvalCounts counts;
    counts.classes = m_classes;
    const auto matrix = static_cast<std::size_t>(m_classes * m_classes);
    const auto whole = [this](std::size_t i) { return static_cast<std::int64_t>(m_sums[i]); };
    for (std::size_t i = 0; i < matrix; ++i) {
        const auto cell = static_cast<std::int64_t>(i);
        if (whole(i) > 0) counts.cells.insert(counts.cells.end(), {cell / m_classes, cell % m_classes, whole(i)});
    }
    for (std::size_t bin = 0; bin < kBins && m_classes > 0; ++bin) {
        counts.binSamples.push_back(whole(matrix + bin));
        counts.binCorrect.push_back(whole(matrix + kBins + bin));
        counts.binConfidence.push_back(m_sums[matrix + 2 * kBins + bin] / kConfidenceSteps);
    }
    return counts;
}

}  // namespace lockstep
