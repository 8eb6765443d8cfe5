#include "engine/collective/host_group.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <thread>

#include "engine/collective/host_family.h"
#include "engine/core/error.h"

namespace lockstep {

namespace {

[[noreturn]] void fail(const std::string& where, const std::string& what) {
    throw EngineError(EngineError::Kind::Collective, where, what);
}

void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

// Looking again for some microseconds is cheaper than sleeping, unless it keeps the awaited rank off its core.
int spinsFor(int ranks) { return static_cast<unsigned>(ranks) <= std::thread::hardware_concurrency() ? 2000 : 0; }

struct Pending {
    enum class Kind : std::uint8_t { Group, Send, Receive };
    Kind kind = Kind::Group;
    bool agreed = false, complete = false;
    std::uint64_t number = 0;  // of the group's operations, or of the pair's messages
    HostMailbox* box = nullptr;
    std::byte* memory = nullptr;  // receive
    std::size_t bytes = 0;
    int peer = -1;
};

class HostEndpoint final : public Collective {
public:
    HostEndpoint(std::shared_ptr<HostGroup> group, int rank)
        : m_group(std::move(group)),
          m_family(m_group->family()),
          m_rank(rank),
          m_size(m_group->size()),
          m_progress(m_group->progress(rank)),
          m_spins(spinsFor(m_size)),
          m_pending(kHostRing),
          m_sent(static_cast<std::size_t>(m_size)),
          m_received(static_cast<std::size_t>(m_size)) {}

    int rank() const override { return m_rank; }
    int size() const override { return m_size; }

    Ticket allReduce(void* inout, std::size_t count, DType dtype) override {
        return start({{HostCall::Kind::AllReduce, dtype, count}, bytesOf(inout), bytesOf(inout)});
    }
    Ticket reduceScatter(const void* in, void* out, std::size_t countPerRank, DType dtype) override {
        return start({{HostCall::Kind::ReduceScatter, dtype, countPerRank}, bytesOf(in), bytesOf(out)});
    }
    Ticket allGather(const void* in, void* out, std::size_t bytesPerRank) override {
        return start({{HostCall::Kind::AllGather, DType::U8, bytesPerRank}, bytesOf(in), bytesOf(out)});
    }
    Ticket broadcast(void* inout, std::size_t bytes, int root) override {
        requireRank(root, "broadcast");
        return start({{HostCall::Kind::Broadcast, DType::U8, bytes, root}, bytesOf(inout), bytesOf(inout)});
    }
    Ticket send(const void* in, std::size_t bytes, int to) override;
    Ticket receive(void* out, std::size_t bytes, int from) override;

    void progress() override {
        m_family.throwIfAborted();
        advance();
    }
    void wait(Ticket ticket) override;
    void barrier() override { wait(start({})); }
    std::unique_ptr<Collective> subgroup(std::span<const int> ranks) override;

    void abort(const AbortCause& cause) noexcept override;
    AbortCause abortCause() const override { return m_family.cause(); }
    std::optional<std::uint64_t> stalledAt() const override;
    std::vector<int> missingAt(std::uint64_t operation) const override { return m_group->ranksBefore(operation); }

private:
    static const std::byte* bytesOf(const void* memory) { return static_cast<const std::byte*>(memory); }
    static std::byte* bytesOf(void* memory) { return static_cast<std::byte*>(memory); }
    std::string me() const { return "rank " + std::to_string(m_rank); }
    void requireRank(int rank, const char* what) const {
        if (rank < 0 || rank >= m_size)
            fail(me(), std::string(what) + " with rank " + std::to_string(rank) + ", which is not there");
    }

    Ticket start(const HostPart& part);
    Ticket push(const Pending& pending);
    void makeRoom();
    bool advance();
    bool advance(Pending& pending);
    bool advanceGroup(Pending& pending);
    bool receiveMessage(Pending& pending);
    bool runOnePiece(HostOperation& operation, std::size_t pieces);
    void requireAgreement(const HostOperation& operation, std::uint64_t number) const;
    void leave(HostOperation& operation, std::uint64_t number);
    std::uint64_t oldestOperation() const;
    template <class Ready>
    void block(const Ready& ready);

    std::shared_ptr<HostGroup> m_group;
    HostFamily& m_family;
    int m_rank, m_size;
    HostGroup::Progress& m_progress;
    int m_spins;
    std::vector<Pending> m_pending;  // a ring: tickets m_retired … m_next - 1
    std::uint64_t m_next = 0, m_retired = 0;
    std::uint64_t m_nextOperation = 0;
    std::vector<std::uint64_t> m_sent, m_received;  // by peer
    std::map<std::vector<int>, int> m_subgroupCalls;
};

// Does what can be done, and sleeps when nothing can, until ready().
template <class Ready>
void HostEndpoint::block(const Ready& ready) {
    for (int spins = m_spins;;) {
        const std::uint32_t seen = m_family.pulse();
        m_family.throwIfAborted();
        if (ready()) return;
        if (advance()) continue;
        if (spins-- > 0) {
            relax();
            continue;
        }
        m_progress.waitsFor.store(oldestOperation(), std::memory_order_release);
        m_family.sleep(seen);
        m_progress.waitsFor.store(HostGroup::kNone, std::memory_order_release);
    }
}

std::uint64_t HostEndpoint::oldestOperation() const {
    for (std::uint64_t at = m_retired; at < m_next; ++at) {
        const Pending& pending = m_pending[at % kHostRing];
        if (pending.kind == Pending::Kind::Group && !pending.complete) return pending.number;
    }
    return HostGroup::kNone;
}

std::optional<std::uint64_t> HostEndpoint::stalledAt() const {
    const std::uint64_t number = m_progress.waitsFor.load(std::memory_order_acquire);
    if (number == HostGroup::kNone || m_group->haveAllStarted(number)) return std::nullopt;
    return number;
}

void HostEndpoint::abort(const AbortCause& cause) noexcept {
    try {
        AbortCause full = cause;
        m_group->describeNext(full);
        m_family.abort(full);
    } catch (...) {
        m_family.abort(cause);  // no memory for the details
    }
}

void HostEndpoint::makeRoom() {
    m_family.throwIfAborted();
    if (m_next - m_retired == kHostRing) wait({m_retired});
}

Ticket HostEndpoint::push(const Pending& pending) {
    m_pending[m_next % kHostRing] = pending;
    return {m_next++};
}

Ticket HostEndpoint::start(const HostPart& part) {
    if (isHalf(part.call.dtype))
        throw EngineError(EngineError::Kind::Collective, describe(part.call), "the host group does not add halves");
    makeRoom();
    const std::uint64_t number = m_nextOperation;
    HostOperation& operation = m_group->operation(number);
    // The place may still be in use by a rank that is a whole ring behind.
    if (operation.generation.load(std::memory_order_acquire) != number / kHostRing)
        block([&] { return operation.generation.load(std::memory_order_acquire) == number / kHostRing; });
    ++m_nextOperation;
    operation.parts[static_cast<std::size_t>(m_rank)] = part;
    const Ticket ticket = push({.number = number});
    m_progress.started.store(m_nextOperation, std::memory_order_release);
    const auto everybody = (number / kHostRing + 1) * static_cast<std::uint64_t>(m_size);
    if (operation.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == everybody) m_family.notify();
    return ticket;
}

Ticket HostEndpoint::send(const void* in, std::size_t bytes, int to) {
    requireRank(to, "send");
    makeRoom();
    HostMailbox& box = m_group->mailbox(m_rank, to);
    const std::uint64_t number = m_sent[static_cast<std::size_t>(to)]++;
    box.messages[number % kHostRing] = {bytesOf(in), bytes};
    box.posted.store(number + 1, std::memory_order_release);
    m_family.notify();
    return push({.kind = Pending::Kind::Send, .number = number, .box = &box, .bytes = bytes, .peer = to});
}

Ticket HostEndpoint::receive(void* out, std::size_t bytes, int from) {
    requireRank(from, "receive");
    makeRoom();
    const std::uint64_t number = m_received[static_cast<std::size_t>(from)]++;
    return push({.kind = Pending::Kind::Receive,
                 .number = number,
                 .box = &m_group->mailbox(from, m_rank),
                 .memory = bytesOf(out),
                 .bytes = bytes,
                 .peer = from});
}

void HostEndpoint::wait(Ticket ticket) {
    block([&] { return m_retired > ticket.sequence; });
}

bool HostEndpoint::advance() {
    bool moved = false;
    for (std::uint64_t at = m_retired; at < m_next && !moved; ++at) {
        Pending& pending = m_pending[at % kHostRing];
        moved = !pending.complete && advance(pending);
    }
    while (m_retired < m_next && m_pending[m_retired % kHostRing].complete) ++m_retired;
    return moved;
}

// True if anything was done: a piece of work, or the pending operation is now complete.
bool HostEndpoint::advance(Pending& pending) {
    switch (pending.kind) {
        case Pending::Kind::Group: return advanceGroup(pending);
        case Pending::Kind::Send:
            pending.complete = pending.box->taken.load(std::memory_order_acquire) > pending.number;
            return pending.complete;
        case Pending::Kind::Receive: return receiveMessage(pending);
    }
    return false;
}

bool HostEndpoint::advanceGroup(Pending& pending) {
    HostOperation& operation = m_group->operation(pending.number);
    const auto everybody = (pending.number / kHostRing + 1) * static_cast<std::uint64_t>(m_size);
    if (!pending.agreed) {
        if (operation.arrived.load(std::memory_order_acquire) < everybody) return false;
        requireAgreement(operation, pending.number);
        pending.agreed = true;
    }
    const std::size_t pieces = pieceCount(operation.parts[0].call, operation.parts.size());
    if (runOnePiece(operation, pieces)) return true;
    if (operation.done.load(std::memory_order_acquire) < pieces) return false;
    pending.complete = true;
    leave(operation, pending.number);
    return true;
}

bool HostEndpoint::runOnePiece(HostOperation& operation, std::size_t pieces) {
    if (operation.claimed.load(std::memory_order_relaxed) >= pieces) return false;
    const std::uint64_t piece = operation.claimed.fetch_add(1, std::memory_order_relaxed);
    if (piece >= pieces || !m_family.enter()) return false;
    runPiece(operation.parts, piece);
    m_family.leave();
    if (operation.done.fetch_add(1, std::memory_order_acq_rel) + 1 == pieces) m_family.notify();
    return true;
}

void HostEndpoint::requireAgreement(const HostOperation& operation, std::uint64_t number) const {
    for (std::size_t rank = 1; rank < operation.parts.size(); ++rank) {
        const HostCall& first = operation.parts[0].call;
        const HostCall& other = operation.parts[rank].call;
        if (first == other) continue;
        fail("operation " + std::to_string(number),
             "rank 0 started " + describe(first) + ", rank " + std::to_string(rank) + " " + describe(other));
    }
}

// The last rank to leave opens the place for its next use.
void HostEndpoint::leave(HostOperation& operation, std::uint64_t number) {
    const std::uint64_t use = number / kHostRing;
    const auto everybody = (use + 1) * static_cast<std::uint64_t>(m_size);
    if (operation.left.fetch_add(1, std::memory_order_acq_rel) + 1 != everybody) return;
    operation.claimed.store(0, std::memory_order_relaxed);
    operation.done.store(0, std::memory_order_relaxed);
    operation.generation.store(use + 1, std::memory_order_release);
    m_family.notify();
}

bool HostEndpoint::receiveMessage(Pending& pending) {
    HostMailbox& box = *pending.box;
    if (box.posted.load(std::memory_order_acquire) <= pending.number || !m_family.enter()) return false;
    const HostMailbox::Message& message = box.messages[pending.number % kHostRing];
    const std::size_t sent = message.bytes;
    if (sent == pending.bytes && sent > 0) std::memcpy(pending.memory, message.data, sent);
    m_family.leave();
    if (sent != pending.bytes)
        fail("message " + std::to_string(pending.number), "rank " + std::to_string(pending.peer) + " sent " +
                                                              std::to_string(sent) + " bytes, " + me() + " expected " +
                                                              std::to_string(pending.bytes));
    pending.complete = true;
    box.taken.store(pending.number + 1, std::memory_order_release);
    m_family.notify();
    return true;
}

std::unique_ptr<Collective> HostEndpoint::subgroup(std::span<const int> ranks) {
    m_family.throwIfAborted();
    const std::vector<int> members(ranks.begin(), ranks.end());
    const auto own = std::ranges::find(members, m_rank);
    const bool ascending = std::ranges::adjacent_find(members, std::greater_equal<>()) == members.end();
    if (own == members.end() || !ascending || members.front() < 0 || members.back() >= m_size)
        fail(me(), "a subgroup takes ascending ranks of its group, the caller's among them");
    const int nth = m_subgroupCalls[members]++;
    return std::make_unique<HostEndpoint>(m_group->subgroup(members, nth), static_cast<int>(own - members.begin()));
}

}  // namespace

std::vector<std::unique_ptr<Collective>> makeHostGroup(int ranks) {
    const auto group = std::make_shared<HostGroup>(std::make_shared<HostFamily>(), ranks);
    std::vector<std::unique_ptr<Collective>> endpoints;
    for (int rank = 0; rank < ranks; ++rank) endpoints.push_back(std::make_unique<HostEndpoint>(group, rank));
    return endpoints;
}

}  // namespace lockstep
