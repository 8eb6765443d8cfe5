#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

#include "engine/search/tried.h"

namespace lockstep {

// How much the settings of a search mattered, from what its cells came to. Two questions with two answers:
// pedAnova(): which setting must be right to be among the best; fanova(): which explains the differences between all.

// Whether figures of importance may be believed; they are finite in any case.
enum class ImportanceVerdict {
    Sound,
    NothingVaried,  // no dimension has two values
    TooFewTried,    // fewer than kFewestTried have a loss
    AllAlike,       // all came to the same, or so many that the best are all of them
    Unpredictable,  // fanova(): cells that its forest was not shown are predicted no better than by their mean
    Chance,         // pedAnova(): as many others, drawn at random, would have made as much of a setting
};
std::string_view text(ImportanceVerdict verdict);  // "sound", "nothing-varied", "too-few-tried"…

constexpr std::size_t kFewestTried = 10;

bool isVaried(const Dimension& dimension);  // it has two values or more

// What a cell says of a dimension; empty: nothing, or a value that the dimension does not have. Of a choice its number,
// from 0; of a range the number itself, beyond its ends what the end is.
std::optional<double> coordinateOf(const Dimension& dimension, const Cell& cell);
// Where a number lies in [0, 1] of a range that is varied: in the middle of what Dimension::valueAt() makes it of.
double unitPlace(const Dimension& dimension, double number);

}  // namespace lockstep
