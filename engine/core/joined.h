#pragma once
#include <algorithm>
#include <array>
#include <cstddef>

namespace lockstep {

// One list behind the other, as the compiler reads them.
template <class T, std::size_t kFirst, std::size_t kSecond>
constexpr std::array<T, kFirst + kSecond> joined(const std::array<T, kFirst>& first,
                                                 const std::array<T, kSecond>& second) {
    std::array<T, kFirst + kSecond> all{};
    std::ranges::copy(second, std::ranges::copy(first, all.begin()).out);
    return all;
}

}  // namespace lockstep
