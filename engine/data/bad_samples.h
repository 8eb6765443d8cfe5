#pragma once
#include <cstdint>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "engine/core/result.h"

namespace lockstep {

// Of a dataset's read(): why a sample cannot be read, as a problem that has words.
class UnreadableSample final : public EngineError {
public:
    explicit UnreadableSample(Problem problem)
        : EngineError(Kind::Io, problem.field, problem.field + ": " + problem.code), m_problem(std::move(problem)) {}
    const Problem& problem() const { return m_problem; }

private:
    Problem m_problem;
};

// Samples that could not be read while a run was under way, which goes on without them: found by all its loaders, told
// of by one rank. Any thread.
class BadSamples {
public:
    struct Found {
        bool isTraining = true;  // else of the split that is evaluated
        std::int64_t id = 0;
        Problem reason;  // its field: the file
    };

    void add(Found found) {
        const std::lock_guard lock(m_mutex);
        if (m_ids.insert({found.isTraining, found.id}).second) m_new.push_back(std::move(found));
    }
    // Those that nobody has been told of; each of them once.
    std::vector<Found> take() {
        const std::lock_guard lock(m_mutex);
        return std::exchange(m_new, {});
    }
    std::int64_t count() const {  // different ones so far
        const std::lock_guard lock(m_mutex);
        return std::ssize(m_ids);
    }

private:
    mutable std::mutex m_mutex;
    std::set<std::pair<bool, std::int64_t>> m_ids;
    std::vector<Found> m_new;
};

}  // namespace lockstep
