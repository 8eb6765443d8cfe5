#include <sstream>

#include "engine/core/param_schema.h"
#include "engine/graph/graph.h"

namespace lockstep {

namespace {

std::string ref(ValueId id) { return "%" + std::to_string(index(id)); }

std::string typeText(const Value& value) {
    return value.type.text() + (value.layout ? "{" + value.layout->text() + "}" : std::string());
}

std::string initText(const Initializer& init) {
    const std::string fanIn = "fan_in=" + std::to_string(init.fanIn);
    const std::string fanOut = "fan_out=" + std::to_string(init.fanOut);
    switch (init.kind) {
        case Initializer::Kind::Constant: return "constant=" + text(ParamValue(init.value));
        case Initializer::Kind::HeNormal: return "he_normal " + fanOut;
        case Initializer::Kind::HeUniform: return "he_uniform " + fanIn;
        case Initializer::Kind::GlorotUniform: return "glorot_uniform " + fanIn + " " + fanOut;
        case Initializer::Kind::FanInUniform: return "fan_in_uniform " + fanIn;
        case Initializer::Kind::Identity: return "identity " + fanOut;
    }
    return "?";
}

void dumpRole(std::ostream& out, const Graph& graph, ValueRole role, const char* word) {
    for (const ValueId id : graph.withRole(role)) {
        const Value& value = graph.value(id);
        out << word << ' ' << ref(id) << ' ' << value.name << ' ' << typeText(value);
        if (role != ValueRole::Input) out << ' ' << initText(value.init);
        if (role == ValueRole::Parameter && !value.decays) out << " no_decay";
        out << '\n';
    }
}

void dumpNode(std::ostream& out, const Graph& graph, const Node& node) {
    const char* separator = "";
    for (const ValueId id : node.outputs) {
        out << separator << ref(id) << ' ' << typeText(graph.value(id));
        separator = ", ";
    }
    out << " = " << node.op->name << '(';
    separator = "";
    for (const ValueId id : node.inputs) {
        out << separator << ref(id);
        separator = ", ";
    }
    out << ')';
    if (const std::string attrs = node.attrs.text(); !attrs.empty()) out << ' ' << attrs;
    out << " @" << node.scope;
    if (!node.algorithm.empty()) out << " [" << node.algorithm << ']';
    out << '\n';
}

}  // namespace

std::string dump(const Graph& graph) {
    std::ostringstream out;
    dumpRole(out, graph, ValueRole::Input, "input");
    dumpRole(out, graph, ValueRole::Parameter, "parameter");
    dumpRole(out, graph, ValueRole::Frozen, "frozen");
    dumpRole(out, graph, ValueRole::Buffer, "buffer");
    for (const Node& node : graph.nodes()) dumpNode(out, graph, node);
    for (const auto& [buffer, value] : graph.assignments()) {
        out << "assign " << graph.value(buffer).name << " = " << ref(value) << '\n';
    }
    for (const ValueId id : graph.withRole(ValueRole::Parameter)) {
        if (const auto gradient = graph.gradientOf(id)) {
            out << "gradient " << graph.value(id).name << " = " << ref(*gradient) << '\n';
        }
    }
    for (const auto& [name, value] : graph.outputs()) out << "output " << name << " = " << ref(value) << '\n';
    return out.str();
}

}  // namespace lockstep
