#include "engine/backend/cpu/simd/table.h"

#include "engine/backend/cpu/simd/loops.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

namespace {

template <class T>
constexpr Loops<T> loopsOver() {
    return {.moments = moments<T>,
            .sum = sum<T>,
            .norm = norm<T>,
            .gradSums = gradSums<T>,
            .gradApply = gradApply<T>,
            .relu = relu<T>,
            .reluBackward = reluBackward<T>,
            .relu6 = relu6<T>,
            .relu6Backward = relu6Backward<T>,
            .add = add<T>,
            .multiply = multiply<T>,
            .activation = activation<T>,
            .activationBackward = activationBackward<T>,
            .geluAndSlope = geluAndSlope<T>,
            .scale = scale<T>,
            .addRow = addRow<T>,
            .layerNorm = layerNorm<T>,
            .layerNormBackward = layerNormBackward<T>,
            .rowDots = rowDots<T>,
            .softmaxTile = softmaxTile<T>,
            .softmaxTileBackward = softmaxTileBackward<T>,
            .maxPool = maxPool<T>,
            .maxPoolBackward = maxPoolBackward<T>,
            .averagePool = averagePool<T>,
            .averagePoolBackward = averagePoolBackward<T>};
}

}  // namespace

#define LOCKSTEP_TEXT_OF(name) #name
#define LOCKSTEP_TEXT(name) LOCKSTEP_TEXT_OF(name)

const SimdTable kTable{
    .name = LOCKSTEP_TEXT(LOCKSTEP_SIMD),
    .floats = loopsOver<float>(),
    .halves = loopsOver<Bf16>(),
    .copyRows = copyRows,
    .rowsToLanes = rowsToLanes,
    .lanesToRows = lanesToRows,
    .interleave = interleave,
    .interleaveRows = interleaveRows,
    .panelColumns = kPanelColumns,
    .panelRows = kPanelRows,
    .gemmPanel = gemmPanel,
    .gemmPacked = gemmPacked,
    .strassenTiles = strassenTiles,
    .strassenRows = strassenRows,
    .strassenColumns = strassenColumns,
    .roundToBf16 = roundToBf16,
    .laneConv = laneConv,
    .laneConvWeights = laneConvWeights,
    .winogradData = winogradData,
    .winogradGradient = winogradGradient,
    .winogradOutput = winogradOutput,
    .winogradDataHalves = winogradDataHalves,
    .winogradGradientHalves = winogradGradientHalves,
    .winogradOutputHalves = winogradOutputHalves,
    .winogradFilter = winogradFilter,
    .winogradFilterGradient = winogradFilterGradient,
    .blockProduct = blockProduct,
    .blockGradientProduct = blockGradientProduct,
    .endRows = endRows,
    .softmaxSums = softmaxSums,
    .softmaxGradient = softmaxGradient,
    .rankOf = rankOf,
    .squareSum = squareSum,
    .update = update,
    .bits = bits,
    .average = average,
};

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
