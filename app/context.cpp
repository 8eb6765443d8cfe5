#include "app/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "app/listing.h"
#include "app/measured_precision.h"
#include "engine/train/open_data.h"

namespace lockstep {

namespace {

constexpr std::array kNotFoundCodes = {"trial.unknown", "preset.unknown", "model.unknown", "dataset.unknown",
                                       "group.unknown"};

bool isNotFound(const Problem& problem) {
    return std::ranges::find(kNotFoundCodes, problem.code) != kNotFoundCodes.end();
}

int statusOf(const std::vector<Problem>& problems) {
    if (isCancelled(problems)) return kStopped;
    return !problems.empty() && isNotFound(problems.front()) ? kNotFound : kBadRequest;
}

}  // namespace

int Context::report(const std::vector<Problem>& problems) const {
    fmt::print(stderr, "{}", m_words.report(problems));
    if (m_json) fmt::print("{}\n", lineOf({{"problems", problemsJson(problems, m_words)}}));
    return statusOf(problems);
}

void Context::choosePrecision(ResolvedSpec& resolved, const DatasetInfo& data) const {
    const TrialSpec& spec = resolved.spec;
    const ModelInput input = modelInput(*resolved.model, data, spec.batch, spec.labelSmoothing);
    if (const auto chosen = choosePrecisionShown(resolved, input))
        fmt::print(stderr, "{}\n", m_words.what(chosen->words));
}

}  // namespace lockstep
