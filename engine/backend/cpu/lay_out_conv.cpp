#include <algorithm>

#include "engine/backend/cpu/conv_end.h"
#include "engine/backend/cpu/conv_request.h"
#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/layout_pass.h"

namespace lockstep::cpu {

namespace {

using onednn::ConvRequest;
using onednn::Desc;
using onednn::Pass;
using onednn::Plan;

// A convolution whose implementation is to be chosen; layouts in the order of preference.
struct Choice {
    ConvRequest request;
    std::vector<Desc> sources, destinations, weights;
    Shape x, w, y;
};

std::optional<Plan> tryLayouts(const LayoutPass& pass, const Choice& choice) {
    ConvRequest request = choice.request;
    for (const Desc& source : choice.sources) {
        for (const Desc& destination : choice.destinations) {
            for (const Desc& weights : choice.weights) {
                request.source = source;
                request.destination = destination;
                request.weights = weights;
                auto plan = planConv(pass.engine(), request);
                if (plan && plan->isFast) return plan;
            }
        }
    }
    return std::nullopt;
}

// The library has some implementation for row-major tensors, fast or not.
Plan rowMajorPlan(const LayoutPass& pass, const Choice& choice, const Node& node) {
    ConvRequest request = choice.request;
    request.source = Desc::rowMajor(choice.x.dims(), DType::F32);
    request.destination = Desc::rowMajor(choice.y.dims(), DType::F32);
    request.weights = Desc::rowMajor(choice.weights.back().dims(), DType::F32);
    auto plan = planConv(pass.engine(), request);
    if (plan) return std::move(*plan);
    throw EngineError(EngineError::Kind::Device, std::string(node.op->name) + " " + node.scope,
                      "oneDNN has no implementation for this convolution");
}

Plan choose(const LayoutPass& pass, const Choice& choice, const Node& node) {
    auto plan = tryLayouts(pass, choice);
    return plan ? std::move(*plan) : rowMajorPlan(pass, choice, node);
}

Choice choiceOf(const ConvPass& conv) {
    return {.request = convRequest(conv.pass, conv.attrs, conv.x, conv.w, conv.y),
            .sources = {},
            .destinations = {},
            .weights = {},
            .x = conv.x,
            .w = conv.w,
            .y = conv.y};
}

const char* axesOf(const Conv2dAttrs& attrs) { return attrs.groups == 1 ? "oihw" : "goihw"; }

// As the weights lie once that is decided; else, and failing that, as the library likes.
std::vector<Desc> weightLayouts(const LayoutPass& pass, ValueId w, const std::vector<std::int64_t>& dims) {
    const Desc any = Desc::any(dims, DType::F32);
    if (!pass.isParameter(w) || !pass.isDecided(w)) return {any};
    return {reshaped(descOf(pass.newValue(w)), dims), any};
}

// Parameters keep the forward pass's layout. Where backward-data wants another one, its kernel packs them into its
// workspace, as matrix products do: a few tenths of a per cent of the convolution.
bool packsWeights(const LayoutPass& pass, ValueId w, const std::vector<std::int64_t>& dims, const Desc& wanted) {
    if (!pass.isParameter(w) || !pass.isDecided(w)) return false;
    const Desc has = reshaped(descOf(pass.newValue(w)), dims);
    return !has.isRowMajor() && !wanted.isRowMajor() && !(has == wanted);
}

// Parameters stay floats: those of bf16, and those that are scaled, are made of them in every step.
ValueId takeWeights(LayoutPass& pass, ValueId w, const Desc& desc, const Conv2dAttrs& attrs,
                    std::optional<ValueId> scale = std::nullopt) {
    if (pass.isParameter(w) && !pass.isDecided(w) && desc.dtype() == DType::F32) pass.decide(w, desc, axesOf(attrs));
    return scale ? pass.scaled(w, *scale, desc, axesOf(attrs)) : pass.weights(w, desc, axesOf(attrs));
}

// x of a convolution with samples in lanes; the batch itself is read as it comes.
ValueId takeLanes(LayoutPass& pass, ValueId x) {
    const bool isBatch = pass.newValue(x).role == ValueRole::Input;
    return isBatch ? pass.rowMajor(x)
                   : pass.image(x, Desc::sampleLanes(pass.oldValue(x).type.shape.dims(), DType::F32));
}

LayoutPass::Form lanesForm(const LayoutPass& pass, ValueId y) {
    return {Desc::sampleLanes(pass.oldValue(y).type.shape.dims(), DType::F32)};
}

// Our own algorithms read the library's blocks, whichever they are.
Desc blockedImage(const LayoutPass& pass, const Shape& shape) {
    const bool isHalf = pass.holdsHalves(shape) && !pass.multipliesTiles();
    return isHalf ? pass.halfImage(shape) : Desc::blockedChannels(shape.dims(), pass.block(), DType::F32);
}

Desc blockedFilters(const Shape& shape) {
    return Desc::blockedFilters(shape.dims(), onednn::preferredBlock(), DType::F32);
}

// The same of bf16; where images are of it in memory what is made is, too, but for gradients of weights. Images lie as
// they do in memory, or where the library is slow with that, with channels last.
Choice inHalves(const LayoutPass& pass, Choice choice, Pass of) {
    const auto layouts = [&](const Shape& shape, bool isMade) {
        if (pass.multipliesTiles()) return std::vector{pass.halfImage(shape)};
        if (pass.holdsHalves(shape))
            return std::vector{pass.halfImage(shape), Desc::channelsLast(shape.dims(), DType::BF16)};
        return std::vector{Desc::any(shape.dims(), isMade ? DType::F32 : DType::BF16)};
    };
    choice.sources = layouts(choice.x, of == Pass::BackwardData);
    choice.destinations = layouts(choice.y, of == Pass::Forward);
    if (of != Pass::BackwardWeights) choice.weights = {Desc::any(choice.weights.front().dims(), DType::BF16)};
    return choice;
}

// An image that the library laid out as none of our kernels reads it lies in channel blocks from here on.
void settleImage(LayoutPass& pass, ValueId old) {
    const Desc has = descOf(pass.newValue(old));
    const bool isRead = has.dtype() == DType::BF16 ? isInWholeBlocks(has) : has.channelBlock() > 0;
    if (!isRead) pass.become(old, pass.image(old, pass.imageLayouts(pass.oldValue(old).type.shape).back()));
}

struct Planned {
    Plan plan;
    ConvAlgorithm algorithm;
};

// In bf16 where that was chosen and the library has it.
Planned planFor(const LayoutPass& pass, const Node& node, const ConvPass& conv, ConvAlgorithm algorithm,
                const Choice& choice) {
    if (algorithm == ConvAlgorithm::DirectBf16) {
        if (auto plan = tryLayouts(pass, inHalves(pass, choice, conv.pass))) return {std::move(*plan), algorithm};
    }
    return {choose(pass, choice, node), ConvAlgorithm::Direct};
}

// What has taken in its surroundings stays ours. In blocks of eight channels that is what makes ours worth it: else the
// library is a little faster with windows of one pixel.
ConvAlgorithm algorithmOf(const LayoutPass& pass, const Node& node, const ConvPass& conv) {
    const bool isFused = node.op == &kConv2dFused || node.op == &kConv2dBackwardWeightsNormed;
    const ConvAlgorithm chosen = isFused ? chooseByRule(conv) : pass.choose(conv);
    const bool isBiasOfModel = node.op == &kConv2dRelu || (node.op == &kConv2d && node.inputs.size() == 3);
    const bool hasBias = isBiasOfModel || node.op == &kConv2dBackwardWeightsBias;
    const bool isLibrarys = hasBias || (!isFused && onednn::preferredBlock() == 8);
    return isLibrarys && chosen == ConvAlgorithm::Pointwise ? ConvAlgorithm::Direct : chosen;
}

ConvPass forwardPass(const LayoutPass& pass, const Node& node) {
    return {Pass::Forward, convAttrs(node), pass.oldValue(node.inputs[0]).type.shape,
            pass.oldValue(node.inputs[1]).type.shape, pass.oldValue(node.outputs[0]).type.shape};
}

// So few samples that most of the lanes would be empty. In training, parameters lie as they do for any batch.
bool isOfFew(const LayoutPass& pass, ValueId x) {
    constexpr std::int64_t kEnough = 12;
    return !pass.hasGradients() && pass.oldValue(x).type.shape[0] < kEnough;
}

bool takesLanes(const LayoutPass& pass, const Node& node) {
    const ConvPass conv = forwardPass(pass, node);
    return !isOfFew(pass, node.inputs[0]) && suitsLanes(conv.attrs, conv.x, conv.w);
}

// What follows x and w: the tensor that is added lies as what is made, all else is per channel.
void takeEnd(LayoutPass& pass, const Node& node, const Desc& made, std::vector<ValueId>& inputs) {
    const auto addend = endOf(node).addend;
    for (std::size_t i = 2; i < node.inputs.size(); ++i)
        inputs.push_back(i == addend ? pass.image(node.inputs[i], made) : pass.rowMajor(node.inputs[i]));
}

// A convolution as the library knows it, and what its filters are to be multiplied with.
std::pair<Node, std::optional<ValueId>> withoutScale(const Node& node) {
    const auto scale = endOf(node).scale;
    if (!scale) return {node, std::nullopt};
    Node scaled = node;
    scaled.op = &kConv2dScaled;
    scaled.inputs.erase(scaled.inputs.begin() + static_cast<std::ptrdiff_t>(*scale));
    return {scaled, node.inputs[*scale]};
}

ValueId takeRowMajorWeights(LayoutPass& pass, ValueId w) {
    const Desc desc = Desc::rowMajor(pass.oldValue(w).type.shape.dims(), DType::F32);
    if (pass.isParameter(w) && !pass.isDecided(w)) pass.decide(w, desc, "oihw");
    return pass.weights(w, desc, "oihw");
}

// By our own products of tiles: an image from another, which is the first input; the weights' panels have columns along
// `columnAxis`. Those of joined pixels are made of the weights as they are.
void layOutTiles(LayoutPass& pass, const Node& node, ConvAlgorithm algorithm, const Conv2dAttrs& attrs,
                 int columnAxis) {
    const ValueId image = node.inputs[0], w = node.inputs[1];
    const auto takePanels = [&] {
        return takeWeights(pass, w, Desc::productPanels(pass.oldValue(w).type.shape.dims(), columnAxis), attrs);
    };
    const Desc made = pass.halfImage(pass.oldValue(node.outputs[0]).type.shape);
    std::vector<ValueId> inputs{pass.image(image, pass.halfImage(pass.oldValue(image).type.shape)),
                                algorithm == ConvAlgorithm::Joined ? takeRowMajorWeights(pass, w) : takePanels()};
    takeEnd(pass, node, made, inputs);
    pass.emit(node, std::move(inputs), text(algorithm), {{made}});
}

std::string nameOf(const LayoutPass& pass, ConvAlgorithm algorithm) {
    const bool isOfPairs = algorithm == ConvAlgorithm::Pointwise && pass.multipliesHalves();
    return isOfPairs ? kPointwiseBf16 : text(algorithm);
}

// Where weights stay as they are, pairs are made of them once.
Desc filtersOf(const LayoutPass& pass, ValueId w, ConvAlgorithm algorithm) {
    const Shape& shape = pass.oldValue(w).type.shape;
    const bool arePaired = algorithm == ConvAlgorithm::Pointwise && pass.multipliesHalves() && !pass.hasGradients();
    return arePaired ? Desc::pairedFilters(shape.dims()) : blockedFilters(shape);
}

void layOutBlocked(LayoutPass& pass, const Node& node, ConvAlgorithm algorithm) {
    const ValueId x = node.inputs[0], w = node.inputs[1];
    const Desc y = blockedImage(pass, pass.oldValue(node.outputs[0]).type.shape);
    std::vector<ValueId> inputs{pass.image(x, blockedImage(pass, pass.oldValue(x).type.shape)),
                                takeWeights(pass, w, filtersOf(pass, w, algorithm), convAttrs(node))};
    takeEnd(pass, node, y, inputs);
    pass.emit(node, std::move(inputs), nameOf(pass, algorithm), {{y}});
}

}  // namespace

void layOutConv(LayoutPass& pass, const Node& node) {
    const Conv2dAttrs& attrs = convAttrs(node);
    const ValueId x = node.inputs[0], w = node.inputs[1];
    if (takesLanes(pass, node)) {
        std::vector<ValueId> inputs{takeLanes(pass, x), takeRowMajorWeights(pass, w)};
        if (node.inputs.size() == 3) inputs.push_back(pass.rowMajor(node.inputs[2]));
        return pass.emit(node, std::move(inputs), "lanes", {lanesForm(pass, node.outputs[0])});
    }
    const ConvPass conv = forwardPass(pass, node);
    const ConvAlgorithm algorithm = algorithmOf(pass, node, conv);
    if (isOwn(algorithm)) return layOutBlocked(pass, node, algorithm);
    if (isOfTiles(algorithm)) return layOutTiles(pass, node, algorithm, attrs, 0);
    Choice choice = choiceOf(conv);
    setEnd(endOf(node), choice.request);
    choice.sources = pass.imageLayouts(x);
    // A block that is partly filled only the library's plain fallback reads; rows of few channels are read fast.
    if (conv.x[1] < pass.block()) choice.sources.push_back(Desc::rowMajor(conv.x.dims(), DType::F32));
    choice.destinations = {pass.imageLayouts(conv.y).back()};
    choice.weights = weightLayouts(pass, w, weightDims(attrs, choice.w));
    const auto [plan, made] = planFor(pass, node, conv, algorithm, choice);
    const auto [lowered, scale] = withoutScale(node);
    std::vector<ValueId> inputs{pass.image(x, plan.arguments[0]),
                                takeWeights(pass, w, plan.arguments[1], attrs, scale)};
    takeEnd(pass, lowered, plan.arguments.back(), inputs);
    pass.emit(lowered, std::move(inputs), text(made), {{plan.arguments.back()}});
    settleImage(pass, node.outputs[0]);
}

void layOutConvBackwardData(LayoutPass& pass, const Node& node) {
    const auto& [attrs, shape] = node.attrs.as<Conv2dBackwardAttrs>();
    const ValueId dy = node.inputs[0], w = node.inputs[1];
    if (suitsLanes(attrs, shape, pass.oldValue(w).type.shape)) {
        const std::vector<ValueId> inputs{takeLanes(pass, dy), takeRowMajorWeights(pass, w)};
        return pass.emit(node, inputs, "lanes", {lanesForm(pass, node.outputs[0])});
    }
    const ConvPass conv{Pass::BackwardData, attrs, shape, pass.oldValue(w).type.shape, pass.oldValue(dy).type.shape};
    const ConvAlgorithm algorithm = algorithmOf(pass, node, conv);
    if (isOwn(algorithm)) {
        std::vector<ValueId> inputs{pass.image(dy, blockedImage(pass, pass.oldValue(dy).type.shape)),
                                    takeWeights(pass, w, blockedFilters(pass.oldValue(w).type.shape), attrs)};
        return pass.emit(node, std::move(inputs), nameOf(pass, algorithm), {{blockedImage(pass, shape)}});
    }
    if (isOfTiles(algorithm)) return layOutTiles(pass, node, algorithm, attrs, 1);
    Choice choice = choiceOf(conv);
    choice.sources = pass.imageLayouts(shape);
    choice.destinations = {pass.imageLayouts(dy).back()};
    const std::vector<std::int64_t> dims = weightDims(attrs, choice.w);
    choice.weights = weightLayouts(pass, w, dims);
    const auto [plan, made] = planFor(pass, node, conv, algorithm, choice);
    const ValueId source = pass.image(dy, plan.arguments[0]);
    if (made == ConvAlgorithm::Direct && packsWeights(pass, w, dims, plan.arguments[1]))
        return pass.emit(node, {source, pass.now(w)}, kPackedDirect, {{plan.arguments[2]}});
    pass.emit(node, {source, takeWeights(pass, w, plan.arguments[1], attrs)}, text(made), {{plan.arguments[2]}});
    settleImage(pass, node.outputs[0]);
}

void layOutConvBackwardWeights(LayoutPass& pass, const Node& node) {
    const auto& [attrs, shape] = node.attrs.as<Conv2dBackwardAttrs>();
    const ValueId x = node.inputs[0], dy = node.inputs[1];
    const auto parameter = pass.parameterOf(node.outputs[0]);
    if (suitsLanes(attrs, pass.oldValue(x).type.shape, shape))
        return pass.emit(node, {takeLanes(pass, x), pass.image(dy, lanesForm(pass, dy).desc)}, "lanes");
    const ConvPass conv{Pass::BackwardWeights, attrs, pass.oldValue(x).type.shape, shape, pass.oldValue(dy).type.shape};
    Choice choice = choiceOf(conv);
    choice.request.bias = node.outputs.size() == 2;
    choice.sources = pass.imageLayouts(x);
    choice.destinations = {pass.imageLayouts(dy).back()};
    const std::vector<std::int64_t> dims = weightDims(attrs, shape);
    choice.weights = parameter ? weightLayouts(pass, *parameter, dims) : std::vector{Desc::any(dims, DType::F32)};
    ConvAlgorithm algorithm = algorithmOf(pass, node, conv);
    // The library is slow at some small images in blocks of eight channels, and makes weights that lie otherwise: in
    // another batch other gradients would be ready first.
    if (algorithm == ConvAlgorithm::Direct && isWinograds(attrs, shape) && !tryLayouts(pass, choice))
        algorithm = ConvAlgorithm::Winograd;
    if (isOwn(algorithm) || isOfTiles(algorithm)) {
        const auto image = [&](ValueId old) {
            const Shape& of = pass.oldValue(old).type.shape;
            return pass.image(old, isOfTiles(algorithm) ? pass.halfImage(of) : blockedImage(pass, of));
        };
        const Desc filters =
            algorithm == ConvAlgorithm::Joined ? Desc::rowMajor(shape.dims(), DType::F32) : blockedFilters(shape);
        if (parameter && !pass.isDecided(*parameter)) pass.decide(*parameter, filters, axesOf(attrs));
        std::vector<ValueId> inputs{image(x), image(dy)};
        for (std::size_t i = 2; i < node.inputs.size(); ++i) inputs.push_back(pass.rowMajor(node.inputs[i]));
        return pass.emit(node, std::move(inputs), nameOf(pass, algorithm), {{filters, axesOf(attrs), true}});
    }
    const auto [plan, made] = planFor(pass, node, conv, algorithm, choice);
    if (parameter && !pass.isDecided(*parameter)) pass.decide(*parameter, plan.arguments[2], axesOf(attrs));
    std::vector<ValueId> inputs{pass.image(x, plan.arguments[0]), pass.image(dy, plan.arguments[1])};
    pass.emit(node, std::move(inputs), text(made), {{plan.arguments[2], axesOf(attrs), true}});
}

}  // namespace lockstep::cpu
