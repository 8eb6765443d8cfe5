#include "engine/session/trace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "engine/core/error.h"

namespace lockstep {

namespace fs = std::filesystem;

namespace {

static_assert(std::endian::native == std::endian::little, "traces are written as they lie in memory");

constexpr std::string_view kMagic = "LSTRACE1";
constexpr std::size_t kHeadBytes = 8, kSpanBytes = 32;
constexpr std::size_t kMostAtOnce = 4 * kTraceSegmentBytes;  // a segment ends soon after kTraceSegmentBytes
enum : std::uint32_t { kName = 1, kLane = 2, kSpans = 3 };

template <class T>
void put(std::string& out, T value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
T get(std::string_view bytes, std::size_t at) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

void putRecord(std::string& out, std::uint32_t kind, std::string_view payload) {
    put(out, kind);
    put(out, static_cast<std::uint32_t>(payload.size()));
    out += payload;
}

void putSpans(std::string& out, std::uint32_t lane, const std::vector<TraceSpan>& spans) {
    std::string payload;
    payload.reserve(8 + spans.size() * kSpanBytes);
    put(payload, lane);
    put(payload, std::uint32_t{0});
    for (const TraceSpan& span : spans) {
        put(payload, span.name);
        put(payload, std::uint32_t{0});
        put(payload, span.step);
        put(payload, span.beginNs);
        put(payload, span.endNs);
    }
    putRecord(out, kSpans, payload);
}

fs::path segmentFile(const fs::path& folder, std::int64_t attempt, int segment) {
    return folder / (std::to_string(attempt) + "-" + std::to_string(segment) + ".trace");
}

[[noreturn]] void fail(const fs::path& file, const char* what) {
    const std::string name = file.string();
    throw EngineError(EngineError::Kind::Io, name, std::string(what) + " " + name + ": " + std::strerror(errno));
}

// Every segment says all names and lanes in the order of their ids: the next one, or one said before.
template <class T>
bool describe(std::vector<T>& known, std::uint32_t id, std::type_identity_t<T> value) {
    if (id > known.size()) return false;
    if (id == known.size()) known.emplace_back();
    known[id] = std::move(value);
    return true;
}

// The segments of an attempt that exist, ascending.
std::vector<int> segmentsOf(const fs::path& folder, std::int64_t attempt) {
    const std::string prefix = std::to_string(attempt) + "-";
    std::vector<int> segments;
    std::error_code failed;
    for (fs::directory_iterator each(folder, failed), end; !failed && each != end; each.increment(failed)) {
        const std::string name = each->path().filename().string();
        int segment = 0;
        if (!name.starts_with(prefix)) continue;
        const auto [rest, error] = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), segment);
        if (error == std::errc() && std::string_view(rest) == ".trace") segments.push_back(segment);
    }
    std::ranges::sort(segments);
    return segments;
}

}  // namespace

TraceWriter::TraceWriter(fs::path folder, std::int64_t attempt, const TraceBoard& board, std::size_t segmentBytes)
    : m_folder(std::move(folder)), m_attempt(attempt), m_board(board), m_segmentBytes(segmentBytes) {
    std::error_code failed;
    fs::remove_all(m_folder, failed);
    fs::create_directories(m_folder, failed);
    if (failed) {
        errno = failed.value();
        fail(m_folder, "cannot make the folder");
    }
    beginSegment();
}

TraceWriter::~TraceWriter() {
    if (m_fd >= 0) ::close(m_fd);
}

fs::path TraceWriter::segment(int number) const { return segmentFile(m_folder, m_attempt, number); }

void TraceWriter::beginSegment() {
    if (m_fd >= 0) ::close(m_fd);
    ++m_segment;
    m_fd = ::open(segment(m_segment).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (m_fd < 0) fail(segment(m_segment), "cannot create");
    std::error_code ignored;
    if (m_segment > 2) fs::remove(segment(m_segment - 2), ignored);
    m_written = m_names = m_lanes = 0;
    append(std::string(kMagic));
}

void TraceWriter::flush() {
    if (m_written >= m_segmentBytes) beginSegment();
    std::string names, spans;
    const auto lanes = m_board.lanes();
    m_next.resize(lanes.size());
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        const auto fresh = lanes[lane]->readSince(m_next[lane]);
        if (!fresh.empty()) putSpans(spans, static_cast<std::uint32_t>(lane), fresh);
    }
    describeNew(names);  // after the spans were read: each of them has its name by now
    append(names + spans);
}

void TraceWriter::describeNew(std::string& out) {
    const auto names = m_board.names();
    for (; m_names < names.size(); ++m_names) {
        std::string payload;
        put(payload, static_cast<std::uint32_t>(m_names));
        putRecord(out, kName, payload + names[m_names]);
    }
    const auto lanes = m_board.lanes();
    for (; m_lanes < lanes.size(); ++m_lanes) {
        std::string payload;
        put(payload, static_cast<std::uint32_t>(m_lanes));
        put(payload, static_cast<std::int32_t>(lanes[m_lanes]->rank()));
        putRecord(out, kLane, payload + lanes[m_lanes]->name());
    }
}

void TraceWriter::append(const std::string& bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
        const auto written = ::write(m_fd, bytes.data() + done, bytes.size() - done);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail(segment(m_segment), "cannot write to");
        done += static_cast<std::size_t>(written);
    }
    m_written += bytes.size();
}

int TraceReader::newerSegment() const {
    const std::vector<int> segments = segmentsOf(m_folder, m_attempt);
    const auto newer = std::ranges::upper_bound(segments, m_segment);
    return newer == segments.end() ? 0 : *newer;
}

std::string TraceReader::rest() {
    std::ifstream stream(segmentFile(m_folder, m_attempt, m_segment), std::ios::binary | std::ios::ate);
    const auto end = stream ? static_cast<std::size_t>(std::max<std::streamoff>(stream.tellg(), 0)) : 0;
    if (end <= m_offset) return {};
    std::string bytes(std::min(end - m_offset, kMostAtOnce), '\0');
    stream.seekg(static_cast<std::streamoff>(m_offset));
    stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(stream.gcount()));
    return bytes;
}

std::vector<TraceReader::LaneSpan> TraceReader::read() {
    std::vector<LaneSpan> spans;
    for (;;) {
        // Looked up first: once a newer segment is there, nothing more comes to this one.
        const int newer = newerSegment();
        if (m_segment > 0 && !m_damaged) readSegment(spans);
        if (newer == 0) return spans;
        m_segment = newer;
        m_offset = 0;
        m_damaged = false;
    }
}

void TraceReader::readSegment(std::vector<LaneSpan>& spans) {
    const std::string bytes = rest();
    std::size_t at = 0;
    if (m_offset == 0) {
        if (bytes.size() < kMagic.size()) return;
        m_damaged = !bytes.starts_with(kMagic);
        at = kMagic.size();
    }
    while (!m_damaged && bytes.size() - at >= kHeadBytes) {
        const auto kind = get<std::uint32_t>(bytes, at);
        const std::size_t size = get<std::uint32_t>(bytes, at + 4);
        if (bytes.size() - at - kHeadBytes < size) break;
        m_damaged = !take(kind, std::string_view(bytes).substr(at + kHeadBytes, size), spans);
        at += kHeadBytes + size;
    }
    m_offset += at;
}

bool TraceReader::take(std::uint32_t kind, std::string_view payload, std::vector<LaneSpan>& spans) {
    if (payload.size() < (kind == kName ? 4 : 8)) return false;
    const auto id = get<std::uint32_t>(payload, 0);
    if (kind == kName) return describe(m_names, id, std::string(payload.substr(4)));
    if (kind == kLane) return describe(m_lanes, id, {get<std::int32_t>(payload, 4), std::string(payload.substr(8))});
    if (kind != kSpans || id >= m_lanes.size() || (payload.size() - 8) % kSpanBytes != 0) return false;
    for (std::size_t at = 8; at < payload.size(); at += kSpanBytes) {
        const TraceSpan span{get<std::uint32_t>(payload, at), get<std::int64_t>(payload, at + 8),
                             get<std::int64_t>(payload, at + 16), get<std::int64_t>(payload, at + 24)};
        if (span.name >= m_names.size() || span.beginNs < 0 || span.endNs < span.beginNs) return false;
        spans.push_back({id, span});
    }
    return true;
}

}  // namespace lockstep
