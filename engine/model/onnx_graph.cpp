#include "engine/model/onnx_graph.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "engine/core/error.h"
#include "engine/core/proto_writer.h"
#include "engine/ops/all_ops.h"

namespace lockstep {

namespace {

using Ints = std::vector<std::int64_t>;
using Names = std::vector<std::string>;

constexpr std::int64_t kIrVersion = 7, kOpset = 13;
enum class OnnxType : std::int64_t { Float = 1, Int32 = 6, Int64 = 7 };

OnnxType typeOf(DType dtype) { return dtype == DType::I32 ? OnnxType::Int32 : OnnxType::Float; }

// AttributeProto: name 1, f 2, i 3, ints 8, type 20.
struct Attribute {
    static ProtoWriter whole(const char* name, std::int64_t value) {
        ProtoWriter out;
        out.bytes(1, name);
        out.integer(3, value);
        out.integer(20, 2);
        return out;
    }
    static ProtoWriter number(const char* name, double value) {
        ProtoWriter out;
        out.bytes(1, name);
        out.number(2, static_cast<float>(value));
        out.integer(20, 1);
        return out;
    }
    static ProtoWriter wholes(const char* name, const Ints& values) {
        ProtoWriter out;
        out.bytes(1, name);
        out.integers(8, values);
        out.integer(20, 7);
        return out;
    }
};
using Attributes = std::vector<ProtoWriter>;

// GraphProto: node 1, name 2, initializer 5, input 11, output 12.
class OnnxWriter {
public:
    // NodeProto: input 1, output 2, name 3, op_type 4, attribute 5. Returns the output.
    std::string node(const char* op, const Names& inputs, const std::string& output,
                     const Attributes& attributes = {}) {
        return nodes(op, inputs, {output}, attributes).front();
    }
    Names nodes(const char* op, const Names& inputs, const Names& outputs, const Attributes& attributes = {}) {
        ProtoWriter out;
        for (const std::string& each : inputs) out.bytes(1, each);
        for (const std::string& each : outputs) out.bytes(2, each);
        out.bytes(3, outputs.front());
        out.bytes(4, op);
        for (const ProtoWriter& each : attributes) out.message(5, each);
        m_nodes.push_back(std::move(out));
        return outputs;
    }

    // TensorProto: dims 1, data_type 2, name 8, raw_data 9.
    std::string floats(const std::string& name, const Ints& dims, std::span<const float> values) {
        return initializer(name, dims, OnnxType::Float, std::as_bytes(values));
    }
    std::string wholes(const std::string& name, const Ints& values) {
        return initializer(name, {static_cast<std::int64_t>(values.size())}, OnnxType::Int64,
                           std::as_bytes(std::span(values)));
    }
    std::string scalar(const std::string& name, float value) { return floats(name, {}, {&value, 1}); }

    void input(const std::string& name, OnnxType type, const Shape& one) {
        m_inputs.push_back(described(name, type, one));
    }
    void output(const std::string& name, const Shape& one) {
        m_outputs.push_back(described(name, OnnxType::Float, one));
    }

    ProtoWriter graph(const std::string& name) const {
        ProtoWriter out;
        for (const ProtoWriter& each : m_nodes) out.message(1, each);
        out.bytes(2, name);
        for (const ProtoWriter& each : m_initializers) out.message(5, each);
        for (const ProtoWriter& each : m_inputs) out.message(11, each);
        for (const ProtoWriter& each : m_outputs) out.message(12, each);
        return out;
    }

private:
    std::string initializer(const std::string& name, const Ints& dims, OnnxType type,
                            std::span<const std::byte> bytes) {
        if (!m_known.insert(name).second) return name;
        ProtoWriter out;
        out.integers(1, dims);
        out.integer(2, static_cast<std::int64_t>(type));
        out.bytes(8, name);
        out.bytes(9, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        m_initializers.push_back(std::move(out));
        return name;
    }

    // ValueInfoProto: name 1, type 2; TypeProto: tensor_type 1; Tensor: elem_type 1, shape 2; shape: dim 1; Dimension:
    // dim_value 1, dim_param 2. The first extent is the number of samples.
    static ProtoWriter described(const std::string& name, OnnxType type, const Shape& one) {
        ProtoWriter shape, tensor, typed, out;
        for (int axis = 0; axis < one.rank(); ++axis) {
            ProtoWriter extent;
            if (axis == 0) extent.bytes(2, "N");
            else extent.integer(1, one[axis]);
            shape.message(1, extent);
        }
        tensor.integer(1, static_cast<std::int64_t>(type));
        tensor.message(2, shape);
        typed.message(1, tensor);
        out.bytes(1, name);
        out.message(2, typed);
        return out;
    }

    std::vector<ProtoWriter> m_nodes, m_initializers, m_inputs, m_outputs;
    std::set<std::string> m_known;
};

Ints wide(const std::array<int, 2>& pair) { return {pair[0], pair[1]}; }
Ints padsOf(const std::array<int, 2>& padding) { return {padding[0], padding[1], padding[0], padding[1]}; }

Graph forwardOf(const OnnxRequest& request, std::int64_t batch) {
    ModelInput input = request.input;
    input.batch = batch;
    input.labelSmoothing = 0;
    input.pixels.reset();
    auto forward = buildForward(request.model, request.params, input, false);
    if (!forward.ok()) throw ProblemError(forward.problems().front());
    return std::move(forward).value();
}

// Which nodes the logits need.
std::vector<bool> neededNodes(const Graph& graph) {
    std::vector<bool> needed(graph.nodes().size());
    std::vector<ValueId> open{*graph.output("logits")};
    while (!open.empty()) {
        const Value& value = graph.value(open.back());
        open.pop_back();
        if (!value.producer || needed[index(*value.producer)]) continue;
        needed[index(*value.producer)] = true;
        for (const ValueId input : graph.node(*value.producer).inputs) open.push_back(input);
    }
    return needed;
}

// Translates node by node. Two graphs that differ in the number of samples alone tell which extents grow with it.
class Translator {
public:
    explicit Translator(const OnnxRequest& request)
        : m_request(request), m_graph(forwardOf(request, 2)), m_larger(forwardOf(request, 3)), m_uses(countUses()) {}

    std::string file() {
        const std::vector<bool> needed = neededNodes(m_graph);
        declareInputs(needed);
        for (std::size_t i = 0; i < m_graph.nodes().size(); ++i) {
            if (needed[i]) translate(m_graph.nodes()[i]);
        }
        const ValueId logits = *m_graph.output("logits");
        m_out.node("Identity", {nameOf(logits)}, "logits");
        m_out.output("logits", m_graph.typeOf(logits).shape);
        return model();
    }

private:
    // ModelProto: ir_version 1, producer_name 2, graph 7, opset_import 8, metadata_props 14.
    std::string model() const {
        ProtoWriter opset, out;
        opset.bytes(1, "");
        opset.integer(2, kOpset);
        out.integer(1, kIrVersion);
        out.bytes(2, "lockstep");
        out.message(7, m_out.graph(m_request.model.name));
        out.message(8, opset);
        for (const auto& [key, value] : m_request.metadata) {
            ProtoWriter entry;
            entry.bytes(1, key);
            entry.bytes(2, value);
            out.message(14, entry);
        }
        if (out.text().size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
            throw ProblemError(
                {m_request.model.name, "export.onnx-too-large", {std::to_string(out.text().size() >> 20)}});
        return out.text();
    }

    std::vector<int> countUses() const {
        std::vector<int> uses(m_graph.values().size());
        for (const Node& node : m_graph.nodes()) {
            for (const ValueId input : node.inputs) ++uses[index(input)];
        }
        for (const Graph::Output& output : m_graph.outputs()) ++uses[index(output.value)];
        return uses;
    }

    void declareInputs(const std::vector<bool>& needed) {
        for (const ValueId id : m_graph.withRole(ValueRole::Input)) {
            const Value& input = m_graph.value(id);
            bool read = false;
            for (std::size_t i = 0; i < needed.size(); ++i)
                read = read || (needed[i] && std::ranges::count(m_graph.nodes()[i].inputs, id) > 0);
            if (!read) continue;
            m_out.input(input.name, typeOf(input.type.dtype), input.type.shape);
            m_names[id] = input.name == "image" && !m_request.mean.empty() ? normalised(input) : input.name;
        }
    }

    // As a batch norm, which every runtime has; OpenCV 4.6 cannot subtract a number for each channel.
    std::string normalised(const Value& image) {
        const std::int64_t channels = image.type.shape[1];
        const std::vector<float> ones(m_request.mean.size(), 1), zeros(m_request.mean.size(), 0);
        std::vector<float> variance;
        for (const float each : m_request.deviation) variance.push_back(each * each);
        const auto perChannel = [&](const char* name, const std::vector<float>& values) {
            return m_out.floats(std::string("normalise/") + name, {channels}, values);
        };
        return m_out.node("BatchNormalization",
                          {image.name, perChannel("scale", ones), perChannel("bias", zeros),
                           perChannel("mean", m_request.mean), perChannel("variance", variance)},
                          "normalise/out", {Attribute::number("epsilon", 0)});
    }

    // A value as the nodes made so far call it; parameters and statistics become initializers when they are first read.
    std::string nameOf(ValueId id) {
        const auto known = m_names.find(id);
        if (known != m_names.end()) return known->second;
        const Value& value = m_graph.value(id);
        if (value.role == ValueRole::Intermediate || value.role == ValueRole::Input)
            throw EngineError(EngineError::Kind::Internal, value.name, "is read before it is made");
        const HostTensor& tensor = m_request.tensor(value.name);
        const auto dims = tensor.type().shape.dims();
        return m_names[id] = m_out.floats(value.name, {dims.begin(), dims.end()}, tensor.as<float>());
    }

    std::string outOf(const Node& node) { return node.scope + "/" + std::string(node.op->name); }
    void done(const Node& node, std::string name) { m_names[node.outputs[0]] = std::move(name); }

    // What a shape is for any number of samples: -1 for the one extent that grows with it.
    Ints dynamicShape(ValueId id) const {
        const Shape &two = m_graph.typeOf(id).shape, &three = m_larger.typeOf(id).shape;
        Ints dims;
        for (int axis = 0; axis < two.rank(); ++axis) dims.push_back(two[axis] == three[axis] ? two[axis] : -1);
        return dims;
    }

    void translate(const Node& node) {
        const OpDef* op = node.op;
        if (op == &kConv2d) return convolution(node);
        if (op == &kDense) return dense(node);
        if (op == &kBatchNormEval) return batchNorm(node);
        if (op == &kRelu) return done(node, m_out.node("Relu", {nameOf(node.inputs[0])}, outOf(node)));
        if (op == &kRelu6) return clip(node);
        if (op == &kGelu) return gelu(node);
        if (op == &kSilu) return silu(node);
        if (op == &kAdd)
            return done(node, m_out.node("Add", {nameOf(node.inputs[0]), nameOf(node.inputs[1])}, outOf(node)));
        if (op == &kMaxPool2d) return pool(node, "MaxPool");
        if (op == &kAveragePool2d) return pool(node, "AveragePool");
        if (op == &kGlobalAveragePool2d) return globalPool(node);
        if (op == &kFlatten || op == &kReshape) return reshape(node);
        if (op == &kTranspose)
            return done(node, m_out.node("Transpose", {nameOf(node.inputs[0])}, outOf(node),
                                         {Attribute::wholes("perm", {0, 2, 1})}));
        if (op == &kBroadcastAdd) return broadcastAdd(node);
        if (op == &kEmbedding)
            return done(node, m_out.node("Gather", {nameOf(node.inputs[1]), nameOf(node.inputs[0])}, outOf(node)));
        if (op == &kLayerNorm) return layerNorm(node);
        if (op == &kAttention) return attention(node);
        if (op == &kSequenceMean) return sequenceMean(node);
        throw ProblemError({node.scope, "export.onnx-unknown-op", {std::string(op->name), m_request.model.name}});
    }

    // The norm that a convolution's or dense layer's output goes into, and nowhere else; null: there is none to fold.
    const Node* foldedNorm(const Node& node) const {
        if (!m_request.foldsNorms || m_uses[index(node.outputs[0])] != 1) return nullptr;
        const auto reads = [&](const Node& each) {
            return each.op == &kBatchNormEval && each.inputs[0] == node.outputs[0];
        };
        const auto found = std::ranges::find_if(m_graph.nodes(), reads);
        return found == m_graph.nodes().end() ? nullptr : &*found;
    }

    std::span<const float> valuesOf(ValueId id) const { return m_request.tensor(m_graph.value(id).name).as<float>(); }

    struct Weights {
        std::string weights, bias;  // bias: empty where there is none
    };
    // y = gamma (w x + b - mean) / sqrt(variance + epsilon) + beta, with weights in place of all that.
    Weights weightsOf(const Node& node) {
        const Node* norm = foldedNorm(node);
        if (!norm) return {nameOf(node.inputs[1]), node.inputs.size() > 2 ? nameOf(node.inputs[2]) : std::string()};
        const HostTensor& before = m_request.tensor(m_graph.value(node.inputs[1]).name);
        const auto gamma = valuesOf(norm->inputs[1]), beta = valuesOf(norm->inputs[2]),
                   mean = valuesOf(norm->inputs[3]), variance = valuesOf(norm->inputs[4]);
        const auto old = node.inputs.size() > 2 ? valuesOf(node.inputs[2]) : std::span<const float>();
        const double epsilon = norm->attrs.as<BatchNormAttrs>().epsilon;
        std::vector<float> weights(before.as<float>().begin(), before.as<float>().end()), bias(gamma.size());
        const std::size_t each = weights.size() / bias.size();
        for (std::size_t k = 0; k < bias.size(); ++k) {
            const double factor = gamma[k] / std::sqrt(variance[k] + epsilon);
            for (std::size_t i = 0; i < each; ++i)
                weights[k * each + i] = static_cast<float>(weights[k * each + i] * factor);
            bias[k] = static_cast<float>(beta[k] + ((old.empty() ? 0.0 : old[k]) - mean[k]) * factor);
        }
        const auto dims = before.type().shape.dims();
        m_folded.insert(norm);
        const std::string name = m_graph.value(node.inputs[1]).name;
        return {m_out.floats(name + "/folded", {dims.begin(), dims.end()}, weights),
                m_out.floats(name + "/folded_bias", {static_cast<std::int64_t>(bias.size())}, bias)};
    }

    void convolution(const Node& node) {
        const auto& attrs = node.attrs.as<Conv2dAttrs>();
        const Shape& w = m_graph.typeOf(node.inputs[1]).shape;
        const Weights weights = weightsOf(node);
        Names inputs{nameOf(node.inputs[0]), weights.weights};
        if (!weights.bias.empty()) inputs.push_back(weights.bias);
        done(node,
             m_out.node(
                 "Conv", inputs, outOf(node),
                 {Attribute::wholes("kernel_shape", {w[2], w[3]}), Attribute::wholes("strides", wide(attrs.stride)),
                  Attribute::wholes("pads", padsOf(attrs.padding)),
                  Attribute::wholes("dilations", wide(attrs.dilation)), Attribute::whole("group", attrs.groups)}));
    }

    void dense(const Node& node) {
        const Weights weights = weightsOf(node);
        Names inputs{nameOf(node.inputs[0]), weights.weights};
        if (!weights.bias.empty()) inputs.push_back(weights.bias);
        done(node, m_out.node("Gemm", inputs, outOf(node), {Attribute::whole("transB", 1)}));
    }

    void batchNorm(const Node& node) {
        if (m_folded.contains(&node)) return done(node, nameOf(node.inputs[0]));
        Names inputs;
        for (const ValueId input : node.inputs) inputs.push_back(nameOf(input));
        done(node, m_out.node("BatchNormalization", inputs, outOf(node),
                              {Attribute::number("epsilon", node.attrs.as<BatchNormAttrs>().epsilon)}));
    }

    void clip(const Node& node) {
        const std::string low = m_out.scalar("relu6/low", 0), high = m_out.scalar("relu6/high", 6);
        done(node, m_out.node("Clip", {nameOf(node.inputs[0]), low, high}, outOf(node)));
    }

    void gelu(const Node& node) {
        const std::string x = nameOf(node.inputs[0]), to = outOf(node);
        const std::string scaled = m_out.node("Mul", {x, m_out.scalar("gelu/scale", std::sqrt(0.5f))}, to + "/scaled");
        const std::string phi =
            m_out.node("Add", {m_out.node("Erf", {scaled}, to + "/erf"), m_out.scalar("gelu/one", 1)}, to + "/phi");
        const std::string half = m_out.node("Mul", {x, m_out.scalar("gelu/half", 0.5f)}, to + "/half");
        done(node, m_out.node("Mul", {half, phi}, to));
    }

    void silu(const Node& node) {
        const std::string x = nameOf(node.inputs[0]), to = outOf(node);
        done(node, m_out.node("Mul", {x, m_out.node("Sigmoid", {x}, to + "/sigmoid")}, to));
    }

    void pool(const Node& node, const char* op) {
        const auto& attrs = node.attrs.as<Pool2dAttrs>();
        Attributes attributes{Attribute::wholes("kernel_shape", wide(attrs.window)),
                              Attribute::wholes("strides", wide(attrs.stride)),
                              Attribute::wholes("pads", padsOf(attrs.padding))};
        if (node.op == &kAveragePool2d)
            attributes.push_back(Attribute::whole("count_include_pad", attrs.countPadding ? 1 : 0));
        done(node, m_out.node(op, {nameOf(node.inputs[0])}, outOf(node), attributes));
    }

    void globalPool(const Node& node) {
        const std::string mean = m_out.node("GlobalAveragePool", {nameOf(node.inputs[0])}, outOf(node) + "/mean");
        done(node, m_out.node("Flatten", {mean}, outOf(node), {Attribute::whole("axis", 1)}));
    }

    void reshape(const Node& node) {
        const std::string shape = m_out.wholes(outOf(node) + "/shape", dynamicShape(node.outputs[0]));
        done(node, m_out.node("Reshape", {nameOf(node.inputs[0]), shape}, outOf(node)));
    }

    // Of the table as many rows as there are tokens.
    void broadcastAdd(const Node& node) {
        const Value& table = m_graph.value(node.inputs[1]);
        const Shape& x = m_graph.typeOf(node.inputs[0]).shape;
        const HostTensor& whole = m_request.tensor(table.name);
        Ints dims{x[1]};
        std::int64_t count = x[1];
        for (int axis = 1; axis < whole.type().shape.rank(); ++axis) {
            dims.push_back(whole.type().shape[axis]);
            count *= dims.back();
        }
        const std::string rows =
            m_out.floats(table.name, dims, whole.as<float>().first(static_cast<std::size_t>(count)));
        done(node, m_out.node("Add", {nameOf(node.inputs[0]), rows}, outOf(node)));
    }

    // Opset 13 has no layer norm.
    void layerNorm(const Node& node) {
        const std::string x = nameOf(node.inputs[0]), to = outOf(node);
        const Attributes last{Attribute::wholes("axes", {-1})};
        const std::string centred =
            m_out.node("Sub", {x, m_out.node("ReduceMean", {x}, to + "/mean", last)}, to + "/centred");
        const std::string square = m_out.node("Mul", {centred, centred}, to + "/square");
        const std::string variance = m_out.node("ReduceMean", {square}, to + "/variance", last);
        const std::string epsilon =
            m_out.scalar(to + "/epsilon", static_cast<float>(node.attrs.as<LayerNormAttrs>().epsilon));
        const std::string deviation =
            m_out.node("Sqrt", {m_out.node("Add", {variance, epsilon}, to + "/above")}, to + "/deviation");
        const std::string scaled = m_out.node(
            "Mul", {m_out.node("Div", {centred, deviation}, to + "/normed"), nameOf(node.inputs[1])}, to + "/scaled");
        done(node, m_out.node("Add", {scaled, nameOf(node.inputs[2])}, to));
    }

    void attention(const Node& node) {
        const auto& attrs = node.attrs.as<AttentionAttrs>();
        const Shape& qkv = m_graph.typeOf(node.inputs[0]).shape;
        const std::int64_t tokens = qkv[1], width = qkv[2] / 3, heads = attrs.heads, each = width / heads;
        const std::string to = outOf(node);
        const std::string apart = m_out.node(
            "Reshape", {nameOf(node.inputs[0]), m_out.wholes(to + "/apart_shape", {-1, tokens, 3, heads, each})},
            to + "/apart");
        const std::string turned =
            m_out.node("Transpose", {apart}, to + "/turned", {Attribute::wholes("perm", {2, 0, 3, 1, 4})});
        const auto part = [&](std::int64_t which, const char* name) {  // N,heads,T,d
            const std::string number = m_out.wholes("attention/" + std::to_string(which), {which});
            const std::string gathered =
                m_out.node("Gather", {turned, number}, to + '/' + name + "_one", {Attribute::whole("axis", 0)});
            return m_out.node("Squeeze", {gathered, m_out.wholes("attention/first", {0})}, to + '/' + name);
        };
        const std::string q = part(0, "queries"), k = part(1, "keys"), v = part(2, "values");
        const std::string keys =
            m_out.node("Transpose", {k}, to + "/keys_turned", {Attribute::wholes("perm", {0, 1, 3, 2})});
        std::string scores = m_out.node("MatMul", {q, keys}, to + "/products");
        scores = m_out.node("Mul", {scores, m_out.scalar(to + "/scale", 1 / std::sqrt(static_cast<float>(each)))},
                            to + "/scores");
        if (attrs.causal) scores = m_out.node("Add", {scores, causalMask(tokens)}, to + "/causal");
        if (node.inputs.size() > 1)
            scores = m_out.node("Where",
                                {seenTokens(node.inputs[1], tokens, 3), scores,
                                 m_out.scalar("attention/never", -std::numeric_limits<float>::infinity())},
                                to + "/seen");
        const std::string shares = m_out.node("Softmax", {scores}, to + "/shares", {Attribute::whole("axis", -1)});
        const std::string mixed = m_out.node("MatMul", {shares, v}, to + "/mixed");
        const std::string back =
            m_out.node("Transpose", {mixed}, to + "/back", {Attribute::wholes("perm", {0, 2, 1, 3})});
        done(node, m_out.node("Reshape", {back, m_out.wholes(to + "/shape", {-1, tokens, width})}, to));
    }

    std::string causalMask(std::int64_t tokens) {
        std::vector<float> mask(static_cast<std::size_t>(tokens * tokens));
        for (std::int64_t t = 0; t < tokens; ++t) {
            for (std::int64_t s = t + 1; s < tokens; ++s)
                mask[static_cast<std::size_t>(t * tokens + s)] = -std::numeric_limits<float>::infinity();
        }
        return m_out.floats("attention/causal", {tokens, tokens}, mask);
    }

    // Whether a token counts: true before a sample's length. With `axes` axes before that of the tokens: 1 for N,T,
    // 3 for N,1,1,T.
    std::string seenTokens(ValueId lengths, std::int64_t tokens, std::size_t axes) {
        const std::string name = "seen" + std::to_string(axes);
        if (m_seen.contains(name)) return name;
        m_seen.insert(name);
        std::vector<float> places(static_cast<std::size_t>(tokens));
        for (std::size_t t = 0; t < places.size(); ++t) places[t] = static_cast<float>(t);
        const std::string range = m_out.floats("places", {tokens}, places);
        const std::string length = m_out.node("Cast", {nameOf(lengths)}, name + "/length", {Attribute::whole("to", 1)});
        Ints shape(axes + 1, 1);
        shape.front() = -1;
        const std::string column =
            m_out.node("Reshape", {length, m_out.wholes(name + "/shape", shape)}, name + "/column");
        return m_out.node("Less", {range, column}, name);
    }

    void sequenceMean(const Node& node) {
        const Shape& x = m_graph.typeOf(node.inputs[0]).shape;
        const std::string to = outOf(node), seen = seenTokens(node.inputs[1], x[1], 1);
        const std::string counts = m_out.node("Cast", {seen}, to + "/counts", {Attribute::whole("to", 1)});
        const std::string column = m_out.node("Unsqueeze", {counts, m_out.wholes(to + "/last", {2})}, to + "/column");
        const std::string kept = m_out.node("Mul", {nameOf(node.inputs[0]), column}, to + "/kept");
        const std::string axis = m_out.wholes(to + "/tokens", {1});
        const std::string sum = m_out.node("ReduceSum", {kept, axis}, to + "/sum", {Attribute::whole("keepdims", 0)});
        const std::string number =
            m_out.node("ReduceSum", {counts, axis}, to + "/number", {Attribute::whole("keepdims", 1)});
        done(node, m_out.node("Div", {sum, number}, to));
    }

    const OnnxRequest& m_request;
    const Graph m_graph, m_larger;
    const std::vector<int> m_uses;
    OnnxWriter m_out;
    std::map<ValueId, std::string> m_names;
    std::set<const Node*> m_folded;
    std::set<std::string> m_seen;
};

}  // namespace

std::string onnxFile(const OnnxRequest& request) { return Translator(request).file(); }

}  // namespace lockstep
