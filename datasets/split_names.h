#pragma once
#include <optional>
#include <string_view>

namespace lockstep {

enum class Split { Train, Test, Validation };

// What folders of splits are usually called.
struct SplitName {
    const char* name;
    Split split;
};
inline constexpr SplitName kSplitNames[] = {
    {"train", Split::Train},          {"training", Split::Train}, {"test", Split::Test},
    {"testing", Split::Test},         {"val", Split::Validation}, {"valid", Split::Validation},
    {"validation", Split::Validation}};

inline std::optional<Split> splitOf(std::string_view name) {
    for (const SplitName& each : kSplitNames) {
        if (name == each.name) return each.split;
    }
    return std::nullopt;
}

}  // namespace lockstep
