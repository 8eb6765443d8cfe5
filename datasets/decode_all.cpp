#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

#include "datasets/decoded.h"
#include "datasets/images.h"
#include "engine/core/content_hash.h"

namespace lockstep {

namespace {

// Returns a hash of what was decoded.
std::uint64_t decodeOne(const EncodedPictures& pictures, std::int64_t index, const DecodedFormat& format,
                        std::span<std::uint8_t> out) {
    static thread_local std::vector<std::uint8_t> memory;
    const auto bytes = pictures.encoded(index, memory);
    const std::string_view encoded(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    decodeByRule(pictures.fileOf(index), encoded,
                 {.size = format.size, .channels = format.channels, .decode = format.decode}, out);
    ContentHash hash;
    hash.add(bytes);
    return hash.value();
}

// Shared by the threads of one decodeAll; each takes the next picture.
class Decoding {
public:
    Decoding(const EncodedPictures& pictures, const DecodedFormat& format, const Reading& reading)
        : m_pictures(pictures),
          m_count(static_cast<std::size_t>(pictures.count())),
          m_format(format),
          m_reading(reading),
          m_hashes(m_count) {
        m_out.pixels.resize(m_count * format.bytes());
    }

    // `afterEach` hears how many are done; what it throws ends the work of all.
    template <class AfterEach>
    void work(AfterEach afterEach) noexcept {
        try {
            for (std::size_t i; !m_reading.isCancelled() && (i = m_next++) < m_count;) {
                decode(i);
                afterEach(static_cast<std::int64_t>(++m_done));
            }
        } catch (...) {
            m_next = m_count;
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
            m_hashes[index] = decodeOne(m_pictures, static_cast<std::int64_t>(index), m_format, out);
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
        for (std::size_t i = 0; i < m_count; ++i) {
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

    const EncodedPictures& m_pictures;
    std::size_t m_count;
    DecodedFormat m_format;
    const Reading& m_reading;
    DecodedImages m_out;
    std::vector<std::uint64_t> m_hashes;  // of each
    std::atomic<std::size_t> m_next{0}, m_done{0};
    std::mutex m_mutex;
    std::exception_ptr m_broken;
};

}  // namespace

DecodedImages decodeAll(const EncodedPictures& pictures, const DecodedFormat& format, Reading& reading,
                        std::int64_t before) {
    constexpr std::size_t kMostThreads = 8, kWorthAThread = 16;
    const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
    const std::size_t helpers =
        std::min({cores, kMostThreads, static_cast<std::size_t>(pictures.count()) / kWorthAThread + 1}) - 1;
    Decoding decoding(pictures, format, reading);
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < helpers; ++i) threads.emplace_back([&] { decoding.work([](std::int64_t) {}); });
        decoding.work([&](std::int64_t done) { reading.advance(before + done); });
    }
    return decoding.finish();
}

}  // namespace lockstep
