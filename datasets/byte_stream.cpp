#include "datasets/byte_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "datasets/gzip.h"
#include "datasets/unreadable.h"
#include "engine/core/result.h"

namespace lockstep {

namespace {

class PlainStream : public ByteStream {
public:
    // Non-blocking: opening a pipe that nobody writes to must not hang.
    explicit PlainStream(const std::filesystem::path& file)
        : m_file(file), m_handle(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
        if (m_handle < 0) unreadable(file);
        struct stat facts {};
        const bool known = ::fstat(m_handle, &facts) == 0;
        if (!known || !S_ISREG(facts.st_mode)) {
            ::close(m_handle);
            throw ProblemError({file.string(), "file.not-regular", {}});
        }
        m_size = static_cast<std::uint64_t>(facts.st_size);
    }
    PlainStream(const PlainStream&) = delete;
    PlainStream& operator=(const PlainStream&) = delete;
    ~PlainStream() override { ::close(m_handle); }

    std::size_t read(std::span<std::uint8_t> into) override {
        std::size_t done = 0;
        while (done < into.size()) {
            const ssize_t got = ::read(m_handle, into.data() + done, into.size() - done);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) unreadable(m_file);
            if (got == 0) break;
            done += static_cast<std::size_t>(got);
        }
        return done;
    }
    std::uint64_t bound() const override { return m_size; }
    bool exact() const override { return true; }

private:
    std::filesystem::path m_file;
    int m_handle;
    std::uint64_t m_size = 0;
};

class MemoryStream : public ByteStream {
public:
    explicit MemoryStream(std::string_view bytes) : m_bytes(bytes) {}

    std::size_t read(std::span<std::uint8_t> into) override {
        const std::size_t got = m_bytes.copy(reinterpret_cast<char*>(into.data()), into.size(), m_at);
        m_at += got;
        return got;
    }
    std::uint64_t bound() const override { return m_bytes.size(); }
    bool exact() const override { return true; }

private:
    std::string_view m_bytes;
    std::size_t m_at = 0;
};

}  // namespace

std::unique_ptr<ByteStream> openPlain(const std::filesystem::path& file) { return std::make_unique<PlainStream>(file); }

std::unique_ptr<ByteStream> openUnpacked(const std::filesystem::path& file) {
    std::uint8_t magic[2] = {};
    const bool packed = openPlain(file)->read(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
    return packed ? unpackGzip(file, openPlain(file)) : openPlain(file);
}

std::unique_ptr<ByteStream> unpacked(const std::filesystem::path& file, std::string_view bytes) {
    auto plain = std::make_unique<MemoryStream>(bytes);
    if (bytes.starts_with("\x1f\x8b")) return unpackGzip(file, std::move(plain));
    return plain;
}

std::size_t readWhole(const std::filesystem::path& file, std::uint64_t limit, std::vector<std::uint8_t>& into) {
    const auto stream = openPlain(file);
    if (stream->bound() > limit) {
        throw ProblemError({file.string(), "file.too-large", {std::to_string(stream->bound()), std::to_string(limit)}});
    }
    if (into.size() < stream->bound()) into.resize(stream->bound());
    return stream->read(std::span(into).first(stream->bound()));
}

std::vector<std::uint8_t> readWhole(const std::filesystem::path& file, std::uint64_t limit) {
    std::vector<std::uint8_t> bytes;
    bytes.resize(readWhole(file, limit, bytes));
    return bytes;
}

}  // namespace lockstep
