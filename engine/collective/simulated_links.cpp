#include "engine/collective/simulated_links.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

namespace lockstep {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kRing = 64;  // operations that a rank may be ahead of its own wait()
constexpr auto kNap = std::chrono::microseconds(200);

std::int64_t now() { return Clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

double carried(const LinkModel& link, double bytes) {
    return link.latency + (link.bytesPerSecond > 0 ? bytes / link.bytesPerSecond : 0);
}

// When the last rank came to an operation, by its number. A place is used again once every rank has waited for what it
// held: no rank is a whole ring ahead of another, since an operation completes with the last to come.
class Arrivals {
public:
    void add(std::uint64_t number) {
        std::atomic<std::int64_t>& last = m_last[number % m_last.size()];
        const std::int64_t time = now();
        for (std::int64_t seen = last.load(); seen < time && !last.compare_exchange_weak(seen, time);) {
        }
    }
    std::int64_t last(std::uint64_t number) const { return m_last[number % m_last.size()].load(); }

private:
    std::array<std::atomic<std::int64_t>, 4 * kRing> m_last{};  // times only grow, so a place needs no clearing
};

class LinkedEndpoint final : public Collective {
public:
    LinkedEndpoint(std::unique_ptr<Collective> inner, const LinkModel& link, std::shared_ptr<Arrivals> arrivals)
        : m_inner(std::move(inner)), m_link(link), m_arrivals(std::move(arrivals)) {}

    int rank() const override { return m_inner->rank(); }
    int size() const override { return m_inner->size(); }

    Ticket allReduce(void* inout, std::size_t count, DType dtype) override {
        depart(allReduceSeconds(m_link, size(), count * sizeOf(dtype)));
        return onItsWay(m_inner->allReduce(inout, count, dtype));
    }
    Ticket reduceScatter(const void* in, void* out, std::size_t countPerRank, DType dtype) override {
        depart(halfSeconds(countPerRank * sizeOf(dtype)));
        return onItsWay(m_inner->reduceScatter(in, out, countPerRank, dtype));
    }
    Ticket allGather(const void* in, void* out, std::size_t bytesPerRank) override {
        depart(halfSeconds(bytesPerRank));
        return onItsWay(m_inner->allGather(in, out, bytesPerRank));
    }
    Ticket broadcast(void* inout, std::size_t bytes, int root) override {
        depart(size() > 1 ? carried(m_link, static_cast<double>(bytes)) : 0);
        return onItsWay(m_inner->broadcast(inout, bytes, root));
    }
    Ticket send(const void* in, std::size_t bytes, int to) override { return m_inner->send(in, bytes, to); }
    Ticket receive(void* out, std::size_t bytes, int from) override { return m_inner->receive(out, bytes, from); }

    void progress() override { m_inner->progress(); }
    void wait(Ticket ticket) override {
        m_inner->wait(ticket);
        while (m_arrived < m_started && m_travelling[m_arrived % kRing].ticket <= ticket.sequence) arrive();
    }
    void barrier() override { m_inner->barrier(); }
    std::unique_ptr<Collective> subgroup(std::span<const int> ranks) override { return m_inner->subgroup(ranks); }

    void abort(const AbortCause& cause) noexcept override { m_inner->abort(cause); }
    AbortCause abortCause() const override { return m_inner->abortCause(); }
    std::optional<std::uint64_t> stalledAt() const override { return m_inner->stalledAt(); }
    std::vector<int> missingAt(std::uint64_t operation) const override { return m_inner->missingAt(operation); }

private:
    struct Travelling {
        std::uint64_t ticket = 0;
        double seconds = 0;
    };

    double halfSeconds(std::size_t bytesPerRank) const {
        return (size() - 1) * carried(m_link, static_cast<double>(bytesPerRank));
    }

    // Before the group starts the operation: once it has, others may find it complete, and must know when this rank
    // came.
    void depart(double seconds) {
        if (m_started - m_arrived == kRing) wait({m_travelling[m_arrived % kRing].ticket});
        m_arrivals->add(m_started);
        m_travelling[m_started % kRing].seconds = seconds;
    }

    Ticket onItsWay(Ticket ticket) {
        m_travelling[m_started++ % kRing].ticket = ticket.sequence;
        return ticket;
    }

    // Every rank computes the same times from the same arrivals.
    void arrive() {
        const auto seconds = m_travelling[m_arrived % kRing].seconds;
        m_free = std::max(m_free, m_arrivals->last(m_arrived)) + static_cast<std::int64_t>(seconds * 1e9);
        ++m_arrived;
        while (now() < m_free) {
            m_inner->progress();  // throws once the group is aborted
            std::this_thread::sleep_for(
                std::min<std::chrono::nanoseconds>(kNap, std::chrono::nanoseconds(m_free - now())));
        }
    }

    std::unique_ptr<Collective> m_inner;
    LinkModel m_link;
    std::shared_ptr<Arrivals> m_arrivals;
    std::array<Travelling, kRing> m_travelling{};
    std::uint64_t m_started = 0, m_arrived = 0;
    std::int64_t m_free = 0;  // when the link has carried what came before
};

}  // namespace

double allReduceSeconds(const LinkModel& link, int ranks, std::size_t bytes) {
    return 2.0 * (ranks - 1) * carried(link, static_cast<double>(bytes) / ranks);
}

std::vector<std::unique_ptr<Collective>> withSimulatedLinks(std::vector<std::unique_ptr<Collective>> group,
                                                            const LinkModel& link) {
    const auto arrivals = std::make_shared<Arrivals>();
    for (auto& endpoint : group) endpoint = std::make_unique<LinkedEndpoint>(std::move(endpoint), link, arrivals);
    return group;
}

}  // namespace lockstep
