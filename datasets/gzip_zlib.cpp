#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>

#include "datasets/gzip.h"
#include "engine/core/result.h"

namespace lockstep {

namespace {

// Deflate cannot expand further (zlib.net/zlib_tech.html), so a small file cannot ask for a large allocation.
constexpr std::uint64_t kLargestExpansion = 1032;

class GzipStream : public ByteStream {
public:
    GzipStream(const std::filesystem::path& file, std::unique_ptr<ByteStream> packed)
        : m_file(file), m_packed(std::move(packed)) {
        constexpr int kGzipOnly = 16 + MAX_WBITS;
        if (inflateInit2(&m_state, kGzipOnly) != Z_OK) throw std::bad_alloc();
    }
    GzipStream(const GzipStream&) = delete;
    GzipStream& operator=(const GzipStream&) = delete;
    ~GzipStream() override { inflateEnd(&m_state); }

    std::uint64_t bound() const override { return m_packed->bound() * kLargestExpansion; }
    bool exact() const override { return false; }

    std::size_t read(std::span<std::uint8_t> into) override {
        std::size_t done = 0;
        while (done < into.size() && !m_ended) done += inflateSome(into.subspan(done));
        return done;
    }

private:
    std::size_t inflateSome(std::span<std::uint8_t> into) {
        if (m_state.avail_in == 0) refill();     // at the end of the file output may still be pending
        constexpr std::size_t kMost = 1u << 30;  // avail_out is 32 bits wide
        const auto room = static_cast<uInt>(std::min(into.size(), kMost));
        m_state.next_out = into.data();
        m_state.avail_out = room;
        const int outcome = inflate(&m_state, Z_NO_FLUSH);
        if (outcome == Z_MEM_ERROR) throw std::bad_alloc();
        if (outcome == Z_STREAM_END) {
            endMember();
        } else if (outcome == Z_BUF_ERROR) {
            fail("gzip.truncated", {std::to_string(m_consumed)});
        } else if (outcome != Z_OK) {
            fail("gzip.corrupt",
                 {std::to_string(m_consumed - m_state.avail_in), m_state.msg ? m_state.msg : "unknown"});
        }
        return room - m_state.avail_out;
    }

    void endMember() {
        if (m_state.avail_in == 0 && !refill()) {
            m_ended = true;
            return;
        }
        if (*m_state.next_in != 0x1f) fail("gzip.trailing-bytes", {std::to_string(m_consumed - m_state.avail_in)});
        inflateReset(&m_state);
    }

    bool refill() {
        const std::size_t got = m_packed->read(m_buffer);
        m_consumed += got;
        m_state.next_in = m_buffer.data();
        m_state.avail_in = static_cast<uInt>(got);
        return got > 0;
    }

    [[noreturn]] void fail(const char* code, std::vector<std::string> args) const {
        throw ProblemError({m_file.string(), code, std::move(args)});
    }

    std::filesystem::path m_file;
    std::unique_ptr<ByteStream> m_packed;
    std::array<std::uint8_t, 1 << 16> m_buffer;
    z_stream m_state{};
    std::uint64_t m_consumed = 0;  // packed bytes taken from the file
    bool m_ended = false;
};

}  // namespace

std::unique_ptr<ByteStream> unpackGzip(const std::filesystem::path& file, std::unique_ptr<ByteStream> packed) {
    return std::make_unique<GzipStream>(file, std::move(packed));
}

}  // namespace lockstep
