#include "engine/backend/cuda/nccl_group.h"

#include <array>
#include <atomic>
#include <mutex>
#include <thread>

#include "engine/backend/cuda/card_memory.h"
#include "engine/backend/cuda/cuda_device.h"
#include "engine/backend/cuda/nccl_library.h"
#include "engine/collective/host_group.h"

namespace lockstep::cuda {

namespace {

constexpr std::size_t kRing = 64;  // operations a rank may have pending

ncclDataType_t typeOf(DType dtype) {
    switch (dtype) {
        case DType::F32: return ncclFloat32;
        case DType::F64: return ncclFloat64;
        case DType::I32: return ncclInt32;
        case DType::I64: return ncclInt64;
        case DType::U8: return ncclUint8;
        case DType::F16: return ncclFloat16;
        case DType::BF16: return ncclBfloat16;
    }
    return ncclUint8;
}

// What the ranks of a group share. started: operations on cards that a rank has begun; waitsFor: the last one of those
// that it waits for, kNone while it does not wait.
struct Family {
    static constexpr std::uint64_t kNone = ~std::uint64_t{0};
    struct alignas(64) Rank {
        std::atomic<std::uint64_t> started{0}, waitsFor{kNone};
    };

    Family(const std::string& file, std::size_t size) : library(file), ranks(size) {}
    NcclLibrary library;
    std::vector<Rank> ranks;
};

class NcclEndpoint final : public Collective {
public:
    NcclEndpoint(std::unique_ptr<Collective> host, std::shared_ptr<const RankDevices> devices,
                 std::shared_ptr<Family> family)
        : m_host(std::move(host)),
          m_devices(std::move(devices)),
          m_family(std::move(family)),
          m_nccl(m_family->library) {}
    ~NcclEndpoint() override { end(); }
    NcclEndpoint(const NcclEndpoint&) = delete;
    NcclEndpoint& operator=(const NcclEndpoint&) = delete;

    int rank() const override { return m_host->rank(); }
    int size() const override { return m_host->size(); }

    Ticket allReduce(void* inout, std::size_t count, DType dtype) override {
        if (!isOnCard(inout)) return onHost([&] { return m_host->allReduce(inout, count, dtype); });
        return onCard("all-reduce", [&](cudaStream_t stream) {
            return m_nccl.allReduce(inout, inout, count, typeOf(dtype), ncclSum, m_comm, stream);
        });
    }
    Ticket reduceScatter(const void* in, void* out, std::size_t countPerRank, DType dtype) override {
        if (!isOnCard(in)) return onHost([&] { return m_host->reduceScatter(in, out, countPerRank, dtype); });
        return onCard("reduce-scatter", [&](cudaStream_t stream) {
            return m_nccl.reduceScatter(in, out, countPerRank, typeOf(dtype), ncclSum, m_comm, stream);
        });
    }
    Ticket allGather(const void* in, void* out, std::size_t bytesPerRank) override {
        if (!isOnCard(in)) return onHost([&] { return m_host->allGather(in, out, bytesPerRank); });
        return onCard("all-gather", [&](cudaStream_t stream) {
            return m_nccl.allGather(in, out, bytesPerRank, ncclUint8, m_comm, stream);
        });
    }
    Ticket broadcast(void* inout, std::size_t bytes, int root) override {
        if (!isOnCard(inout)) return onHost([&] { return m_host->broadcast(inout, bytes, root); });
        return onCard("broadcast", [&](cudaStream_t stream) {
            return m_nccl.broadcast(inout, inout, bytes, ncclUint8, root, m_comm, stream);
        });
    }
    Ticket send(const void* in, std::size_t bytes, int to) override {
        return onHost([&] { return m_host->send(in, bytes, to); });
    }
    Ticket receive(void* out, std::size_t bytes, int from) override {
        return onHost([&] { return m_host->receive(out, bytes, from); });
    }

    void progress() override { look(); }
    void wait(Ticket ticket) override;
    void barrier() override {
        orEnd([&] { m_host->barrier(); });
    }
    Recorded recorded() const override { return Recorded::Alone; }
    void replays(std::uint64_t operations) override { own().started.fetch_add(operations); }
    std::unique_ptr<Collective> subgroup(std::span<const int> ranks) override {
        auto host = m_host->subgroup(ranks);
        // Every member makes the same family: the lowest one's, told through the host.
        std::shared_ptr<Family> own, *shared = &own;
        if (host->rank() == 0) own = std::make_shared<Family>(m_nccl.file, ranks.size());
        host->wait(host->broadcast(&shared, sizeof shared, 0));
        const std::shared_ptr<Family> family = *shared;
        host->barrier();  // all have taken it
        return std::make_unique<NcclEndpoint>(std::move(host), m_devices, family);
    }

    void abort(const AbortCause& cause) noexcept override {
        m_host->abort(cause);
        if (std::this_thread::get_id() == m_thread) end();
    }
    AbortCause abortCause() const override { return m_host->abortCause(); }
    std::optional<std::uint64_t> stalledAt() const override;
    std::vector<int> missingAt(std::uint64_t operation) const override;
    std::optional<AbortCause> failure() const override;

private:
    struct Pending {
        bool onHost = false;
        Ticket host;
        CudaEvent ready, done;
    };
    void attach();
    void connect();
    void end() noexcept;
    void look();
    void lookOut(bool waits);
    void require(ncclResult_t result, const char* what);
    std::string reasonFor(ncclResult_t result) const;
    Pending& push();
    template <class Start>
    Ticket onHost(const Start& start);
    template <class Start>
    Ticket onCard(const char* what, const Start& start);
    template <class Work>
    void orEnd(const Work& work);
    Family::Rank& own() const { return m_family->ranks[static_cast<std::size_t>(rank())]; }

    std::unique_ptr<Collective> m_host;
    std::shared_ptr<const RankDevices> m_devices;
    std::shared_ptr<Family> m_family;
    const NcclLibrary& m_nccl;
    ncclComm_t m_comm = nullptr;
    mutable std::mutex m_commMutex;  // held by the rank to change m_comm, by others to use it
    std::thread::id m_thread;
    CudaStream *m_compute = nullptr, *m_lane = nullptr;
    std::array<std::unique_ptr<Pending>, kRing> m_ring;
    std::uint64_t m_next = 0, m_retired = 0;          // tickets m_retired … m_next - 1 are pending
    mutable std::atomic<bool> m_stallsOnCard{false};  // what the last answer of stalledAt() counts
};

// A failure ends the communicator before it leaves: memory that its kernels use is freed next.
template <class Work>
void NcclEndpoint::orEnd(const Work& work) {
    try {
        work();
    } catch (...) {
        end();
        throw;
    }
}

void NcclEndpoint::attach() {
    if (m_compute) return;
    CudaDevice& device = m_devices->ofThisThread();
    m_thread = std::this_thread::get_id();
    for (auto& pending : m_ring) pending = std::make_unique<Pending>();
    m_lane = static_cast<CudaStream*>(&device.stream(Lane::Collective));
    m_compute = static_cast<CudaStream*>(&device.stream(Lane::Compute));
    m_compute->setLookout([this](bool waits) { lookOut(waits); });
}

void NcclEndpoint::connect() {
    if (m_comm) return;
    ncclUniqueId id{};
    if (rank() == 0) require(m_nccl.getUniqueId(&id), "making an id");
    m_host->wait(m_host->broadcast(&id, sizeof id, 0));
    ncclConfig_t config;
    ncclComm_t made = nullptr;
    const ncclResult_t result = m_nccl.commInitRankConfig(&made, size(), id, rank(), &config);
    {
        const std::lock_guard lock(m_commMutex);
        m_comm = made;
    }
    require(result, "connecting");
}

void NcclEndpoint::end() noexcept {
    ncclComm_t ended = nullptr;
    {
        const std::lock_guard lock(m_commMutex);
        std::swap(ended, m_comm);
    }
    if (ended) m_nccl.commAbort(ended);
}

// Aborted, or an error that NCCL found since.
void NcclEndpoint::look() {
    orEnd([&] {
        m_host->progress();
        ncclResult_t found = ncclSuccess;
        if (m_comm) require(m_nccl.commGetAsyncError(m_comm, &found), "looking for errors");
        if (found != ncclSuccess && found != ncclInProgress) require(found, "on the card");
    });
}

void NcclEndpoint::lookOut(bool waits) {
    const std::uint64_t started = own().started.load();
    own().waitsFor.store(waits && started > 0 ? started - 1 : Family::kNone);
    if (waits) look();
}

// A call that is in progress is waited for: the next one must not come before.
void NcclEndpoint::require(ncclResult_t result, const char* what) {
    while (result == ncclInProgress) {
        std::this_thread::yield();
        m_host->progress();
        const ncclResult_t asked = m_nccl.commGetAsyncError(m_comm, &result);
        if (asked != ncclSuccess) result = asked;
    }
    if (result != ncclSuccess)
        throw EngineError(EngineError::Kind::Collective, std::string("NCCL ") + what, reasonFor(result));
}

std::string NcclEndpoint::reasonFor(ncclResult_t result) const {
    const char* const last = m_nccl.getLastError(m_comm);
    return m_nccl.getErrorString(result) + (last && *last ? ": " + std::string(last) : "");
}

NcclEndpoint::Pending& NcclEndpoint::push() {
    attach();
    if (m_next - m_retired == kRing) wait({m_retired});
    return *m_ring[m_next++ % kRing];
}

template <class Start>
Ticket NcclEndpoint::onHost(const Start& start) {
    orEnd([&] {
        Pending& pending = push();
        pending.onHost = true;
        pending.host = start();
    });
    return {m_next - 1};
}

template <class Start>
Ticket NcclEndpoint::onCard(const char* what, const Start& start) {
    orEnd([&] {
        Pending& pending = push();
        pending.onHost = false;
        m_host->progress();  // throws once the group is aborted
        connect();
        check(cudaEventRecord(pending.ready.get(), m_compute->get()), what);
        check(cudaStreamWaitEvent(m_lane->get(), pending.ready.get()), what);
        own().started.fetch_add(1);
        require(start(m_lane->get()), what);
        check(cudaEventRecord(pending.done.get(), m_lane->get()), what);
    });
    return {m_next - 1};
}

void NcclEndpoint::wait(Ticket ticket) {
    orEnd([&] {
        for (; m_retired <= ticket.sequence && m_retired < m_next; ++m_retired) {
            Pending& pending = *m_ring[m_retired % kRing];
            if (pending.onHost) m_host->wait(pending.host);
            else check(cudaStreamWaitEvent(m_compute->get(), pending.done.get()), "waiting for a collective");
        }
    });
}

std::optional<std::uint64_t> NcclEndpoint::stalledAt() const {
    const auto onHost = m_host->stalledAt();
    m_stallsOnCard.store(!onHost);
    if (onHost) return onHost;
    const std::uint64_t number = own().waitsFor.load();
    if (number == Family::kNone || missingAt(number).empty()) return std::nullopt;
    return number;
}

std::vector<int> NcclEndpoint::missingAt(std::uint64_t operation) const {
    if (!m_stallsOnCard.load()) return m_host->missingAt(operation);
    std::vector<int> missing;
    for (int rank = 0; rank < size(); ++rank)
        if (m_family->ranks[static_cast<std::size_t>(rank)].started.load() <= operation) missing.push_back(rank);
    return missing;
}

std::optional<AbortCause> NcclEndpoint::failure() const {
    const std::lock_guard lock(m_commMutex);
    ncclResult_t found = ncclSuccess;
    if (!m_comm || m_nccl.commGetAsyncError(m_comm, &found) != ncclSuccess) return std::nullopt;
    if (found == ncclSuccess || found == ncclInProgress) return std::nullopt;
    return AbortCause{rank(), std::string(text(EngineError::Kind::Collective)), "NCCL on the card", reasonFor(found)};
}

}  // namespace

std::vector<std::unique_ptr<Collective>> makeNcclGroup(std::span<const DeviceChoice> ranks,
                                                       std::shared_ptr<const RankDevices> devices,
                                                       const std::string& library) {
    const auto family = std::make_shared<Family>(library, ranks.size());
    auto group = makeHostGroup(static_cast<int>(ranks.size()));
    for (auto& endpoint : group) endpoint = std::make_unique<NcclEndpoint>(std::move(endpoint), devices, family);
    return group;
}

}  // namespace lockstep::cuda
