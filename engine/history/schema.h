#pragma once
#include <cstdint>
#include <span>

namespace lockstep {

// One numbered file of resources/schema; brings a history from version - 1 to version. Never changed once released.
struct Migration {
    int version = 0;
    const char* sql = "";
};
std::span<const Migration> migrations();  // ascending, from 1 without a gap

constexpr std::int32_t kHistoryApplicationId = 0x4c6b5374;  // "LkSt": tells a history from other SQLite files

}  // namespace lockstep
