#include "engine/backend/cuda/card_group.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "engine/backend/cuda/card_memory.h"
#include "engine/backend/cuda/cuda_device.h"
#include "engine/backend/cuda/joint_graphs.h"
#include "engine/backend/cuda/map.h"
#include "engine/collective/host_group.h"

namespace lockstep::cuda {

namespace {

constexpr std::size_t kRing = 32;  // operations a rank may have pending; half of what the host group takes

struct Pointers {
    std::byte* at[kMostRanks];
};

// The tree of collective.h over the ranks, for elements begin to end of all of them.
template <class T>
struct SumOverRanks {
    Pointers in, out;
    int ranks, outs;
    std::int64_t begin;  // of the input's elements
    std::int64_t to;     // and where the first one goes

    LOCKSTEP_CARD void operator()(std::int64_t i) const {
        Computed<T> open[8];  // sums of 1, 2, 4 … ranks that wait for their like
        int depth = 0;
        for (int rank = 0; rank < ranks; ++rank) {
            Computed<T> sum = reinterpret_cast<const T*>(in.at[rank])[begin + i];
            for (int pairs = rank; (pairs & 1) != 0; pairs >>= 1) sum = open[--depth] + sum;
            open[depth++] = sum;
        }
        for (; depth > 1; --depth) open[depth - 2] = open[depth - 2] + open[depth - 1];
        for (int rank = 0; rank < outs; ++rank) reinterpret_cast<T*>(out.at[rank])[to + i] = T(open[0]);
    }
};

template <class T>
void sumAs(cudaStream_t stream, std::int64_t count, const Pointers& in, const Pointers& out, int ranks, int outs,
           std::int64_t begin, std::int64_t to) {
    launchElements(stream, count, SumOverRanks<T>{in, out, ranks, outs, begin, to});
}

struct Call {
    enum class Kind : std::uint8_t { AllReduce, ReduceScatter, AllGather, Broadcast };
    Kind kind = Kind::AllReduce;
    DType dtype = DType::U8;
    std::size_t count = 0;  // elements; per rank for reduce-scatter and all-gather
    int root = 0;
    bool operator==(const Call&) const = default;
};

std::string describe(const Call& call) {
    constexpr std::array kNames{"all-reduce", "reduce-scatter", "all-gather", "broadcast"};
    return std::string(kNames[static_cast<std::size_t>(call.kind)]) + " of " + std::to_string(call.count) + " " +
           std::string(text(call.dtype));
}

// What a rank tells the others of its part: where it is, and when its memory is ready to be read and written.
struct Part {
    Call call;
    std::byte *in = nullptr, *out = nullptr;
    cudaEvent_t ready = nullptr;
};

struct Pending {
    bool onHost = false;
    Ticket host;                    // of the operation itself, or of the parts' exchange
    std::vector<Part> parts;        // by rank
    std::vector<cudaEvent_t> done;  // by rank
    Part own;
    CudaEvent ready, finished;
    cudaEvent_t ownDone = nullptr;
    bool isLaunched = false;
};

class CardEndpoint final : public Collective {
public:
    // `capturing`: see JointGraphs; null for a subgroup, which records nothing.
    CardEndpoint(std::unique_ptr<Collective> host, std::shared_ptr<const RankDevices> devices, std::vector<int> cards,
                 std::shared_ptr<std::mutex> capturing)
        : m_host(std::move(host)),
          m_devices(std::move(devices)),
          m_cards(std::move(cards)),
          m_capturing(std::move(capturing)) {}

    int rank() const override { return m_host->rank(); }
    int size() const override { return m_host->size(); }

    Ticket allReduce(void* inout, std::size_t count, DType dtype) override {
        if (!isOnCard(inout)) return pushHost(m_host->allReduce(inout, count, dtype));
        return start({Call::Kind::AllReduce, dtype, count}, inout, inout);
    }
    Ticket reduceScatter(const void* in, void* out, std::size_t countPerRank, DType dtype) override {
        if (!isOnCard(in)) return pushHost(m_host->reduceScatter(in, out, countPerRank, dtype));
        return start({Call::Kind::ReduceScatter, dtype, countPerRank}, in, out);
    }
    Ticket allGather(const void* in, void* out, std::size_t bytesPerRank) override {
        if (!isOnCard(in)) return pushHost(m_host->allGather(in, out, bytesPerRank));
        return start({Call::Kind::AllGather, DType::U8, bytesPerRank}, in, out);
    }
    Ticket broadcast(void* inout, std::size_t bytes, int root) override {
        if (!isOnCard(inout)) return pushHost(m_host->broadcast(inout, bytes, root));
        return start({Call::Kind::Broadcast, DType::U8, bytes, root}, inout, inout);
    }
    Ticket send(const void* in, std::size_t bytes, int to) override {
        requireHost(in, "send");
        return pushHost(m_host->send(in, bytes, to));
    }
    Ticket receive(void* out, std::size_t bytes, int from) override {
        requireHost(out, "receive");
        return pushHost(m_host->receive(out, bytes, from));
    }

    void progress() override { m_host->progress(); }
    void wait(Ticket ticket) override;
    void barrier() override { m_host->barrier(); }
    Recorded recorded() const override {
        const bool shareOne = std::ranges::all_of(m_cards, [&](int card) { return card == m_cards[0]; });
        return m_capturing && shareOne ? Recorded::Together : Recorded::No;
    }
    bool agree(std::uint64_t work) override {
        attach();
        return m_joint->agree(work);
    }
    void together(const std::function<void()>& work) override { m_joint->together(work); }
    std::unique_ptr<Collective> subgroup(std::span<const int> ranks) override {
        std::vector<int> cards;
        for (const int rank : ranks) cards.push_back(m_cards.at(static_cast<std::size_t>(rank)));
        return std::make_unique<CardEndpoint>(m_host->subgroup(ranks), m_devices, std::move(cards), nullptr);
    }

    void abort(const AbortCause& cause) noexcept override { m_host->abort(cause); }
    AbortCause abortCause() const override { return m_host->abortCause(); }
    std::optional<std::uint64_t> stalledAt() const override { return m_host->stalledAt(); }
    std::vector<int> missingAt(std::uint64_t operation) const override { return m_host->missingAt(operation); }

private:
    void requireHost(const void* memory, const char* what) const {
        if (isOnCard(memory))
            throw EngineError(EngineError::Kind::Internal, what, "messages between ranks are in memory of the host");
    }

    void attach();
    void reachOtherCards() const;
    Pending& push();
    Ticket pushHost(Ticket ticket);
    Ticket start(const Call& call, const void* in, void* out);
    void launch(Pending& pending);
    void launchPart(const Pending& pending, cudaStream_t stream) const;
    void requireAgreement(const Pending& pending) const;

    std::unique_ptr<Collective> m_host;
    std::shared_ptr<const RankDevices> m_devices;
    std::vector<int> m_cards;  // by rank
    std::shared_ptr<std::mutex> m_capturing;
    std::unique_ptr<JointGraphs> m_joint;  // from attach() on
    CudaStream *m_compute = nullptr, *m_lane = nullptr;
    std::array<std::unique_ptr<Pending>, kRing> m_ring;
    std::uint64_t m_next = 0, m_retired = 0;  // tickets m_retired … m_next - 1 are pending
};

void CardEndpoint::attach() {
    if (m_compute) return;
    CudaDevice& device = m_devices->ofThisThread();
    m_compute = static_cast<CudaStream*>(&device.stream(Lane::Compute));
    m_lane = static_cast<CudaStream*>(&device.stream(Lane::Collective));
    reachOtherCards();
    m_joint = std::make_unique<JointGraphs>(*m_host, m_compute->get(), m_capturing);
    for (auto& pending : m_ring) {
        pending = std::make_unique<Pending>();
        pending->parts.resize(m_cards.size());
        pending->done.resize(m_cards.size());
    }
}

void CardEndpoint::reachOtherCards() const {
    const int own = m_cards[static_cast<std::size_t>(rank())];
    for (const int card : m_cards) {
        if (card == own) continue;
        const cudaError_t status = cudaDeviceEnablePeerAccess(card, 0);
        if (status == cudaErrorPeerAccessAlreadyEnabled) {
            cudaGetLastError();
            continue;
        }
        check(status, "cuda:" + std::to_string(own) + " reaching the memory of cuda:" + std::to_string(card) +
                          "; give every rank a card of its own");
    }
}

Pending& CardEndpoint::push() {
    attach();
    if (m_next - m_retired == kRing) wait({m_retired});
    return *m_ring[m_next++ % kRing];
}

Ticket CardEndpoint::pushHost(Ticket ticket) {
    Pending& pending = push();
    pending.onHost = true;
    pending.host = ticket;
    return {m_next - 1};
}

Ticket CardEndpoint::start(const Call& call, const void* in, void* out) {
    Pending& pending = push();
    pending.onHost = pending.isLaunched = false;
    check(cudaEventRecord(pending.ready.get(), m_compute->get()), "collective");
    pending.own = {call, static_cast<std::byte*>(const_cast<void*>(in)), static_cast<std::byte*>(out),
                   pending.ready.get()};
    pending.host = m_host->allGather(&pending.own, pending.parts.data(), sizeof(Part));
    return {m_next - 1};
}

void CardEndpoint::wait(Ticket ticket) {
    for (std::uint64_t at = m_retired; at <= ticket.sequence && at < m_next; ++at) launch(*m_ring[at % kRing]);
    for (; m_retired <= ticket.sequence && m_retired < m_next; ++m_retired) {
        Pending& pending = *m_ring[m_retired % kRing];
        if (pending.onHost) continue;
        m_joint->meet(pending.host);
        for (const cudaEvent_t done : pending.done) check(cudaStreamWaitEvent(m_compute->get(), done), "collective");
    }
}

// This rank's part, once all have said where theirs is; then the ranks tell each other what to wait for.
void CardEndpoint::launch(Pending& pending) {
    m_joint->meet(pending.host);
    if (pending.onHost || pending.isLaunched) return;
    pending.isLaunched = true;
    requireAgreement(pending);
    for (const Part& part : pending.parts) check(cudaStreamWaitEvent(m_lane->get(), part.ready), "collective");
    launchPart(pending, m_lane->get());
    pending.ownDone = pending.finished.get();
    check(cudaEventRecord(pending.ownDone, m_lane->get()), "collective");
    pending.host = m_host->allGather(&pending.ownDone, pending.done.data(), sizeof(cudaEvent_t));
}

void CardEndpoint::requireAgreement(const Pending& pending) const {
    for (std::size_t other = 1; other < pending.parts.size(); ++other) {
        const Call &first = pending.parts[0].call, &call = pending.parts[other].call;
        if (first == call) continue;
        throw EngineError(
            EngineError::Kind::Collective, "collective",
            "rank 0 started " + describe(first) + ", rank " + std::to_string(other) + " " + describe(call));
    }
}

void CardEndpoint::launchPart(const Pending& pending, cudaStream_t stream) const {
    const Call& call = pending.own.call;
    const std::size_t ranks = pending.parts.size(), own = static_cast<std::size_t>(rank());
    const std::size_t element = sizeOf(call.dtype), bytes = call.count * element;
    const auto copy = [&](std::byte* to, const std::byte* from, std::size_t count) {
        if (to != from && count > 0) check(cudaMemcpyAsync(to, from, count, cudaMemcpyDefault, stream), describe(call));
    };
    if (call.kind == Call::Kind::AllGather) {
        for (std::size_t other = 0; other < ranks; ++other)
            copy(pending.own.out + other * bytes, pending.parts[other].in, bytes);
        return;
    }
    if (call.kind == Call::Kind::Broadcast)
        return copy(pending.own.out, pending.parts[static_cast<std::size_t>(call.root)].in, bytes);
    const bool scatters = call.kind == Call::Kind::ReduceScatter;
    Pointers in{}, out{};
    for (std::size_t other = 0; other < ranks; ++other) {
        in.at[other] = pending.parts[other].in;
        out.at[other] = pending.parts[other].out;
    }
    if (scatters) out.at[0] = pending.own.out;
    const std::size_t begin = scatters ? own * call.count : call.count * own / ranks;
    const std::size_t end = scatters ? begin + call.count : call.count * (own + 1) / ranks;
    // Integers wrap around: unsigned ones give the same bits without undefined overflow.
    const auto sum = [&]<class T>(T) {
        sumAs<T>(stream, static_cast<std::int64_t>(end - begin), in, out, static_cast<int>(ranks),
                 scatters ? 1 : static_cast<int>(ranks), static_cast<std::int64_t>(begin),
                 scatters ? 0 : static_cast<std::int64_t>(begin));
    };
    switch (call.dtype) {
        case DType::F64: return sum(double{});
        case DType::I32: return sum(std::uint32_t{});
        case DType::I64: return sum(std::uint64_t{});
        case DType::U8: return sum(std::uint8_t{});
        default: return withFloat(call.dtype, "collective", sum);
    }
}

}  // namespace

std::vector<std::unique_ptr<Collective>> makeCardGroup(std::span<const DeviceChoice> ranks,
                                                       std::shared_ptr<const RankDevices> devices) {
    if (ranks.size() > kMostRanks)
        throw EngineError(
            EngineError::Kind::Collective, "devices",
            std::to_string(ranks.size()) + " ranks share cards; at most " + std::to_string(kMostRanks) + " can");
    std::vector<int> cards;
    for (const DeviceChoice& rank : ranks) cards.push_back(rank.index);
    const auto capturing = std::make_shared<std::mutex>();
    auto group = makeHostGroup(static_cast<int>(ranks.size()));
    for (auto& endpoint : group)
        endpoint = std::make_unique<CardEndpoint>(std::move(endpoint), devices, cards, capturing);
    return group;
}

}  // namespace lockstep::cuda
