#pragma once
#include <optional>
#include <string>

#include "engine/autodiff/gradients.h"
#include "engine/ops/activation.h"
#include "engine/ops/attention.h"
#include "engine/ops/batch_norm.h"
#include "engine/ops/conv2d.h"
#include "engine/ops/dense.h"
#include "engine/ops/dropout.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/layer_norm.h"
#include "engine/ops/loss.h"
#include "engine/ops/pool2d.h"
#include "engine/ops/synchronised_norm.h"
#include "engine/ops/tokens.h"

namespace lockstep::test {

// Writes a small network in one element type, naming parameters in order.
class Net {
public:
    Net(DType compute, bool training, const Shape& image, bool synchronises = false)
        : m_builder(training, synchronises), m_compute(compute) {
        m_image = m_builder.input("image", {image, compute});
        m_labels = m_builder.input("label", {{image[0]}, DType::I32});
        m_ids = m_builder.input("ids", {{image[0]}, DType::I64});
    }

    ValueId image() const { return m_image; }

    ValueId conv(ValueId x, std::int64_t channels, int window, const Conv2dAttrs& attrs, bool hasBias = false) {
        const std::string name = next("conv");
        const std::int64_t in = m_builder.typeOf(x).shape[1] / attrs.groups;
        const ValueId w = parameter(name + "/weight", {channels, in, window, window});
        std::optional<ValueId> bias;
        if (hasBias) bias = parameter(name + "/bias", {channels});
        return conv2d(m_builder, x, w, bias, attrs, name);
    }

    ValueId norm(ValueId x) {
        const std::string name = next("norm");
        const Shape channels{m_builder.typeOf(x).shape[1]};
        const ValueId gamma = parameter(name + "/gamma", channels), beta = parameter(name + "/beta", channels);
        const TensorType type{channels, m_compute};
        const ValueId mean = m_builder.graph().addBuffer(name + "/mean", type, {});
        const ValueId variance = m_builder.graph().addBuffer(name + "/variance", type, {});
        const auto norm = m_builder.synchronises() ? synchronisedNorm : batchNorm;
        return norm(m_builder, x, gamma, beta, mean, variance, {}, name);
    }

    ValueId dense(ValueId x, std::int64_t out) {
        const std::string name = next("dense");
        const ValueId w = parameter(name + "/weight", {out, m_builder.typeOf(x).shape[1]});
        return lockstep::dense(m_builder, x, w, parameter(name + "/bias", {out}), name);
    }

    ValueId rowsDense(ValueId x, std::int64_t out) {
        const Shape shape = m_builder.typeOf(x).shape;
        const ValueId y = dense(reshape(m_builder, x, {shape[0] * shape[1], shape[2]}, next("rows")), out);
        return reshape(m_builder, y, {shape[0], shape[1], out}, next("tokens"));
    }

    ValueId layerNorm(ValueId x) {
        const std::string name = next("norm");
        const Shape features{m_builder.typeOf(x).shape[-1]};
        const ValueId gamma = parameter(name + "/gamma", features), beta = parameter(name + "/beta", features);
        return lockstep::layerNorm(m_builder, x, gamma, beta, {}, name);
    }

    ValueId tokens(ValueId image) {
        const ValueId x = pixelsToTokens(m_builder, image, next("tokens"));
        const Shape row(m_builder.typeOf(x).shape.dims().subspan(1));
        return broadcastAdd(m_builder, x, parameter("positions", row), next("positions"));
    }

    ValueId attention(ValueId x, int heads, bool causal) {
        const ValueId qkv = rowsDense(x, 3 * m_builder.typeOf(x).shape[2]);
        return lockstep::attention(m_builder, qkv, std::nullopt, {heads, causal}, next("attention"));
    }
    ValueId gelu(ValueId x) { return lockstep::gelu(m_builder, x, next("gelu")); }
    ValueId silu(ValueId x) { return lockstep::silu(m_builder, x, next("silu")); }
    ValueId tokenMean(ValueId x) { return lockstep::tokenMean(m_builder, x, next("mean")); }

    ValueId relu(ValueId x) { return lockstep::relu(m_builder, x, next("relu")); }
    ValueId relu6(ValueId x) { return lockstep::relu6(m_builder, x, next("relu6")); }
    ValueId add(ValueId x, ValueId y) { return lockstep::add(m_builder, x, y, next("add")); }
    ValueId dropout(ValueId x, double rate) { return lockstep::dropout(m_builder, x, m_ids, rate, next("dropout")); }
    ValueId flatten(ValueId x) { return lockstep::flatten(m_builder, x, next("flatten")); }
    ValueId maxPool(ValueId x, const Pool2dAttrs& attrs = {}) { return maxPool2d(m_builder, x, attrs, next("max")); }
    ValueId averagePool(ValueId x, const Pool2dAttrs& attrs) {
        return averagePool2d(m_builder, x, attrs, next("average"));
    }
    ValueId globalPool(ValueId x) { return globalAveragePool2d(m_builder, x, next("global")); }

    Graph finish(ValueId logits, double smoothing = 0) {
        const LossValues loss = crossEntropy(m_builder, logits, m_labels, smoothing, "loss");
        Graph& graph = m_builder.graph();
        graph.addOutput("loss_sum", loss.sum);
        graph.addOutput("weight", loss.weight);
        graph.addOutput("logits", logits);
        graph.addOutput("correct1", topKCount(m_builder, logits, m_labels, 1, "top1"));
        if (m_builder.training()) appendGradients(graph, loss.sum);
        return m_builder.take();
    }

private:
    ValueId parameter(const std::string& name, const Shape& shape) {
        return m_builder.graph().addParameter(name, {shape, m_compute}, {}, true);
    }
    std::string next(const std::string& kind) { return kind + std::to_string(++m_count); }

    GraphBuilder m_builder;
    DType m_compute;
    ValueId m_image{}, m_labels{}, m_ids{};
    int m_count = 0;
};

}  // namespace lockstep::test
