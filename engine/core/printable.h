#pragma once
#include <string>
#include <string_view>

namespace lockstep {

// A text from outside (a title, a name, a path) as one line that a terminal shows and does not obey: control
// characters (C0, DEL, C1), line and paragraph separators, what turns the direction of writing round, and bytes that
// are no UTF-8 are spelt out: "\n", "\x1b", "\u202e". Every other character stays.
std::string printable(std::string_view text);

// How many columns of a terminal a text takes: none for characters that combine with the one before, two for wide ones.
int columnsOf(std::string_view text);

}  // namespace lockstep
