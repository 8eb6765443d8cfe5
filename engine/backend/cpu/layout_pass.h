#pragma once
#include <map>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/cpu/conv_choice.h"
#include "engine/backend/cpu/layout.h"
#include "engine/backend/cpu/onednn.h"
#include "engine/backend/fusion/rewriter.h"

namespace lockstep::cpu {

// The state of the layout pass, and what its rules (lay_out.cpp, lay_out_conv.cpp) are written with.
// Whether a value of bf16 lies as such or as floats is part of its layout, and reorders convert. Parameters, frozen or
// not, are floats, and so are the sums that are their gradients: whoever multiplies in bf16 rounds them as it reads.
// An activation may be seen as an image where the old graph has it flattened: its new value then has the image's shape.
class LayoutPass : public Rewriter {
public:
    LayoutPass(const Graph& graph, const LowerOptions& options, const ConvChoice& choose, onednn::Bf16Units units);
    Graph run();

    const Graph& before() const { return m_graph; }
    const onednn::Engine& engine() const { return m_engine; }
    int block() const { return m_block; }          // channels side by side that suit the processor
    DType operands() const { return m_operands; }  // of products of matrices
    onednn::Bf16Units units() const { return m_units; }
    bool multipliesHalves() const { return m_operands == DType::BF16 && m_units != onednn::Bf16Units::None; }
    bool multipliesTiles() const { return m_operands == DType::BF16 && m_units == onednn::Bf16Units::Tiles; }
    // Where bf16 is multiplied, images are of it in memory, in either direction: channels last with tiles, as many as
    // sixteen divides; in blocks of sixteen with pairs.
    bool holdsHalves(const Shape& image) const;
    onednn::Desc halfImage(const Shape& image) const;
    ConvAlgorithm choose(const ConvPass& conv) const { return m_choose(conv); }
    const Value& newValue(ValueId old) const { return made().value(now(old)); }
    using Rewriter::become;
    using Rewriter::made;
    using Rewriter::now;
    using Rewriter::oldValue;
    bool isDecided(ValueId parameter) const { return m_decided[index(parameter)]; }
    bool isParameter(ValueId old) const {  // frozen or not
        const ValueRole role = oldValue(old).role;
        return role == ValueRole::Parameter || role == ValueRole::Frozen;
    }
    void decide(ValueId parameter, const onednn::Desc& desc, const char* axes);
    bool hasGradients() const { return !m_parameters.empty(); }
    std::optional<ValueId> parameterOf(ValueId gradient) const;  // whose gradient an old value is

    // The new value of an old one in a given form, by way of a reorder where it has another.
    ValueId rowMajor(ValueId old);  // of floats, where it is of those or of bf16
    ValueId rows(ValueId old);      // the same, but of bf16 where rows of this shape are
    // Whether such rows of features lie as bf16, and products read them where they lie. Of few, what the library does
    // for each product costs more than that brings, but where there are tiles.
    bool areHalves(const Shape& rows) const;
    ValueId shaped(ValueId old);  // any layout, but the old value's shape
    // A value that shaped() gave as loops over images read it: of bf16 in whole channel blocks, or of floats.
    onednn::Desc readable(const Value& value) const;
    ValueId inLayout(ValueId old, const onednn::Desc& want, const char* axes, const Shape& shape);
    ValueId image(ValueId old, const onednn::Desc& want);  // an activation, shaped as the descriptor
    ValueId weights(ValueId old, const onednn::Desc& want, const char* axes);
    ValueId scaled(ValueId weights, ValueId scale, const onednn::Desc& want, const char* axes);  // filter by filter

    // The layouts an activation of this shape may have, the preferred first: few channels stay as they come.
    std::vector<onednn::Desc> imageLayouts(const Shape& shape) const;
    std::vector<onednn::Desc> imageLayouts(ValueId old) const;  // first of all the one that it has
    onednn::Desc imageLayout(const Shape& shape) const;         // that of what begins here

    // Appends a node; the outputs' layouts in order, none: row-major with the old shape.
    struct Form {
        onednn::Desc desc;
        const char* axes = "nchw";
        bool keepsShape = false;
    };
    void emit(const Node& old, std::vector<ValueId> inputs, std::string algorithm, std::vector<Form> outputs = {});

private:
    void take(ValueId parameter, const ParameterLayouts* layouts);
    void copyNode(const Node& node);
    void settleGradient(ValueId old);
    ValueId likeParameter(ValueId parameter, ValueId gradient);
    ValueId rowMajor(ValueId old, DType dtype);
    Value outputOf(ValueId old, const Form& form) const;
    ValueId reorder(ValueId from, const onednn::Desc& want, const char* axes, const Shape& shape, const Node* consumer);

    const Graph& m_graph;
    const ConvChoice& m_choose;
    onednn::Engine m_engine;
    int m_block;
    DType m_operands;
    onednn::Bf16Units m_units;
    std::vector<bool> m_decided;
    std::map<ValueId, ValueId> m_parameters;                         // by gradient
    std::map<std::pair<ValueId, std::string>, ValueId> m_reordered;  // by new value and what it was reordered to
    std::string m_scope;                                             // of the node at hand
};

using LayoutRule = void (*)(LayoutPass& pass, const Node& node);
LayoutRule findRule(const OpDef& op);  // null: inputs and outputs are row-major

// lay_out_conv.cpp
void layOutConv(LayoutPass& pass, const Node& node);
void layOutConvBackwardData(LayoutPass& pass, const Node& node);
void layOutConvBackwardWeights(LayoutPass& pass, const Node& node);

}  // namespace lockstep::cpu
