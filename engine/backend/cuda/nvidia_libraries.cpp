#include "engine/backend/cuda/cublaslt.h"
#include "engine/backend/cuda/libraries.h"

namespace lockstep::cuda {

namespace {

class NvidiaLibraries final : public Libraries {
public:
    explicit NvidiaLibraries(const std::string& device) : m_blas(device) {}
    std::unique_ptr<Matmul> matmul(const MatmulShape& shape, const std::string& where) override {
        return makeCublasMatmul(m_blas, shape, where);
    }

private:
    CublasLt m_blas;
};

}  // namespace

std::unique_ptr<Libraries> openLibraries(const std::string& device) { return std::make_unique<NvidiaLibraries>(device); }

}  // namespace lockstep::cuda
