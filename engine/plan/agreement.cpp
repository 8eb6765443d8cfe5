#include "engine/plan/agreement.h"

#include <algorithm>

#include "engine/core/error.h"

namespace lockstep {

namespace {

std::vector<std::string> collectivesOf(const Program& program) {
    std::vector<std::string> collectives;
    for (const Step& step : program.steps) {
        if (step.kind != Step::Kind::AllReduce) continue;
        collectives.push_back(step.name + " of " + std::to_string(step.count) + ' ' + std::string(text(step.dtype)));
    }
    return collectives;
}

}  // namespace

void requireSameCollectives(const Program& nominal, const Program& other) {
    std::vector<std::string> first = collectivesOf(nominal), second = collectivesOf(other);
    first.push_back("none");
    second.push_back("none");
    const auto [expected, found] = std::ranges::mismatch(first, second);
    if (expected == first.end()) return;
    throw EngineError(EngineError::Kind::Internal, "collectives",
                      "a rank of " + std::to_string(nominal.localBatch) + " samples does " + *expected +
                          " where one of " + std::to_string(other.localBatch) + " does " + *found);
}

}  // namespace lockstep
