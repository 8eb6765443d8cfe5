#include "engine/model/pytorch_graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/core/error.h"
#include "engine/model/pytorch_modules.h"
#include "engine/ops/all_ops.h"
#include "engine/ops/rules.h"

namespace lockstep {

namespace {

using Values = std::vector<ValueId>;

Graph trainedGraph(const ModelEntry& model, const ParamValues& params, ModelInput input, std::int64_t batch) {
    input.batch = batch;
    input.labelSmoothing = 0;
    input.synchronisesNorm = input.mixes = false;
    input.pixels.reset();
    input.frozen.clear();
    auto forward = buildForward(model, params, input, true);
    if (!forward.ok()) throw ProblemError(forward.problems().front());
    return std::move(forward).value();
}

// "block1/conv1/weight" -> "block1/conv1" and "weight".
std::pair<std::string, std::string> layerAndTensor(const std::string& name) {
    const std::size_t slash = name.rfind('/');
    if (slash == std::string::npos) return {"", name};
    return {name.substr(0, slash), name.substr(slash + 1)};
}

std::string pair(const std::array<int, 2>& both) {
    const std::string first = std::to_string(both[0]);
    return both[0] == both[1] ? first : '(' + first + ", " + std::to_string(both[1]) + ')';
}

std::string option(const char* name, const std::array<int, 2>& both, int usual) {
    if (both[0] == usual && both[1] == usual) return "";
    return std::string(", ") + name + '=' + pair(both);
}

std::string option(const char* name, double value, double usual) {
    return value == usual ? "" : std::string(", ") + name + '=' + numberText(value);
}

// Translates a graph. Two of them that differ in the number of samples alone tell which extents grow with it.
class Modules {
public:
    Modules(const ModelEntry& model, const ParamValues& params, const ModelInput& input)
        : m_name(model.name),
          m_graph(trainedGraph(model, params, input, 2)),
          m_larger(trainedGraph(model, params, input, 3)),
          m_logits(*m_graph.output("logits")) {
        findNodes();
        dissolveRows();
    }

    PytorchModel translated() {
        PytorchModule whole = module("", 0, m_graph.nodes().size());
        PytorchModel out;
        out.classes = pythonClasses(std::move(whole));
        out.firstWeights = firstWeights();
        for (const ValueId id : m_inputs) out.inputs.push_back(m_graph.value(id).name);
        out.functions = m_functions;
        for (const ValueId id : m_graph.withRole(ValueRole::Parameter)) {
            const Value& value = m_graph.value(id);
            if (value.type.shape.rank() > 1 && !value.decays) out.tables.push_back(pythonPath(value.name));
        }
        out.hasNorms = m_hasNorms;
        out.hasDropout = m_hasDropout;
        return out;
    }

private:
    const Value& value(ValueId id) const { return m_graph.value(id); }
    const Shape& shape(ValueId id) const { return m_graph.typeOf(id).shape; }
    const Node& node(std::size_t i) const { return m_graph.nodes()[i]; }

    // Which nodes the logits need, and who reads what.
    void findNodes() {
        m_needed.resize(m_graph.nodes().size());
        m_readers.resize(m_graph.values().size());
        Values open{m_logits};
        while (!open.empty()) {
            const auto producer = value(open.back()).producer;
            open.pop_back();
            if (!producer || m_needed[index(*producer)]) continue;
            m_needed[index(*producer)] = true;
            for (const ValueId input : m_graph.node(*producer).inputs) open.push_back(input);
        }
        for (std::size_t i = 0; i < m_needed.size(); ++i) {
            if (!m_needed[i]) continue;
            for (const ValueId input : node(i).inputs) m_readers[index(input)].push_back(i);
        }
    }

    // A dense layer over tokens: PyTorch's takes them as they are, ours as rows.
    void dissolveRows() {
        for (std::size_t i = 0; i < m_needed.size(); ++i) {
            if (!m_needed[i] || node(i).op != &kDense) continue;
            const auto producer = value(node(i).inputs[0]).producer;
            const auto& readers = m_readers[index(node(i).outputs[0])];
            if (!producer || readers.size() != 1) continue;
            const Node &rows = m_graph.node(*producer), &tokens = node(readers.front());
            if (rows.op != &kReshape || tokens.op != &kReshape || m_readers[index(rows.outputs[0])].size() != 1)
                continue;
            const Shape &from = shape(rows.inputs[0]), &to = shape(tokens.outputs[0]);
            if (from.rank() != 3 || to.rank() != 3 || from[0] != to[0] || from[1] != to[1]) continue;
            m_same[rows.outputs[0]] = rows.inputs[0];
            m_same[tokens.outputs[0]] = node(i).outputs[0];
            m_needed[index(*producer)] = m_needed[readers.front()] = false;
        }
    }

    ValueId seen(ValueId id) const {
        for (auto found = m_same.find(id); found != m_same.end(); found = m_same.find(id)) id = found->second;
        return id;
    }

    // A node's first name below `prefix`, if there are more below that: of "block1/conv1" "block1".
    std::string groupOf(std::size_t i, const std::string& prefix) const {
        const std::string rest = node(i).scope.substr(prefix.size());
        const std::size_t slash = rest.find('/');
        return slash == std::string::npos ? "" : rest.substr(0, slash);
    }

    // The nodes of [begin, end), which are all below `prefix` ("block1/", or "" for the whole), as a module.
    PytorchModule module(const std::string& prefix, std::size_t begin, std::size_t end) {
        PytorchModule made;
        made.path = prefix;
        std::set<std::string> ended;
        for (std::size_t i = begin; i < end;) {
            if (!m_needed[i]) {
                ++i;
                continue;
            }
            const std::string group = groupOf(i, prefix);
            std::size_t next = i + 1, last = i + 1;
            for (; !group.empty() && next < end && (!m_needed[next] || groupOf(next, prefix) == group); ++next)
                if (m_needed[next]) last = next + 1;
            if (!group.empty() && ended.insert(group).second && standsAlone(prefix + group + '/', i, last)) {
                append(made, prefix + group + '/', i, last);
                i = last;
            } else {
                translate(made, node(i));
                ++i;
            }
        }
        made.result = index(seen(outputOf(begin, end).value_or(m_logits)));
        return made;
    }

    void append(PytorchModule& parent, const std::string& prefix, std::size_t begin, std::size_t end) {
        const ValueId output = *outputOf(begin, end);
        const std::string name = prefix.substr(parent.path.size(), prefix.size() - parent.path.size() - 1);
        PytorchModule child = module(prefix, begin, end);
        std::string call = "self." + pythonName(name) + '(';
        for (std::size_t i = 0; i < child.inputs.size(); ++i)
            call += (i > 0 ? ", " : "") + mark(ValueId(child.inputs[i]), parent);
        parent.results.push_back({index(output), call + ')', true});
        parent.layers.push_back({pythonName(name), "", parent.children.size()});
        parent.children.push_back(std::move(child));
    }

    // The one value of these nodes that others read, or that is the logits.
    std::optional<ValueId> outputOf(std::size_t begin, std::size_t end) const {
        std::optional<ValueId> output;
        const auto isOutside = [&](std::size_t reader) { return reader < begin || reader >= end; };
        for (std::size_t i = begin; i < end; ++i) {
            if (!m_needed[i]) continue;
            for (const ValueId id : node(i).outputs) {
                if (id != m_logits && seenReaders(id, isOutside) == 0) continue;
                if (output) return std::nullopt;
                output = id;
            }
        }
        return output;
    }

    template <class Counts>
    std::size_t seenReaders(ValueId id, Counts counts) const {
        std::size_t found = 0;
        for (const std::size_t reader : m_readers[index(id)])
            if (m_needed[reader]) found += counts(reader) ? 1 : 0;
            else found += seenReaders(node(reader).outputs[0], counts);
        if (m_same.contains(m_logits) && seen(m_logits) == id) ++found;
        return found;
    }

    // Whether the nodes can be a class of their own: they have parameters, those are their own and named below
    // `prefix`, and only one of their values is read elsewhere.
    bool standsAlone(const std::string& prefix, std::size_t begin, std::size_t end) const {
        bool hasParameters = false;
        for (std::size_t i = 0; i < m_needed.size(); ++i) {
            if (!m_needed[i]) continue;
            for (const ValueId id : node(i).inputs) {
                const bool isWithin = i >= begin && i < end, isBelow = value(id).name.starts_with(prefix);
                const ValueRole role = value(id).role;
                if (role == ValueRole::Intermediate || role == ValueRole::Input) continue;
                if (isWithin != isBelow) return false;
                hasParameters = hasParameters || isWithin;
            }
        }
        return hasParameters && outputOf(begin, end).has_value();
    }

    // A value in an expression. What the module does not make is one of its inputs.
    std::string mark(ValueId id, PytorchModule& in) {
        id = seen(id);
        const auto isIt = [&](const auto& result) { return result.value == index(id); };
        if (std::ranges::none_of(in.results, isIt) && std::ranges::count(in.inputs, index(id)) == 0) {
            in.inputs.push_back(index(id));
            const bool isOfBatch = value(id).role == ValueRole::Input;
            if (isOfBatch) in.names[index(id)] = value(id).name;
            if (isOfBatch && std::ranges::count(m_inputs, id) == 0) m_inputs.push_back(id);
        }
        return PytorchModule::valueMark(index(id));
    }

    void translate(PytorchModule& in, const Node& node) {
        const bool isHeavy = node.op == &kConv2d || node.op == &kDense;
        std::string expression = expressionOf(in, node);
        in.results.push_back({index(node.outputs[0]), std::move(expression), isHeavy});
    }

    std::string expressionOf(PytorchModule& in, const Node& node) {
        const OpDef* op = node.op;
        const auto x = [&] { return mark(node.inputs[0], in); };
        if (op == &kConv2d) return convolution(in, node);
        if (op == &kDense) return dense(in, node);
        if (op == &kBatchNormTrain) return batchNorm(in, node);
        if (op == &kRelu) return "F.relu(" + x() + ')';
        if (op == &kRelu6) return "F.relu6(" + x() + ')';
        if (op == &kGelu) return "F.gelu(" + x() + ')';
        if (op == &kSilu) return "F.silu(" + x() + ')';
        if (op == &kAdd) return x() + " + " + mark(node.inputs[1], in);
        if (op == &kMaxPool2d || op == &kAveragePool2d) return pool(in, node);
        if (op == &kGlobalAveragePool2d) return x() + ".mean((2, 3))";
        if (op == &kFlatten) return x() + ".flatten(1)";
        if (op == &kReshape) return x() + ".reshape(" + dynamicShape(node.outputs[0]) + ')';
        if (op == &kTranspose) return x() + ".transpose(1, 2)";
        if (op == &kBroadcastAdd) return broadcastAdd(in, node);
        if (op == &kEmbedding) return embedding(in, node);
        if (op == &kLayerNorm) return layerNorm(in, node);
        if (op == &kAttention) return attention(in, node);
        if (op == &kSequenceMean) return sequenceMean(in, node);
        if (op == &kDropout) return dropout(in, node);
        throw ProblemError({node.scope, "export.pytorch-unknown-op", {std::string(op->name), m_name}});
    }

    std::string dynamicShape(ValueId id) const {
        std::string dims;
        const Shape &two = shape(id), &three = m_larger.typeOf(id).shape;
        for (int axis = 0; axis < two.rank(); ++axis)
            dims += (axis > 0 ? ", " : "") + (two[axis] == three[axis] ? std::to_string(two[axis]) : "-1");
        return dims;
    }

    // "self.conv1", made of `text` if the layer that has these tensors is not there yet; empty: it is there already,
    // or the tensors are not all of one layer, so that they are to be named one by one.
    std::string layer(PytorchModule& in, const Values& tensors, const std::vector<std::string>& names,
                      const std::string& text) {
        const std::string path = layerAndTensor(value(tensors[0]).name).first;
        for (std::size_t i = 0; i < tensors.size(); ++i)
            if (value(tensors[i]).name != path + '/' + names[i]) return "";
        if (path.empty() || !m_layers.insert(path).second) return "";
        for (const ValueId id : tensors) m_tensors.insert(id);
        return "self." + declare(in, path, text);
    }

    std::string declare(PytorchModule& in, const std::string& path, const std::string& text) {
        const std::string name = pythonPath(path.substr(in.path.size()));
        for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1))
            declareOnce(in, name.substr(0, dot), "nn.Module()");
        declareOnce(in, name, text);
        return name;
    }

    static void declareOnce(PytorchModule& in, const std::string& name, const std::string& text) {
        const auto isIt = [&](const auto& each) { return each.name == name; };
        if (std::ranges::none_of(in.layers, isIt)) in.layers.push_back({name, text, {}});
    }

    // A parameter by itself.
    std::string tensor(PytorchModule& in, ValueId id) {
        const auto [path, name] = layerAndTensor(value(id).name);
        const std::string full = pythonPath(value(id).name.substr(in.path.size()));
        if (m_tensors.insert(id).second) {
            m_single.insert(id);
            if (!path.empty() && m_layers.insert(path).second) declare(in, path, "nn.Module()");
            std::string extents;
            for (const std::int64_t extent : shape(id).dims())
                extents += (extents.empty() ? "" : ", ") + PytorchModule::width(extent);
            in.layers.push_back({full, "nn.Parameter(torch.zeros(" + extents + "))", {}});
        }
        return "self." + full;
    }

    std::string convolution(PytorchModule& in, const Node& node) {
        const auto& attrs = node.attrs.as<Conv2dAttrs>();
        const Shape& w = shape(node.inputs[1]);
        const std::string rest = strides(attrs) + option("padding", attrs.padding, 0) +
                                 option("dilation", attrs.dilation, 1) +
                                 (attrs.groups == 1 ? "" : ", groups=" + PytorchModule::width(attrs.groups));
        const bool hasBias = node.inputs.size() > 2;
        const std::string made = layer(
            in, Values(node.inputs.begin() + 1, node.inputs.end()), {"weight", "bias"},
            "nn.Conv2d(" + PytorchModule::width(w[1] * attrs.groups) + ", " + PytorchModule::width(w[0]) + ", " +
                pair({static_cast<int>(w[2]), static_cast<int>(w[3])}) + rest + (hasBias ? "" : ", bias=False") + ')');
        const std::string x = mark(node.inputs[0], in);
        if (!made.empty()) return made + '(' + x + ')';
        const std::string bias = hasBias ? tensor(in, node.inputs[2]) : "None";
        return "F.conv2d(" + x + ", " + tensor(in, node.inputs[1]) + ", " + bias + rest + ')';
    }

    static std::string strides(const Conv2dAttrs& attrs) {
        if (attrs.stride[0] != attrs.stride[1]) return option("stride", attrs.stride, 1);
        return attrs.stride[0] == 1 ? "" : ", stride=" + PytorchModule::stride(attrs.stride[0]);
    }

    std::string dense(PytorchModule& in, const Node& node) {
        const Shape& w = shape(node.inputs[1]);
        const bool hasBias = node.inputs.size() > 2;
        const std::string made = layer(in, Values(node.inputs.begin() + 1, node.inputs.end()), {"weight", "bias"},
                                       "nn.Linear(" + PytorchModule::width(w[1]) + ", " + PytorchModule::width(w[0]) +
                                           (hasBias ? ")" : ", bias=False)"));
        const std::string x = mark(node.inputs[0], in);
        if (!made.empty()) return made + '(' + x + ')';
        return "F.linear(" + x + ", " + tensor(in, node.inputs[1]) +
               (hasBias ? ", " + tensor(in, node.inputs[2]) : "") + ')';
    }

    std::string batchNorm(PytorchModule& in, const Node& node) {
        m_hasNorms = true;
        const auto& attrs = node.attrs.as<BatchNormAttrs>();
        const Shape& x = shape(node.inputs[0]);
        const std::string made = layer(
            in, Values(node.inputs.begin() + 1, node.inputs.end()), {"weight", "bias", "running_mean", "running_var"},
            std::string(x.rank() == 4 ? "nn.BatchNorm2d(" : "nn.BatchNorm1d(") + PytorchModule::width(x[1]) +
                option("eps", attrs.epsilon, 1e-5) + option("momentum", attrs.momentum, 0.1) + ')');
        if (made.empty()) throw ProblemError({node.scope, "export.pytorch-unknown-op", {"batch_norm", m_name}});
        return made + '(' + mark(node.inputs[0], in) + ')';
    }

    std::string layerNorm(PytorchModule& in, const Node& node) {
        const std::int64_t width = shape(node.inputs[0])[-1];
        const std::string rest = option("eps", node.attrs.as<LayerNormAttrs>().epsilon, 1e-5);
        const std::string made = layer(in, {node.inputs[1], node.inputs[2]}, {"weight", "bias"},
                                       "nn.LayerNorm(" + PytorchModule::width(width) + rest + ')');
        const std::string x = mark(node.inputs[0], in);
        if (!made.empty()) return made + '(' + x + ')';
        return "F.layer_norm(" + x + ", (" + std::to_string(width) + ",), " + tensor(in, node.inputs[1]) + ", " +
               tensor(in, node.inputs[2]) + rest + ')';
    }

    std::string embedding(PytorchModule& in, const Node& node) {
        const std::string made = table(in, node.inputs[1]), x = mark(node.inputs[0], in);
        if (!made.empty()) return made + '(' + x + ')';
        return "F.embedding(" + x + ", " + tensor(in, node.inputs[1]) + ')';
    }

    std::string table(PytorchModule& in, ValueId id) {
        const Shape& rows = shape(id);
        if (rows.rank() != 2) return "";
        return layer(in, {id}, {"weight"},
                     "nn.Embedding(" + PytorchModule::width(rows[0]) + ", " + PytorchModule::width(rows[1]) + ')');
    }

    std::string broadcastAdd(PytorchModule& in, const Node& node) {
        const std::string x = mark(node.inputs[0], in);
        table(in, node.inputs[1]);
        const std::string rows = tensor(in, node.inputs[1]);
        const std::int64_t taken = shape(node.inputs[0])[1];
        return x + " + " + rows + (taken == shape(node.inputs[1])[0] ? "" : "[:" + std::to_string(taken) + ']');
    }

    std::string pool(PytorchModule& in, const Node& node) {
        const auto& attrs = node.attrs.as<Pool2dAttrs>();
        const bool isMean = node.op == &kAveragePool2d;
        const bool hasPadding = attrs.padding[0] != 0 || attrs.padding[1] != 0;
        return std::string(isMean ? "F.avg_pool2d(" : "F.max_pool2d(") + mark(node.inputs[0], in) + ", " +
               pair(attrs.window) + (attrs.stride == attrs.window ? "" : ", stride=" + pair(attrs.stride)) +
               option("padding", attrs.padding, 0) +
               (isMean && hasPadding && !attrs.countPadding ? ", count_include_pad=False)" : ")");
    }

    std::string attention(PytorchModule& in, const Node& node) {
        m_functions.insert("attention");
        const auto& attrs = node.attrs.as<AttentionAttrs>();
        return "attention(" + mark(node.inputs[0], in) + ", heads=" + std::to_string(attrs.heads) +
               (attrs.causal ? ", causal=True" : "") +
               (node.inputs.size() > 1 ? ", length=" + mark(node.inputs[1], in) : "") + ')';
    }

    std::string sequenceMean(PytorchModule& in, const Node& node) {
        m_functions.insert("sequence_mean");
        return "sequence_mean(" + mark(node.inputs[0], in) + ", " + mark(node.inputs[1], in) + ')';
    }

    std::string dropout(PytorchModule& in, const Node& node) {
        m_hasDropout = true;
        return "F.dropout(" + mark(node.inputs[0], in) + ", " + numberText(node.attrs.as<DropoutAttrs>().rate) +
               ", self.training)";
    }

    // Fan in (axis 1) and out (axis 0) as PyTorch counts them.
    static std::int64_t fan(const Shape& weight, int axis) { return weight.count() / weight[1 - axis]; }

    static constexpr const char* kFanOut = "nn.init.kaiming_normal_(weight, mode=\"fan_out\")";

    // Convolutions are told all at once, then whatever differs.
    std::string firstWeights() const {
        std::string all;
        if (startsByFanOut())
            all =
                "    for layer in net.modules():\n        if isinstance(layer, nn.Conv2d):\n            "
                "nn.init.kaiming_normal_("
                "layer.weight, mode=\"fan_out\")\n";
        std::vector<std::pair<std::string, std::string>> starts;  // how, which
        for (const ValueId id : m_graph.withRole(ValueRole::Parameter)) {
            if (!m_tensors.contains(id)) continue;
            for (const std::string& how : startOf(id)) {
                const auto known = std::ranges::find(starts, how, &std::pair<std::string, std::string>::first);
                const std::string name = "\n        net." + pythonPath(value(id).name) + ',';
                if (known == starts.end()) starts.emplace_back(how, name);
                else known->second += name;
            }
        }
        for (const auto& [how, which] : starts) {
            const bool isOne = std::ranges::count(which, ',') == 1;
            all += "    for weight in (" + (isOne ? which.substr(which.find('n')) + "):" : which + "\n    ):");
            all += "\n        " + how + '\n';
        }
        return all.empty() ? "    pass  # all as PyTorch starts them\n" : all;
    }

    bool startsByFanOut() const {
        const auto does = [&](ValueId id) {
            return m_tensors.contains(id) && !m_single.contains(id) && normalStart(value(id)) == kFanOut &&
                   value(id).init.kind != Initializer::Kind::FanInUniform;
        };
        return std::ranges::any_of(m_graph.withRole(ValueRole::Parameter), does);
    }

    static std::string normalStart(const Value& parameter) {
        const Shape& shape = parameter.type.shape;
        if (shape.rank() == 4 && fan(shape, 0) == parameter.init.fanOut) return kFanOut;
        return "nn.init.normal_(weight, std=" + numberText(std::sqrt(2 / static_cast<double>(parameter.init.fanOut))) +
               ')';
    }

    // What is to be done with it besides what PyTorch does by itself, and with all convolutions at once.
    std::vector<std::string> startOf(ValueId id) const {
        const Value& parameter = value(id);
        const Initializer& init = parameter.init;
        const Shape& shape = parameter.type.shape;
        const bool isSingle = m_single.contains(id), isConvolution = shape.rank() == 4 && !isSingle;
        const auto uniform = [](double bound) {
            return "nn.init.uniform_(weight, " + numberText(-bound) + ", " + numberText(bound) + ')';
        };
        const auto fanIn = static_cast<double>(init.fanIn), fanOut = static_cast<double>(init.fanOut);
        std::vector<std::string> normal;
        if (!isConvolution || normalStart(parameter) != kFanOut) normal.push_back(normalStart(parameter));
        switch (init.kind) {
            case Initializer::Kind::Constant:
                if (!isSingle && shape.rank() == 1 && startsSo(parameter)) return {};
                return {"nn.init.constant_(weight, " + numberText(init.value) + ')'};
            case Initializer::Kind::HeNormal: return normal;
            case Initializer::Kind::Identity:
                normal.push_back("nn.init.dirac_(weight[:weight.shape[1]])");
                return normal;
            case Initializer::Kind::HeUniform: return {uniform(std::sqrt(6 / fanIn))};
            case Initializer::Kind::GlorotUniform: return {uniform(std::sqrt(6 / (fanIn + fanOut)))};
            case Initializer::Kind::FanInUniform: {
                const bool isUsual = shape.rank() == 1 || (shape.rank() == 2 && shape[1] == init.fanIn);
                if (!isSingle && isUsual) return {};
                return {uniform(1 / std::sqrt(fanIn))};
            }
        }
        return {};
    }

    // Norms: gamma 1, beta 0.
    static bool startsSo(const Value& parameter) {
        return parameter.init.value == (layerAndTensor(parameter.name).second == "weight" ? 1 : 0);
    }

    std::string m_name;
    const Graph m_graph, m_larger;
    const ValueId m_logits;
    std::vector<bool> m_needed;                       // by node
    std::vector<std::vector<std::size_t>> m_readers;  // nodes, by value
    std::map<ValueId, ValueId> m_same;                // PyTorch sees no difference to that one
    Values m_inputs;
    std::set<std::string> m_layers, m_functions;
    std::set<ValueId> m_tensors, m_single;  // those that are there; of them, those that are in no layer of PyTorch's
    bool m_hasNorms = false, m_hasDropout = false;
};

}  // namespace

PytorchModel pytorchModel(const ModelEntry& model, const ParamValues& params, ModelInput input) {
    return Modules(model, params, input).translated();
}

std::string pythonText(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace lockstep
