#include "engine/data/loader.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <utility>

#include "engine/core/error.h"
#include "engine/core/tensor.h"
#include "engine/data/resample.h"
#include "engine/data/sample.h"

namespace lockstep {

namespace {

// A reader is ahead of its rank most of the time: it gives way to compute threads on the same cores.
void prepareReaderThread() {
    pthread_setname_np(pthread_self(), "load");
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 5);
}

}  // namespace

struct Loader::Slot {
    enum class State { Free, Filling, Ready, Leased };
    std::shared_ptr<std::byte> memory;
    State state = State::Free;
    std::int64_t count = 0;
    std::exception_ptr failure;
};

// What a reader needs besides the slot; taken once.
struct Loader::Scratch {
    std::vector<std::int64_t> ids;
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
    }
    const std::uint32_t spanName = m_options.trace ? m_options.trace->nameId("read") : 0;
    try {
        for (int reader = 0; reader < std::max(m_options.threads, 1); ++reader) {
            TraceLane* lane = m_options.trace ? &m_options.trace->addLane(m_options.rank, "load") : nullptr;
            Scratch scratch;
            scratch.ids.reserve(static_cast<std::size_t>(m_layout.capacity()));
            scratch.room.resize(m_data->info().fields.size());
            if (m_image >= 0)
                scratch.pixels.resize(m_data->info().fields[static_cast<std::size_t>(m_image)].type.bytes());
            if (m_options.augmentation.mixes()) {
                scratch.partner.emplace(*m_data);
                scratch.partnerImage.resize(scratch.pixels.size());
            }
            m_readers.emplace_back([this, lane, spanName, scratch = std::move(scratch)]() mutable {
                readerMain(scratch, lane, spanName);
            });
        }
    } catch (...) {
        stop();  // the readers already started must not outlive the slots
        throw;
    }
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
    std::unique_lock lock(m_mutex);
    if (m_nextToTake == m_total) return {};
    Slot& slot = slotOf(m_nextToTake);
    m_changed.wait(lock, [&] { return m_stopped || slot.state == Slot::State::Ready; });
    if (m_stopped) return {};
    if (slot.failure) std::rethrow_exception(slot.failure);

    return take(slot);
}

BatchLease Loader::tryNext() {
    const std::lock_guard lock(m_mutex);
    if (m_stopped || m_nextToTake == m_total) return {};
    Slot& slot = slotOf(m_nextToTake);
    return slot.state == Slot::State::Ready && !slot.failure ? take(slot) : BatchLease();
}

BatchLease Loader::take(Slot& slot) {
    const Position at = positionOf(m_nextToTake);
    BatchLease lease;
    lease.m_loader = this;
    lease.m_slot = static_cast<int>(static_cast<std::size_t>(m_nextToTake) % m_slots.size());
    lease.m_data = slot.memory.get();
    lease.m_count = slot.count;
    lease.m_epoch = at.epoch;
    lease.m_step = at.step;
    slot.state = Slot::State::Leased;
    ++m_nextToTake;
    return lease;
}

void Loader::giveBack(int slot) noexcept {
    const std::lock_guard lock(m_mutex);
    m_slots[static_cast<std::size_t>(slot)]->state = Slot::State::Free;
    m_changed.notify_all();
}

std::int64_t Loader::claim() {
    std::unique_lock lock(m_mutex);
    const auto claimable = [&] {
        return m_stopped || m_nextToFill >= m_total || slotOf(m_nextToFill).state == Slot::State::Free;
    };
    m_changed.wait(lock, claimable);
    if (m_stopped || m_nextToFill >= m_total) return -1;
    slotOf(m_nextToFill).state = Slot::State::Filling;
    m_changed.notify_all();  // another reader may be waiting for the batch after this one
    return m_nextToFill++;
}

void Loader::finish(Slot& slot) {
    const std::lock_guard lock(m_mutex);
    slot.state = Slot::State::Ready;
    if (slot.failure) m_nextToFill = m_total;  // nobody will take what comes after
    m_changed.notify_all();
}

void Loader::readerMain(Scratch& scratch, TraceLane* lane, std::uint32_t spanName) {
    prepareReaderThread();
    currentLoadTimes = m_options.times;
    for (std::int64_t batch; (batch = claim()) >= 0;) {
        Slot& slot = slotOf(batch);
        const Position at = positionOf(batch);
        const std::int64_t begin = traceNow();
        try {
            fill(slot, at, scratch);
        } catch (...) {
            slot.failure = std::current_exception();
        }
        if (lane) lane->add({spanName, at.epoch * m_sampler.stepsPerEpoch() + at.step, begin, traceNow()});
        finish(slot);
    }
}

void Loader::fill(Slot& slot, Position at, Scratch& scratch) const {
    const Share share = m_options.partition.share(m_sampler.batchSize(at.step), m_options.rank);
    m_sampler.batch(at.epoch, at.step, share, scratch.ids);
    slot.count = static_cast<std::int64_t>(scratch.ids.size());
    for (std::size_t place = 0; place < scratch.ids.size() && !m_stopped; ++place) {
        fillSample(slot.memory.get(), place, at.epoch, scratch);
    }
}

void Loader::fillSample(std::byte* base, std::size_t place, std::int64_t epoch, Scratch& scratch) const {
    const std::int64_t id = scratch.ids[place];
    for (std::size_t f = 0; f < scratch.room.size(); ++f) scratch.room[f] = m_layout.place(base, f, place);
    std::memcpy(m_layout.place(base, scratch.room.size(), place).data(), &id, sizeof id);
    if (m_image < 0) return readSample(id, epoch, scratch.room, scratch);

    if (m_images != ImagesAs::Made) return fillPixels(base, place, epoch, scratch);
    const auto image = static_cast<std::size_t>(m_image);
    const std::span out(reinterpret_cast<float*>(scratch.room[image].data()), scratch.pixels.size());
    const auto* const resident =
        m_options.augmentation.cut ? nullptr : reinterpret_cast<const std::uint8_t*>(m_data->resident(id, image));
    scratch.room[image] = resident ? std::span<std::byte>() : std::as_writable_bytes(std::span(scratch.pixels));
    readSample(id, epoch, scratch.room, scratch);
    writeImage({resident ? resident : scratch.pixels.data(), scratch.pixels.size()}, epoch, id, out, scratch);
    if (scratch.partner) mixSample(base, place, epoch, scratch);
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
        constexpr std::int32_t kNone = -1;
        for (const auto& field : room) std::ranges::fill(field, std::byte{0});
        const auto label = static_cast<std::size_t>(m_layout.find("label"));
        std::memcpy(room[label].data(), &kNone, sizeof kNone);
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

void Loader::fillPixels(std::byte* base, std::size_t place, std::int64_t epoch, Scratch& scratch) const {
    const std::int64_t id = scratch.ids[place];
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
    if (scratch.partner) mixSample(base, place, epoch, scratch);
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

// Fields that only mixtures have come behind the ids.
void Loader::mixSample(std::byte* base, std::size_t place, std::int64_t epoch, Scratch& scratch) const {
    const DatasetInfo& info = m_data->info();
    const Mixture mixture =
        mixtureOf(m_options.augmentation, info.image(), info.count, m_options.seed, epoch, scratch.ids[place]);
    const Sample& partner =
        scratch.partner->readBy([&](auto room) { readSample(mixture.partner, epoch, room, scratch); });
    const std::int32_t label = partner.label();
    std::memcpy(m_layout.place(base, scratch.room.size() + 1, place).data(), &label, sizeof label);
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
