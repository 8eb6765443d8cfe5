#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace lockstep {

// How many bytes the well-formed UTF-8 character has that `bytes` begins with (the Unicode Standard, table 3-7); 0: it
// begins with none.
std::size_t utf8Character(std::string_view bytes);

// Where the first byte is that belongs to no well-formed character; npos: all of it is UTF-8.
std::size_t findBrokenUtf8(std::string_view bytes);
// Of a text that `field` names, a file or an option. Throws ProblemError "text.not-utf8": where that byte is, and what.
void requireUtf8(const std::string& field, std::string_view text);

// What can be shown on a terminal: UTF-8 with U+FFFD for bytes that are none, and for every control character but tab
// and newline; a carriage return before a newline is left out.
std::string legible(std::string_view bytes);

}  // namespace lockstep
