#pragma once
#include <filesystem>
#include <fstream>

namespace lockstep::test {

// Damages a file near its end, where a checkpoint has its tensors.
inline void flipAByte(const std::filesystem::path& file) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(-5, std::ios::end);
    const char byte = static_cast<char>(stream.get() ^ 1);
    stream.seekp(-5, std::ios::end);
    stream.put(byte);
}

}  // namespace lockstep::test
