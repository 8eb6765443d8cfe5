#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/graph/attrs.h"
#include "engine/graph/op_def.h"

namespace lockstep {

enum class ValueId : std::uint32_t {};
enum class NodeId : std::uint32_t {};
constexpr std::size_t index(ValueId id) { return static_cast<std::size_t>(id); }
constexpr std::size_t index(NodeId id) { return static_cast<std::size_t>(id); }

// How a backend stores a tensor when not row-major: opaque above the backend but for its size and its text.
class Layout {
public:
    virtual ~Layout() = default;
    virtual std::size_t bytes() const = 0;
    virtual std::string text() const = 0;  // "nChw16c"; equal texts and bytes mean equal layouts
};

// How a parameter starts. HeNormal: deviation sqrt(2 / fanOut); HeUniform: bound sqrt(6 / fanIn) (He et al. 2015, arXiv
// 1502.01852; fan out for convolutions as ResNets do). GlorotUniform: bound sqrt(6 / (fanIn + fanOut)) (Glorot & Bengio
// 2010). FanInUniform: bound 1 / sqrt(fanIn), PyTorch's default for weights and biases. Identity, of a convolution's
// O,I,H,W: filter i < I is 1 at its centre in channel i and 0 elsewhere, so that channel i goes on as it is; those
// beyond are HeNormal (Zagoruyko & Komodakis, arXiv 1706.00388; Jordan, arXiv 2404.00498).
struct Initializer {
    enum class Kind { Constant, HeNormal, HeUniform, GlorotUniform, FanInUniform, Identity };
    Kind kind = Kind::Constant;
    double value = 0;  // Constant only
    std::int64_t fanIn = 1, fanOut = 1;
    bool operator==(const Initializer&) const = default;
};

enum class ValueRole : std::uint8_t {
    Input,        // a field of the batch: "image", "tokens", "label", "ids"
    Parameter,    // trained
    Frozen,       // a parameter that is not trained: no gradient, no update
    Buffer,       // kept between steps but not trained: batch-norm statistics
    Intermediate  // made by a node
};

struct Value {
    std::string name{};
    TensorType type{};  // logical: shape and element type, whatever the layout
    ValueRole role = ValueRole::Intermediate;
    std::optional<NodeId> producer{};        // of an intermediate
    std::shared_ptr<const Layout> layout{};  // null: row-major
    Initializer init{};                      // parameters, frozen or not, and buffers
    bool decays = true;                      // parameters: weight decay applies (false for norms and biases)

    std::size_t bytes() const { return layout ? layout->bytes() : type.bytes(); }
    std::string layoutText() const { return layout ? layout->text() : "row-major"; }
};

struct Node {
    const OpDef* op = nullptr;
    std::vector<ValueId> inputs{}, outputs{};
    Attrs attrs{};
    std::string scope{};      // "block3/conv1": the name for people; unique within a graph and op
    std::string algorithm{};  // the backend's choice ("winograd"); empty before lowering
};

// A graph of values and nodes in single static assignment. Append-only, so node order is always a valid execution
// order. A plain value type: copy it freely. Not thread-safe while being built.
class Graph {
public:
    // At the end of the step the buffer becomes the value.
    struct Assignment {
        ValueId buffer, value;
    };
    // "loss_sum", "weight", "correct1", "correct5", "logits".
    struct Output {
        std::string name;
        ValueId value;
    };

    ValueId addInput(std::string name, TensorType type);
    ValueId addParameter(std::string name, TensorType type, Initializer init, bool decays);
    ValueId addFrozen(std::string name, TensorType type, Initializer init);
    ValueId addBuffer(std::string name, TensorType type, Initializer init);

    // Runs the op's shape rule and adds the node with fresh output values. The rule's ProblemError passes through, its
    // empty field filled with the scope.
    std::vector<ValueId> append(const OpDef& op, std::vector<ValueId> inputs, Attrs attrs, std::string scope);
    // For a backend's lowering: output types and layouts are given instead of inferred. The outputs become
    // intermediates of the new node; those without a name get one.
    std::vector<ValueId> appendLowered(Node node, std::vector<Value> outputs);

    void assign(ValueId buffer, ValueId value);
    void addOutput(std::string name, ValueId value);
    // Which value is the gradient of a parameter; set by autodiff.
    void setGradient(ValueId parameter, ValueId gradient);
    std::optional<ValueId> gradientOf(ValueId parameter) const;
    void setLayout(ValueId value, std::shared_ptr<const Layout> layout);
    void setAlgorithm(NodeId node, std::string algorithm);

    std::span<const Node> nodes() const { return m_nodes; }
    std::span<const Value> values() const { return m_values; }
    const Node& node(NodeId id) const { return m_nodes[index(id)]; }
    const Value& value(ValueId id) const { return m_values[index(id)]; }
    const TensorType& typeOf(ValueId id) const { return m_values[index(id)].type; }
    std::vector<ValueId> withRole(ValueRole role) const;  // in order of addition
    std::span<const Assignment> assignments() const { return m_assignments; }
    std::span<const Output> outputs() const { return m_outputs; }
    std::optional<ValueId> output(std::string_view name) const;
    std::optional<ValueId> find(std::string_view valueName) const;

private:
    std::vector<Node> m_nodes;
    std::vector<Value> m_values;
    std::vector<Assignment> m_assignments;
    std::vector<Output> m_outputs;
    std::vector<std::optional<ValueId>> m_gradients;  // by value index
};

// `scope`, with a counter appended where a node of the same op has it already: "block1/add", "block1/add_2".
std::string uniqueScope(const Graph& graph, const OpDef& op, const std::string& scope);

// The grammar of a legal graph; run between passes. Throws EngineError(Internal) naming the node and the broken rule:
// inputs come before their node; each intermediate has one producer; types match the op's rule (unless the node is
// lowered: it names an algorithm, or its op has no rule); parameters, buffers and inputs have unique names; assignments
// go to buffers, once each, of the same type; gradients have their parameter's type and layout and serve one parameter
// only; outputs exist and have unique names; scopes are unique per op; a view has its input's element count and type.
void verify(const Graph& graph);

// Stable text, one line per value role and node, for golden files and for people.
std::string dump(const Graph& graph);

}  // namespace lockstep
