#include "engine/data/loader.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <system_error>
#include <utility>

#include "engine/core/core_wait.h"
#include "engine/core/error.h"
#include "engine/core/tensor.h"
#include "engine/data/resample.h"
#include "engine/data/sample.h"

namespace lockstep {

namespace {

using Clock = std::chrono::steady_clock;

// A reader is ahead of its rank most of the time: it gives way to compute threads on the same cores.
void prepareReaderThread() {
    pthread_setname_np(pthread_self(), "load");
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 5);
}

// Of this thread, in nanoseconds.
std::int64_t coreTime() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    constexpr std::int64_t kSecond = 1'000'000'000;
    return time.tv_sec * kSecond + time.tv_nsec;
}

}  // namespace

struct Loader::Slot {
    enum class State { Free, Filling, Ready, Leased };
    std::shared_ptr<std::byte> memory;
    State state = State::Free;
    Position at{};
    std::vector<std::int64_t> ids;  // of its samples; all of it is constant while they are made
    std::size_t claimed = 0, unfinished = 0;
    std::exception_ptr failure;  // of the first that failed
    std::size_t failedAt = 0;
};

// What a reader needs besides the slot; taken once.
struct Loader::Scratch {
    std::vector<std::span<std::byte>> room;       // where the dataset's fields of one sample go
    std::vector<std::uint8_t> pixels;             // an image on its way to be augmented, in whatever colours
    std::vector<std::uint8_t> whole;              // one that is cut here,
    std::vector<std::span<std::byte>> wholeRoom;  // and where the fields of its sample go
    std::optional<Sample> partner;                // what a sample is mixed with, and its image augmented
    std::vector<float> partnerImage;
};

BatchLayout batchLayout(const DatasetInfo& info, std::int64_t capacity, bool mixes, ImagesAs images) {
    const std::int64_t recipes = mixes ? 2 : 1;
    std::vector<Field> fields = info.fields, behind;
    for (Field& field : fields) {
        if (field.name != "image") continue;
        const Shape& one = field.type.shape;
        if (images == ImagesAs::Pixels) behind.push_back({"pixels", {{recipes * one[0], one[1], one[2]}, DType::U8}});
        if (images == ImagesAs::Made) field.type.dtype = DType::F32;
        else field = {"recipe", {{recipes * kRecipeNumbers}, DType::I32}};
    }
    fields.push_back({"ids", {{1}, DType::I64}});
    if (mixes) {
        fields.push_back({"label2", {{1}, DType::I32}});
        fields.push_back({"lambda", {{1}, DType::F32}});
    }
    fields.insert(fields.end(), behind.begin(), behind.end());
    return BatchLayout(std::move(fields), capacity);
}

namespace {

void blankLabel(std::span<std::byte> label) {
    constexpr std::int32_t kNone = -1;
    std::memcpy(label.data(), &kNone, sizeof kNone);
}

ImagesAs imagesOf(const BatchLayout& layout) {
    if (layout.find("recipe") < 0) return ImagesAs::Made;
    return layout.find("pixels") < 0 ? ImagesAs::Recipes : ImagesAs::Pixels;
}

std::shared_ptr<std::byte> ownMemory(std::size_t bytes) {
    const auto tensor = std::make_shared<HostTensor>(TensorType{Shape{static_cast<std::int64_t>(bytes)}, DType::U8});
    return {tensor, tensor->data()};
}

}  // namespace

BatchLease::BatchLease(BatchLease&& other) noexcept { *this = std::move(other); }

BatchLease& BatchLease::operator=(BatchLease&& other) noexcept {
    if (this == &other) return *this;
    if (m_loader) m_loader->giveBack(m_slot);
    m_loader = std::exchange(other.m_loader, nullptr);
    m_slot = other.m_slot;
    m_data = other.m_data;
    m_count = other.m_count;
    m_epoch = other.m_epoch;
    m_step = other.m_step;
    return *this;
}

BatchLease::~BatchLease() {
    if (m_loader) m_loader->giveBack(m_slot);
}

Loader::Loader(std::shared_ptr<const Dataset> data, Sampler sampler, BatchLayout layout, LoaderOptions options)
    : m_data(std::move(data)),
      m_sampler(sampler),
      m_layout(std::move(layout)),
      m_images(imagesOf(m_layout)),
      m_image(m_layout.find(m_images == ImagesAs::Made ? "image" : "recipe")),
      m_options(options) {
    const bool mixes = m_layout.find("lambda") >= 0;
    const bool isOurs = m_layout.fields() == batchLayout(m_data->info(), 0, mixes, m_images).fields();
    if (!isOurs || (m_options.augmentation.mixes() && !mixes)) {
        throw EngineError(EngineError::Kind::Internal, "loader",
                          "the batch layout is not the dataset's: " + text(m_layout.fields()));
    }
    const std::int64_t largest = m_options.partition.share(m_sampler.batchSize(0), m_options.rank).count;
    if (largest > m_layout.capacity() || m_sampler.count() > m_data->info().count) {
        throw EngineError(EngineError::Kind::Internal, "loader",
                          "a batch has more samples than its slot or the dataset");
    }
    m_total = std::max<std::int64_t>(m_options.epochs * m_sampler.stepsPerEpoch() - m_options.firstStep, 0);
    for (int slot = 0; slot < std::max(m_options.slotCount, 2); ++slot) {
        const std::size_t bytes = std::max<std::size_t>(m_layout.bytes(), 1);
        m_slots.push_back(std::make_unique<Slot>());
        m_slots.back()->memory = m_options.slotMemory ? m_options.slotMemory(bytes) : ownMemory(bytes);
        m_slots.back()->ids.reserve(static_cast<std::size_t>(m_layout.capacity()));
    }
    if (m_options.trace) m_spanName = m_options.trace->nameId("read");
    if (m_options.threads == 0 && !(m_options.limit > 0)) m_worth.emplace(m_options.mostThreads);
    try {
        useThreads(m_options.threads);
    } catch (...) {
        stop();  // the readers already started must not outlive the slots
        throw;
    }
}

// One more is a matter of speed: where there can be none, those that read go on.
void Loader::useThreads(int threads) {
    try {
        while (std::ssize(m_readers) < std::max(threads, 1)) addReader();
    } catch (const std::system_error&) {
        if (m_readers.empty() || !m_worth) throw;
        m_worth.reset();
        threads = static_cast<int>(m_readers.size());
    }
    const std::lock_guard lock(m_mutex);
    m_threads = std::max(threads, 1);
    m_changed.notify_all();
}

void Loader::addReader() {
    TraceLane* lane = m_options.trace ? &m_options.trace->addLane(m_options.rank, "load") : nullptr;
    Scratch scratch;
    scratch.room.resize(m_data->info().fields.size());
    if (m_image >= 0) scratch.pixels.resize(m_data->info().fields[static_cast<std::size_t>(m_image)].type.bytes());
    if (m_options.augmentation.mixes()) {
        scratch.partner.emplace(*m_data);
        scratch.partnerImage.resize(scratch.pixels.size());
    }
    m_readers.emplace_back([this, reader = static_cast<int>(m_readers.size()), lane,
                            scratch = std::move(scratch)]() mutable { readerMain(reader, scratch, lane); });
}

LoadPace Loader::pace() const {
    const std::lock_guard lock(m_mutex);
    return {m_made, static_cast<double>(m_busy) * 1e-9, m_threads, static_cast<double>(m_onCores) * 1e-9};
}

Loader::~Loader() {
    stop();
    m_readers.clear();
}

void Loader::stop() noexcept {
    const std::lock_guard lock(m_mutex);
    m_stopped = true;
    m_changed.notify_all();
}

Loader::Slot& Loader::slotOf(std::int64_t batch) const {
    return *m_slots[static_cast<std::size_t>(batch) % m_slots.size()];
}

Loader::Position Loader::positionOf(std::int64_t batch) const {
    const std::int64_t steps = m_sampler.stepsPerEpoch();
    const std::int64_t step = m_options.firstStep + batch;
    return {m_options.firstEpoch + step / steps, step % steps};
}

BatchLease Loader::next() {
    const std::int64_t asked = traceNow();
    BatchLease lease = [this]() -> BatchLease {
        std::unique_lock lock(m_mutex);
        if (m_nextToTake == m_total) return {};
        Slot& slot = slotOf(m_nextToTake);
        m_changed.wait(lock, [&] { return m_stopped || slot.state == Slot::State::Ready; });
        if (m_stopped) return {};
        if (slot.failure) std::rethrow_exception(slot.failure);
        return take(slot);
    }();
    watch(lease, asked);
    return lease;
}

BatchLease Loader::tryNext() {
    BatchLease lease = [this]() -> BatchLease {
        const std::lock_guard lock(m_mutex);
        if (m_stopped || m_nextToTake == m_total) return {};
        Slot& slot = slotOf(m_nextToTake);
        return slot.state == Slot::State::Ready && !slot.failure ? take(slot) : BatchLease();
    }();
    watch(lease, traceNow());
    return lease;
}

// Between two epochs other things take their time.
void Loader::watch(const BatchLease& taken, std::int64_t asked) {
    if (!taken || !m_worth) return;
    const std::int64_t now = traceNow(), before = std::exchange(m_taken, now);
    if (before == 0 || taken.step() == 0) return;
    m_worth->add(taken.count(), static_cast<double>(now - before) * 1e-9, static_cast<double>(now - asked) * 1e-9);
    if (m_worth->count() != m_threads) useThreads(m_worth->count());
}

BatchLease Loader::take(Slot& slot) {
    BatchLease lease;
    lease.m_loader = this;
    lease.m_slot = static_cast<int>(static_cast<std::size_t>(m_nextToTake) % m_slots.size());
    lease.m_data = slot.memory.get();
    lease.m_count = std::ssize(slot.ids);
    lease.m_epoch = slot.at.epoch;
    lease.m_step = slot.at.step;
    slot.state = Slot::State::Leased;
    ++m_nextToTake;
    return lease;
}

void Loader::giveBack(int slot) noexcept {
    const std::lock_guard lock(m_mutex);
    m_slots[static_cast<std::size_t>(slot)]->state = Slot::State::Free;
    m_changed.notify_all();
}

std::optional<Loader::Part> Loader::claim(int reader) {
    std::unique_lock lock(m_mutex);
    const auto isOver = [&] { return m_stopped || (!m_open && m_nextToFill >= m_total); };
    const auto isWork = [&] { return m_open || slotOf(m_nextToFill).state == Slot::State::Free; };
    m_changed.wait(lock, [&] { return isOver() || (reader < m_threads && isWork()); });
    if (isOver()) return std::nullopt;
    if (!m_open) begin();
    Slot& slot = *m_open;
    constexpr std::size_t kPartsOfEach = 4;  // so that all end at about the same time
    const std::size_t parts = m_threads > 1 ? kPartsOfEach * static_cast<std::size_t>(m_threads) : 1;
    const std::size_t size = (slot.ids.size() + parts - 1) / parts;
    const Part part{&slot, slot.claimed, std::min(slot.claimed + size, slot.ids.size())};
    slot.claimed = part.end;
    if (slot.claimed == slot.ids.size()) m_open = nullptr;
    m_changed.notify_all();  // another reader may be waiting for the rest, or for the batch after this one
    return part;
}

void Loader::begin() {
    m_open = &slotOf(m_nextToFill);
    m_open->state = Slot::State::Filling;
    m_open->at = positionOf(m_nextToFill++);
    const Position at = m_open->at;
    const Share share = m_options.partition.share(m_sampler.batchSize(at.step), m_options.rank);
    m_sampler.batch(at.epoch, at.step, share, m_open->ids);
    m_open->claimed = 0;
    m_open->unfinished = m_open->ids.size();
}

// Nobody will take what comes after a failure.
void Loader::finish(const Part& part, std::exception_ptr failure) {
    const std::lock_guard lock(m_mutex);
    Slot& slot = *part.slot;
    slot.unfinished -= part.end - part.begin;
    if (failure) {
        m_nextToFill = m_total;
        if (!slot.failure || part.begin < slot.failedAt) slot.failure = std::move(failure), slot.failedAt = part.begin;
        if (m_open == &slot) slot.unfinished -= slot.ids.size() - slot.claimed, m_open = nullptr;
    }
    if (slot.unfinished == 0) slot.state = Slot::State::Ready;
    m_changed.notify_all();
}

void Loader::readerMain(int reader, Scratch& scratch, TraceLane* lane) {
    prepareReaderThread();
    currentLoadTimes = m_options.times;
    const CoreWait coreWait;
    while (const auto part = claim(reader)) {
        const Position at = part->slot->at;
        const std::int64_t begin = traceNow(), waited = coreWait.nanoseconds(), computed = coreTime();
        std::exception_ptr failure = tryFill(*part, scratch);
        holdBack(begin, *part);
        const std::int64_t end = traceNow();
        m_busy += std::max(end - begin - (coreWait.nanoseconds() - waited), m_threads.load() * timeOf(*part));
        m_onCores += coreTime() - computed;
        m_made += static_cast<std::int64_t>(part->end - part->begin);
        if (lane) lane->add({m_spanName, at.epoch * m_sampler.stepsPerEpoch() + at.step, begin, end});
        finish(*part, std::move(failure));
    }
}

std::exception_ptr Loader::tryFill(const Part& part, Scratch& scratch) const noexcept {
    try {
        fill(part, scratch);
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

// With a limit, a part is made when its time has come, however soon its samples were.
void Loader::holdBack(std::int64_t begin, const Part& part) {
    if (!(m_options.limit > 0) || m_options.urge.stop_requested()) return;
    std::unique_lock lock(m_mutex);
    m_heldBackUntil = std::max(m_heldBackUntil, begin) + timeOf(part);
    const Clock::time_point until{std::chrono::nanoseconds(m_heldBackUntil)};
    constexpr auto kLook = std::chrono::milliseconds(50);
    const auto isOver = [this] { return m_stopped || m_options.urge.stop_requested(); };
    while (!isOver() && Clock::now() < until) m_changed.wait_until(lock, std::min(until, Clock::now() + kLook), isOver);
}

std::int64_t Loader::timeOf(const Part& part) const {
    const auto samples = static_cast<double>(part.end - part.begin);
    return m_options.limit > 0 ? static_cast<std::int64_t>(1e9 * samples / m_options.limit) : 0;
}

void Loader::fill(const Part& part, Scratch& scratch) const {
    for (std::size_t place = part.begin; place < part.end && !m_stopped; ++place)
        fillSample(*part.slot, place, scratch);
}

void Loader::fillSample(Slot& slot, std::size_t place, Scratch& scratch) const {
    std::byte* const base = slot.memory.get();
    const std::int64_t id = slot.ids[place], epoch = slot.at.epoch;
    for (std::size_t f = 0; f < scratch.room.size(); ++f) scratch.room[f] = m_layout.place(base, f, place);
    std::memcpy(m_layout.place(base, scratch.room.size(), place).data(), &id, sizeof id);
    if (m_image < 0) return readSample(id, epoch, scratch.room, scratch);

    if (m_images != ImagesAs::Made) return fillPixels(slot, place, scratch);
    const auto image = static_cast<std::size_t>(m_image);
    const std::span out(reinterpret_cast<float*>(scratch.room[image].data()), scratch.pixels.size());
    const auto* const resident =
        m_options.augmentation.cut ? nullptr : reinterpret_cast<const std::uint8_t*>(m_data->resident(id, image));
    scratch.room[image] = resident ? std::span<std::byte>() : std::as_writable_bytes(std::span(scratch.pixels));
    readSample(id, epoch, scratch.room, scratch);
    writeImage({resident ? resident : scratch.pixels.data(), scratch.pixels.size()}, epoch, id, out, scratch);
    if (scratch.partner) mixSample(slot, place, scratch);
}

void Loader::writeImage(std::span<const std::uint8_t> image, std::int64_t epoch, std::int64_t id, std::span<float> out,
                        Scratch& scratch) const {
    const LoadTimer timer(LoadPart::Augment);
    const Augmentation& how = m_options.augmentation;
    image = jitterColours(how, m_data->info(), image, m_options.seed, epoch, id, scratch.pixels);
    augment(how, m_data->info(), image, m_options.seed, epoch, id, out);
}

// One that cannot be read keeps its place, so that batches stay what they are, and has no part in the sums.
void Loader::readSample(std::int64_t id, std::int64_t epoch, std::span<const std::span<std::byte>> room,
                        Scratch& scratch) const {
    try {
        readImage(id, epoch, room, scratch);
    } catch (const UnreadableSample& error) {
        if (!m_options.bad) throw ProblemError(error.problem());
        m_options.bad->add({m_options.isTraining, id, error.problem()});
        for (const auto& field : room) std::ranges::fill(field, std::byte{0});
        blankLabel(room[static_cast<std::size_t>(m_layout.find("label"))]);
    }
}

// Images that all have one size lie in their dataset as they are, and are cut here.
void Loader::readImage(std::int64_t id, std::int64_t epoch, std::span<const std::span<std::byte>> room,
                       Scratch& scratch) const {
    const auto& cut = m_options.augmentation.cut;
    if (!cut || m_image < 0) return m_data->read(id, room);
    const auto choose = [&](int height, int width) {
        return randomCut(*cut, height, width, m_options.seed, epoch, id);
    };
    if (m_data->info().isCut) return m_data->readCut(id, room, choose);
    const ImageShape shape = m_data->info().image();
    scratch.whole.resize(scratch.pixels.size());
    scratch.wholeRoom.assign(room.begin(), room.end());
    scratch.wholeRoom[static_cast<std::size_t>(m_image)] = std::as_writable_bytes(std::span(scratch.whole));
    m_data->read(id, scratch.wholeRoom);
    const auto out = room[static_cast<std::size_t>(m_image)];
    resamplePlanes(scratch.whole, shape.height, shape.width, choose(shape.height, shape.width).box,
                   {reinterpret_cast<std::uint8_t*>(out.data()), out.size()});
}

void Loader::fillPixels(Slot& slot, std::size_t place, Scratch& scratch) const {
    std::byte* const base = slot.memory.get();
    const std::int64_t id = slot.ids[place], epoch = slot.at.epoch;
    const auto image = static_cast<std::size_t>(m_image);
    const std::byte* const kept = m_images == ImagesAs::Recipes ? m_data->resident(id, image) : nullptr;
    const std::span<std::byte> room =
        m_images == ImagesAs::Pixels
            ? m_layout.place(base, m_layout.fields().size() - 1, place).first(scratch.pixels.size())
            : std::as_writable_bytes(std::span(scratch.pixels));
    scratch.room[image] = kept ? std::span<std::byte>() : room;
    readSample(id, epoch, scratch.room, scratch);
    const auto* pixels = reinterpret_cast<const std::uint8_t*>(kept ? kept : room.data());
    recipesOf(base, place)[0] = recipeFor({pixels, room.size()}, epoch, id, scratch);
    if (scratch.partner) mixSample(slot, place, scratch);
}

// What is to be known of the whole image is in it: the device makes each pixel by itself.
ImageRecipe Loader::recipeFor(std::span<const std::uint8_t> image, std::int64_t epoch, std::int64_t id,
                              Scratch& scratch) const {
    const ImageShape shape = m_data->info().image();
    ImageRecipe recipe = recipeOf(m_options.augmentation, shape, m_options.seed, epoch, id);
    recipe.source = static_cast<std::int32_t>(m_options.firstKept + id);
    settle(recipe.jitter, shape.channels, image, scratch.pixels);
    return recipe;
}

std::span<ImageRecipe> Loader::recipesOf(std::byte* base, std::size_t place) const {
    const std::span<std::byte> bytes = m_layout.place(base, static_cast<std::size_t>(m_image), place);
    return {reinterpret_cast<ImageRecipe*>(bytes.data()), bytes.size() / sizeof(ImageRecipe)};
}

// Fields that only mixtures have come behind the ids. A mixture with what cannot be read has no part in the sums.
void Loader::mixSample(Slot& slot, std::size_t place, Scratch& scratch) const {
    std::byte* const base = slot.memory.get();
    const std::int64_t epoch = slot.at.epoch;
    const DatasetInfo& info = m_data->info();
    const Mixture mixture =
        mixtureOf(m_options.augmentation, info.image(), info.count, m_options.seed, epoch, slot.ids[place]);
    const Sample& partner =
        scratch.partner->readBy([&](auto room) { readSample(mixture.partner, epoch, room, scratch); });
    const std::int32_t label = std::max(partner.label(), 0);
    std::memcpy(m_layout.place(base, scratch.room.size() + 1, place).data(), &label, sizeof label);
    if (partner.label() < 0) blankLabel(m_layout.place(base, static_cast<std::size_t>(m_layout.find("label")), place));
    std::memcpy(m_layout.place(base, scratch.room.size() + 2, place).data(), &mixture.lambda, sizeof mixture.lambda);
    if (m_images != ImagesAs::Made) return mixPixels(base, place, epoch, mixture, partner.image(), scratch);
    writeImage(partner.image(), epoch, mixture.partner, scratch.partnerImage, scratch);
    auto* image = reinterpret_cast<float*>(m_layout.place(base, static_cast<std::size_t>(m_image), place).data());
    mix(mixture, info.image(), scratch.partnerImage, {image, scratch.partnerImage.size()});
}

// As the device will find it: the partner's recipe, and its pixels unless the device has them.
void Loader::mixPixels(std::byte* base, std::size_t place, std::int64_t epoch, const Mixture& mixture,
                       std::span<const std::uint8_t> partner, Scratch& scratch) const {
    recipesOf(base, place)[1] = recipeFor(partner, epoch, mixture.partner, scratch);
    recipesOf(base, place)[mixture.isOwn ? 0 : 1].pasted = mixture.box;
    if (m_images != ImagesAs::Pixels) return;
    const auto pixels = m_layout.place(base, m_layout.fields().size() - 1, place).last(partner.size());
    std::ranges::copy(std::as_bytes(partner), pixels.begin());
}

}  // namespace lockstep
