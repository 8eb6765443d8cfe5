#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace lockstep {

// A number of a run's, as TensorBoard shows it.
struct TensorboardScalar {
    std::string tag;  // "test/accuracy": what stands before the slash groups
    std::int64_t step = 0;
    double time = 0;  // seconds since 1970
    double value = 0;
};

// The bytes of an event file: TFRecords (tensorflow/core/lib/io/record_writer) of Event messages
// (tensorboard/compat/proto/event.proto), the first of which states the version. Values become float32.
std::string tensorboardFile(double begin, std::span<const TensorboardScalar> scalars);

// CRC-32C (Castagnoli, RFC 3720, appendix B.4), with which records are checked.
std::uint32_t crc32c(std::string_view bytes);

}  // namespace lockstep
