#include "engine/core/tensor.h"

#include <cstring>
#include <new>

namespace lockstep {

namespace {
constexpr std::align_val_t kAlignment{64};
}

void HostTensor::Free::operator()(std::byte* data) const noexcept { ::operator delete[](data, kAlignment); }

HostTensor::HostTensor(TensorType type) : m_type(std::move(type)) {
    const std::size_t bytes = m_type.bytes();
    m_data.reset(static_cast<std::byte*>(::operator new[](bytes == 0 ? 1 : bytes, kAlignment)));
    std::memset(m_data.get(), 0, bytes);
}

HostTensor::HostTensor(const HostTensor& other) : HostTensor(other.m_type) {
    std::memcpy(m_data.get(), other.m_data.get(), bytes());
}

HostTensor& HostTensor::operator=(const HostTensor& other) {
    if (this != &other) *this = HostTensor(other);
    return *this;
}

}  // namespace lockstep
