#pragma once
#include <cudnn.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/backend/cuda/cuda_check.h"
#include "engine/core/dtype.h"

// cuDNN's graph API, its C side: descriptors that are made, given attributes, and finalized.
namespace lockstep::cuda {

inline void check(cudnnStatus_t status, const std::string& where) {
    if (status == CUDNN_STATUS_SUCCESS) return;
    char detail[512] = "";
    cudnnGetLastErrorString(detail, sizeof detail);
    throw EngineError(kindOfLibraryFailure(status == CUDNN_STATUS_ALLOC_FAILED), where,
                      std::string(cudnnGetErrorString(status)) + (detail[0] ? std::string(": ") + detail : ""));
}

inline cudnnDataType_t cudnnTypeOf(DType dtype) {
    switch (dtype) {
        case DType::F16: return CUDNN_DATA_HALF;
        case DType::BF16: return CUDNN_DATA_BFLOAT16;
        default: return CUDNN_DATA_FLOAT;
    }
}

class CudnnDescriptor {
public:
    explicit CudnnDescriptor(cudnnBackendDescriptorType_t type) {
        cudnnBackendDescriptor_t raw = nullptr;
        check(cudnnBackendCreateDescriptor(type, &raw), "cuDNN descriptor");
        m_raw.reset(raw, [](cudnnBackendDescriptor_t it) { cudnnBackendDestroyDescriptor(it); });
    }
    cudnnBackendDescriptor_t get() const { return static_cast<cudnnBackendDescriptor_t>(m_raw.get()); }

    template <class T>
    CudnnDescriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                         std::span<const T> values) {
        check(cudnnBackendSetAttribute(get(), name, type, static_cast<std::int64_t>(values.size()), values.data()),
              "cuDNN attribute");
        return *this;
    }
    CudnnDescriptor& set(cudnnBackendAttributeName_t name, std::span<const std::int64_t> values) {
        return set<std::int64_t>(name, CUDNN_TYPE_INT64, values);
    }
    CudnnDescriptor& set(cudnnBackendAttributeName_t name, std::int64_t value) {
        return set(name, std::span<const std::int64_t>(&value, 1));
    }
    CudnnDescriptor& set(cudnnBackendAttributeName_t name, float value) {
        return set<float>(name, CUDNN_TYPE_FLOAT, {&value, 1});
    }
    CudnnDescriptor& set(cudnnBackendAttributeName_t name, cudnnDataType_t value) {
        return set<cudnnDataType_t>(name, CUDNN_TYPE_DATA_TYPE, {&value, 1});
    }
    CudnnDescriptor& set(cudnnBackendAttributeName_t name, const CudnnDescriptor& value) {
        const cudnnBackendDescriptor_t raw = value.get();
        return set<cudnnBackendDescriptor_t>(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, {&raw, 1});
    }
    CudnnDescriptor& set(cudnnBackendAttributeName_t name, std::span<const CudnnDescriptor> values) {
        std::vector<cudnnBackendDescriptor_t> raw;
        for (const CudnnDescriptor& value : values) raw.push_back(value.get());
        return set<cudnnBackendDescriptor_t>(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, raw);
    }
    CudnnDescriptor& set(cudnnBackendAttributeName_t name, bool value) {
        return set<bool>(name, CUDNN_TYPE_BOOLEAN, {&value, 1});
    }
    CudnnDescriptor& set(cudnnBackendAttributeName_t name, cudnnHandle_t value) {
        return set<cudnnHandle_t>(name, CUDNN_TYPE_HANDLE, {&value, 1});
    }

    std::int64_t number(cudnnBackendAttributeName_t name) const {
        std::int64_t value = 0, count = 0;
        check(cudnnBackendGetAttribute(get(), name, CUDNN_TYPE_INT64, 1, &count, &value), "cuDNN attribute");
        return value;
    }

    CudnnDescriptor& finalize(const std::string& where) {
        check(cudnnBackendFinalize(get()), where);
        return *this;
    }
    bool tryFinalize() { return cudnnBackendFinalize(get()) == CUDNN_STATUS_SUCCESS; }

private:
    std::shared_ptr<void> m_raw;
};

class Cudnn {
public:
    explicit Cudnn(const std::string& device) { check(cudnnCreate(&m_handle), device); }
    ~Cudnn() { cudnnDestroy(m_handle); }
    Cudnn(const Cudnn&) = delete;
    Cudnn& operator=(const Cudnn&) = delete;
    cudnnHandle_t get() const { return m_handle; }

private:
    cudnnHandle_t m_handle = nullptr;
};

}  // namespace lockstep::cuda
