#include "tests/plan/sample_programs.h"

#include "engine/backend/null/null_backend.h"
#include "engine/core/error.h"
#include "engine/model/layers.h"
#include "engine/model/registry.h"
#include "engine/ops/dense.h"
#include "engine/ops/dropout.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/loss.h"

namespace lockstep::sample {

namespace {

struct Inputs {
    ValueId image, label, ids;
};

Inputs inputs(GraphBuilder& b, std::int64_t batch) {
    return {b.input("image", {{batch, kChannels, kExtent, kExtent}, DType::F32}),
            b.input("label", {{batch}, DType::I32}), b.input("ids", {{batch}, DType::I64})};
}

Graph withLoss(GraphBuilder& b, ValueId logits, ValueId label) {
    const LossValues loss = crossEntropy(b, logits, label, 0, "loss");
    b.graph().addOutput("loss_sum", loss.sum);
    b.graph().addOutput("weight", loss.weight);
    b.graph().addOutput("correct1", topKCount(b, logits, label, 1, "top1"));
    b.graph().addOutput("logits", logits);
    return b.take();
}

ValueId layer(GraphBuilder& b, int code, ValueId x, ValueId ids, const std::string& name) {
    const bool poolable = b.typeOf(x).shape[2] >= 2 && b.typeOf(x).shape[3] >= 2;
    switch (code) {
        case 0: return convLayer(b, x, {.out = 4, .bias = true}, name);
        case 1: return batchNormLayer(b, x, name);
        case 2: return relu(b, x, name);
        case 3: return dropout(b, x, ids, 0.3, name);
        case 4: return poolable ? maxPool2d(b, x, {}, name) : x;
        case 5: return poolable ? averagePool2d(b, x, {}, name) : x;
        case 6: return add(b, relu(b, x, name), x, name);
        default: return add(b, x, x, name);
    }
}

class PaddedLayout final : public Layout {
public:
    PaddedLayout(std::size_t bytes, std::size_t block) : m_bytes((bytes + block - 1) / block * block), m_block(block) {}
    std::size_t bytes() const override { return m_bytes; }
    std::string text() const override { return "padded" + std::to_string(m_block); }

private:
    std::size_t m_bytes, m_block;
};

class SampleBackend final : public Backend {
public:
    explicit SampleBackend(const Traits& traits) : m_traits(traits), m_null(makeNullBackend()) {}

    std::string_view name() const override { return "sample"; }
    std::vector<DeviceInfo> devices() const override { return m_null->devices(); }
    DType computeType(Precision) const override { return m_traits.compute; }
    bool hostMemory() const override { return m_traits.hostMemory; }
    std::unique_ptr<Device> open(const DeviceChoice& choice) const override { return m_null->open(choice); }

    Graph lower(const Graph& graph, const LowerOptions& options) const override {
        Graph lowered = graph;
        if (!m_traits.padsWeights) return lowered;
        for (const ValueId id : lowered.withRole(ValueRole::Parameter)) {
            if (lowered.typeOf(id).shape.rank() < 2) continue;
            const auto layout = layoutOf(lowered, id, options);
            lowered.setLayout(id, layout);
            if (const auto gradient = lowered.gradientOf(id)) lowered.setLayout(*gradient, layout);
        }
        return lowered;
    }

private:
    std::shared_ptr<const Layout> layoutOf(const Graph& graph, ValueId id, const LowerOptions& options) const {
        const Value& value = graph.value(id);
        if (options.layouts && !m_traits.forgetsLayouts) return options.layouts->find(value.name)->second;
        const auto block = m_traits.forgetsLayouts ? static_cast<std::size_t>(batchOf(graph)) * 1024 : 1024;
        return std::make_shared<PaddedLayout>(value.type.bytes(), block);
    }

    Traits m_traits;
    std::unique_ptr<Backend> m_null;
};

}  // namespace

Graph model(const std::string& name, std::int64_t batch, bool training, bool synchronises,
            const std::vector<std::string>& frozen) {
    const ModelEntry* entry = findModel(builtinModels(), name);
    ModelInput input{batch, kChannels, kExtent, kExtent, kClasses, 0, synchronises};
    input.frozen = frozen;
    return buildForward(*entry, ParamValues(entry->params), input, training).value();
}

Graph fromCodes(const std::vector<int>& codes, std::int64_t batch, bool training, bool synchronises) {
    GraphBuilder b(training, synchronises);
    const auto [image, label, ids] = inputs(b, batch);
    ValueId x = image;
    for (std::size_t i = 0; i < codes.size(); ++i) x = layer(b, codes[i], x, ids, "layer" + std::to_string(i));
    return withLoss(b, denseLayer(b, flatten(b, x, "flatten"), kClasses, "head"), label);
}

Graph sharedGradient(std::int64_t batch) {
    GraphBuilder b(true);
    const auto [image, label, ids] = inputs(b, batch);
    const ValueId matrix = b.parameter("matrix", {batch, kClasses}, {}, true);
    const ValueId flat = b.parameter("flat", {batch * kClasses}, {}, true);
    const ValueId reshaped = b.append(kReshape, {flat}, Attrs::of(ShapeAttrs{{batch, kClasses}}), "reshape")[0];
    const ValueId x = denseLayer(b, flatten(b, image, "flatten"), kClasses, "head");
    return withLoss(b, add(b, add(b, denseLayer(b, x, kClasses, "tail"), matrix, "add1"), reshaped, "add2"), label);
}

Graph rectifiedWeights(std::int64_t batch, bool training) {
    GraphBuilder b(training);
    const auto [image, label, ids] = inputs(b, batch);
    constexpr std::int64_t kFeatures = kChannels * kExtent * kExtent;
    const auto weights = [&](const std::string& name, std::int64_t rows) {
        return relu(b, b.parameter(name, {rows, kFeatures}, {}, true), name);
    };
    const ValueId x = flatten(b, image, "flatten");
    const ValueId hidden = relu(b, dense(b, x, weights("first", kFeatures), std::nullopt, "body"), "relu");
    return withLoss(b, dense(b, hidden, weights("second", kClasses), std::nullopt, "head"), label);
}

UpdateRule averaging() {
    UpdateRule rule;
    rule.averageDecay = 0.999;
    return rule;
}

BatchLayout batchLayout(std::int64_t capacity) {
    return BatchLayout({{"image", {{kChannels, kExtent, kExtent}, DType::F32}},
                        {"label", {{1}, DType::I32}},
                        {"ids", {{1}, DType::I64}}},
                       capacity);
}

std::unique_ptr<Backend> backend(const Traits& traits) { return std::make_unique<SampleBackend>(traits); }

Program training(const Graph& forward, const CompileOptions& options, const Traits& traits, const UpdateRule& rule) {
    return compileTraining({&forward}, *backend(traits), rule, batchLayout(batchOf(forward) + 1), options);
}

Program evaluation(const Graph& forward, const CompileOptions& options, const Traits& traits) {
    return compileEvaluation({&forward}, *backend(traits), batchLayout(batchOf(forward) + 1), options);
}

std::int64_t batchOf(const Graph& forward) { return forward.typeOf(*forward.find("image")).shape[0]; }

}  // namespace lockstep::sample
