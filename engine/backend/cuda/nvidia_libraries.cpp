#include "engine/backend/cuda/cublaslt.h"
#include "engine/backend/cuda/cuda_check.h"
#include "engine/backend/cuda/cudnn_attention.h"
#include "engine/backend/cuda/cudnn_convolution.h"
#include "engine/backend/cuda/libraries.h"

namespace lockstep::cuda {

namespace {

// Of the card that the thread has opened, and the library.
std::string kindOfCard() {
    int device = 0;
    cudaDeviceProp properties{};
    check(cudaGetDevice(&device), "cuDNN");
    check(cudaGetDeviceProperties(&properties, device), "cuDNN");
    return std::string(properties.name) + " cuDNN " + std::to_string(cudnnGetVersion());
}

class NvidiaLibraries final : public Libraries {
public:
    NvidiaLibraries(const std::string& device, PlanCaches& plans)
        : m_blas(device), m_dnn(device), m_plans(plans.of(kindOfCard())) {}

    std::unique_ptr<Matmul> matmul(const MatmulShape& shape, const std::string& where) override {
        return makeCublasMatmul(m_blas, shape, where);
    }
    std::unique_ptr<Convolution> convolution(const ConvolutionShape& shape, const std::string& where,
                                             bool byRule) override {
        return makeCudnnConvolution({m_dnn, m_plans, byRule}, shape, where);
    }
    std::unique_ptr<FusedAttention> attention(const AttentionShape& shape, const std::string& where,
                                              bool byRule) override {
        return makeCudnnAttention({m_dnn, m_plans, byRule}, shape, where);
    }

private:
    CublasLt m_blas;
    Cudnn m_dnn;
    PlanCache& m_plans;
};

}  // namespace

std::unique_ptr<Libraries> openLibraries(const std::string& device, PlanCaches& plans) {
    return std::make_unique<NvidiaLibraries>(device, plans);
}

}  // namespace lockstep::cuda
