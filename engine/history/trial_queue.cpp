#include "engine/history/trial_queue.h"

#include <array>
#include <utility>

namespace lockstep {

namespace {

constexpr std::array<std::pair<GroupState, std::string_view>, 5> kGroupStates = {{
    {GroupState::Active, "active"},
    {GroupState::Paused, "paused"},
    {GroupState::Finished, "finished"},
    {GroupState::Cancelled, "cancelled"},
    {GroupState::Failed, "failed"},
}};

}  // namespace

std::string_view text(GroupState state) {
    for (const auto& [each, name] : kGroupStates) {
        if (each == state) return name;
    }
    return "?";
}

std::optional<GroupState> groupStateFrom(std::string_view text) {
    for (const auto& [state, name] : kGroupStates) {
        if (name == text) return state;
    }
    return std::nullopt;
}

}  // namespace lockstep
