#include "engine/plugin/plugin_probe.h"
#include "tests/fuzz/targets/targets.h"

namespace lockstep::fuzz {

bool runPluginAnswer(Input input) {
    const auto answer = answerFrom({reinterpret_cast<const char*>(input.data()), input.size()}, "file");
    require(answer.ok() || !answer.problems().front().code.empty(), "a refusal has a code");
    return answer.ok();
}

}  // namespace lockstep::fuzz
