#pragma once
#include "datasets/byte_stream.h"

namespace lockstep {

// Unpacks a gzip file of one or several members (RFC 1952). read() throws ProblemError "gzip.truncated", "gzip.corrupt"
// or "gzip.trailing-bytes", naming the file; the checksum is checked when the end is read. In a build without zlib it
// throws "gzip.unsupported".
std::unique_ptr<ByteStream> unpackGzip(const std::filesystem::path& file, std::unique_ptr<ByteStream> packed);

}  // namespace lockstep
