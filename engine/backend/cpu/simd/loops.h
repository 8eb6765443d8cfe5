#pragma once
#include "engine/backend/cpu/simd/table.h"

// What the files of one instruction set show each other: the entries of its table.
namespace lockstep::cpu::LOCKSTEP_SIMD {

// Of floats and of bf16 (Loops).
template <class T>
void moments(const MomentsRunOf<T>& run, const MomentSums& sums);
template <class T>
void sum(const T* x, std::size_t count, std::size_t step, double* sum);
template <class T>
void norm(const NormRunOf<T>& run, int residual, bool relu);
template <class T>
void gradSums(const GradRunOf<T>& run, const GradSums& sums, GradMask mask, bool pair, GradOther other);
template <class T>
void gradApply(const GradRunOf<T>& run, GradMask mask, bool pair, GradOther other);
template <class T>
void relu(const T* x, T* y, std::size_t count);
template <class T>
void reluBackward(const T* y, const T* dy, T* dx, std::size_t count);
template <class T>
void relu6(const T* x, T* y, std::size_t count);
template <class T>
void relu6Backward(const T* y, const T* dy, T* dx, std::size_t count);
template <class T>
void add(const T* a, const T* b, T* y, std::size_t count);
template <class T>
void multiply(const T* a, const T* b, T* y, std::size_t count);
template <class T>
void activation(ActivationKind kind, const T* x, T* y, std::size_t count);
template <class T>
void activationBackward(ActivationKind kind, const T* x, const T* dy, T* dx, std::size_t count);
template <class T>
void geluAndSlope(T* x, T* y, std::size_t count);
template <class T>
void scale(const float* x, float factor, T* y, std::size_t count);
template <class T>
void addRow(float* y, const T* row, std::size_t count);
template <class T>
void layerNorm(const LayerNormRunOf<T>& run);
template <class T>
void layerNormBackward(const LayerNormBackwardRunOf<T>& run);
template <class T>
void rowDots(const T* a, const T* b, std::size_t stride, std::size_t rows, std::size_t width, float* out);
template <class T>
void maxPool(const PoolShape& shape, int block, const T* x, T* y, std::int32_t* argmax);
template <class T>
void maxPoolBackward(const PoolShape& shape, int block, const T* dy, const std::int32_t* argmax, const T* y, T* dx);
template <class T>
void averagePool(const PoolShape& shape, int block, const T* x, T* y);
template <class T>
void averagePoolBackward(const PoolShape& shape, int block, const T* dy, T* dx);

void copyRows(const float* from, std::size_t fromStride, std::size_t width, float* to, std::size_t toStride,
              std::size_t rows);

void rowsToLanes(const float* rows, std::size_t rowStride, std::size_t rowCount, float* lanes, std::size_t laneStride,
                 std::size_t count);
void lanesToRows(const float* lanes, float* rows, std::size_t rowStride, std::size_t rowCount, std::size_t count);
void interleaveRows(const PairedRows& rows);
void interleave(const Bf16* even, const Bf16* odd, float* pairs, std::size_t count);
extern const std::size_t kPanelColumns, kPanelRows;
void gemmPanel(const GemmRun& run);
void gemmPacked(const GemmRun& run);
void strassenTiles(const StrassenRun& run);
void strassenRows(float* operands, std::size_t stride, std::size_t count);
void strassenColumns(float* operands, std::size_t stride, std::size_t count);
void roundToBf16(float* x, std::size_t count);
void laneConv(const LaneConv& conv, const float* x, const float* weights, const float* bias, bool relu, float* y);
void laneConvWeights(const LaneConv& conv, const float* x, const float* dy, float* sums);

void winogradData(const WinogradImage& image, const float* x, const WinogradSpan& span, const ChannelAffine* norm,
                  float* points);
void winogradGradient(const WinogradImage& image, const float* dy, const WinogradSpan& span, float* points);
void winogradOutput(const WinogradImage& image, const float* points, const WinogradSpan& span, const SumEnd& end,
                    float* y);
#ifdef __AVX512F__
void winogradDataHalves(const WinogradImage& image, const Bf16* x, const WinogradSpan& span, const ChannelAffine* norm,
                        float* points);
void winogradGradientHalves(const WinogradImage& image, const Bf16* dy, const WinogradSpan& span, float* points);
void winogradOutputHalves(const WinogradImage& image, const float* points, const WinogradSpan& span,
                          const SumEndOf<Bf16>& end, Bf16* y);
#else
constexpr std::nullptr_t winogradDataHalves = nullptr, winogradGradientHalves = nullptr, winogradOutputHalves = nullptr;
#endif
void winogradFilter(WinogradForm form, const WinogradFilters& filters, const float* w, bool turned, float* points,
                    std::size_t pointStride);
void winogradFilterGradient(WinogradForm form, const WinogradFilters& filters, const WinogradSums& sums, bool adds,
                            float* dw);
void blockProduct(const BlockProduct& run);
void blockGradientProduct(const BlockGradientProduct& run);
void endRows(const EndedRows& run);

template <class T>
void softmaxTile(const ScoreTile& tile, float* largest, float* sums, float* y, std::size_t yStride, std::size_t width);
template <class T>
void softmaxTileBackward(const ScoreTile& tile, const float* logSumExp, const float* inner, float* gradients);

void softmaxSums(const float* z, std::size_t count, float* largest, float* sum);
void softmaxGradient(const float* z, std::size_t count, float largest, float factor, float offset, float* dz);
std::size_t rankOf(const float* z, std::size_t count, std::size_t at);

double squareSum(const float* x, std::size_t count);
void update(const UpdateRun& run);
std::uint32_t bits(const float* x, std::size_t count);
void average(const float* w, float rest, float* averages, std::size_t count);

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
