#include "engine/backend/cpu/simd/lanes.h"
#include "engine/backend/cpu/simd/loops.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

namespace {

// As many sums at once as there are registers for: 32 of 16 floats with AVX-512, 16 of 8 with AVX2.
#ifdef __AVX512F__
constexpr int kOutputs = 6, kColumns = 4, kTapOutputs = 4, kTaps = 5;
#else
constexpr int kOutputs = 6, kColumns = 1, kTapOutputs = 2, kTaps = 2;
#endif

// The window's rows that lie inside the image for one row of y.
struct Rows {
    int begin, end;
    Rows(const LaneConv& s, std::int64_t row) {
        const std::int64_t first = row * s.strideHeight - s.top;
        begin = first < 0 ? static_cast<int>(-first) : 0;
        end = first + s.windowHeight > s.height ? static_cast<int>(s.height - first) : s.windowHeight;
    }
};

struct Forward {
    const LaneConv& s;
    const float *x, *weights, *bias;
    bool relu;
    float* y;

    // kK outputs by kQ columns of one row.
    template <int kK, int kQ>
    void tile(std::int64_t row, const Rows& window, std::int64_t k, std::int64_t column) const {
        F16 sums[kK][kQ];
        for (int i = 0; i < kK; ++i) {
            for (int j = 0; j < kQ; ++j) sums[i][j] = splat(bias ? bias[k + i] : 0);
        }
        for (std::int64_t c = 0; c < s.channels; ++c) {
            for (int r = window.begin; r < window.end; ++r) {
                const std::int64_t line = c * s.height + row * s.strideHeight + r - s.top;
                const float* from = x + (line * s.width + column * s.strideWidth) * 16;
                const float* w = weights + (c * s.windowHeight + r) * s.windowWidth * s.outputs + k;
                for (int tap = 0; tap < s.windowWidth; ++tap, from += 16, w += s.outputs) {
                    F16 pixels[kQ];
                    for (int j = 0; j < kQ; ++j) pixels[j] = load(from + j * s.strideWidth * 16);
                    for (int i = 0; i < kK; ++i) {
                        const F16 weight = splat(w[i]);
                        for (int j = 0; j < kQ; ++j) sums[i][j] += weight * pixels[j];
                    }
                }
            }
        }
        for (int i = 0; i < kK; ++i) {
            float* to = y + (((k + i) * s.rows + row) * s.columns + column) * 16;
            for (int j = 0; j < kQ; ++j) store(to + j * 16, relu ? positive(sums[i][j]) : sums[i][j]);
        }
    }

    template <int kK>
    void line(std::int64_t row, std::int64_t k) const {
        const Rows window(s, row);
        std::int64_t column = 0;
        for (; column + kColumns <= s.columns; column += kColumns) tile<kK, kColumns>(row, window, k, column);
        if constexpr (kColumns > 2) {
            for (; column + 2 <= s.columns; column += 2) tile<kK, 2>(row, window, k, column);
        }
        for (; column < s.columns; ++column) tile<kK, 1>(row, window, k, column);
    }

    template <int kK>
    std::int64_t outputs(std::int64_t k) const {
        for (; k + kK <= s.outputs; k += kK) {
            for (std::int64_t row = 0; row < s.rows; ++row) line<kK>(row, k);
        }
        if constexpr (kK > 1) return outputs < kK == 6 ? 4 : kK - 1 > (k);
        else return k;
    }
};

struct Weights {
    const LaneConv& s;
    const float *x, *dy;
    float* sums;

    // kK outputs by kS taps of one row of the window.
    template <int kK, int kS>
    void tile(std::int64_t k, std::int64_t c, int r, int tap) const {
        F16 products[kK][kS] = {};
        for (std::int64_t row = 0; row < s.rows; ++row) {
            const std::int64_t line = row * s.strideHeight + r - s.top;
            if (line < 0 || line >= s.height) continue;
            const float* from = x + ((c * s.height + line) * s.width + tap) * 16;
            const float* gradient = dy + (k * s.rows + row) * s.columns * 16;
            for (std::int64_t column = 0; column < s.columns; ++column, from += s.strideWidth * 16, gradient += 16) {
                F16 g[kK];
                for (int i = 0; i < kK; ++i) g[i] = load(gradient + i * s.rows * s.columns * 16);
                for (int j = 0; j < kS; ++j) {
                    const F16 pixel = load(from + j * 16);
                    for (int i = 0; i < kK; ++i) products[i][j] += g[i] * pixel;
                }
            }
        }
        for (int i = 0; i < kK; ++i) {
            float* to = sums + ((((k + i) * s.channels + c) * s.windowHeight + r) * s.windowWidth + tap) * 16;
            for (int j = 0; j < kS; ++j) store(to + j * 16, load(to + j * 16) + products[i][j]);
        }
    }

    template <int kK, int kS>
    int taps(std::int64_t k, std::int64_t c, int r, int tap) const {
        for (; tap + kS <= s.windowWidth; tap += kS) tile<kK, kS>(k, c, r, tap);
        if constexpr (kS > 1) return taps < kK, kS == 5 ? 3 : kS - 1 > (k, c, r, tap);
        else return tap;
    }

    template <int kK>
    std::int64_t outputs(std::int64_t k) const {
        for (; k + kK <= s.outputs; k += kK) {
            for (std::int64_t c = 0; c < s.channels; ++c) {
                for (int r = 0; r < s.windowHeight; ++r) taps<kK, kTaps>(k, c, r, 0);
            }
        }
        if constexpr (kK > 1) return outputs<kK / 2>(k);
        else return k;
    }
};

}  // namespace

void laneConv(const LaneConv& conv, const float* x, const float* weights, const float* bias, bool relu, float* y) {
    Forward{conv, x, weights, bias, relu, y}.outputs<kOutputs>(0);
}

void laneConvWeights(const LaneConv& conv, const float* x, const float* dy, float* sums) {
    Weights{conv, x, dy, sums}.outputs<kTapOutputs>(0);
}

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
