#include "engine/core/file_kind.h"

#include <algorithm>

#include "engine/core/utf8.h"

namespace lockstep {

namespace {

using namespace std::string_view_literals;

struct Kind {
    std::string_view magic, name;
};
constexpr Kind kKinds[] = {{"\xff\xd8\xff"sv, "a JPEG image"},
                           {"\x89PNG\r\n\x1a\n"sv, "a PNG image"},
                           {"GIF8"sv, "a GIF image"},
                           {"%PDF-"sv, "a PDF document"},
                           {"\0\0\x08\x01"sv, "an IDX file"},
                           {"\0\0\x08\x03"sv, "an IDX file"},
                           {"PK\x03\x04"sv, "a ZIP archive, as PyTorch's own files are"},
                           {"\x1f\x8b"sv, "a file packed by gzip"},
                           {"7z\xbc\xaf\x27\x1c"sv, "a 7z archive"},
                           {"\x93NUMPY"sv, "an array of NumPy's"},
                           {"\x89HDF\r\n"sv, "an HDF5 file"},
                           {"SQLite format 3\0"sv, "an SQLite database"},
                           {"\x7f"
                            "ELF"sv,
                            "a program or library"}};

// It may end within a character.
bool isText(std::string_view front) {
    constexpr std::size_t kLongestCharacter = 4;
    const auto isControl = [](unsigned char byte) {
        return (byte < ' ' && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7f;
    };
    const std::size_t broken = findBrokenUtf8(front);
    const bool isWhole = broken == front.npos || broken + kLongestCharacter > front.size();
    return !front.empty() && isWhole && std::ranges::none_of(front, isControl);
}

}  // namespace

std::string_view kindOfFile(std::string_view front) {
    for (const auto& [magic, name] : kKinds)
        if (front.starts_with(magic)) return name;
    if (!isText(front)) return "a file of another kind";
    return front.front() == '{' || front.front() == '[' ? "a file of JSON" : "a text";
}

}  // namespace lockstep
