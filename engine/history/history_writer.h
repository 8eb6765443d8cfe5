#pragma once
#include <SQLiteCpp/SQLiteCpp.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "engine/core/result.h"
#include "engine/history/event_writer.h"

namespace lockstep {

// The one thread of a store that touches its connection. Events wait in a bounded queue and are committed together:
// step events after up to 250 ms or 512 of them, state events at once. Jobs run one by one, after the events posted
// before them.
class HistoryWriter {
public:
    using Job = std::function<void(SQLite::Database&)>;

    HistoryWriter(std::unique_ptr<SQLite::Database> database, std::filesystem::path file);
    ~HistoryWriter();  // writes what is queued; if the disk refuses then, it is lost

    // In a transaction of its own; returns after the commit. Throws ProblemError.
    void run(const Job& job);
    // A state event is committed, or trouble known, on return. A step event waits only while 65,536 others do.
    void post(PostedEvent event);
    void flush();
    void onTrouble(std::function<void(const Problem&)> handler);
    std::int64_t committedEvent(std::int64_t trial) const;

private:
    struct Task {
        const Job* job = nullptr;
        std::exception_ptr error;
        bool done = false;
    };
    using Clock = std::chrono::steady_clock;

    void loop();
    void awaitWork(std::unique_lock<std::mutex>& lock);
    void commitBacklog();
    std::size_t commit(std::span<const PostedEvent> events);
    std::size_t commitSingly(std::span<const PostedEvent> events);
    void settle(std::span<const PostedEvent> events, bool written);
    void runTask(Task& task);
    void trouble(const Problem& problem);

    std::unique_ptr<SQLite::Database> m_database;  // the thread's from here on
    const std::filesystem::path m_file;
    OpenChunks m_open;
    std::vector<PostedEvent> m_backlog;  // taken from the queue, not committed yet

    mutable std::mutex m_mutex;
    std::condition_variable m_wake, m_progress;
    std::deque<PostedEvent> m_queue;
    std::deque<Task*> m_tasks;
    std::map<std::int64_t, std::int64_t> m_committedEvent;
    std::function<void(const Problem&)> m_onTrouble;
    Clock::time_point m_oldest, m_retryAt;
    std::uint64_t m_posted = 0, m_settled = 0;  // events; settled: committed, or refused for good
    std::uint64_t m_rounds = 0;                 // tries to commit
    bool m_urgent = false, m_flushing = false, m_closing = false;
    bool m_inTrouble = false, m_refused = false;
    std::thread m_thread;
};

}  // namespace lockstep
