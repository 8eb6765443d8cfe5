#include "engine/backend/cpu/lay_out.h"

#include <algorithm>
#include <numeric>

#include "engine/backend/cpu/fold_norms.h"
#include "engine/backend/cpu/fuse_conv.h"
#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/layout_pass.h"
#include "engine/backend/cpu/product.h"
#include "engine/backend/fusion/fuse.h"
#include "engine/ops/activation.h"
#include "engine/ops/attention.h"
#include "engine/ops/batch_norm.h"
#include "engine/ops/conv2d.h"
#include "engine/ops/dense.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/embedding.h"
#include "engine/ops/layer_norm.h"
#include "engine/ops/pool2d.h"
#include "engine/ops/synchronised_norm.h"
#include "engine/ops/tokens.h"

namespace lockstep::cpu {

namespace {

using onednn::Desc;
using Form = LayoutPass::Form;

// Rank 4, in the channel blocks, the lanes or the order of another image.
Desc likeImage(const Desc& image, const Shape& shape, DType dtype) {
    if (image.isSampleLanes()) return Desc::sampleLanes(shape.dims(), dtype);
    const int block = image.channelBlock();
    const bool isHalf = image.dtype() == DType::BF16 || dtype == DType::BF16;
    const bool isLast = image.isChannelsLast() && !image.isRowMajor();
    if (isLast || (isHalf && block != 16)) return Desc::channelsLast(shape.dims(), dtype);
    return block == 1 ? Desc::rowMajor(shape.dims(), dtype) : Desc::blockedChannels(shape.dims(), block, dtype);
}

// What has loops over bf16.
bool readsHalves(const OpDef& op) {
    const auto ops = {&kRelu, &kReluBackward, &kRelu6, &kRelu6Backward, &kAdd};
    const auto isEither = [&](const Activation& each) { return each.forward == &op || each.backward == &op; };
    return std::ranges::count(ops, &op) > 0 || std::ranges::any_of(kActivations, isEither);
}

// The inputs at `rows` are rows of features, of floats or of bf16. All else is of floats.
std::vector<ValueId> takeRows(LayoutPass& pass, const Node& node, const std::vector<std::size_t>& rows) {
    std::vector<ValueId> inputs;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const bool isRows = std::ranges::count(rows, i) > 0;
        inputs.push_back(isRows ? pass.rows(node.inputs[i]) : pass.rowMajor(node.inputs[i]));
    }
    return inputs;
}

// So are the first `outputs`.
void emitRows(LayoutPass& pass, const Node& node, std::vector<ValueId> inputs, std::string algorithm,
              std::size_t outputs) {
    std::vector<Form> forms(node.outputs.size());
    for (std::size_t i = 0; i < outputs; ++i) {
        const Shape& shape = pass.oldValue(node.outputs[i]).type.shape;
        if (pass.areHalves(shape)) forms[i] = {Desc::rowMajor(shape.dims(), DType::BF16)};
    }
    pass.emit(node, std::move(inputs), std::move(algorithm), std::move(forms));
}

void layOutRows(LayoutPass& pass, const Node& node, const std::vector<std::size_t>& rows, std::string algorithm) {
    emitRows(pass, node, takeRows(pass, node, rows), std::move(algorithm), 1);
}

void layOutRowMajor(LayoutPass& pass, const Node& node, std::string algorithm) {
    std::vector<ValueId> inputs;
    for (const ValueId input : node.inputs) inputs.push_back(pass.rowMajor(input));
    pass.emit(node, std::move(inputs), std::move(algorithm));
}

// Inputs take the layout of the first that is not row-major.
void layOutElementwise(LayoutPass& pass, const Node& node) {
    const auto isLaidOut = [&](ValueId old) { return pass.newValue(old).layout != nullptr; };
    const auto leader = std::ranges::find_if(node.inputs, isLaidOut);
    std::vector<ValueId> inputs;
    if (leader == node.inputs.end()) {
        const auto isHalf = [&](ValueId old) { return pass.newValue(old).type.dtype == DType::BF16; };
        if (!readsHalves(*node.op) || std::ranges::none_of(node.inputs, isHalf))
            return layOutRowMajor(pass, node, "simd");
        std::vector<std::size_t> all(node.inputs.size());
        std::iota(all.begin(), all.end(), 0);
        return layOutRows(pass, node, all, "simd");
    }
    const Value& value = pass.newValue(*leader);
    const bool isRead = value.type.dtype != DType::BF16 || readsHalves(*node.op);
    const Desc desc = isRead ? descOf(value) : pass.imageLayouts(value.type.shape).back();
    for (const ValueId input : node.inputs) inputs.push_back(pass.image(input, desc));
    pass.emit(node, std::move(inputs), "simd", {{desc}});
}

// Between floats and bf16 a cast waits until somebody needs the other type.
void layOutCast(LayoutPass& pass, const Node& node) {
    const auto isEither = [&](ValueId old) { return atLeastF32(pass.oldValue(old).type.dtype) == DType::F32; };
    if (isEither(node.inputs[0]) && isEither(node.outputs[0]))
        return pass.become(node.outputs[0], pass.now(node.inputs[0]));
    pass.emit(node, {pass.rowMajor(node.inputs[0])}, "loop");
}

// A view of what is not row-major waits until somebody needs the other shape.
void layOutView(LayoutPass& pass, const Node& node) {
    const Value& from = pass.newValue(node.inputs[0]);
    const Shape& to = pass.oldValue(node.outputs[0]).type.shape;
    if (from.layout || from.type.shape == to) return pass.become(node.outputs[0], pass.now(node.inputs[0]));
    std::vector<Form> forms;
    if (from.type.dtype == DType::BF16) forms = {{Desc::rowMajor(to.dims(), DType::BF16)}};
    pass.emit(node, {pass.now(node.inputs[0])}, "", std::move(forms));
}

// The images at `images` take the layout of the node's x; all else is per channel.
void layOutNorm(LayoutPass& pass, const Node& node, std::size_t x, const std::vector<std::size_t>& images,
                const std::vector<std::size_t>& outputs) {
    const Value value = pass.made().value(pass.shaped(node.inputs[x]));
    const Desc has = pass.readable(value);
    const bool isPartlyFilled = has.isSampleLanes() && value.type.shape[0] % 16 != 0;
    const Desc desc = isPartlyFilled ? pass.imageLayouts(value.type.shape).back() : has;
    std::vector<ValueId> inputs;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const bool isImage = std::ranges::count(images, i) > 0;
        inputs.push_back(isImage ? pass.image(node.inputs[i], desc) : pass.rowMajor(node.inputs[i]));
    }
    std::vector<Form> forms(node.outputs.size());
    for (const std::size_t output : outputs) forms[output] = {desc};
    pass.emit(node, std::move(inputs), "simd", std::move(forms));
}

void layOutNormForward(LayoutPass& pass, const Node& node) {
    if (node.op != &kNormTrain && node.op != &kNormEval) return layOutNorm(pass, node, 0, {0}, {0});
    const bool hasOther = node.attrs.as<FusedNormAttrs>().residual != Residual::None;
    layOutNorm(pass, node, 0, hasOther ? std::vector<std::size_t>{0, 5} : std::vector<std::size_t>{0}, {0});
}

void layOutNormBackward(LayoutPass& pass, const Node& node) { layOutNorm(pass, node, 0, {0, 4}, {0}); }

void layOutNormSums(LayoutPass& pass, const Node& node) { layOutNorm(pass, node, 0, {0}, {}); }

void layOutNormBackwardSums(LayoutPass& pass, const Node& node) { layOutNorm(pass, node, 0, {0, 3}, {}); }

void layOutFusedNormBackward(LayoutPass& pass, const Node& node) {
    const auto& attrs = node.attrs.as<FusedNormBackwardAttrs>();
    std::vector<std::size_t> images{0, 1};
    std::size_t next = 5;
    if (attrs.pair) images.push_back(next++);
    if (attrs.mask == GradMask::FromOutput) images.push_back(next);
    if (attrs.mask != GradMask::None) ++next;
    const bool isPair = attrs.other == GradOther::Kept || attrs.other == GradOther::Norm;
    if (attrs.other == GradOther::Norm || attrs.other == GradOther::Added) images.push_back(next);
    layOutNorm(pass, node, 1, images, isPair ? std::vector<std::size_t>{0, 1} : std::vector<std::size_t>{0});
}

void layOutPool(LayoutPass& pass, const Node& node) {
    const Value value = pass.made().value(pass.shaped(node.inputs[0]));
    const Desc x = pass.readable(value);
    const Shape& y = pass.oldValue(node.outputs[0]).type.shape;
    std::vector<Form> forms{{likeImage(x, y, x.dtype())}};
    if (node.outputs.size() == 2) forms.push_back({likeImage(x, y, DType::I32)});
    pass.emit(node, {pass.image(node.inputs[0], x)}, "simd", std::move(forms));
}

// The averages' gradients of windows that overlap are added up in memory.
DType gradientsOfPool(const LayoutPass& pass, const Pool2dAttrs& pool, bool isLargest, const Desc& like) {
    const bool areApart = pool.stride[0] >= pool.window[0] && pool.stride[1] >= pool.window[1];
    const Shape shape{std::span<const std::int64_t>(like.dims())};
    const bool isHalf = pass.holdsHalves(shape) && like.of(DType::BF16) == pass.halfImage(shape);
    return isHalf && (areApart || isLargest) ? DType::BF16 : DType::F32;
}

// In the layout of argmax where there is one, else of dy.
void layOutPoolBackward(LayoutPass& pass, const Node& node) {
    const auto& [pool, shape] = node.attrs.as<Pool2dBackwardAttrs>();
    const bool hasArgmax = node.inputs.size() > 1;
    Value leader = pass.made().value(pass.shaped(node.inputs[hasArgmax ? 1 : 0]));
    Desc like = hasArgmax ? descOf(leader) : pass.readable(leader);
    const DType dtype = gradientsOfPool(pass, pool, hasArgmax, like);
    const bool isOtherwise = dtype == DType::F32 && like.isChannelsLast() && !like.isRowMajor();
    if (isOtherwise) like = Desc::blockedChannels(like.dims(), pass.block(), atLeastF32(like.dtype()));
    const Desc dy = likeImage(like, leader.type.shape, dtype);
    std::vector<ValueId> inputs{pass.image(node.inputs[0], dy)};
    if (hasArgmax) inputs.push_back(pass.image(node.inputs[1], like));
    if (node.inputs.size() > 2) inputs.push_back(pass.image(node.inputs[2], dy));
    pass.emit(node, std::move(inputs), "simd", {{likeImage(like, shape, dtype)}});
}

// Sums over the pixels of each sample, so samples must not lie in lanes.
void layOutSums(LayoutPass& pass, const Node& node) {
    const ValueId x = node.inputs[0];
    const bool lanes = descOf(pass.newValue(x)).isSampleLanes();
    pass.emit(node, {lanes ? pass.rowMajor(x) : pass.image(x, pass.readable(pass.made().value(pass.shaped(x))))},
              "simd");
}

void layOutGlobalPoolBackward(LayoutPass& pass, const Node& node) {
    const Shape& dx = pass.oldValue(node.outputs[0]).type.shape;
    pass.emit(node, {pass.rowMajor(node.inputs[0])}, "simd", {{pass.imageLayout(dx)}});
}

void layOutDense(LayoutPass& pass, const Node& node) { layOutRowMajor(pass, node, "simd"); }

void layOutLayerNorm(LayoutPass& pass, const Node& node) { layOutRows(pass, node, {0}, "simd"); }

void layOutLayerNormBackward(LayoutPass& pass, const Node& node) { layOutRows(pass, node, {0, 4, 5}, "simd"); }

// Its products are small, and made where they are read; what multiplies no bf16 has nothing to gain.
std::string attentionAlgorithm(const LayoutPass& pass) {
    return std::string(pass.multipliesHalves() ? text(DType::BF16) : "simd");
}

void layOutAttention(LayoutPass& pass, const Node& node) { layOutRows(pass, node, {0}, attentionAlgorithm(pass)); }

void layOutAttentionBackward(LayoutPass& pass, const Node& node) {
    layOutRows(pass, node, {0, 1, 3}, attentionAlgorithm(pass));
}

std::vector<std::size_t> rowsOfProduct(const Node& node) {
    if (node.op == &kDenseBackwardDataGelu) return {0, 2};
    if (node.op == &kDenseAdd) return {0, node.inputs.size() - 1};
    return {0};
}

bool isBackwardWeights(const Node& node) {
    return node.op == &kDenseBackwardWeights || node.op == &kDenseBackwardWeightsBias;
}

bool isProduct(const Node& node) {
    const auto ops = {&kDense, &kDenseRelu, &kDenseAdd, &kDenseGelu, &kDenseBackwardData, &kDenseBackwardDataGelu};
    return std::ranges::count(ops, node.op) > 0 || isBackwardWeights(node);
}

// Whether all products are of samples, as classifiers of few classes make them: tiles would be filled partly, and the
// library takes megabytes for its code. Tokens stay as they lie between layers.
bool hasSmallProductsOnly(const Graph& graph) {
    constexpr std::int64_t kFew = 65536, kTile = 32;
    const std::int64_t samples = graph.typeOf(graph.withRole(ValueRole::Input).front()).shape[0];
    return std::ranges::all_of(graph.nodes(), [&](const Node& node) {
        if (!isProduct(node)) return true;
        const Shape& weights = graph.typeOf(isBackwardWeights(node) ? node.outputs[0] : node.inputs[1]).shape;
        const bool isPartlyFilled = weights[0] % kTile != 0 || weights[1] % kTile != 0;
        return graph.typeOf(node.inputs[0]).shape[0] == samples && weights.count() < kFew && isPartlyFilled;
    });
}

// Whether weights are packed ahead of the product rather than in it: where they stay as they are, once. Of many floats
// the memory would be more than the time is worth; of bf16, which take half of it, making them takes longer than to
// multiply a few rows with them.
bool arePackedAhead(const LayoutPass& pass, const Node& node) {
    constexpr std::int64_t kMany = 4 << 20;
    const bool areFew = pass.oldValue(node.inputs[1]).type.shape.count() <= kMany;
    return !pass.hasGradients() && pass.isParameter(node.inputs[1]) && (areFew || pass.multipliesHalves());
}

void layOutPackedProduct(LayoutPass& pass, const Node& node, std::string algorithm) {
    const auto width = static_cast<int>(bestSimd().panelColumns);
    const std::vector<std::int64_t> dims = dimsOf(pass.oldValue(node.inputs[1]).type.shape);
    std::vector<ValueId> inputs;
    for (const ValueId input : node.inputs) inputs.push_back(pass.rowMajor(input));
    inputs[1] = pass.weights(node.inputs[1], Desc::rowPanels(dims, width, pass.operands()), "oi");
    pass.emit(node, std::move(inputs), std::move(algorithm));
}

// Our own products pack what they read, so that nothing is gained by another layout but of weights that stay; the
// library's read rows of bf16 where they lie, and make them, but for gradients of weights, which are sums of floats.
void layOutProduct(LayoutPass& pass, const Node& node) {
    const Shape& x = pass.oldValue(node.inputs[0]).type.shape;
    const Shape& w = pass.oldValue(node.inputs[1]).type.shape;
    const bool isBackwardData = node.op == &kDenseBackwardData || node.op == &kDenseBackwardDataGelu;
    const bool isFast = isBackwardWeights(node) ? suitsStrassen(bestSimd(), w[1], x[1], x[0])
                                                : suitsStrassen(bestSimd(), x[0], isBackwardData ? w[1] : w[0], x[1]);
    const bool isForward = !isBackwardData && !isBackwardWeights(node);
    if (pass.operands() == DType::F32) {
        std::string algorithm = isFast ? kStrassen : "simd";
        if (isForward && arePackedAhead(pass, node)) return layOutPackedProduct(pass, node, std::move(algorithm));
        return layOutRowMajor(pass, node, std::move(algorithm));
    }
    if (!pass.areHalves(x) || hasSmallProductsOnly(pass.before())) {
        std::string algorithm(text(pass.operands()));
        if (isForward && pass.multipliesHalves() && arePackedAhead(pass, node))
            return layOutPackedProduct(pass, node, std::move(algorithm));
        return layOutRowMajor(pass, node, std::move(algorithm));
    }
    if (!isBackwardWeights(node)) {
        std::vector<ValueId> inputs = takeRows(pass, node, rowsOfProduct(node));
        if (isForward && arePackedAhead(pass, node))
            inputs[1] = pass.weights(node.inputs[1], libraryWeights(pass.engine(), node, x, w), "oi");
        return emitRows(pass, node, std::move(inputs), kLibraryBf16, node.outputs.size());
    }
    pass.emit(node, {pass.rows(node.inputs[0]), pass.rows(node.inputs[1])}, kLibraryBf16);
}

struct Rule {
    const OpDef* op;
    LayoutRule rule;
};
constexpr Rule kRules[] = {
    {&kConv2d, layOutConv},
    {&kConv2dRelu, layOutConv},
    {&kConv2dFused, layOutConv},
    {&kConv2dFolded, layOutConv},
    {&kConv2dBackwardData, layOutConvBackwardData},
    {&kConv2dBackwardWeights, layOutConvBackwardWeights},
    {&kConv2dBackwardWeightsBias, layOutConvBackwardWeights},
    {&kConv2dBackwardWeightsNormed, layOutConvBackwardWeights},
    {&kConv2dBackwardBias, layOutSums},
    {&kDense, layOutProduct},
    {&kDenseRelu, layOutProduct},
    {&kDenseAdd, layOutProduct},
    {&kDenseGelu, layOutProduct},
    {&kDenseBackwardData, layOutProduct},
    {&kDenseBackwardDataGelu, layOutProduct},
    {&kDenseBackwardWeights, layOutProduct},
    {&kDenseBackwardWeightsBias, layOutProduct},
    {&kBatchNormTrain, layOutNormForward},
    {&kBatchNormEval, layOutNormForward},
    {&kBatchNormEvalBackward, layOutNormForward},
    {&kNormTrain, layOutNormForward},
    {&kNormStatistics, layOutNormSums},
    {&kNormEval, layOutNormForward},
    {&kBatchNormBackward, layOutNormBackward},
    {&kNormBackward, layOutFusedNormBackward},
    {&kBatchNormSums, layOutNormSums},
    {&kBatchNormTrainFromSums, layOutNormForward},
    {&kBatchNormBackwardSums, layOutNormBackwardSums},
    {&kBatchNormBackwardFromSums, layOutNormBackward},
    {&kLayerNorm, layOutLayerNorm},
    {&kLayerNormBackward, layOutLayerNormBackward},
    {&kLayerNormBackwardAdd, layOutLayerNormBackward},
    {&kAttention, layOutAttention},
    {&kAttentionBackward, layOutAttentionBackward},
    {&kSequenceMean, layOutDense},
    {&kSequenceMeanBackward, layOutDense},
    {&kEmbedding, layOutDense},
    {&kEmbeddingBackward, layOutDense},
    {&kCast, layOutCast},
    {&kFlatten, layOutView},
    {&kReshape, layOutView},
    {&kMaxPool2d, layOutPool},
    {&kMaxPool2dBackward, layOutPoolBackward},
    {&kMaxPool2dBackwardRelu, layOutPoolBackward},
    {&kAveragePool2d, layOutPool},
    {&kAveragePool2dBackward, layOutPoolBackward},
    {&kGlobalAveragePool2d, layOutSums},
    {&kGlobalAveragePool2dBackward, layOutGlobalPoolBackward},
};

}  // namespace

LayoutRule findRule(const OpDef& op) {
    const auto* found = std::ranges::find(kRules, &op, &Rule::op);
    if (found != std::end(kRules)) return found->rule;
    return op.isElementwise ? layOutElementwise : nullptr;
}

Graph lowerGraph(const Graph& graph, const LowerOptions& options, const ConvChoice& choose, onednn::Bf16Units units) {
    const auto hasKernel = [](const OpDef& op) { return findKernel(op) != nullptr; };
    const Graph folded = foldNorms(fuse(foldViews(graph), hasKernel), choose);
    return layOut(fuseConvolutions(folded, choose), options, choose, units);
}

Graph layOut(const Graph& graph, const LowerOptions& options, const ConvChoice& choose, onednn::Bf16Units units) {
    return LayoutPass(graph, options, choose, units).run();
}

}  // namespace lockstep::cpu
