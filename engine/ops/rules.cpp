#include "engine/ops/rules.h"

#include "engine/core/param_schema.h"

namespace lockstep {

void refuse(std::string code, std::vector<std::string> args) {
    throw ProblemError({.field = "", .code = std::move(code), .args = std::move(args)});
}

void expectInputs(std::string_view op, std::span<const TensorType> inputs, std::size_t low, std::size_t high) {
    if (inputs.size() >= low && inputs.size() <= high) return;
    std::string expected = std::to_string(low);
    if (high != low) expected += " to " + std::to_string(high);
    refuse("graph.input-count", {std::string(op), expected, std::to_string(inputs.size())});
}

void expectFloat(std::string_view op, std::string_view input, const TensorType& type, int rank) {
    if (!isFloat(type.dtype)) refuse("graph.not-float", {std::string(op), std::string(input), type.text()});
    if (rank != 0 && type.shape.rank() != rank) {
        refuse("graph.rank", {std::string(op), std::string(input), std::to_string(rank), type.text()});
    }
}

void expectType(std::string_view op, std::string_view input, const TensorType& actual, const TensorType& expected) {
    if (actual == expected) return;
    refuse("graph.type-mismatch", {std::string(op), std::string(input), expected.text(), actual.text()});
}

void expectAttribute(bool holds, std::string_view op, std::string_view attribute, const std::string& value,
                     std::string_view requirement) {
    if (holds) return;
    refuse("graph.bad-attribute", {std::string(op), std::string(attribute), value, std::string(requirement)});
}

std::array<std::int64_t, 2> windowPositions(std::string_view op, const Shape& image, std::array<std::int64_t, 2> window,
                                            std::array<int, 2> stride, std::array<int, 2> padding) {
    std::array<std::int64_t, 2> positions{};
    for (std::size_t axis = 0; axis < 2; ++axis) {
        const std::int64_t room = image[static_cast<int>(axis) - 2] + 2 * padding[axis] - window[axis];
        if (room < 0) {
            refuse("graph.image-too-small", {std::string(op), pairText(image[-2], image[-1]),
                                             pairText(window[0], window[1]), pairText(padding)});
        }
        positions[axis] = room / stride[axis] + 1;
    }
    return positions;
}

std::string pairText(std::int64_t height, std::int64_t width) {
    return std::to_string(height) + "x" + std::to_string(width);
}

std::string numberText(double value) { return text(ParamValue(value)); }

}  // namespace lockstep
