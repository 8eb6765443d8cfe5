#include "engine/train/rank_threads.h"

#include <new>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>

#include "engine/core/error.h"
#include "engine/core/result.h"
#include "engine/spec/train_event.h"

namespace lockstep {

namespace {

void rankMain(int rank, std::span<RankTask* const> tasks, Collective& endpoint) {
    RankTask& own = *tasks[static_cast<std::size_t>(rank)];
    pthread_setname_np(pthread_self(), ("rank " + std::to_string(rank)).c_str());
    try {
        own.run();
    } catch (...) {
        endpoint.abort(currentCause(rank));
        for (RankTask* task : tasks) task->interrupt();
    }
    own.close();
}

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

AbortCause runRanks(std::span<RankTask* const> tasks, std::span<const std::unique_ptr<Collective>> group) {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < static_cast<int>(tasks.size()); ++rank) {
        Collective& endpoint = *group[static_cast<std::size_t>(rank)];
        try {
            threads.emplace_back(rankMain, rank, tasks, std::ref(endpoint));
        } catch (...) {
            endpoint.abort(currentCause(rank));
            break;
        }
    }
    threads.clear();
    return group.front()->abortCause();
}

}  // namespace lockstep
