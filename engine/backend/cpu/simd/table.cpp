#include "engine/backend/cpu/simd/table.h"

#include "engine/backend/cpu/simd/loops.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

#define LOCKSTEP_TEXT_OF(name) #name
#define LOCKSTEP_TEXT(name) LOCKSTEP_TEXT_OF(name)

const SimdTable kTable{
    .name = LOCKSTEP_TEXT(LOCKSTEP_SIMD),
    .moments = moments,
    .sum = sum,
    .norm = norm,
    .gradSums = gradSums,
    .gradApply = gradApply,
    .relu = relu,
    .reluBackward = reluBackward,
    .relu6 = relu6,
    .relu6Backward = relu6Backward,
    .add = add,
    .multiply = multiply,
    .scale = scale,
    .addRow = addRow,
    .copyRows = copyRows,
    .maxPool = maxPool,
    .maxPoolBackward = maxPoolBackward,
    .averagePool = averagePool,
    .averagePoolBackward = averagePoolBackward,
    .rowsToLanes = rowsToLanes,
    .lanesToRows = lanesToRows,
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
    .winogradFilter = winogradFilter,
    .winogradFilterGradient = winogradFilterGradient,
    .blockProduct = blockProduct,
    .blockGradientProduct = blockGradientProduct,
    .activation = activation,
    .activationBackward = activationBackward,
    .geluAndSlope = geluAndSlope,
    .layerNorm = layerNorm,
    .layerNormBackward = layerNormBackward,
    .rowDots = rowDots,
    .softmaxTile = softmaxTile,
    .softmaxTileBackward = softmaxTileBackward,
    .softmaxSums = softmaxSums,
    .softmaxGradient = softmaxGradient,
    .rankOf = rankOf,
    .squareSum = squareSum,
    .update = update,
    .average = average,
};

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
