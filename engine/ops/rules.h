#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "engine/core/result.h"
#include "engine/core/tensor.h"

namespace lockstep {

// What the shape rules of all ops check, and how they refuse: each throws a ProblemError whose first argument is the
// op's name; Graph::append adds the layer as its field. `input` is the input's letter in the op's header ("x", "w").

[[noreturn]] void refuse(std::string code, std::vector<std::string> args);
void expectInputs(std::string_view op, std::span<const TensorType> inputs, std::size_t low, std::size_t high);
inline void expectInputs(std::string_view op, std::span<const TensorType> inputs, std::size_t count) {
    expectInputs(op, inputs, count, count);
}
void expectFloat(std::string_view op, std::string_view input, const TensorType& type, int rank);  // any rank when 0
void expectType(std::string_view op, std::string_view input, const TensorType& actual, const TensorType& expected);
void expectAttribute(bool holds, std::string_view op, std::string_view attribute, const std::string& value,
                     std::string_view requirement);

// How often a window fits into the two last extents of an image: floor((image + 2 padding - window) / stride) + 1 each.
// Refuses windows larger than the padded image.
std::array<std::int64_t, 2> windowPositions(std::string_view op, const Shape& image, std::array<std::int64_t, 2> window,
                                            std::array<int, 2> stride, std::array<int, 2> padding);

std::string pairText(std::int64_t height, std::int64_t width);  // "3x3"
inline std::string pairText(std::array<int, 2> pair) { return pairText(pair[0], pair[1]); }
std::string numberText(double value);  // the shortest text that reads back the same

}  // namespace lockstep
