#include "engine/ops/embedding.h"

#include "engine/graph/gradient_context.h"
#include "engine/ops/rules.h"

namespace lockstep {

namespace {

using Types = std::span<const TensorType>;

void expectTokens(std::string_view op, const TensorType& tokens) {
    if (tokens.dtype != DType::I32 || tokens.shape.rank() != 2)
        refuse("graph.type-mismatch", {std::string(op), "tokens", "i32 of rank 2", tokens.text()});
}

std::vector<TensorType> inferEmbedding(Types in, const Attrs&) {
    constexpr std::string_view op = "embedding";
    expectInputs(op, in, 2);
    expectTokens(op, in[0]);
    expectFloat(op, "table", in[1], 2);
    return {{{in[0].shape[0], in[0].shape[1], in[1].shape[1]}, in[1].dtype}};
}

std::vector<TensorType> inferEmbeddingBackward(Types in, const Attrs& attrs) {
    constexpr std::string_view op = "embedding_backward";
    expectInputs(op, in, 2);
    expectTokens(op, in[0]);
    expectFloat(op, "dy", in[1], 3);
    expectType(op, "dy", in[1], {{in[0].shape[0], in[0].shape[1], in[1].shape[2]}, in[1].dtype});
    return {{{attrs.as<EmbeddingBackwardAttrs>().vocabulary, in[1].shape[2]}, in[1].dtype}};
}

void embeddingGradient(GradientContext& context) {
    const EmbeddingBackwardAttrs attrs{context.graph().typeOf(context.input(1)).shape[0]};
    const std::vector<ValueId> inputs{context.input(0), *context.outputGradient(0)};
    context.setInputGradient(1, context.append(kEmbeddingBackward, inputs, Attrs::of(attrs))[0]);
}

}  // namespace

std::string describe(const EmbeddingBackwardAttrs& attrs) { return "vocabulary=" + std::to_string(attrs.vocabulary); }

constinit const OpDef kEmbedding{.name = "embedding", .infer = inferEmbedding, .gradient = embeddingGradient};
constinit const OpDef kEmbeddingBackward{.name = "embedding_backward", .infer = inferEmbeddingBackward};

ValueId embedding(GraphBuilder& b, ValueId tokens, ValueId table, const std::string& name) {
    return b.append(kEmbedding, {tokens, table}, {}, name)[0];
}

}  // namespace lockstep
