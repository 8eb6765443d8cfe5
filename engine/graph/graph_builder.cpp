#include "engine/graph/graph_builder.h"

#include <algorithm>

namespace lockstep {

bool isWithin(std::string_view path, std::string_view layer) {
    return path.starts_with(layer) && (path.size() == layer.size() || path[layer.size()] == '/');
}

std::string GraphBuilder::scopeFor(const OpDef& op, const std::string& name) const {
    return uniqueScope(m_graph, op, pathOf(name));
}

ValueId GraphBuilder::input(const std::string& name, TensorType type) { return m_graph.addInput(pathOf(name), type); }

ValueId GraphBuilder::parameter(const std::string& name, Shape shape, Initializer init, bool decays) {
    const TensorType type{shape, DType::F32};
    return isFrozen(name) ? m_graph.addFrozen(pathOf(name), type, init)
                          : m_graph.addParameter(pathOf(name), type, init, decays);
}

ValueId GraphBuilder::buffer(const std::string& name, Shape shape, double fill) {
    return m_graph.addBuffer(pathOf(name), {shape, DType::F32}, {Initializer::Kind::Constant, fill});
}

std::vector<ValueId> GraphBuilder::append(const OpDef& op, std::vector<ValueId> inputs, Attrs attrs,
                                          const std::string& name) {
    return m_graph.append(op, std::move(inputs), std::move(attrs), scopeFor(op, name));
}

bool GraphBuilder::isFrozen(const std::string& name) const {
    const std::string path = pathOf(name);
    return std::ranges::any_of(m_frozen, [&](const std::string& layer) { return isWithin(path, layer); });
}

std::string GraphBuilder::pathOf(const std::string& name) const {
    std::string path;
    for (const std::string& scope : m_scopes) path += scope + "/";
    return path + name;
}

GraphBuilder::Scope::Scope(GraphBuilder& builder, std::string name) : m_builder(builder) {
    m_builder.m_scopes.push_back(std::move(name));
}

GraphBuilder::Scope::~Scope() { m_builder.m_scopes.pop_back(); }

}  // namespace lockstep
