#pragma once
#include <optional>
#include <string_view>

namespace lockstep {

// Which samples of a dataset: those that a model is trained on, those that tell after each epoch how good it is and so
// choose the best one, and those that it is judged by. Without a validation split the test split is both of the latter.
enum class Split { Train, Validation, Test };

constexpr std::string_view text(Split split) {
    return split == Split::Train ? "train" : split == Split::Validation ? "validation" : "test";
}
constexpr std::optional<Split> splitFrom(std::string_view name) {
    for (const Split each : {Split::Train, Split::Validation, Split::Test}) {
        if (name == text(each)) return each;
    }
    return std::nullopt;
}

}  // namespace lockstep
