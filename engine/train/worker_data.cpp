#include <algorithm>
#include <utility>

#include "engine/core/error.h"
#include "engine/ops/rules.h"
#include "engine/train/loader_slots.h"
#include "engine/train/worker.h"

namespace lockstep {

void Worker::keepImages() {
    keepImages(*m_run.data.train, 0);
    keepImages(*m_run.data.choosing(), m_run.data.train->info().count);
}

// Those that lie one behind the other in the host's memory go as one.
void Worker::keepImages(const Dataset& images, std::int64_t first) {
    const auto field = static_cast<std::size_t>(findField(images.info().fields, "image") - images.info().fields.data());
    const std::size_t bytes = images.info().fields[field].type.bytes();
    for (std::int64_t begin = 0, end = 0; begin < images.info().count; begin = end) {
        const std::byte* const from = images.resident(begin, field);
        std::size_t length = 0;
        do {
            ++end;
            length += bytes;
        } while (end < images.info().count && images.resident(end, field) == from + length);
        m_replica->keep(static_cast<std::size_t>(first + begin) * bytes, {from, length});
    }
}

void Worker::openLoaders() {
    const std::shared_ptr<const Dataset>& choosing = m_run.data.choosing();
    const Sampler order(m_run.data.train->info().count, spec().batch, spec().seed, Sampler::Order::Shuffled);
    const Sampler choosingOrder(choosing->info().count, std::min(spec().batch, choosing->info().count), spec().seed,
                                Sampler::Order::Sequential);
    m_choosingSteps = choosingOrder.stepsPerEpoch();
    LoaderOptions options{.rank = m_rank,
                          .partition = partitionOf(m_run.resolved),
                          .threads = static_cast<int>(spec().loaderThreads),
                          .mostThreads = mostLoaderThreads(m_group.size()),
                          .seed = spec().seed,
                          .augmentation = augmentationFrom(m_run.resolved.augmentationParams),
                          .firstEpoch = m_epoch,
                          .firstStep = m_stepInEpoch,
                          .epochs = spec().epochs - m_epoch,
                          .trace = m_run.options.trace};
    const bool skipsBad = spec().onBadSample == "skip" && m_run.data.train->info().isCut;
    if (skipsBad) options.bad = &m_run.bad;
    options.limit = spec().loaderLimit / m_group.size();
    options.urge = m_run.control.stopToken();
    placeSlots(options, *m_device);
    LoaderOptions choosingOptions = options;
    choosingOptions.augmentation = {};
    choosingOptions.limit = 0;
    choosingOptions.firstKept = m_run.data.train->info().count;
    choosingOptions.firstStep = 0;
    choosingOptions.isTraining = false;
    choosingOptions.epochs = std::max<std::int64_t>(options.epochs, 1);
    auto trainLoader = std::make_unique<Loader>(m_run.data.train, order, m_run.plan.batch, options);
    auto choosingLoader = std::make_unique<Loader>(choosing, choosingOrder, m_run.plan.batch, choosingOptions);
    const std::lock_guard lock(m_loaderMutex);
    m_trainFeed.loader = std::move(trainLoader);
    m_choosingFeed.loader = std::move(choosingLoader);
}

// Each file once, the first of many alone: they are counted all the same.
void Worker::tellOfBadSamples() {
    constexpr std::int64_t kNamed = 20;
    const std::int64_t all = m_run.data.train->info().count + m_run.data.choosing()->info().count;
    for (const auto& data : {m_run.data.train, m_run.data.choosing()})
        for (Problem& remark : data->takeRemarks()) m_run.events.post(Message{"warning", std::move(remark)});
    const auto found = m_run.bad.take();
    if (!found.empty()) m_latestBad = found.back().reason;
    const std::int64_t count = m_run.bad.count();
    std::int64_t at = count - std::ssize(found);
    for (const BadSamples::Found& each : found) {
        if (++at > kNamed) continue;
        const bool isNormed = each.isTraining && !m_run.plan.batchNorm.empty();
        const char* code = isNormed ? "run.sample-skipped-normed" : "run.sample-skipped";
        Problem said{each.reason.field, code, {std::to_string(at), each.reason.code, each.reason.field}};
        said.args.insert(said.args.end(), each.reason.args.begin(), each.reason.args.end());
        m_run.events.post(Message{"warning", std::move(said)});
    }
    if (found.empty() || static_cast<double>(count) <= spec().maxBadShare * static_cast<double>(all)) return;
    const Problem& last = found.back().reason;
    Problem tooMany{
        last.field,
        "run.too-many-bad",
        {std::to_string(count), std::to_string(all), numberText(spec().maxBadShare), last.code, last.field}};
    tooMany.args.insert(tooMany.args.end(), last.args.begin(), last.args.end());
    throw ProblemError(std::move(tooMany));
}

// However many may be bad: of none there is neither a loss nor an accuracy.
void Worker::requireAnySample() const {
    const bool isTraining = m_epochSums.weight == 0 && !m_hasRead;
    if (!m_latestBad || (!isTraining && m_evaluated.weight > 0)) return;
    Problem none{m_latestBad->field,
                 isTraining ? "run.none-to-train" : "run.none-to-evaluate",
                 {std::to_string(m_epoch + 1), m_latestBad->code, m_latestBad->field}};
    none.args.insert(none.args.end(), m_latestBad->args.begin(), m_latestBad->args.end());
    throw ProblemError(std::move(none));
}

void Worker::notePace() {
    const LoadPace pace = m_trainFeed.loader->pace();
    m_loadingRate.add(pace);
    const std::int64_t waited = m_coreWait ? m_coreWait->nanoseconds() : 0;
    RankTimes& shown = m_run.times[static_cast<std::size_t>(m_rank)];
    shown.loading.store(static_cast<float>(m_loadingRate.perSecond()), std::memory_order_relaxed);
    shown.loadingCore.store(static_cast<float>(m_loadingRate.coreSeconds()), std::memory_order_relaxed);
    shown.loaderThreads.store(pace.threads, std::memory_order_relaxed);
    shown.coreWait.store(static_cast<float>(waited - std::exchange(m_coreWaited, waited)) * 1e-9f,
                         std::memory_order_relaxed);
}

BatchLease Worker::nextBatch(Feed& feed) {
    BatchLease batch = m_dataWait.during([&feed] { return feed.ahead ? std::move(feed.ahead) : feed.loader->next(); });
    if (batch && !m_device->isHostMemory()) feed.ahead = feed.loader->tryNext();
    if (batch) return batch;
    m_group.progress();  // throws if the loader was stopped because a rank failed
    throw EngineError(EngineError::Kind::Internal, "loader", "the batches ended before the run did");
}

}  // namespace lockstep
