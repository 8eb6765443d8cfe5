#pragma once
#include <cassert>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "engine/core/dtype.h"
#include "engine/core/shape.h"

namespace lockstep {

struct TensorType {
    Shape shape;
    DType dtype = DType::F32;

    std::size_t bytes() const { return static_cast<std::size_t>(shape.count()) * sizeOf(dtype); }
    std::string text() const { return std::string(lockstep::text(dtype)) + "[" + shape.text() + "]"; }
    bool operator==(const TensorType&) const = default;
};

// Borrowed memory with a type; row-major unless somebody says otherwise. Never owns.
struct TensorView {
    std::byte* data = nullptr;
    TensorType type;

    template <class T>
    std::span<T> as() const {
        assert(sizeof(T) == sizeOf(type.dtype));
        return {reinterpret_cast<T*>(data), static_cast<std::size_t>(type.shape.count())};
    }
};

// Host memory owned by value, row-major, 64-byte aligned, zeroed. Only at the edges: checkpoints, tests, datasets.
class HostTensor {
public:
    HostTensor() = default;
    explicit HostTensor(TensorType type);
    HostTensor(const HostTensor& other);
    HostTensor& operator=(const HostTensor& other);
    HostTensor(HostTensor&&) noexcept = default;
    HostTensor& operator=(HostTensor&&) noexcept = default;

    const TensorType& type() const { return m_type; }
    std::byte* data() { return m_data.get(); }
    const std::byte* data() const { return m_data.get(); }
    std::size_t bytes() const { return m_type.bytes(); }
    TensorView view() { return {m_data.get(), m_type}; }

    template <class T>
    std::span<T> as() {
        return view().as<T>();
    }
    template <class T>
    std::span<const T> as() const {
        assert(sizeof(T) == sizeOf(m_type.dtype));
        return {reinterpret_cast<const T*>(m_data.get()), static_cast<std::size_t>(m_type.shape.count())};
    }

private:
    struct Free {
        void operator()(std::byte* data) const noexcept;
    };
    TensorType m_type;
    std::unique_ptr<std::byte[], Free> m_data;
};

}  // namespace lockstep
