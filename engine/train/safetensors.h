#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "engine/core/result.h"
#include "engine/core/tensor.h"

namespace lockstep {

// The container (huggingface/safetensors): u64 little-endian header length, JSON header, tensors without gaps,
// row-major.
struct TensorFile {
    std::map<std::string, std::string> metadata;
    std::map<std::string, HostTensor> tensors;
};

// What its header says of it.
struct TensorFileHeader {
    std::map<std::string, std::string> metadata;
    std::map<std::string, TensorType> types;
};

// Durable (core/durable_file), with a checksum over all of it in the metadata; one that a person names by
// writeNamedFile(). Throw EngineError(Io).
void writeTensorFile(const std::filesystem::path& file, const std::map<std::string, std::string>& metadata,
                     const std::map<std::string, HostTensor>& tensors);
void writeNamedTensorFile(const std::filesystem::path& file, const std::map<std::string, std::string>& metadata,
                          const std::map<std::string, HostTensor>& tensors);

// Strict: header of at most 100 MB and 100,000 tensors, no key twice, known element types, shape x type = bytes,
// tensors contiguous from 0 to the end of the file. All is checked before memory is taken: no allocation is larger than
// 32 times the header (its JSON in memory), or than a tensor that is in the file. Problems: "checkpoint.unreadable",
// "checkpoint.not-safetensors" (something else by its first bytes: what it looks like), "checkpoint.truncated",
// "checkpoint.malformed", "checkpoint.altered" (the checksum, where it has one, is another), with the file as field.
Result<TensorFile> readTensorFile(const std::filesystem::path& file);
Result<TensorFileHeader> readTensorFileHeader(
    const std::filesystem::path& file);  // as strict; reads no tensor, so no checksum

}  // namespace lockstep
