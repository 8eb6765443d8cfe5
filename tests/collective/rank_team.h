#pragma once
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "engine/collective/host_group.h"

namespace lockstep {

// Runs `work` on one thread per endpoint of a new group and hands back what each threw, null for nothing.
class RankTeam {
public:
    explicit RankTeam(int ranks) : RankTeam(makeHostGroup(ranks)) {}
    explicit RankTeam(std::vector<std::unique_ptr<Collective>> group) : m_group(std::move(group)) {}

    Collective& operator[](int rank) { return *m_group[static_cast<std::size_t>(rank)]; }
    int size() const { return static_cast<int>(m_group.size()); }

    std::vector<std::exception_ptr> run(const std::function<void(Collective&)>& work) {
        std::vector<std::exception_ptr> failures(m_group.size());
        std::vector<std::jthread> threads;
        for (std::size_t rank = 0; rank < m_group.size(); ++rank) {
            threads.emplace_back([&, rank] {
                try {
                    work(*m_group[rank]);
                } catch (...) {
                    failures[rank] = std::current_exception();
                }
            });
        }
        threads.clear();
        return failures;
    }

    // As run(), but the first failure is thrown on.
    void expect(const std::function<void(Collective&)>& work) {
        for (const std::exception_ptr& failure : run(work)) {
            if (failure) std::rethrow_exception(failure);
        }
    }

private:
    std::vector<std::unique_ptr<Collective>> m_group;
};

}  // namespace lockstep
