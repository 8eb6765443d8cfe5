#include "engine/model/registry.h"
#include "engine/ops/loss.h"

namespace lockstep {

namespace {

void expectAtLeast(std::int64_t low, std::int64_t value, const std::string& field) {
    if (value < low) throw ProblemError({field, "model.bad-input", {std::to_string(value), std::to_string(low)}});
}

void check(const ModelInput& input) {
    expectAtLeast(1, input.batch, "batch");
    expectAtLeast(1, input.channels, "channels");
    expectAtLeast(1, input.height, "height");
    expectAtLeast(1, input.width, "width");
    expectAtLeast(2, input.classes, "classes");
}

void checkLogits(const ModelEntry& model, const ModelInput& input, const TensorType& logits) {
    const TensorType expected{{input.batch, input.classes}, DType::F32};
    if (logits != expected) throw ProblemError({model.name, "model.wrong-output", {expected.text(), logits.text()}});
}

Graph build(const ModelEntry& model, const ParamValues& params, const ModelInput& input, bool training) {
    check(input);
    GraphBuilder b(training, input.synchronisesNorm);
    const Shape batch{input.batch};
    const ValueId image = b.input("image", {{input.batch, input.channels, input.height, input.width}, DType::F32});
    const ValueId label = b.input("label", {batch, DType::I32});
    const ValueId ids = b.input("ids", {batch, DType::I64});
    const ValueId logits = model.build(b, image, ids, input, params);
    checkLogits(model, input, b.typeOf(logits));
    const LossValues loss = crossEntropy(b, logits, label, input.labelSmoothing, "loss");
    b.graph().addOutput("loss_sum", loss.sum);
    b.graph().addOutput("weight", loss.weight);
    b.graph().addOutput("correct1", topKCount(b, logits, label, 1, "top1"));
    if (input.classes > 5) b.graph().addOutput("correct5", topKCount(b, logits, label, 5, "top5"));
    b.graph().addOutput("logits", logits);
    Graph graph = b.take();
    verify(graph);
    return graph;
}

}  // namespace

Result<Graph> buildForward(const ModelEntry& model, const ParamValues& params, const ModelInput& input, bool training) {
    try {
        return build(model, params, input, training);
    } catch (const ProblemError& error) {
        Problem problem = error.problem();
        if (problem.field.empty()) problem.field = model.name;
        return problem;
    }
}

}  // namespace lockstep
