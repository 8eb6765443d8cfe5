#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

#include "datasets/byte_stream.h"
#include "datasets/decoded.h"
#include "datasets/images.h"
#include "engine/core/content_hash.h"

namespace lockstep {

namespace {

constexpr std::uint64_t kLargestFile = 256 << 20;

// Returns a hash of the file.
std::uint64_t decodeOne(const LabelledFile& file, const DecodedFormat& format, std::span<std::uint8_t> out) {
    const auto bytes = readWhole(file.file, kLargestFile);
    const std::string_view encoded(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    decodeSquare(file.file, encoded, format.size, format.channels, out);
    ContentHash hash;
    hash.add(std::span(bytes));
    return hash.value();
}

// Shared by the threads of one decodeAll; each takes the next file.
class Decoding {
public:
    Decoding(std::span<const LabelledFile> files, const DecodedFormat& format, const Reading& reading)
        : m_files(files), m_format(format), m_reading(reading), m_hashes(files.size()) {
        m_out.pixels.resize(files.size() * format.bytes());
    }

    // `afterEach` hears how many are done; what it throws ends the work of all.
    template <class AfterEach>
    void work(AfterEach afterEach) noexcept {
        try {
            for (std::size_t i; !m_reading.isCancelled() && (i = m_next++) < m_files.size();) {
                decode(i);
                afterEach(static_cast<std::int64_t>(++m_done));
            }
        } catch (...) {
            m_next = m_files.size();
            const std::lock_guard lock(m_mutex);
            m_broken = std::current_exception();
        }
    }

    DecodedImages finish() {
        if (m_broken) std::rethrow_exception(m_broken);
        m_reading.goOn();
        std::ranges::sort(m_out.failures, {}, &DecodedImages::Failure::index);
        closeGaps();
        return std::move(m_out);
    }

private:
    void decode(std::size_t index) {
        try {
            const auto out = std::span(m_out.pixels).subspan(index * m_format.bytes(), m_format.bytes());
            m_hashes[index] = decodeOne(m_files[index], m_format, out);
        } catch (const ProblemError& error) {
            const std::lock_guard lock(m_mutex);
            m_out.failures.push_back({static_cast<std::int64_t>(index), error.problem()});
        }
    }

    void closeGaps() {
        const std::size_t bytes = m_format.bytes();
        std::size_t kept = 0;
        ContentHash content;
        auto failure = m_out.failures.begin();
        for (std::size_t i = 0; i < m_files.size(); ++i) {
            if (failure != m_out.failures.end() && failure->index == static_cast<std::int64_t>(i)) {
                ++failure;
                continue;
            }
            content.add(m_hashes[i]);
            if (kept != i) std::memcpy(&m_out.pixels[kept * bytes], &m_out.pixels[i * bytes], bytes);
            ++kept;
        }
        m_out.pixels.resize(kept * bytes);
        m_out.content = content.value();
    }

    std::span<const LabelledFile> m_files;
    DecodedFormat m_format;
    const Reading& m_reading;
    DecodedImages m_out;
    std::vector<std::uint64_t> m_hashes;  // of each file
    std::atomic<std::size_t> m_next{0}, m_done{0};
    std::mutex m_mutex;
    std::exception_ptr m_broken;
};

}  // namespace

DecodedImages decodeAll(std::span<const LabelledFile> files, const DecodedFormat& format, Reading& reading,
                        std::int64_t before) {
    constexpr std::size_t kMostThreads = 8, kFilesWorthAThread = 16;
    const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
    const std::size_t helpers = std::min({cores, kMostThreads, files.size() / kFilesWorthAThread + 1}) - 1;
    Decoding decoding(files, format, reading);
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < helpers; ++i) threads.emplace_back([&] { decoding.work([](std::int64_t) {}); });
        decoding.work([&](std::int64_t done) { reading.advance(before + done); });
    }
    return decoding.finish();
}

}  // namespace lockstep
