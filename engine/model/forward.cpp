#include <algorithm>
#include <set>

#include "engine/data/batch_layout.h"
#include "engine/model/registry.h"
#include "engine/ops/mixed_loss.h"
#include "engine/ops/pixels.h"

namespace lockstep {

namespace {

void expectAtLeast(std::int64_t low, std::int64_t value, const std::string& field) {
    if (value < low) throw ProblemError({field, "model.bad-input", {std::to_string(value), std::to_string(low)}});
}

void check(const ModelInput& input, ModelTask task) {
    expectAtLeast(1, input.batch, "batch");
    if (task == ModelTask::ImageClasses) {
        expectAtLeast(1, input.channels, "channels");
        expectAtLeast(1, input.height, "height");
        expectAtLeast(1, input.width, "width");
    } else {
        expectAtLeast(1, input.tokens, "tokens");
    }
    expectAtLeast(2, input.classes, "classes");
}

ValueId lambdaInput(GraphBuilder& b, const ModelInput& input) {
    for (const ValueId each : b.graph().withRole(ValueRole::Input))
        if (b.graph().value(each).name == "lambda") return each;
    return b.input("lambda", {{input.batch}, DType::F32});
}

ValueId imagesOfPixels(GraphBuilder& b, const ModelInput& input, bool training) {
    const ModelInput::Pixels& pixels = *input.pixels;
    const std::int64_t recipes = input.mixes ? 2 : 1, channels = input.channels;
    std::vector<ValueId> inputs{b.input("recipe", {{input.batch, recipes * kRecipeNumbers}, DType::I32})};
    if (pixels.kept > 0)
        inputs.push_back(
            b.input(std::string(kKeptImages), {{pixels.kept, channels, input.height, input.width}, DType::U8}));
    else inputs.push_back(b.input("pixels", {{input.batch, recipes * channels, input.height, input.width}, DType::U8}));
    if (training && input.mixes) inputs.push_back(lambdaInput(b, input));
    return pixelsToImages(b, std::move(inputs), {pixels.mean, pixels.deviation, pixels.kept > 0}, "image");
}

ValueId sampleInput(GraphBuilder& b, const ModelInput& input, ModelTask task, bool training) {
    if (task != ModelTask::ImageClasses) return b.input("tokens", {{input.batch, input.tokens}, DType::I32});
    if (input.pixels) return imagesOfPixels(b, input, training);
    return b.input("image", {{input.batch, input.channels, input.height, input.width}, DType::F32});
}

ValueId labelInput(GraphBuilder& b, const ModelInput& input, ModelTask task) {
    if (task == ModelTask::NextTokens) return b.input("targets", {{input.batch, input.tokens}, DType::I32});
    return b.input("label", {{input.batch}, DType::I32});
}

void checkLogits(const ModelEntry& model, const ModelInput& input, const TensorType& logits) {
    TensorType expected{{input.batch, input.classes}, DType::F32};
    if (model.task == ModelTask::NextTokens) expected.shape = {input.batch, input.tokens, input.classes};
    if (logits != expected) throw ProblemError({model.name, "model.wrong-output", {expected.text(), logits.text()}});
}

std::vector<std::string> parameterNames(const Graph& graph) {
    std::vector<std::string> names;
    for (const Value& value : graph.values()) {
        if (value.role == ValueRole::Parameter || value.role == ValueRole::Frozen) names.push_back(value.name);
    }
    return names;
}

// The first parts of all names, each once: "stem, block1, head".
std::string outermostLayers(const std::vector<std::string>& names) {
    std::set<std::string> seen;
    std::string layers;
    for (const std::string& name : names) {
        const std::string layer = name.substr(0, name.find('/'));
        if (seen.insert(layer).second) layers += (layers.empty() ? "" : ", ") + layer;
    }
    return layers;
}

void checkFrozen(const ModelEntry& model, const ModelInput& input, const Graph& graph) {
    const std::vector<std::string> names = parameterNames(graph);
    for (const std::string& layer : input.frozen) {
        const auto isInLayer = [&](const std::string& name) { return isWithin(name, layer); };
        if (std::ranges::any_of(names, isInLayer)) continue;
        throw ProblemError({"frozen", "model.unknown-layer", {layer, model.name, outermostLayers(names)}});
    }
    if (!input.frozen.empty() && graph.withRole(ValueRole::Parameter).empty())
        throw ProblemError({"frozen", "model.nothing-to-train", {model.name}});
}

LossValues lossOf(GraphBuilder& b, ValueId logits, ValueId label, const ModelInput& input, bool training, bool masked) {
    if (!training || !input.mixes) return crossEntropy(b, logits, label, input.labelSmoothing, "loss", masked);
    const Shape batch{input.batch};
    const ValueId other = b.input("label2", {batch, DType::I32});
    return mixedCrossEntropy(b, logits, {label, other, lambdaInput(b, input)}, input.labelSmoothing, "loss", masked);
}

Graph build(const ModelEntry& model, const ParamValues& params, const ModelInput& input, bool training) {
    check(input, model.task);
    GraphBuilder b(training, input.synchronisesNorm, input.frozen);
    const ValueId sample = sampleInput(b, input, model.task, training), label = labelInput(b, input, model.task);
    const ValueId ids = b.input("ids", {{input.batch}, DType::I64});
    const ValueId logits = model.build(b, sample, ids, input, params);
    checkLogits(model, input, b.typeOf(logits));
    checkFrozen(model, input, b.graph());
    const bool masked = model.task == ModelTask::NextTokens || input.mayMiss;
    const LossValues loss = lossOf(b, logits, label, input, training, masked);
    b.graph().addOutput("loss_sum", loss.sum);
    b.graph().addOutput("weight", loss.weight);
    b.graph().addOutput("correct1", topKCount(b, logits, label, 1, "top1", masked));
    if (input.classes > 5) b.graph().addOutput("correct5", topKCount(b, logits, label, 5, "top5", masked));
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
