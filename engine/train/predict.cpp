#include "engine/train/predict.h"

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <utility>

#include "engine/core/error.h"
#include "engine/data/loader.h"
#include "engine/train/answers.h"
#include "engine/train/clocks.h"
#include "engine/train/data_wait.h"
#include "engine/train/loader_slots.h"
#include "engine/train/make_group.h"
#include "engine/train/precision_remark.h"
#include "engine/train/rank_threads.h"

namespace lockstep {

namespace {

// Of all batches those of one rank of `world`, one behind the other.
class BatchesOfRank final : public Dataset {
public:
    BatchesOfRank(std::shared_ptr<const Dataset> all, std::int64_t batch, int rank, int world)
        : m_all(std::move(all)), m_batch(batch), m_rank(rank), m_world(world), m_info(m_all->info()) {
        const std::int64_t total = m_info.count, batches = (total + batch - 1) / batch;
        m_info.count = 0;
        for (std::int64_t each = rank; each < batches; each += world)
            m_info.count += std::min(batch, total - each * batch);
    }

    const DatasetInfo& info() const override { return m_info; }
    void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override {
        m_all->read(placeOf(index), into);
    }
    const std::byte* resident(std::int64_t index, std::size_t field) const override {
        return m_all->resident(placeOf(index), field);
    }
    std::int64_t placeOf(std::int64_t index) const {
        return (index / m_batch * m_world + m_rank) * m_batch + index % m_batch;
    }

private:
    std::shared_ptr<const Dataset> m_all;
    std::int64_t m_batch;
    int m_rank, m_world;
    DatasetInfo m_info;
};

// Batches of a dataset in its order, for one device that goes its way alone.
std::unique_ptr<Loader> loaderOf(const ModelOnDevice& model, std::shared_ptr<const Dataset> data, std::int64_t batch,
                                 int threads, int mostThreads, std::int64_t epochs = 1) {
    LoaderOptions options{.partition = Partition::byRanks(1, 1),
                          .threads = threads,
                          .mostThreads = mostThreads,
                          .augmentation = {},
                          .epochs = epochs};
    placeSlots(options, *model.device);
    const Sampler order(data->info().count, std::min(batch, data->info().count), 0, Sampler::Order::Sequential);
    return std::make_unique<Loader>(std::move(data), order, model.plan.batch, std::move(options));
}

std::vector<std::optional<Answer>> answersTo(ModelOnDevice& model, const BatchLease& batch) {
    const auto& full = model.programs().evaluation;
    const bool isFull = full->localBatch == batch.count();
    const Program& program = isFull ? *full : *model.programs().lastEvaluation;
    model.replica->run(isFull ? 0 : 1, batch.data(), {});
    const LogitRows rows(model.replica->readOutput(program, "logits"));
    std::vector<std::optional<Answer>> answers;
    for (std::size_t i = 0; i < rows.count(); ++i) answers.push_back(answerOf(rows[i]));
    return answers;
}

class PredictTask final : public RankTask {
public:
    PredictTask(const PredictRequest& request, Collective& group, std::function<void(std::int64_t)> done)
        : m_request(request), m_group(group), m_done(std::move(done)) {}

    void run() override {
        m_mine = std::make_shared<const BatchesOfRank>(m_request.data, m_request.batch, m_group.rank(), m_group.size());
        const std::int64_t samples = m_mine->info().count;
        if (samples > 0) open(samples);
        m_group.barrier();
        m_watch.start();
        if (samples > 0) answerAll();
        m_seconds = m_watch.seconds();
    }

    void interrupt() noexcept override {
        const std::lock_guard lock(m_mutex);
        if (m_loader) m_loader->stop();
    }

    // A loader may take forever to end, if its reader hangs: nobody must wait for the lock meanwhile.
    void close() noexcept override {
        {
            std::unique_ptr<Loader> loader;
            const std::lock_guard lock(m_mutex);
            std::swap(loader, m_loader);
        }
        m_model.close();
    }

    std::optional<std::uint64_t> awaitedData() const noexcept override { return m_dataWait.awaited(); }

    void addTo(PredictResult& result) const {
        for (std::size_t i = 0; i < m_answers.size(); ++i)
            result.answers[static_cast<std::size_t>(m_mine->placeOf(static_cast<std::int64_t>(i)))] = m_answers[i];
        result.batchSeconds.insert(result.batchSeconds.end(), m_batchSeconds.begin(), m_batchSeconds.end());
        result.seconds = std::max(result.seconds, m_seconds);
        if (m_group.rank() == 0) result.ofPrecision = m_ofPrecision;
    }

private:
    void open(std::int64_t samples) {
        // Whole batches decide how parameters are stored, also for a rank that has a short one alone.
        const std::int64_t whole = std::min(m_request.batch, m_request.data->info().count);
        m_model =
            openModel({m_request.resolved, m_request.checkpoint, m_request.trained, m_group.rank(), whole, samples});
        m_ofPrecision = precisionRemark(m_request.resolved, *m_model.programs().evaluation);
        auto loader =
            loaderOf(m_model, m_mine, m_request.batch, static_cast<int>(m_request.resolved.spec.loaderThreads),
                     mostLoaderThreads(m_group.size()));
        const std::lock_guard lock(m_mutex);
        m_loader = std::move(loader);
    }

    void answerAll() {
        while (const BatchLease batch = m_dataWait.during([this] { return m_loader->next(); })) {
            m_group.progress();
            Stopwatch watch;
            watch.start();
            auto answers = answersTo(m_model, batch);
            m_batchSeconds.push_back(watch.seconds());
            std::ranges::move(answers, std::back_inserter(m_answers));
            m_done(batch.count());
        }
        m_group.progress();  // throws if the loader was stopped because a rank failed
    }

    const PredictRequest& m_request;
    Collective& m_group;
    std::function<void(std::int64_t)> m_done;
    std::shared_ptr<const BatchesOfRank> m_mine;
    ModelOnDevice m_model;
    std::mutex m_mutex;  // guards the pointer against interrupt()
    std::unique_ptr<Loader> m_loader;
    DataWait m_dataWait;
    Stopwatch m_watch;
    double m_seconds = 0;
    std::optional<Problem> m_ofPrecision;
    std::vector<double> m_batchSeconds;
    std::vector<std::optional<Answer>> m_answers;
};

}  // namespace

PredictResult predict(const PredictRequest& request) {
    std::mutex mutex;
    std::int64_t done = 0;
    const auto tell = [&](std::int64_t samples) {
        const std::lock_guard lock(mutex);
        done += samples;
        if (request.progress) request.progress(done);
    };
    const auto group = makeGroup(request.resolved);
    std::vector<std::unique_ptr<PredictTask>> ranks;
    std::vector<RankTask*> tasks;
    for (const auto& endpoint : group)
        tasks.push_back(ranks.emplace_back(std::make_unique<PredictTask>(request, *endpoint, tell)).get());
    const AbortCause cause =
        runRanks(tasks, group, Watch{.timeout = request.resolved.spec.timeout, .onStuck = request.onStuck});
    if (cause.rank >= 0) rethrow(cause);
    PredictResult result;
    result.answers.resize(static_cast<std::size_t>(request.data->info().count));
    for (const auto& rank : ranks) rank->addTo(result);
    return result;
}

// One sample, another one each time: the loader's thread waits in it until somebody asks.
class Predictor::InTurn final : public Dataset {
public:
    explicit InTurn(const DatasetInfo& trained) : m_info(trained) {
        m_info.count = 1;
        m_info.inMemory = false;
    }

    const DatasetInfo& info() const override { return m_info; }
    void read(std::int64_t, std::span<const std::span<std::byte>> into) const override {
        if (const auto one = awaited()) one->read(0, into);
    }

    void ask(std::shared_ptr<const Dataset> one) {
        const std::lock_guard lock(m_mutex);
        m_next = std::move(one);
        m_changed.notify_one();
    }
    void end() {
        const std::lock_guard lock(m_mutex);
        m_ended = true;
        m_changed.notify_one();
    }

private:
    std::shared_ptr<const Dataset> awaited() const {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [this] { return m_next || m_ended; });
        return std::exchange(m_next, nullptr);
    }

    DatasetInfo m_info;
    mutable std::mutex m_mutex;
    mutable std::condition_variable m_changed;
    mutable std::shared_ptr<const Dataset> m_next;
    bool m_ended = false;
};

Predictor::Predictor(const ResolvedSpec& resolved, const Checkpoint& checkpoint, const DatasetInfo& trained)
    : m_model(openModel({resolved, checkpoint, trained})), m_asked(std::make_shared<InTurn>(trained)) {
    constexpr std::int64_t kForEver = std::numeric_limits<std::int64_t>::max();
    m_loader = loaderOf(m_model, m_asked, 1, 1, 1, kForEver);
}

Predictor::~Predictor() {
    m_asked->end();
    m_loader.reset();
    m_model.close();
}

std::optional<Answer> Predictor::answer(std::shared_ptr<const Dataset> one) {
    m_asked->ask(std::move(one));
    const BatchLease batch = m_loader->next();
    return answersTo(m_model, batch).front();
}

}  // namespace lockstep
