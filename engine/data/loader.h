#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/core/trace.h"
#include "engine/data/augment.h"
#include "engine/data/bad_samples.h"
#include "engine/data/batch_layout.h"
#include "engine/data/dataset.h"
#include "engine/data/load_times.h"
#include "engine/data/mixture.h"
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
    int threads = 1;      // reader threads
    int slotCount = 3;    // batch slots, at least 2
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
    TraceBoard* trace = nullptr;  // a "load" lane per reader thread of this rank
    // Memory of a slot, zeroed; null: the loader's own. Outlives the loader or is shared with it.
    std::function<std::shared_ptr<std::byte>(std::size_t bytes)> slotMemory{};
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

// The only stream of data: reader threads fill a fixed pool of batch slots ahead of the rank that takes them, in order.
// Nothing is allocated per batch. next() is called by one thread. A reader's exception is rethrown by next() in the
// place of the batch that failed; the batches before it are still delivered. Readers run at a lower priority than
// compute threads.
class Loader {
public:
    // The layout has batchLayout's fields and room for this rank's share; otherwise EngineError(Internal).
    Loader(std::shared_ptr<const Dataset> data, Sampler sampler, BatchLayout layout, LoaderOptions options);
    ~Loader();  // stops and joins; leases must be gone by then

    BatchLease next();     // blocks; an empty lease after the last batch or after stop()
    BatchLease tryNext();  // the same if it is there already, else an empty lease
    void stop() noexcept;  // any thread
    const BatchLayout& layout() const { return m_layout; }

private:
    struct Slot;
    struct Scratch;
    struct Position {
        std::int64_t epoch, step;
    };
    friend class BatchLease;

    Position positionOf(std::int64_t batch) const;
    Slot& slotOf(std::int64_t batch) const;
    void giveBack(int slot) noexcept;
    void readerMain(Scratch& scratch, TraceLane* lane, std::uint32_t spanName);
    std::int64_t claim();  // the next batch to fill once its slot is free; -1: no more
    void fill(Slot& slot, Position at, Scratch& scratch) const;
    void fillSample(std::byte* base, std::size_t place, std::int64_t epoch, Scratch& scratch) const;
    void fillPixels(std::byte* base, std::size_t place, std::int64_t epoch, Scratch& scratch) const;
    void readSample(std::int64_t id, std::int64_t epoch, std::span<const std::span<std::byte>> room,
                    Scratch& scratch) const;
    void readImage(std::int64_t id, std::int64_t epoch, std::span<const std::span<std::byte>> room,
                   Scratch& scratch) const;
    void mixSample(std::byte* base, std::size_t place, std::int64_t epoch, Scratch& scratch) const;
    void writeImage(std::span<const std::uint8_t> image, std::int64_t epoch, std::int64_t id, std::span<float> out,
                    Scratch& scratch) const;
    ImageRecipe recipeFor(std::span<const std::uint8_t> image, std::int64_t epoch, std::int64_t id,
                          Scratch& scratch) const;
    void mixPixels(std::byte* base, std::size_t place, std::int64_t epoch, const Mixture& mixture,
                   std::span<const std::uint8_t> partner, Scratch& scratch) const;
    std::span<ImageRecipe> recipesOf(std::byte* base, std::size_t place) const;
    void finish(Slot& slot);
    BatchLease take(Slot& slot);  // ready, and the next; under the mutex

    std::shared_ptr<const Dataset> m_data;
    Sampler m_sampler;
    BatchLayout m_layout;
    ImagesAs m_images;
    int m_image;  // the field to augment, or its recipes'; -1: none
    LoaderOptions m_options;
    std::vector<std::unique_ptr<Slot>> m_slots;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::int64_t m_nextToFill = 0, m_nextToTake = 0, m_total = 0;
    std::atomic<bool> m_stopped{false};
    std::vector<std::jthread> m_readers;
};

}  // namespace lockstep
