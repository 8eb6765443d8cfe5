#include "engine/train/rank_threads.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <string>
#include <thread>

#include <pthread.h>

#include "engine/core/error.h"
#include "engine/core/param_schema.h"
#include "engine/core/result.h"
#include "engine/spec/train_event.h"

namespace lockstep {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLook = std::chrono::milliseconds(20);
constexpr double kGrace = 0.5;  // seconds to fall out of every wait, once the group is aborted

// The ranks' threads, and the one look at them all: whoever waits for their end.
class RankTeam {
public:
    RankTeam(std::span<RankTask* const> tasks, std::span<const std::unique_ptr<Collective>> group, const Watch& watch)
        : m_tasks(tasks),
          m_group(group),
          m_watch(watch),
          m_waits(group.size()),
          m_dry(group.size()),
          m_left(group.size()) {}

    AbortCause run() {
        for (std::size_t rank = 0; rank < m_tasks.size() && start(rank); ++rank) {
        }
        watchOver();
        m_threads.clear();
        return m_group.front()->abortCause();
    }

private:
    struct Wait {
        std::optional<std::uint64_t> what;
        double seconds = 0;

        // Whether it has been for the same for so long.
        bool lasts(std::optional<std::uint64_t> now, double passed, double limit) {
            if (now != what) *this = {now, 0};
            if (now) seconds += passed;
            return now && seconds >= limit;
        }
    };

    bool start(std::size_t rank) {
        try {
            m_threads.emplace_back([this, rank] { rankMain(rank); });
            return true;
        } catch (...) {
            m_group[rank]->abort(currentCause(static_cast<int>(rank)));
            return false;
        }
    }

    void rankMain(std::size_t rank) {
        pthread_setname_np(pthread_self(), ("rank " + std::to_string(rank)).c_str());
        try {
            m_tasks[rank]->run();
        } catch (...) {
            abort(currentCause(static_cast<int>(rank)));
        }
        m_tasks[rank]->close();
        const std::lock_guard lock(m_mutex);
        m_left[rank] = true;
        m_changed.notify_all();
    }

    void abort(const AbortCause& cause) noexcept {
        m_group[static_cast<std::size_t>(std::max(cause.rank, 0))]->abort(cause);
        for (RankTask* task : m_tasks) task->interrupt();
    }

    void watchOver() {
        std::unique_lock lock(m_mutex);
        const auto allLeft = [&] {
            return std::all_of(m_left.begin(), m_left.begin() + static_cast<std::ptrdiff_t>(m_threads.size()),
                               [](bool left) { return left; });
        };
        for (auto last = Clock::now(); !m_changed.wait_for(lock, kLook, allLeft);) {
            const auto now = Clock::now();
            // A process that was stopped comes back to one long look.
            const double passed =
                std::min<double>(std::chrono::duration<double>(now - last).count(), 5 * seconds(kLook));
            last = now;
            lock.unlock();
            look(passed);
            lock.lock();
        }
    }

    static double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

    void look(double passed) {
        if (m_group.front()->abortCause().rank >= 0) return awaitLeaving(passed);
        if (m_watch.isHeld && m_watch.isHeld()) return;
        for (std::size_t rank = 0; rank < m_group.size(); ++rank) {
            if (const auto failure = m_group[rank]->failure()) return abort(*failure);
            if (m_dry[rank].lasts(m_tasks[rank]->awaitedData(), passed, m_watch.timeout)) return giveUpOnData(rank);
            const auto operation = m_group[rank]->stalledAt();
            if (!m_waits[rank].lasts(operation, passed, m_watch.timeout)) continue;
            const std::vector<int> missing = m_group[rank]->missingAt(*operation);
            if (!missing.empty()) return giveUp(*operation, missing);
        }
    }

    void giveUp(std::uint64_t operation, const std::vector<int>& missing) {
        const auto dry = std::ranges::find_if(
            missing, [this](int rank) { return m_tasks[static_cast<std::size_t>(rank)]->awaitedData().has_value(); });
        if (dry != missing.end()) return giveUpOnData(static_cast<std::size_t>(*dry));
        std::string who;
        for (const int rank : missing) who += (who.empty() ? "rank " : ", rank ") + std::to_string(rank);
        timeOut(missing.front(), EngineError::Kind::Collective, "operation " + std::to_string(operation),
                who + " did not come to it");
    }

    void giveUpOnData(std::size_t rank) {
        timeOut(static_cast<int>(rank), EngineError::Kind::Io, "data",
                "the next batch of rank " + std::to_string(rank) + " did not come");
    }

    void timeOut(int rank, EngineError::Kind kind, std::string where, const std::string& what) {
        m_timedOut = true;
        abort({rank, std::string(text(kind)), std::move(where),
               what + " within " + text(ParamValue(m_watch.timeout)) + " s"});
    }

    void awaitLeaving(double passed) {
        m_leaving += passed;
        if (m_reported || !m_watch.onStuck || m_leaving < kGrace + (m_timedOut ? 0 : m_watch.timeout)) return;
        m_reported = true;
        std::vector<int> stuck;
        {
            const std::lock_guard lock(m_mutex);
            for (std::size_t rank = 0; rank < m_left.size(); ++rank) {
                if (!m_left[rank]) stuck.push_back(static_cast<int>(rank));
            }
        }
        if (!stuck.empty()) m_watch.onStuck(m_group.front()->abortCause(), stuck);
    }

    std::span<RankTask* const> m_tasks;
    std::span<const std::unique_ptr<Collective>> m_group;
    const Watch& m_watch;
    std::vector<Wait> m_waits, m_dry;  // by rank: for others in an operation, for data
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::vector<bool> m_left;
    bool m_timedOut = false, m_reported = false;
    double m_leaving = 0;
    std::vector<std::jthread> m_threads;  // last: the others outlive it
};

}  // namespace

AbortCause currentCause(int rank) {
    const std::string here = rank < 0 ? "plan" : "rank " + std::to_string(rank);
    try {
        throw;
    } catch (const ProblemError& error) {
        const RunFailed failed = failureFrom(error.problem());
        return {rank, failed.kind, failed.where, failed.what, failed.args};
    } catch (const EngineError& error) {
        return {rank, std::string(text(error.kind())), error.where().empty() ? here : error.where(), error.what()};
    } catch (const std::bad_alloc&) {
        return {rank, std::string(text(EngineError::Kind::OutOfMemory)), here,
                "the machine has no more memory to give"};
    } catch (const std::exception& error) {
        return {rank, std::string(text(EngineError::Kind::Internal)), here, error.what()};
    } catch (...) {
        return {rank, std::string(text(EngineError::Kind::Internal)), here, "an unknown exception"};
    }
}

void rethrow(const AbortCause& cause) {
    using Kind = EngineError::Kind;
    if (auto problem = problemIn({.kind = cause.kind, .where = cause.where, .what = cause.what, .args = cause.args}))
        throw ProblemError(std::move(*problem));
    for (const Kind kind :
         {Kind::OutOfMemory, Kind::Device, Kind::CorruptedContext, Kind::Collective, Kind::Io, Kind::NonFinite}) {
        if (cause.kind == text(kind)) throw EngineError(kind, cause.where, cause.what);
    }
    throw EngineError(Kind::Internal, cause.where, cause.what);
}

AbortCause runRanks(std::span<RankTask* const> tasks, std::span<const std::unique_ptr<Collective>> group,
                    const Watch& watch) {
    return RankTeam(tasks, group, watch).run();
}

}  // namespace lockstep
