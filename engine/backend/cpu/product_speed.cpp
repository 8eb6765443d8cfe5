#include "engine/backend/cpu/product_speed.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "engine/backend/cpu/product.h"

namespace lockstep::cpu {

namespace {

// Tokens through a layer of a small transformer.
constexpr std::size_t kRows = 256, kColumns = 384, kDepth = 384;
constexpr int kTries = 5;

// A product with everything that it reads and writes.
class Trial {
public:
    Trial(const Machine& machine, Arithmetic arithmetic)
        : m_product(machine, Matrix::rowMajor(kRows, kDepth), Matrix::rowMajor(kColumns, kDepth).transposed(),
                    arithmetic),
          m_a(kRows * kDepth, 0.5f),
          m_b(kColumns * kDepth, 0.25f),
          m_c(kRows * kColumns),
          m_workspace(m_product.workspaceBytes() / sizeof(float)) {}

    double seconds() {
        const auto begin = std::chrono::steady_clock::now();
        m_product.run(m_a.data(), m_b.data(), {}, m_c.data(), reinterpret_cast<std::byte*>(m_workspace.data()));
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }

private:
    Product m_product;
    std::vector<float> m_a, m_b, m_c, m_workspace;
};

}  // namespace

// By turns, so that both meet the same clock and the same neighbours; the first try of each warms the caches.
double measureBf16Speed() {
    Machine machine;
    machine.simd = &bestSimd();
    machine.bf16 = bestBf16();
    Trial single(machine, Arithmetic::Plain), half(machine, Arithmetic::Bf16);
    double singleSeconds = 1e9, halfSeconds = 1e9;
    for (int i = 0; i < kTries; ++i) {
        singleSeconds = std::min(singleSeconds, single.seconds());
        halfSeconds = std::min(halfSeconds, half.seconds());
    }
    return singleSeconds / halfSeconds;
}

}  // namespace lockstep::cpu
