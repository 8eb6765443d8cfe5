#include "engine/backend/cpu/product_speed.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "engine/backend/cpu/library_product.h"

namespace lockstep::cpu {

namespace {

// Tokens through a layer of a small transformer.
constexpr std::size_t kMeasuredRows = 256, kMeasuredColumns = 384, kMeasuredDepth = 384;
constexpr int kTries = 20;

const Matrix kA = Matrix::rowMajor(kMeasuredRows, kMeasuredDepth),
             kB = Matrix::rowMajor(kMeasuredColumns, kMeasuredDepth).transposed();

void multiply(const Product& product, const float* a, const float* b, float* c, std::byte* workspace) {
    product.run(a, b, {}, c, workspace);
}

void multiply(LibraryProduct& product, const float* a, const float* b, float* c, std::byte* workspace) {
    const auto bytes = [](const float* at) { return reinterpret_cast<const std::byte*>(at); };
    product.run({.a = bytes(a), .b = bytes(b), .c = reinterpret_cast<std::byte*>(c)}, workspace);
}

// A product with everything that it reads and writes.
template <class Made>
class Trial {
public:
    explicit Trial(Made product)
        : m_product(std::move(product)),
          m_a(kMeasuredRows * kMeasuredDepth, 0.5f),
          m_b(kMeasuredColumns * kMeasuredDepth, 0.25f),
          m_c(kMeasuredRows * kMeasuredColumns),
          m_workspace(m_product.workspaceBytes() / sizeof(float)) {}

    double seconds() {
        const auto begin = std::chrono::steady_clock::now();
        multiply(m_product, m_a.data(), m_b.data(), m_c.data(), reinterpret_cast<std::byte*>(m_workspace.data()));
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }

private:
    Made m_product;
    std::vector<float> m_a, m_b, m_c, m_workspace;
};

// By turns, so that both meet the same clock and the same neighbours; the first try of each warms the caches.
template <class Half>
double speedBeside(Trial<Product>& single, Half half) {
    double singleSeconds = 1e9, halfSeconds = 1e9;
    for (int i = 0; i < kTries; ++i) {
        singleSeconds = std::min(singleSeconds, single.seconds());
        halfSeconds = std::min(halfSeconds, half.seconds());
    }
    return singleSeconds / halfSeconds;
}

}  // namespace

double measureBf16Speed() {
    Machine machine;
    machine.simd = &bestSimd();
    machine.bf16 = bestBf16();
    machine.multipliesPairs = onednn::bf16Units() == onednn::Bf16Units::Pairs;
    Trial single(Product(machine, kA, kB));
    if (onednn::bf16Units() == onednn::Bf16Units::Tiles)
        return speedBeside(single, Trial(LibraryProduct(machine, {kA}, {kB}, {})));
    return speedBeside(single, Trial(Product(machine, kA, kB, Arithmetic::Bf16)));
}

PairsOf pairsOfProcessor() {
    if (!bestBf16()) return PairsOf::None;
    return arePairsFast() ? PairsOf::Fast : PairsOf::Slow;
}

ProductUnits productUnitsOf(onednn::Bf16Units used, bool processorHasTiles, PairsOf processor) {
    if (used == onednn::Bf16Units::Tiles) return ProductUnits::Tiles;
    if (processorHasTiles) return ProductUnits::TilesDenied;
    if (used == onednn::Bf16Units::Pairs) return ProductUnits::Pairs;
    if (processor == PairsOf::Fast) return ProductUnits::PairsDenied;
    return processor == PairsOf::Slow ? ProductUnits::SlowPairs : ProductUnits::None;
}

}  // namespace lockstep::cpu
