#pragma once
#include <QObject>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

#include "engine/session/trace_file.h"

namespace lockstep::ui {

// Some new spans, with all names and lanes known by then.
struct TraceChunk {
    std::shared_ptr<const std::vector<std::string>> names;
    std::shared_ptr<const std::vector<TraceReader::Lane>> lanes;
    std::vector<TraceReader::LaneSpan> spans;     // at most kMost
    static constexpr std::size_t kMost = 50'000;  // a few milliseconds of the window's thread
};

// Reads a run's trace as it grows, ten times a second, on a thread of its own. Functions and signal: the window's
// thread.
class TimelineFeed : public QObject {
    Q_OBJECT
public:
    explicit TimelineFeed(QObject* parent = nullptr) : QObject(parent) {}
    ~TimelineFeed() override;

    void follow(std::filesystem::path folder, std::int64_t attempt);  // from the oldest span that is still there
    void stop();                                                      // nothing of what was read arrives after this
    void setPaused(bool paused);  // reads nothing meanwhile; what came is read later, if it is still there

signals:
    void arrived(const lockstep::ui::TraceChunk& chunk);

private:
    void readUntilStopped(const std::stop_token& stop, TraceReader reader, std::uint64_t follows);
    void post(const TraceReader& reader, std::vector<TraceReader::LaneSpan> spans, std::uint64_t follows);

    std::mutex m_mutex;
    std::condition_variable_any m_wake;
    bool m_paused = false;
    std::uint64_t m_follows = 0;  // tells what a thread that was stopped still posted
    std::jthread m_thread;
};

}  // namespace lockstep::ui
