#include <array>
#include <vector>

#include "engine/backend/cuda/libraries.h"
#include "engine/backend/cuda/real.h"
#include "tests/gpu/host/host_attention.h"

namespace lockstep::cuda {

namespace {

template <class T>
class HostMatmul final : public Matmul {
public:
    explicit HostMatmul(const MatmulShape& shape) : m_shape(shape) {}
    std::size_t workspaceBytes() const override { return 0; }

    void run(const MatmulOperands& of, void* d, std::byte*, cudaStream_t stream) override {
        launchOnHost(stream, [=, shape = m_shape] {
            const auto *left = static_cast<const T*>(of.a), *right = static_cast<const T*>(of.b),
                       *bias = static_cast<const T*>(of.bias), *addend = static_cast<const T*>(of.addend);
            auto* const to = static_cast<T*>(d);
            for (std::int64_t i = 0; i < shape.rows; ++i) {
                for (std::int64_t j = 0; j < shape.columns; ++j) {
                    double sum = bias ? static_cast<float>(bias[j]) : 0;
                    if (addend) sum += static_cast<float>(addend[i * shape.columns + j]);
                    for (std::int64_t k = 0; k < shape.depth; ++k)
                        sum +=
                            static_cast<double>(left[shape.transposeA ? k * shape.rows + i : i * shape.depth + k]) *
                            static_cast<double>(right[shape.transposeB ? j * shape.depth + k : k * shape.columns + j]);
                    to[i * shape.columns + j] = T(static_cast<float>(shape.relu && sum < 0 ? 0 : sum));
                }
                if (!of.rowSums) continue;
                double sum = 0;
                for (std::int64_t k = 0; k < shape.depth; ++k)
                    sum += static_cast<float>(left[shape.transposeA ? k * shape.rows + i : i * shape.depth + k]);
                static_cast<T*>(of.rowSums)[i] = T(static_cast<float>(sum));
            }
        });
    }

private:
    MatmulShape m_shape;
};

// The definition, on images and filters with their channels last.
template <class T>
class HostConvolution final : public Convolution {
public:
    explicit HostConvolution(const ConvolutionShape& shape) : m_shape(shape) {}
    std::size_t workspaceBytes() const override { return 256; }  // so that some is asked for

    void run(const ConvolutionOperands& operands, std::byte*, cudaStream_t stream) override {
        launchOnHost(stream, [operands, shape = m_shape] {
            const std::array<void*, 3> memory{operands.x, operands.w, operands.y};
            std::array<std::vector<double>, 3> of{read(memory[0], shape.x), read(memory[1], shape.w),
                                                  read(memory[2], shape.y)};
            const std::size_t made = shape.pass == ConvolutionShape::Pass::Forward        ? 2
                                     : shape.pass == ConvolutionShape::Pass::BackwardData ? 0
                                                                                          : 1;
            std::fill(of[made].begin(), of[made].end(), 0.0);
            forEachProduct(shape, [&](std::size_t xi, std::size_t wi, std::size_t yi) {
                const std::array<std::size_t, 3> at{xi, wi, yi};
                of[made][at[made]] += of[(made + 1) % 3][at[(made + 1) % 3]] * of[(made + 2) % 3][at[(made + 2) % 3]];
            });
            for (std::size_t i = 0; i < of[made].size(); ++i) {
                double sum = of[made][i];
                if (shape.bias)
                    sum += static_cast<float>(
                        static_cast<const T*>(operands.bias)[i % static_cast<std::size_t>(shape.y[1])]);
                static_cast<T*>(memory[made])[i] = T(static_cast<float>(shape.relu && sum < 0 ? 0 : sum));
            }
        });
    }

private:
    static std::vector<double> read(const void* memory, const std::array<std::int64_t, 4>& extents) {
        const auto* const from = static_cast<const T*>(memory);
        std::vector<double> values(static_cast<std::size_t>(extents[0] * extents[1] * extents[2] * extents[3]));
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(from[i]);
        return values;
    }
    static std::size_t at(const std::array<std::int64_t, 4>& e, std::int64_t n, std::int64_t c, std::int64_t h,
                          std::int64_t w) {
        return static_cast<std::size_t>(((n * e[2] + h) * e[3] + w) * e[1] + c);
    }
    template <class Visit>
    static void forEachProduct(const ConvolutionShape& s, const Visit& visit) {
        const std::int64_t perGroup = s.y[1] / (s.x[1] / s.w[1]);
        for (std::int64_t n = 0; n < s.y[0]; ++n)
            for (std::int64_t k = 0; k < s.y[1]; ++k)
                for (std::int64_t i = 0; i < s.y[2] * s.y[3]; ++i)
                    for (std::int64_t tap = 0; tap < s.w[2] * s.w[3]; ++tap) {
                        const std::int64_t p = i / s.y[3], q = i % s.y[3], r = tap / s.w[3], t = tap % s.w[3];
                        const std::int64_t row = p * s.stride[0] - s.padding[0] + r * s.dilation[0];
                        const std::int64_t column = q * s.stride[1] - s.padding[1] + t * s.dilation[1];
                        if (row < 0 || row >= s.x[2] || column < 0 || column >= s.x[3]) continue;
                        for (std::int64_t c = 0; c < s.w[1]; ++c)
                            visit(at(s.x, n, k / perGroup * s.w[1] + c, row, column), at(s.w, k, c, r, t),
                                  at(s.y, n, k, p, q));
                    }
    }

    ConvolutionShape m_shape;
};

class HostLibraries final : public Libraries {
public:
    // Has no row sums for some, as the library may.
    std::unique_ptr<Matmul> matmul(const MatmulShape& shape, const std::string& where) override {
        if (shape.rowSums && shape.rows % 2 == 1) return nullptr;
        return withFloat(shape.dtype, where,
                         [&]<class T>(T) -> std::unique_ptr<Matmul> { return std::make_unique<HostMatmul<T>>(shape); });
    }
    // Has no plan for some, as the library may.
    std::unique_ptr<Convolution> convolution(const ConvolutionShape& shape, const std::string& where, bool) override {
        if (shape.normalised || shape.sums || shape.normGradient) return nullptr;  // own passes do it
        if (shape.dilation[0] != 1 || shape.x[1] != shape.w[1] || shape.w[0] % 2 == 1) return nullptr;
        if ((shape.bias || shape.relu) && shape.w[0] % 4 == 2) return nullptr;  // without an epilogue it has
        return withFloat(shape.dtype, where, [&]<class T>(T) -> std::unique_ptr<Convolution> {
            return std::make_unique<HostConvolution<T>>(shape);
        });
    }
    // Of an even number of tokens alone, so that own kernels have their turn.
    std::unique_ptr<FusedAttention> attention(const AttentionShape& shape, const std::string& where, bool) override {
        return shape.tokens % 2 == 0 ? makeHostAttention(shape, where) : nullptr;
    }
};

}  // namespace

std::unique_ptr<Libraries> openLibraries(const std::string&, PlanCaches&) { return std::make_unique<HostLibraries>(); }

}  // namespace lockstep::cuda
