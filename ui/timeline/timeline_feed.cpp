#include "ui/timeline/timeline_feed.h"

#include <QMetaObject>
#include <algorithm>
#include <chrono>

#include "ui/timeline/timeline_model.h"

namespace lockstep::ui {

TimelineFeed::~TimelineFeed() { stop(); }

void TimelineFeed::follow(std::filesystem::path folder, std::int64_t attempt) {
    stop();
    m_thread = std::jthread([this, reader = TraceReader(std::move(folder), attempt), follows = m_follows](
                                const std::stop_token& token) { readUntilStopped(token, reader, follows); });
}

void TimelineFeed::stop() {
    ++m_follows;
    m_thread = {};
}

void TimelineFeed::setPaused(bool paused) {
    {
        const std::lock_guard lock(m_mutex);
        m_paused = paused;
    }
    m_wake.notify_all();
}

void TimelineFeed::readUntilStopped(const std::stop_token& stop, TraceReader reader, std::uint64_t follows) {
    std::unique_lock lock(m_mutex);
    while (!stop.stop_requested()) {
        if (!m_paused) {
            lock.unlock();
            post(reader, reader.read(), follows);
            lock.lock();
        }
        m_wake.wait_for(lock, stop, std::chrono::milliseconds(100), [] { return false; });
    }
}

void TimelineFeed::post(const TraceReader& reader, std::vector<TraceReader::LaneSpan> spans, std::uint64_t follows) {
    if (spans.empty()) return;
    // By their ends, so that each chunk has what its spans waited for; and no more than will be kept.
    std::ranges::stable_sort(spans, {}, [](const auto& each) { return each.span.endNs; });
    if (spans.size() > TimelineModel::kCapacity)
        spans.erase(spans.begin(), spans.end() - static_cast<std::ptrdiff_t>(TimelineModel::kCapacity));
    const auto names = std::make_shared<const std::vector<std::string>>(reader.names());
    const auto lanes = std::make_shared<const std::vector<TraceReader::Lane>>(reader.lanes());
    for (std::size_t at = 0; at < spans.size(); at += TraceChunk::kMost) {
        const auto begin = spans.begin() + static_cast<std::ptrdiff_t>(at);
        const auto end = spans.begin() + static_cast<std::ptrdiff_t>(std::min(at + TraceChunk::kMost, spans.size()));
        const auto deliver = [this, follows, chunk = TraceChunk{names, lanes, {begin, end}}] {
            if (follows == m_follows) emit arrived(chunk);
        };
        QMetaObject::invokeMethod(this, deliver, Qt::QueuedConnection);
    }
}

}  // namespace lockstep::ui
