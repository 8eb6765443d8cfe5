#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/core/tensor.h"

// The one door to oneDNN: every call of the library is behind this header, so that another major version of it is one
// more implementation file. Plans depend on the calling thread's number of OpenMP threads; make and run them alike.
namespace lockstep::onednn {

std::string version();  // "2.6.3"

// The channel block that suits this processor: 16 with AVX-512, 8 without.
int preferredBlock();

// What the library takes the processor's instructions to be, as a number of its own.
int instructionSet();

// What products of bf16 are made with: floats that are rounded, pairs in vectors (AVX512_BF16) where the processor
// multiplies them faster, or tiles (AMX).
enum class Bf16Units { None, Pairs, Tiles };
Bf16Units bf16Units();

// How a tensor of f32, bf16, i32 or u8 lies in memory. Cheap to copy.
class Desc {
public:
    Desc() = default;  // of nothing
    static Desc rowMajor(std::span<const std::int64_t> dims, DType dtype);
    static Desc any(std::span<const std::int64_t> dims, DType dtype);  // the library chooses
    // N, C, spatial with channels in blocks of 8 or 16, the last one filled with zeros ("nChw16c"). Rank 4.
    static Desc blockedChannels(std::span<const std::int64_t> dims, int block, DType dtype);
    // N, H, W, C: what tiles multiply.
    static Desc channelsLast(std::span<const std::int64_t> dims, DType dtype);
    // Weights K,C,R,S in blocks of 8 or 16 channels by as many outputs.
    static Desc blockedFilters(std::span<const std::int64_t> dims, int block, DType dtype);
    // Weights K,C,R,S of bf16 as panels that products read (GemmRows): 32 columns of pairs of neighbours in the other
    // axis, tap by tap. Columns are of axis 0 or 1; both axes are multiples of 32.
    static Desc productPanels(std::span<const std::int64_t> dims, int columnAxis);

    // The same in blocks of 16 channels by as many outputs, of bf16 with neighbouring channels as pairs.
    static Desc pairedFilters(std::span<const std::int64_t> dims);

    // The rows of a matrix as panels of columns of its transpose: `width` of them side by side, the last ones filled up
    // with zeros. Rank 2, of floats, or of bf16 with neighbours in a row as pairs.
    static Desc rowPanels(std::span<const std::int64_t> dims, int width, DType dtype = DType::F32);

    // Sixteen samples side by side, the last group filled up ("Nchw16n"). Rank 4. Only reorders know it.
    static Desc sampleLanes(std::span<const std::int64_t> dims, DType dtype);

    // A matrix whose rows and columns lie so many elements apart.
    static Desc matrix(std::int64_t rows, std::int64_t columns, std::int64_t rowStride, std::int64_t columnStride,
                       DType dtype);

    explicit operator bool() const { return m_impl != nullptr; }
    bool operator==(const Desc& other) const;
    Desc of(DType dtype) const;  // the same of other elements
    Desc transposed() const;     // the same bytes, with rows and columns exchanged
    std::vector<std::int64_t> dims() const;
    DType dtype() const;
    bool isRowMajor() const;
    bool isSampleLanes() const;
    bool isChannelsLast() const;  // of rank 4
    int channelBlock() const;     // 1 row-major; 8 or 16 as blockedChannels(); 0 anything else
    std::size_t bytes() const;
    std::string text(const char* axes) const;  // axes "nchw" -> "nChw16c"

    struct Impl;
    explicit Desc(std::shared_ptr<const Impl> impl) : m_impl(std::move(impl)) {}
    const Impl& impl() const { return *m_impl; }

private:
    std::shared_ptr<const Impl> m_impl;
};

// One per device or lowering; used by one thread. Holds the library's engine and stream.
class Engine {
public:
    Engine();
    ~Engine();
    struct Impl;
    const Impl& impl() const { return *m_impl; }

private:
    std::unique_ptr<Impl> m_impl;
};

// A chosen implementation: what it reads and writes, in the order in which run() takes the pointers.
class Plan {
public:
    std::vector<Desc> arguments;
    std::size_t scratchBytes = 0;
    std::string implementation;  // the library's name for it
    bool isFast = false;         // not one of the library's plain fallbacks

    struct Impl;
    std::shared_ptr<const Impl> impl;
};

enum class Pass { Forward, BackwardData, BackwardWeights };

// source: x or dx; weights: w or dw; destination: y or dy; each f32 or bf16, biases f32. Arguments of the plan:
// Forward: x, w, [bias,] y. BackwardData: dy, w, dx. BackwardWeights: x, dy, dw [, dbias].
// Forward may add to what lies in y, and then take ReLU, up to its ceiling.
struct ConvRequest {
    Pass pass = Pass::Forward;
    bool bias = false, adds = false, relu = false;
    float ceiling = std::numeric_limits<float>::infinity();
    std::array<int, 2> stride{1, 1}, padding{0, 0}, paddingEnd{0, 0}, dilation{1, 1};
    Desc source, weights, destination;  // weights of rank 5 (G, K/G, C/G, R, S) when grouped
};

// Empty when the library has no such implementation. Throws EngineError(Device).
std::optional<Plan> planConv(const Engine& engine, const ConvRequest& request);
Plan planReorder(const Engine& engine, const Desc& from, const Desc& to);  // arguments: from, to
// Each filter of weights times a factor, f32, one per filter. Arguments of the plan: from, factors, to.
Plan planScaling(const Engine& engine, const Desc& from, const Desc& to);

// A product of bf16 matrices, rows x depth and depth x columns, to c, row-major, of f32 or bf16. Where `any` is wanted
// of an operand, it lies as suits the library. Then, in this order, a bias is added (f32, one per column), something
// that lies as c does is added or multiplied with, and ReLU taken. Arguments of the plan: a, b, [bias, other,] c.
enum class WithOther { Nothing, Added, Multiplied };
struct ProductRequest {
    Desc a, b;
    DType c = DType::F32;
    bool bias = false;
    WithOther with = WithOther::Nothing;
    bool relu = false;
};
Plan planProduct(const Engine& engine, const ProductRequest& request);

// A plan made ready: all the library's objects exist, run() only gives them their memory.
class Primitive {
public:
    Primitive(const Engine& engine, const Plan& plan);
    ~Primitive();
    Primitive(Primitive&&) noexcept;
    std::size_t scratchBytes() const;
    void run(std::span<std::byte* const> pointers, std::byte* scratch);

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace lockstep::onednn
