#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace lockstep::report {

// A text of headings, tables and pictures, written once and told as HTML or Markdown. All text in it is plain: the
// writers escape it.

struct Span {
    enum class Kind { Plain, Code, Strong };
    std::string text;
    Kind kind = Kind::Plain;
};
// A line of text; a plain string is one.
struct Line {
    std::vector<Span> spans;
    Line() = default;
    Line(std::string text) : spans{{std::move(text)}} {}
    Line(const char* text) : spans{{text}} {}
    Line(std::vector<Span> list) : spans(std::move(list)) {}
};
Span code(std::string text);
Span strong(std::string text);

struct Heading {
    std::string text;
};
struct Paragraph {
    Line line;
};
struct BulletList {
    std::vector<Line> lines;
};
struct TextTable {
    std::vector<std::string> header;
    std::vector<std::vector<Line>> rows;
    std::size_t numbersFrom = SIZE_MAX;  // the first of the columns that are set to the right
    std::size_t numbersTo = SIZE_MAX;    // the first behind them
    bool isDense = false;                // many columns: small, and on one line but for the last
    bool isNumber(std::size_t column) const { return column >= numbersFrom && column < numbersTo; }
};
struct CodeBlock {
    std::string text, language;
};
struct Figure {
    std::string name, alternative, svg;  // the name of its file, without ending: letters, digits and dashes
};
struct Block;
struct Folded {
    std::string summary;
    std::vector<Block> blocks;
};
struct Block {
    std::variant<Heading, Paragraph, BulletList, TextTable, CodeBlock, Figure, Folded> content;
};

struct Document {
    std::string title;
    std::vector<Block> blocks;
};

// One file with everything in it, which loads nothing from anywhere and runs nothing.
std::string htmlOf(const Document& document);

// Pictures lie in `folder` beside the text, as <name>.svg; an empty folder: they are left out, and their place says so.
std::string markdownOf(const Document& document, const std::string& folder);
std::vector<Figure> figuresOf(const Document& document);  // all of them, also of folded blocks

}  // namespace lockstep::report
