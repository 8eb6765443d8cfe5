#pragma once
#include <optional>
#include <string_view>

#include "engine/spec/split.h"

namespace lockstep {

// What folders of splits are usually called; those that are looked for first come first.
struct SplitName {
    const char* name;
    Split split;
};
inline constexpr SplitName kSplitNames[] = {{"train", Split::Train},
                                            {"Train", Split::Train},
                                            {"TRAIN", Split::Train},
                                            {"training", Split::Train},
                                            {"Training", Split::Train},
                                            {"TRAINING", Split::Train},
                                            {"test", Split::Test},
                                            {"Test", Split::Test},
                                            {"TEST", Split::Test},
                                            {"testing", Split::Test},
                                            {"Testing", Split::Test},
                                            {"TESTING", Split::Test},
                                            {"val", Split::Validation},
                                            {"Val", Split::Validation},
                                            {"VAL", Split::Validation},
                                            {"valid", Split::Validation},
                                            {"Valid", Split::Validation},
                                            {"VALID", Split::Validation},
                                            {"validation", Split::Validation},
                                            {"Validation", Split::Validation},
                                            {"VALIDATION", Split::Validation}};

inline std::optional<Split> splitOf(std::string_view name) {
    for (const SplitName& each : kSplitNames) {
        if (name == each.name) return each.split;
    }
    return std::nullopt;
}

}  // namespace lockstep
