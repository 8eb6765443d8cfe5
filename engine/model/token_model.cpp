#include "engine/model/token_model.h"

#include "engine/model/layers.h"
#include "engine/ops/embedding.h"
#include "engine/ops/rules.h"

namespace lockstep {

namespace {

void expectContext(std::int64_t tokens, int context, std::string_view model) {
    if (tokens <= context) return;
    throw ProblemError(
        {"tokens", "model.sequence-too-long", {std::to_string(tokens), std::string(model), std::to_string(context)}});
}

}  // namespace

ParamSchema tokenModelSchema(std::int64_t layers, std::int64_t context) {
    return {{"layers", layers, 1, 64, {}, "layers", "How many transformer blocks there are."},
            {"width", std::int64_t{256}, 1, 8192, {}, "features", "How many numbers describe each token."},
            {"heads", std::int64_t{4}, 1, 128, {}, "heads", "Into how many heads attention is divided."},
            {kContext, context, 1, 65536, {}, "tokens", "The longest sequence that it takes."}};
}

TokenFeatures tokenFeatures(GraphBuilder& b, ValueId tokens, const TokenModel& model, const ParamValues& params) {
    const auto integer = [&](const char* name) { return static_cast<int>(params.integer(name)); };
    const int width = integer("width"), heads = integer("heads"), context = integer(kContext);
    expectContext(b.typeOf(tokens).shape[1], context, model.id);
    expectAttribute(width % heads == 0, model.id, "heads", std::to_string(heads),
                    "a divisor of the width, " + std::to_string(width));
    const ValueId table = embeddingTable(b, model.vocabulary, width, model.tied, "embedding");
    ValueId x = positionLayer(b, embedding(b, tokens, table, "embedding"), "position", context);
    for (int layer = 1; layer <= integer("layers"); ++layer)
        x = transformerBlock(b, x, {.heads = heads, .causal = model.causal, .lengths = model.lengths},
                             "block" + std::to_string(layer));
    return {layerNormLayer(b, x, "norm"), table};
}

}  // namespace lockstep
