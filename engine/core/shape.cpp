#include "engine/core/shape.h"

#include <algorithm>
#include <cassert>

namespace lockstep {

Shape::Shape(std::initializer_list<std::int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}

Shape::Shape(std::span<const std::int64_t> dims) : m_rank(static_cast<int>(dims.size())) {
    assert(dims.size() <= kMaxRank);
    std::copy(dims.begin(), dims.end(), m_dims.begin());
}

std::int64_t Shape::count() const {
    std::int64_t product = 1;
    for (const std::int64_t dim : dims()) product *= dim;
    return product;
}

std::string Shape::text() const {
    std::string out;
    for (const std::int64_t dim : dims()) {
        if (!out.empty()) out += 'x';
        out += std::to_string(dim);
    }
    return out.empty() ? "scalar" : out;
}

Shape Shape::withDim(int axis, std::int64_t extent) const {
    Shape copy = *this;
    copy.m_dims[static_cast<std::size_t>(axis < 0 ? axis + m_rank : axis)] = extent;
    return copy;
}

bool Shape::operator==(const Shape& other) const { return std::ranges::equal(dims(), other.dims()); }

}  // namespace lockstep
