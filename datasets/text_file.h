#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/param_schema.h"

namespace lockstep {

// The whole text of a file, without a byte-order mark at its front. Throws ProblemError "text.empty", "text.not-utf8"
// (byte offset and byte), "dataset.too-large", "file.*". No allocation is larger than the file.
std::string readText(const std::filesystem::path& file);
// Likewise, but whoever reads on looks at the bytes: those that are no UTF-8 are there as they are.
std::string readBytesOfText(const std::filesystem::path& file);

// Whether a file begins as UTF-8 text does. Reads little; throws nothing but std::bad_alloc.
bool startsLikeText(const std::filesystem::path& file);

// What a file's bytes are as tokens: each as an i32, and 0 behind them to the end of `out`.
void writeTokens(std::string_view text, std::span<std::byte> out);

// "a", "space", "0xe9": what the 256 byte values are called.
std::vector<std::string> byteNames();

// The parameters that sources of texts have in common: "sequence" in bytes.
ParamField sequenceField(std::int64_t fallback, std::string meaning);
ParamField testShareField(double fallback, std::string meaning);

}  // namespace lockstep
