#include "engine/train/loader_benchmark.h"

#include "engine/data/bad_samples.h"
#include "engine/data/load_times.h"
#include "engine/data/loader.h"
#include "engine/train/clocks.h"
#include "engine/train/loader_slots.h"

namespace lockstep {

namespace {

constexpr std::int64_t kWarmup = 2;  // batches

}  // namespace

LoaderBench benchmarkLoader(const ResolvedSpec& resolved, const DatasetSplits& data, double seconds) {
    const TrialSpec& spec = resolved.spec;
    const DatasetInfo& info = data.train->info();
    const std::int64_t batch = std::min(spec.batch, info.count);
    const BatchLayout layout = batchLayout(info, batch, resolved.mixes());
    LoadTimes times;
    BadSamples bad;
    LoaderBench bench{.threads = spec.loaderThreads > 0 ? static_cast<int>(spec.loaderThreads) : mostLoaderThreads(1)};
    Loader loader(data.train, Sampler(info.count, batch, spec.seed, Sampler::Order::Shuffled), layout,
                  {.partition = Partition::byRanks(1, 1),
                   .threads = bench.threads,
                   .seed = spec.seed,
                   .augmentation = augmentationFrom(resolved.augmentationParams),
                   .epochs = 1'000'000,
                   .bad = spec.onBadSample == "skip" && info.isCut ? &bad : nullptr,
                   .times = &times,
                   .limit = spec.loaderLimit});
    for (std::int64_t i = 0; i < kWarmup; ++i) loader.next();
    for (auto& each : times.nanoseconds) each = 0;
    times.bytesRead = 0;
    Stopwatch watch;
    watch.start();
    while (watch.seconds() < seconds) bench.samples += loader.next().count();
    bench.seconds = watch.seconds();
    bench.read = times.seconds(LoadPart::Read), bench.decode = times.seconds(LoadPart::Decode);
    bench.scale = times.seconds(LoadPart::Scale), bench.augment = times.seconds(LoadPart::Augment);
    bench.rest = bench.threads * bench.seconds - bench.read - bench.decode - bench.scale - bench.augment;
    bench.bytesRead = times.bytesRead;
    bench.unreadable = bad.count();
    bench.bytesMade = bench.samples * static_cast<std::int64_t>(layout.bytes()) / batch;
    return bench;
}

}  // namespace lockstep
