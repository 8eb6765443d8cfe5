#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "engine/data/dataset.h"
#include "engine/train/checkpoint.h"
#include "engine/train/plan_run.h"

namespace lockstep {

struct ContinueRequest {
    const ResolvedSpec& resolved;  // the checkpoint's spec; its first device writes
    const Checkpoint& checkpoint;
    const DatasetInfo& trained;
    std::string prompt;         // UTF-8, not empty
    std::int64_t length = 200;  // bytes
    double temperature = 0.8;   // 0: the likeliest byte
    std::int64_t most = 0;      // drawn from so many of the likeliest bytes; 0: from all
    std::uint64_t seed = 1;
    std::function<bool(std::string_view)> onBytes;  // whole characters, as they come; false: enough
};
// Lets a model that foretells bytes go on with a prompt; returns what it wrote, less where its logits are no numbers.
// Throws EngineError, and ProblemError as requirePrompt() does.
std::string continueText(const ContinueRequest& request);
// Throws ProblemError: "predict.no-text", the model foretells no bytes; "text.not-utf8".
void requirePrompt(const ResolvedSpec& resolved, const std::string& prompt);

}  // namespace lockstep
