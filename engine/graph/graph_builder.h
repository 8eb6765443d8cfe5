#pragma once
#include <string>
#include <vector>

#include "engine/graph/graph.h"

namespace lockstep {

// "block3/conv1" is within "block3", and within itself.
bool isWithin(std::string_view path, std::string_view layer);

// What a model's code writes into: a graph, a stack of scope names, whether it is built for training or evaluation,
// whether norms over the batch are then over that of all ranks, and which layers are frozen: those named, and what lies
// below them
// ("block3" freezes "block3/conv1", not "block30/conv1").
// The ops' functions (ops/conv2d.h …) and the layers (model/layers.h) take it as first argument. One thread.
class GraphBuilder {
public:
    explicit GraphBuilder(bool training, bool synchronises = false, std::vector<std::string> frozen = {})
        : m_training(training), m_synchronises(synchronises), m_frozen(std::move(frozen)) {}

    bool training() const { return m_training; }
    bool synchronises() const { return m_synchronises; }
    bool isFrozen(const std::string& name) const;  // a layer's or a parameter's; prefixed as all names are
    Graph& graph() { return m_graph; }
    const TensorType& typeOf(ValueId value) const { return m_graph.typeOf(value); }

    // Names are prefixed by the scopes entered: "block3/conv1". append() makes a scope unique by a counter if needed;
    // scopeFor() says beforehand which one it will be.
    std::string scopeFor(const OpDef& op, const std::string& name) const;
    ValueId input(const std::string& name, TensorType type);
    ValueId parameter(const std::string& name, Shape shape, Initializer init,
                      bool decays);  // frozen where its layer is
    ValueId buffer(const std::string& name, Shape shape, double fill);
    std::vector<ValueId> append(const OpDef& op, std::vector<ValueId> inputs, Attrs attrs, const std::string& name);

    // RAII: `const auto scope = builder.enter("block3");`
    class Scope {
    public:
        Scope(GraphBuilder& builder, std::string name);
        ~Scope();
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

    private:
        GraphBuilder& m_builder;
    };
    [[nodiscard]] Scope enter(std::string name) { return Scope(*this, std::move(name)); }

    Graph take() { return std::move(m_graph); }

private:
    std::string pathOf(const std::string& name) const;

    Graph m_graph;
    std::vector<std::string> m_scopes;
    bool m_training, m_synchronises;
    std::vector<std::string> m_frozen;
};

}  // namespace lockstep
