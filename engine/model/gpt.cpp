#include "engine/model/architectures.h"
#include "engine/model/layers.h"
#include "engine/model/token_model.h"

namespace lockstep {

namespace {

// Radford et al., "Language models are unsupervised multitask learners", 2019, over bytes.
ValueId buildGpt(GraphBuilder& b, ValueId tokens, ValueId, const ModelInput& input, const ParamValues& params) {
    const bool tied = params.flag("tied");
    const TokenModel model{.id = "gpt", .vocabulary = input.classes, .tied = tied, .causal = true};
    const auto [x, table] = tokenFeatures(b, tokens, model, params);
    return tied ? tiedLayer(b, x, table, "head") : denseLayer(b, x, input.classes, "head", false);
}

}  // namespace

ModelEntry gptModel() {
    ParamSchema params = tokenModelSchema(6, 128);
    params.push_back({"tied", true, {}, {}, {}, "", "Whether the head is the embedding's own table."});
    return {.name = "gpt",
            .meaning = "Causal transformer that predicts each next byte of a text.",
            .params = std::move(params),
            .build = buildGpt,
            .usual = {.classes = kByteTokens, .tokens = 128},
            .task = ModelTask::NextTokens};
}

}  // namespace lockstep
