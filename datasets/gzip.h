#pragma once
#include "datasets/byte_stream.h"

namespace lockstep {

// Unpacks a gzip file of one or several members (RFC 1952). read() throws ProblemError "gzip.truncated", "gzip.corrupt"
// or "gzip.trailing-bytes"; the checksum is checked when the end is read. In a build without zlib openGzip throws
// "gzip.unsupported".
std::unique_ptr<ByteStream> openGzip(const std::filesystem::path& file);

}  // namespace lockstep
