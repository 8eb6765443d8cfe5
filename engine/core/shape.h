#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace lockstep {

// The extents of a dense tensor, outermost first; images are N, C, H, W. A scalar is rank 1 with extent 1.
class Shape {
public:
    static constexpr int kMaxRank = 6;

    Shape() = default;
    Shape(std::initializer_list<std::int64_t> dims);
    explicit Shape(std::span<const std::int64_t> dims);

    int rank() const { return m_rank; }
    std::int64_t operator[](int axis) const {
        return m_dims[static_cast<std::size_t>(axis < 0 ? axis + m_rank : axis)];
    }
    std::span<const std::int64_t> dims() const { return {m_dims.data(), static_cast<std::size_t>(m_rank)}; }
    std::int64_t count() const;  // product of all extents; 1 for rank 0
    std::string text() const;    // "64x3x32x32"

    Shape withDim(int axis, std::int64_t extent) const;
    bool operator==(const Shape& other) const;

private:
    std::array<std::int64_t, kMaxRank> m_dims{};
    int m_rank = 0;
};

}  // namespace lockstep
