#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

// The inner loops of our own kernels. Each source file of this folder but dispatch.cpp is compiled once per instruction
// set, into a namespace of its own; they include nothing but plain headers, so that no shared inline function is
// compiled for a processor that may not be there. All loops run over contiguous floats whose channel pattern repeats
// every 16 elements: a "pattern" is 16 floats, one per lane. No loop allocates, throws or starts threads.

#include "engine/backend/bit_sums.h"
#include "engine/backend/fusion/grad_mask.h"
#include "engine/ops/activation_kind.h"
#include "engine/ops/update_rule.h"

namespace lockstep::cpu {

// A bfloat16: the upper half of a float. Images of it lie channels last, whole blocks of 16 of them.
enum class Bf16 : std::uint16_t {};

// Loops over elements of T. Of floats, sixteen lie behind sixteen; of bf16 they lie `step` apart, pixel by pixel, and
// are as many as sixteen divides. Loops of batch norm then take up to kMostBlocks channel blocks that lie side by side,
// of every pixel all of them, as memory likes it: `count` elements of each, whose patterns (or sums) lie `apart`.
inline constexpr std::size_t kMostBlocks = 16;

// By lane: sum += x - shift, square += (x - shift)^2.
template <class T>
struct MomentsRunOf {
    const T* x = nullptr;
    std::size_t count = 0, step = 16, blocks = 1, apart = 16;
    const float* shift = nullptr;  // patterns
};
struct MomentSums {
    double *sum = nullptr, *square = nullptr;
    std::size_t apart = 16;
};

// y = (x - mean) scale + offset [+ r | + (r - mean2) scale2] [, negative values to zero]
template <class T>
struct NormRunOf {
    const T* x = nullptr;
    const T* r = nullptr;
    T* y = nullptr;
    std::size_t count = 0, step = 16, blocks = 1, apart = 16;
    const float *mean = nullptr, *scale = nullptr, *offset = nullptr;  // patterns
    const float *mean2 = nullptr, *scale2 = nullptr;
};
using NormRun = NormRunOf<float>;

// g = mask(g1 [+ g2]); sums: S += g, Q += g (x - mean), R += g (x2 - mean2);
// apply: dx = scale g + slope (x - mean) + shift [+ x2]; out = g or the same through the second norm.
template <class T>
struct GradRunOf {
    const T *g1 = nullptr, *g2 = nullptr, *x = nullptr, *z = nullptr, *x2 = nullptr;
    T *out = nullptr, *dx = nullptr;
    std::size_t count = 0, step = 16, blocks = 1, apart = 16;
    const float *mean = nullptr, *scale = nullptr, *offset = nullptr;  // patterns; offset: beta, for the mask
    const float *slope = nullptr, *shift = nullptr;
    const float *mean2 = nullptr, *scale2 = nullptr, *slope2 = nullptr, *shift2 = nullptr;
};
using GradRun = GradRunOf<float>;
// Added to.
struct GradSums {
    double *s = nullptr, *q = nullptr, *r = nullptr;
    std::size_t apart = 16;
};

struct PoolShape {
    std::int64_t height = 0, width = 0;  // of x
    std::int64_t rows = 0, columns = 0;  // of y
    std::array<int, 2> window{}, stride{}, padding{};
    bool countPadding = false;
    // Of bf16: elements from pixel to pixel, in x and in y, and how many groups of 16 channels there are to be done.
    std::size_t step = 16, groups = 1;
};

// A convolution over sixteen samples at once, one in each lane: x is C,H,W and y is K,P,Q with 16 floats a pixel. x's
// rows have the horizontal padding in them (`width` with it); rows above and below the image, `top` of them, count as
// zero.
struct LaneConv {
    std::int64_t channels = 0, height = 0, width = 0;
    std::int64_t outputs = 0, rows = 0, columns = 0;
    int windowHeight = 1, windowWidth = 1, strideHeight = 1, strideWidth = 1, top = 0;
};

// Where a part of a product's depth begins, in floats behind `a` and behind the panel.
struct GemmPart {
    std::size_t a = 0, panel = 0;
};
inline constexpr GemmPart kWholeDepth{};

// c = a b [+ c] [+ bias] [ReLU] for one panel of columns: a is rows x depth with any strides, b is packed as depth rows
// of `panelColumns` floats, the last columns of the last panel zero.
struct GemmRun {
    const float* a = nullptr;
    std::size_t aRowStride = 0, aDepthStride = 0;
    const float* panel = nullptr;
    const float* bias = nullptr;  // one per column, or null
    float* c = nullptr;
    std::size_t cRowStride = 0, rows = 0, depth = 0, columns = 0;
    bool adds = false, relu = false;
    const GemmPart* parts = &kWholeDepth;  // of GemmRows alone: at least one, each `depth` deep
    std::size_t partCount = 1;
};

// Tiles of c = a b by Strassen's algorithm in Winograd's form, seven products of quarters instead of eight (Huang et
// al., "Strassen's algorithm reloaded", SC 2016, for making its sums as operands are packed):
//   a11 b11, a12 b21, s2 t2, s3 t3, s1 t1, s4 b22, a22 t4    operands 0 to 6 of both sides, `aStride` and `bStride`
//   apart s1 = a21 + a22, s2 = s1 - a11, s3 = a11 - a21, s4 = a12 - s2, t1 = b12 - b11, t2 = b22 - t1, t3 = b22 - b12,
//   t4 = t2 - b21
// each packed as gemmPacked's are: a panel of rows, a panel of columns. Rows and columns of c's lower and right
// quarters lie `lower` rows and `right` columns after those of its upper and left ones.
constexpr std::size_t kStrassenPanels = 4;
// A tile's product is made in so many parts of the depth, a multiple of it.
constexpr std::size_t kStrassenParts = 16;
// Rows of floats that are read after the products, `linesOfPart` cache lines of which are fetched with each part.
struct ReadAhead {
    const float* row = nullptr;
    std::size_t stride = 0, rows = 0, width = 0, linesOfPart = 0;
    std::size_t column = 0;
};
struct StrassenRun {
    const float *a = nullptr, *b = nullptr;
    std::size_t aStride = 0, bStride = 0, depth = 0;  // of each operand
    const float* bias = nullptr;                      // one per column, or null
    float* c = nullptr;
    std::size_t cRowStride = 0, lower = 0, right = 0;
    // Of rows, one to kStrassenPanels; the rows that there are, no more of the lower ones.
    std::size_t panels = 0, upperRows = 0, lowerRows = 0;
    bool adds = false, relu = false;
    ReadAhead* ahead = nullptr;
};

// Winograd's convolution of images in blocks of 16 channels, or 8, two of which are taken for one: each tile of outputs
// follows from numbers, its "points", that are products over channels. Tiles are counted row by row through all
// samples; in memory every point has `pointStride` floats of its own, 16 for each tile or filter row.
enum class WinogradForm {
    Tile4,   // F(4x4,3x3) (Lavin & Gray, arXiv 1509.09308): 4x4 outputs from 6x6 points
    Image2,  // all of a 2x2 image with padding 1, a product with a Toeplitz matrix of Toeplitz blocks: 3x3 points by
             // Karatsuba's algorithm transposed (Winograd, Arithmetic Complexity of Computations, SIAM 1980)
};
struct WinogradImage {
    WinogradForm form = WinogradForm::Tile4;
    std::int64_t height = 0, width = 0;  // of the image that is read or written
    std::int64_t tileRows = 0, tileColumns = 0;
    std::int64_t top = 0, left = 0;  // padding of what is read; Image2: none
    std::size_t sampleStride = 0;
    std::int64_t block = 16;  // channels side by side
};
struct WinogradSpan {
    std::size_t begin = 0, count = 0;  // tiles
    std::size_t pointStride = 0;
};
// How filters of 3x3 taps lie: in blocks of so many outputs, of blocks of so many channels, each of 9 taps of channels
// and outputs, which are side by side.
struct WinogradFilters {
    std::size_t block = 16;
    std::size_t outputStride = 0;  // from block to block; of blocks of 16, one of which is read at a time: none
};
// The points of filters' gradients, which are the sums of `parts` arrays one after the other.
struct WinogradSums {
    const float* points = nullptr;
    std::size_t pointStride = 0, parts = 1, partStride = 0;
};
// What becomes of a convolution's sums, in this order; scale and bias are patterns of its channel blocks, addends lie
// as y, of T, does. Null: nothing is multiplied or added.
template <class T>
struct SumEndOf {
    const float *scale = nullptr, *bias = nullptr;
    const T* addends = nullptr;
    bool relu = false;
    float ceiling = std::numeric_limits<float>::infinity();  // of ReLU
};
using SumEnd = SumEndOf<float>;

// Rows of kColumns sums, one behind the other, become pixels: row n goes to y + at[n], where its addends lie, too.
struct EndedRows {
    static constexpr std::size_t kColumns = 32;
    const float* sums = nullptr;
    std::size_t rows = 0;
    const std::size_t* at = nullptr;
    SumEndOf<Bf16> end;
    Bf16* y = nullptr;
};

// y = (x - mean) scale + offset in one channel block: patterns.
struct ChannelAffine {
    const float *mean = nullptr, *scale = nullptr, *offset = nullptr;
};

// Products of blocks of `block` channels, B; a tile is one pixel, or one Winograd tile at one point:
// products[b][tile][B] = end([themselves +] sum over channels of
//                            filters[b][channel][B] data[channel / B][tile][channel % B]).
template <class T>
struct BlockProductOf {
    const float *filters = nullptr, *data = nullptr;
    T* products = nullptr;
    std::size_t filterStride = 0, dataStride = 0, productStride = 0;  // from block to block
    std::size_t blocks = 0, channelBlocks = 0, tiles = 0;
    bool adds = false;
    const SumEndOf<T>* end = nullptr;  // null: sums stay as they are; addends lie as products do, and may be there
    std::size_t block = 16;            // or 8
};
using BlockProduct = BlockProductOf<float>;
// filters[b][channel][B] = [themselves +] sum over tiles of gradients[b][tile][B] data[channel / B][tile][channel % B].
struct BlockGradientProduct {
    const float *gradients = nullptr, *data = nullptr;
    float* filters = nullptr;
    std::size_t gradientStride = 0, dataStride = 0, filterStride = 0;
    std::size_t blocks = 0, channelBlocks = 0, tiles = 0;
    bool adds = false;
    std::size_t block = 16;  // or 8
};

// Rows of `width` elements: y = (x - mean) invStd gamma + beta.
template <class T>
struct LayerNormRunOf {
    const T* x = nullptr;
    const float *gamma = nullptr, *beta = nullptr;
    T* y = nullptr;
    float *mean = nullptr, *invStd = nullptr;
    std::size_t rows = 0, width = 0;
    float epsilon = 0;
};
using LayerNormRun = LayerNormRunOf<float>;
// dgamma and dbeta are added to; addends, which may be null, to dx.
template <class T>
struct LayerNormBackwardRunOf {
    const T *x = nullptr, *dy = nullptr, *addends = nullptr;
    const float *gamma = nullptr, *mean = nullptr, *invStd = nullptr;
    T* dx = nullptr;
    float *dgamma = nullptr, *dbeta = nullptr;
    std::size_t rows = 0, width = 0;
};

// A tile of attention's scores, queries by keys, before their scale: stride is a multiple of 32 and at least `columns`.
// The first row sees its first `seen` columns, at least one, every other row one more than that before it.
struct ScoreTile {
    float* scores = nullptr;
    std::size_t rows = 0, columns = 0, stride = 0, seen = 0;
    float scale = 1;
};

// Rows of bf16, each as pairs with the one behind it; `columns`, a multiple of 32, go to panels of 32.
struct PairedRows {
    const Bf16 *even = nullptr, *odd = nullptr;
    std::size_t stride = 0, count = 0, columns = 0;  // from an even row to the next; pairs of rows
    float* to = nullptr;
    std::size_t rowStride = 0, panelStride = 0;
};

// One update of neighbouring elements that are treated alike: decay and learning rate are theirs. A state that the rule
// does not keep is null.
struct UpdateRun {
    const UpdateRule* rule = nullptr;
    double scale = 1;  // of the gradient
    double decay = 0, learningRate = 0;
    std::int64_t number = 1;  // of the update, from 1
    const float* gradient = nullptr;
    float *w = nullptr, *states[2] = {};
    std::size_t count = 0;
    BitSums* sums = nullptr;  // of w and of each state, which is added to; null: nobody asks
};

// What images and rows go through, of floats or of bf16.
template <class T>
struct Loops {
    void (*moments)(const MomentsRunOf<T>& run, const MomentSums& sums);
    void (*sum)(const T* x, std::size_t count, std::size_t step, double* sum);  // by lane
    void (*norm)(const NormRunOf<T>& run, int residual, bool relu);             // residual: 0 none, 1 tensor, 2 norm
    // Where the gradient also goes out, Kept or through a second Norm, the sums leave it in `out` (in T, as which it is
    // summed) and the second pass takes it from there: fewer images are read.
    void (*gradSums)(const GradRunOf<T>& run, const GradSums& sums, GradMask mask, bool pair, GradOther other);
    void (*gradApply)(const GradRunOf<T>& run, GradMask mask, bool pair, GradOther other);

    // Elements as they lie in memory, as many as there may be.
    void (*relu)(const T* x, T* y, std::size_t count);
    void (*reluBackward)(const T* y, const T* dy, T* dx, std::size_t count);
    void (*relu6)(const T* x, T* y, std::size_t count);
    void (*relu6Backward)(const T* y, const T* dy, T* dx, std::size_t count);
    void (*add)(const T* a, const T* b, T* y, std::size_t count);
    void (*multiply)(const T* a, const T* b, T* y, std::size_t count);
    void (*activation)(ActivationKind kind, const T* x, T* y, std::size_t count);
    void (*activationBackward)(ActivationKind kind, const T* x, const T* dy, T* dx, std::size_t count);
    void (*geluAndSlope)(T* x, T* y, std::size_t count);  // y = gelu(x); x becomes the slope there
    void (*scale)(const float* x, float factor, T* y, std::size_t count);
    void (*addRow)(float* y, const T* row, std::size_t count);  // y += row

    void (*layerNorm)(const LayerNormRunOf<T>& run);
    void (*layerNormBackward)(const LayerNormBackwardRunOf<T>& run);
    // out[row] = a[row] . b[row], rows of `width` elements
    void (*rowDots)(const T* a, const T* b, std::size_t stride, std::size_t rows, std::size_t width, float* out);

    // Of a tile of scores, which are floats; what they become lies where they do, of bf16 at the front of each row, and
    // whole panels of 32 columns are filled up with zeros.
    // Scores become exp(scale score - largest), where `largest` is that of each row in all tiles so far; `sums` and the
    // rows of y, which belong to these tiles, are brought to a new largest. Before the first tile `largest` is -inf and
    // `sums` zero, and y is not looked at.
    void (*softmaxTile)(const ScoreTile& tile, float* largest, float* sums, float* y, std::size_t yStride,
                        std::size_t width);
    // Scores become probabilities p = exp(scale score - logSumExp), gradients scale p (gradient - inner).
    void (*softmaxTileBackward)(const ScoreTile& tile, const float* logSumExp, const float* inner, float* gradients);

    // One image plane of `block` channels (1, 8 or 16 elements a pixel; of bf16, 16), or as many as the shape has
    // groups. argmax: of each window the place of its largest, row by row; null where nobody asks.
    void (*maxPool)(const PoolShape& shape, int block, const T* x, T* y, std::int32_t* argmax);
    // With y: only where y > 0, which is max pooling and the ReLU before it in one.
    void (*maxPoolBackward)(const PoolShape& shape, int block, const T* dy, const std::int32_t* argmax, const T* y,
                            T* dx);
    void (*averagePool)(const PoolShape& shape, int block, const T* x, T* y);
    void (*averagePoolBackward)(const PoolShape& shape, int block, const T* dy, T* dx);
};

struct SimdTable {
    const char* name;
    Loops<float> floats;
    Loops<Bf16> halves;
    template <class T>
    const Loops<T>& of() const {
        if constexpr (sizeof(T) == sizeof(float)) return floats;
        else return halves;
    }

    void (*copyRows)(const float* from, std::size_t fromStride, std::size_t width, float* to, std::size_t toStride,
                     std::size_t rows);

    // lanes[laneStride i + n] = rows[n rowStride + i] for n < 16, zero for n >= rowCount; and back
    void (*rowsToLanes)(const float* rows, std::size_t rowStride, std::size_t rowCount, float* lanes,
                        std::size_t laneStride, std::size_t count);
    void (*lanesToRows)(const float* lanes, float* rows, std::size_t rowStride, std::size_t rowCount,
                        std::size_t count);
    // Two rows of bf16 as pairs in the place of floats, the even one's element below; count: a multiple of 16.
    void (*interleave)(const Bf16* even, const Bf16* odd, float* pairs, std::size_t count);
    void (*interleaveRows)(const PairedRows& rows);  // the same of many, in panels
    std::size_t panelColumns, panelRows;             // columns: a multiple of 16
    void (*gemmPanel)(const GemmRun& run);
    // a is packed: for each panel of `panelRows` rows, that many floats at each depth; its strides are not looked at.
    void (*gemmPacked)(const GemmRun& run);
    void (*strassenTiles)(const StrassenRun& run);
    // Of `count` floats, a multiple of 16, the operands above from the quarters. Given as 0, 1, 2, 6: a11, a12, a21,
    // a22.
    void (*strassenRows)(float* operands, std::size_t stride, std::size_t count);
    // Given as 0, 1, 2, 5: b11, b21, b12, b22.
    void (*strassenColumns)(float* operands, std::size_t stride, std::size_t count);
    void (*roundToBf16)(float* x, std::size_t count);  // to nearest, ties to even, as floats
    // weights: C,R,S,K; bias may be null
    void (*laneConv)(const LaneConv& conv, const float* x, const float* weights, const float* bias, bool relu,
                     float* y);
    // sums: K,C,R,S with 16 lanes each, added to
    void (*laneConvWeights)(const LaneConv& conv, const float* x, const float* dy, float* sums);

    // x, dy and y: a channel block of the first sample. Data with a norm: of ReLU of the norm of x. Filters: those of
    // 16 channels and 16 outputs, the first of which they point at ("turned": the taps backwards, of 16 outputs and 16
    // channels).
    void (*winogradData)(const WinogradImage& image, const float* x, const WinogradSpan& span,
                         const ChannelAffine* norm, float* points);
    void (*winogradGradient)(const WinogradImage& image, const float* dy, const WinogradSpan& span, float* points);
    void (*winogradOutput)(const WinogradImage& image, const float* points, const WinogradSpan& span, const SumEnd& end,
                           float* y);
    // Of images of bf16, in blocks of sixteen channels; null but with AVX-512.
    void (*winogradDataHalves)(const WinogradImage& image, const Bf16* x, const WinogradSpan& span,
                               const ChannelAffine* norm, float* points);
    void (*winogradGradientHalves)(const WinogradImage& image, const Bf16* dy, const WinogradSpan& span, float* points);
    void (*winogradOutputHalves)(const WinogradImage& image, const float* points, const WinogradSpan& span,
                                 const SumEndOf<Bf16>& end, Bf16* y);
    void (*winogradFilter)(WinogradForm form, const WinogradFilters& filters, const float* w, bool turned,
                           float* points, std::size_t pointStride);
    // adds: to what is there already.
    void (*winogradFilterGradient)(WinogradForm form, const WinogradFilters& filters, const WinogradSums& sums,
                                   bool adds, float* dw);
    void (*blockProduct)(const BlockProduct& run);
    void (*blockGradientProduct)(const BlockGradientProduct& run);
    void (*endRows)(const EndedRows& run);

    // The largest of a row of logits, and the sum of exp(z - largest); dz = factor exp(z - largest) - offset.
    void (*softmaxSums)(const float* z, std::size_t count, float* largest, float* sum);
    void (*softmaxGradient)(const float* z, std::size_t count, float largest, float factor, float offset, float* dz);
    // How many of the row come before z[at]: those that are not less, but of equal ones only those ahead of it.
    std::size_t (*rankOf)(const float* z, std::size_t count, std::size_t at);

    double (*squareSum)(const float* x, std::size_t count);
    void (*update)(const UpdateRun& run);
    std::uint32_t (*bits)(const float* x, std::size_t count);                         // as BitSums adds them up
    void (*average)(const float* w, float rest, float* averages, std::size_t count);  // averages += rest (w - averages)
};

namespace baseline {
extern const SimdTable kTable;
}
namespace v3 {
extern const SimdTable kTable;
}  // namespace v3
namespace v4 {
extern const SimdTable kTable;
}  // namespace v4

// c = a b [+ c], where a's rows are of pairs of bf16 next to each other, and b's panels, of 32 columns of pairs each,
// lie `panelStride` apart; strides and the depth are counted in pairs. Neither a bias nor ReLU follows. For tiles there
// is room for what fills up a's and c's rows to a multiple of 16 and c's columns to one of 32, and the depth is filled
// with zeros to a multiple of 16. A thread calls begin() before the first of several and end() after the last.
struct GemmRows {
    void (*multiply)(const GemmRun& run, std::size_t panelStride) = nullptr;
    void (*begin)() = [] {};
    void (*end)() = [] {};
};

// Products of panels of pairs, each two bf16 of neighbouring depths in the place of a float (AVX512_BF16).
struct Bf16Table {
    std::size_t panelColumns, panelRows;  // the v4 table's, which packs the panels
    // `count` panels, one behind the other, of `depth` rows of `width` floats are rounded (to nearest, ties to even) to
    // as many panels of (depth + 1) / 2 rows of pairs, which begin at the same place; an odd depth gets a zero.
    void (*toPairs)(float* panels, std::size_t count, std::size_t width, std::size_t depth);
    void (*gemm)(const GemmRun& run);  // as gemmPacked; the depth is counted in pairs
    void (*gemmRows)(const GemmRun& run, std::size_t panelStride);

    // Rows of 16 floats, or with a norm ReLU of it, to pairs of neighbours in a column (half as many rows, a last one's
    // other half zero) or in a row (rows of 8). What is written may begin where what is read does.
    void (*pairRows)(const float* from, const ChannelAffine* norm, float* to, std::size_t rows);
    void (*pairColumns)(const float* from, const ChannelAffine* norm, float* to, std::size_t rows);
    // Of bf16, to somewhere else.
    void (*pairRowsOfHalves)(const Bf16* from, const ChannelAffine* norm, float* to, std::size_t rows);
    void (*pairColumnsOfHalves)(const Bf16* from, const ChannelAffine* norm, float* to, std::size_t rows);
    void (*blockProduct)(const BlockProduct& run);  // filters: pairs of rows; data: of columns; strides as they lie
    void (*blockProductHalves)(const BlockProductOf<Bf16>& run);    // the same, rounded to bf16; it adds to nothing
    void (*blockGradientProduct)(const BlockGradientProduct& run);  // of rows both; tiles are counted in pairs
};
namespace v4_bf16 {
extern const SimdTable kTable;
extern const Bf16Table kBf16Table;
}  // namespace v4_bf16
// With tiles (AMX_BF16), which the kernel must have let the process use.
namespace v4_amx {
extern const GemmRows kGemmRows;
}

const Bf16Table* bestBf16();  // null where this processor has no such instructions
// Whether it multiplies pairs faster than floats. Intel's Golden Cove and its successors take twice as long for the
// same products: what they have for bf16 are tiles, which a virtual machine or an old kernel may hide.
bool arePairsFast();
bool haveWideRegisters();                   // of eight floats (AVX2) or more
const SimdTable& bestSimd();                // of this processor
std::array<const SimdTable*, 4> allSimd();  // null where this processor cannot run it

}  // namespace lockstep::cpu
