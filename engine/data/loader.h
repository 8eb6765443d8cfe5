#pragma once
#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "engine/core/trace.h"
#include "engine/data/augment.h"
#include "engine/data/bad_samples.h"
#include "engine/data/batch_layout.h"
#include "engine/data/dataset.h"
#include "engine/data/load_times.h"
#include "engine/data/mixture.h"
#include "engine/data/reader_count.h"
#include "engine/data/sampler.h"

namespace lockstep {

// What a batch has of each image: the image, made by the loader; or what a device makes it of (ops/pixels.h): its
// recipe and its pixels, or the recipe alone where the device keeps all pixels.
enum class ImagesAs { Made, Pixels, Recipes };

// How a loader lays out batches of the dataset: its fields in their order, then ids i64 [1]; for mixtures then label2
// i32 [1], the partner's, and lambda f32 [1] (mixture.h), which a loader that does not mix leaves alone. The field
// "image" is f32, or in its place "recipe" i32 [m kRecipeNumbers], m being 2 for mixtures, with "pixels" u8 [mC,H,W]
// behind all other fields.
BatchLayout batchLayout(const DatasetInfo& info, std::int64_t capacity, bool mixes = false,
                        ImagesAs images = ImagesAs::Made);

struct LoaderOptions {
    int rank = 0;
    Partition partition;  // who gets which samples of a global batch
    int threads = 1;      // reader threads; 0: as many as are worth it, mostThreads at most
    int mostThreads = 1;
    int slotCount = 3;  // batch slots, at least 2
    std::uint64_t seed = 0;
    Augmentation augmentation;
    std::int64_t firstKept = 0;                  // number of the split's first image among those that the device keeps
    std::int64_t firstEpoch = 0, firstStep = 0;  // where to begin (resume)
    std::int64_t epochs = 1;                     // ends after firstEpoch + epochs - 1
    // Told of samples that cannot be read (UnreadableSample), which then are blank, with the label -1. Null: the first
    // ends the loader with its problem. Outlives the loader.
    BadSamples* bad = nullptr;
    bool isTraining = true;       // for those
    LoadTimes* times = nullptr;   // outlives the loader; null: nobody measures
    double limit = 0;             // samples per second that it makes at most; 0: as many as it can
    std::stop_token urge = {};    // once asked, nothing is held back any more
    TraceBoard* trace = nullptr;  // a "load" lane per reader thread of this rank
    // Memory of a slot, zeroed; null: the loader's own. Outlives the loader or is shared with it.
    std::function<std::shared_ptr<std::byte>(std::size_t bytes)> slotMemory{};
};

// What a loader has made, and what its threads took for it together: waiting for a free slot, or for a core that others
// were using, does not count; being held back by a limit does.
struct LoadPace {
    std::int64_t samples = 0;
    double seconds = 0;
    int threads = 1;
    double coreSeconds = 0;  // of them, on a core
};

// A batch in a slot. Gives the slot back on destruction. `data` is the slot's base for program inputs (Arena::Io).
class BatchLease {
public:
    BatchLease() = default;
    BatchLease(BatchLease&& other) noexcept;
    BatchLease& operator=(BatchLease&& other) noexcept;
    ~BatchLease();

    explicit operator bool() const { return m_loader != nullptr; }
    std::byte* data() const { return m_data; }
    std::int64_t count() const { return m_count; }  // samples; may be 0 on the last step
    std::int64_t epoch() const { return m_epoch; }
    std::int64_t step() const { return m_step; }  // within the epoch

private:
    friend class Loader;
    class Loader* m_loader = nullptr;
    int m_slot = -1;
    std::byte* m_data = nullptr;
    std::int64_t m_count = 0, m_epoch = 0, m_step = 0;
};

// The only stream of data: reader threads share the batch that comes next, and fill a fixed pool of batch slots ahead
// of the rank that takes them, in order. Nothing is allocated per batch. next() is called by one thread. A reader's
// exception is rethrown by next() in the place of the batch that failed; the batches before it are still delivered.
// Readers run at a lower priority than compute threads.
class Loader {
public:
    // The layout has batchLayout's fields and room for this rank's share; otherwise EngineError(Internal).
    Loader(std::shared_ptr<const Dataset> data, Sampler sampler, BatchLayout layout, LoaderOptions options);
    ~Loader();  // stops and joins; leases must be gone by then

    BatchLease next();      // blocks; an empty lease after the last batch or after stop()
    BatchLease tryNext();   // the same if it is there already, else an empty lease
    void stop() noexcept;   // any thread
    LoadPace pace() const;  // since it began; any thread
    const BatchLayout& layout() const { return m_layout; }

private:
    struct Slot;
    struct Scratch;
    struct Position {
        std::int64_t epoch, step;
    };
    struct Part {  // of a batch, that one reader makes: places in it
        Slot* slot = nullptr;
        std::size_t begin = 0, end = 0;
    };
    friend class BatchLease;

    Position positionOf(std::int64_t batch) const;
    Slot& slotOf(std::int64_t batch) const;
    void giveBack(int slot) noexcept;
    void useThreads(int threads);  // from now on; what they make does not depend on it
    void addReader();
    void watch(const BatchLease& taken, std::int64_t asked);
    void readerMain(int reader, Scratch& scratch, TraceLane* lane);
    std::optional<Part> claim(int reader);  // once there is one; nothing: no more
    void begin();                           // the next batch, whose slot is free; under the mutex
    void fill(const Part& part, Scratch& scratch) const;
    std::exception_ptr tryFill(const Part& part, Scratch& scratch) const noexcept;
    void holdBack(std::int64_t begin, const Part& part);
    std::int64_t timeOf(const Part& part) const;  // nanoseconds that a limit asks for; 0: there is none
    void fillSample(Slot& slot, std::size_t place, Scratch& scratch) const;
    void fillPixels(Slot& slot, std::size_t place, Scratch& scratch) const;
    void readSample(std::int64_t id, std::int64_t epoch, std::span<const std::span<std::byte>> room,
                    Scratch& scratch) const;
    void readImage(std::int64_t id, std::int64_t epoch, std::span<const std::span<std::byte>> room,
                   Scratch& scratch) const;
    void mixSample(Slot& slot, std::size_t place, Scratch& scratch) const;
    void writeImage(std::span<const std::uint8_t> image, std::int64_t epoch, std::int64_t id, std::span<float> out,
                    Scratch& scratch) const;
    ImageRecipe recipeFor(std::span<const std::uint8_t> image, std::int64_t epoch, std::int64_t id,
                          Scratch& scratch) const;
    void mixPixels(std::byte* base, std::size_t place, std::int64_t epoch, const Mixture& mixture,
                   std::span<const std::uint8_t> partner, Scratch& scratch) const;
    std::span<ImageRecipe> recipesOf(std::byte* base, std::size_t place) const;
    void finish(const Part& part, std::exception_ptr failure);
    BatchLease take(Slot& slot);  // ready, and the next; under the mutex

    std::shared_ptr<const Dataset> m_data;
    Sampler m_sampler;
    BatchLayout m_layout;
    ImagesAs m_images;
    int m_image;  // the field to augment, or its recipes'; -1: none
    LoaderOptions m_options;
    std::vector<std::unique_ptr<Slot>> m_slots;
    mutable std::mutex m_mutex;
    std::condition_variable m_changed;
    std::int64_t m_nextToFill = 0, m_nextToTake = 0, m_total = 0;
    Slot* m_open = nullptr;            // of the batch of which samples have no reader yet; null: none
    std::atomic<int> m_threads{0};     // of the readers, those that work; the others wait
    std::int64_t m_heldBackUntil = 0;  // traceNow()
    std::atomic<std::int64_t> m_made{0}, m_busy{0}, m_onCores{0};  // samples; nanoseconds, twice
    std::atomic<bool> m_stopped{false};
    std::uint32_t m_spanName = 0;
    std::optional<ReaderCount> m_worth;  // where threads are not set
    std::int64_t m_taken = 0;            // traceNow()
    std::vector<std::jthread> m_readers;
};

}  // namespace lockstep
