#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace lockstep::report {

// A text from outside as one line of HTML, XML or SVG, in an element or an attribute: printable(), and what these
// languages read as their own is escaped.
std::string xmlText(std::string_view text);
// The same of a text of several lines, as of <pre>.
std::string xmlLines(std::string_view text);

// A text as one line of Markdown (CommonMark and GitHub's), also in the cell of a table: nothing in it formats,
// mentions or is taken for HTML.
std::string markdownText(std::string_view text);
// As code in a line. What would end a table's cell even between backticks is told by HTML's element instead.
std::string markdownCode(std::string_view text);
std::string markdownFence(std::string_view text, std::string_view language);  // a block of code

std::size_t charactersOf(std::string_view text);
std::string shortened(std::string_view text, std::size_t most);  // in characters; what is longer ends in "…"

}  // namespace lockstep::report
