#include "engine/history/history_writer.h"

#include <algorithm>
#include <iterator>

#include "engine/history/database.h"

namespace lockstep {

namespace {

constexpr auto kGather = std::chrono::milliseconds(250);
constexpr auto kRetry = std::chrono::seconds(1);
constexpr std::size_t kGathered = 512;
constexpr std::uint64_t kBound = 65'536;

}  // namespace

HistoryWriter::HistoryWriter(std::unique_ptr<SQLite::Database> database, std::filesystem::path file)
    : m_database(std::move(database)), m_file(std::move(file)), m_thread([this] { loop(); }) {}

HistoryWriter::~HistoryWriter() {
    {
        const std::lock_guard lock(m_mutex);
        m_closing = true;
    }
    m_wake.notify_all();
    m_progress.notify_all();
    m_thread.join();
}

void HistoryWriter::run(const Job& job) {
    Task task{&job, nullptr, false};
    std::unique_lock lock(m_mutex);
    m_tasks.push_back(&task);
    m_wake.notify_all();
    m_progress.wait(lock, [&] { return task.done; });
    if (task.error) std::rethrow_exception(task.error);
}

void HistoryWriter::post(PostedEvent event) {
    const bool isStep = isStepEvent(event.event);
    std::unique_lock lock(m_mutex);
    if (isStep) m_progress.wait(lock, [&] { return m_posted - m_settled < kBound || m_closing; });
    if (m_queue.empty()) m_oldest = Clock::now();
    m_queue.push_back(std::move(event));
    const std::uint64_t mine = ++m_posted;
    if (!isStep) m_urgent = true;
    if (!isStep || m_queue.size() == 1 || m_queue.size() >= kGathered) m_wake.notify_all();
    if (!isStep) m_progress.wait(lock, [&] { return m_settled >= mine || m_inTrouble || m_closing; });
}

void HistoryWriter::flush() {
    std::unique_lock lock(m_mutex);
    const std::uint64_t target = m_posted, round = m_rounds;
    if (m_settled >= target) return;
    m_flushing = true;
    m_wake.notify_all();
    m_progress.wait(lock, [&] { return m_settled >= target || (m_inTrouble && m_rounds > round); });
}

void HistoryWriter::onTrouble(std::function<void(const Problem&)> handler) {
    const std::lock_guard lock(m_mutex);
    m_onTrouble = std::move(handler);
}

std::int64_t HistoryWriter::committedEvent(std::int64_t trial) const {
    const std::lock_guard lock(m_mutex);
    const auto found = m_committedEvent.find(trial);
    return found == m_committedEvent.end() ? 0 : found->second;
}

void HistoryWriter::awaitWork(std::unique_lock<std::mutex>& lock) {
    for (;;) {
        if (m_closing || m_flushing || !m_tasks.empty()) return;
        const bool waiting = m_posted > m_settled;
        const bool now = m_inTrouble ? Clock::now() >= m_retryAt
                                     : m_urgent || m_queue.size() >= kGathered || Clock::now() >= m_oldest + kGather;
        if (waiting && now) return;
        if (!waiting) {
            m_wake.wait(lock);
        } else {
            m_wake.wait_until(lock, m_inTrouble ? m_retryAt : m_oldest + kGather);
        }
    }
}

void HistoryWriter::loop() {
    std::unique_lock lock(m_mutex);
    for (bool closing = false; !closing;) {
        awaitWork(lock);
        closing = m_closing;
        std::move(m_queue.begin(), m_queue.end(), std::back_inserter(m_backlog));
        m_queue.clear();
        m_urgent = m_flushing = false;
        std::deque<Task*> tasks;
        tasks.swap(m_tasks);
        lock.unlock();
        commitBacklog();
        for (Task* task : tasks) runTask(*task);
        lock.lock();
        for (Task* task : tasks) task->done = true;
        ++m_rounds;
        m_progress.notify_all();
    }
}

void HistoryWriter::commitBacklog() {
    // Transactions are bounded: after hours of a full disk the backlog is large, and other processes want to write too.
    std::size_t done = 0;
    while (done < m_backlog.size()) {
        const auto group = std::span(m_backlog).subspan(done, std::min(m_backlog.size() - done, 8 * kGathered));
        const std::size_t settled = commit(group);
        done += settled;
        if (settled < group.size()) break;
    }
    m_backlog.erase(m_backlog.begin(), m_backlog.begin() + static_cast<std::ptrdiff_t>(done));
}

// How many events, from the first on, need no further try.
std::size_t HistoryWriter::commit(std::span<const PostedEvent> events) {
    try {
        SQLite::Transaction transaction(*m_database, SQLite::TransactionBehavior::IMMEDIATE);
        OpenChunks open = writeEvents(*m_database, events, m_open);
        transaction.commit();
        m_open = std::move(open);
        settle(events, true);
        return events.size();
    } catch (const SQLite::Exception& error) {
        const Problem problem = problemOf(error, m_file);
        trouble(problem);
        return problem.code == "history.refused" ? commitSingly(events) : 0;
    } catch (const std::exception& error) {
        trouble({m_file.string(), "history.unwritable", {error.what()}});
        return 0;
    }
}

// One of the events is refused for good, for the rows it belongs to are gone; the others must not suffer.
std::size_t HistoryWriter::commitSingly(std::span<const PostedEvent> events) {
    if (events.size() == 1) {
        m_open.erase({events.front().trial, events.front().attempt});
        settle(events, false);
        return 1;
    }
    for (std::size_t i = 0; i < events.size(); ++i) {
        if (commit(events.subspan(i, 1)) == 0) return i;
    }
    return events.size();
}

void HistoryWriter::runTask(Task& task) {
    try {
        translated(m_file, [&] {
            SQLite::Transaction transaction(*m_database, SQLite::TransactionBehavior::IMMEDIATE);
            (*task.job)(*m_database);
            transaction.commit();
        });
    } catch (...) {
        task.error = std::current_exception();
    }
}

void HistoryWriter::settle(std::span<const PostedEvent> events, bool written) {
    const std::lock_guard lock(m_mutex);
    if (written) {
        for (const auto& each : events) m_committedEvent[each.trial] = each.number;
    }
    m_settled += events.size();
    m_inTrouble = false;
    m_progress.notify_all();
}

void HistoryWriter::trouble(const Problem& problem) {
    std::function<void(const Problem&)> handler;
    {
        const std::lock_guard lock(m_mutex);
        const bool refused = problem.code == "history.refused";
        if (refused ? !m_refused : !m_inTrouble) handler = m_onTrouble;
        (refused ? m_refused : m_inTrouble) = true;
        m_retryAt = Clock::now() + kRetry;
        m_progress.notify_all();
    }
    if (handler) handler(problem);
}

}  // namespace lockstep
