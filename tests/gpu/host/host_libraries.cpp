#include "engine/backend/cuda/libraries.h"
#include "engine/backend/cuda/real.h"

namespace lockstep::cuda {

namespace {

template <class T>
class HostMatmul final : public Matmul {
public:
    explicit HostMatmul(const MatmulShape& shape) : m_shape(shape) {}
    std::size_t workspaceBytes() const override { return 0; }

    void run(const void* a, const void* b, const void* bias, void* d, std::byte*, cudaStream_t stream) override {
        launchOnHost(stream, [=, shape = m_shape] {
            const auto *left = static_cast<const T*>(a), *right = static_cast<const T*>(b), *added = static_cast<const T*>(bias);
            auto* const to = static_cast<T*>(d);
            for (std::int64_t i = 0; i < shape.rows; ++i) {
                for (std::int64_t j = 0; j < shape.columns; ++j) {
                    double sum = added ? static_cast<float>(added[j]) : 0;
                    for (std::int64_t k = 0; k < shape.depth; ++k)
                        sum += static_cast<double>(left[shape.transposeA ? k * shape.rows + i : i * shape.depth + k]) *
                               static_cast<double>(right[shape.transposeB ? j * shape.depth + k : k * shape.columns + j]);
                    to[i * shape.columns + j] = T(static_cast<float>(shape.relu && sum < 0 ? 0 : sum));
                }
            }
        });
    }

private:
    MatmulShape m_shape;
};

class HostLibraries final : public Libraries {
public:
    std::unique_ptr<Matmul> matmul(const MatmulShape& shape, const std::string& where) override {
        return withFloat(shape.dtype, where, [&]<class T>(T) -> std::unique_ptr<Matmul> {
            return std::make_unique<HostMatmul<T>>(shape);
        });
    }
};

}  // namespace

std::unique_ptr<Libraries> openLibraries(const std::string&) { return std::make_unique<HostLibraries>(); }

}  // namespace lockstep::cuda
