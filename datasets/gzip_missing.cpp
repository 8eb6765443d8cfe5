#include "datasets/gzip.h"
#include "engine/core/result.h"

namespace lockstep {

std::unique_ptr<ByteStream> unpackGzip(const std::filesystem::path& file, std::unique_ptr<ByteStream>) {
    throw ProblemError({file.string(), "gzip.unsupported", {}});
}

}  // namespace lockstep
