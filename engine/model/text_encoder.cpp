#include "engine/model/architectures.h"
#include "engine/model/layers.h"
#include "engine/model/token_model.h"
#include "engine/ops/tokens.h"

namespace lockstep {

namespace {

// Devlin et al., arXiv 1810.04805, over bytes, with norms first, and the mean of the tokens instead of a class token.
ValueId buildTextEncoder(GraphBuilder& b, ValueId tokens, ValueId, const ModelInput& input, const ParamValues& params) {
    const ValueId lengths = b.input("length", {{input.batch}, DType::I32});
    const ValueId x = tokenFeatures(b, tokens, {.id = "text-encoder", .lengths = lengths}, params).x;
    return denseLayer(b, sequenceMean(b, x, lengths, "mean"), input.classes, "head");
}

}  // namespace

ModelEntry textEncoderModel() {
    return {.name = "text-encoder",
            .meaning = "Transformer that reads a text in both directions and tells its class.",
            .params = tokenModelSchema(4, 512),
            .build = buildTextEncoder,
            .usual = {.classes = 4, .tokens = 128},
            .task = ModelTask::TextClasses};
}

}  // namespace lockstep
