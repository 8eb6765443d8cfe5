#include <QtTest>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <latch>
#include <new>
#include <set>
#include <thread>

#include "engine/core/error.h"
#include "engine/data/loader.h"

namespace {
std::atomic<bool> counting{false};
std::atomic<int> allocations{0};
}  // namespace

void* operator new(std::size_t bytes) {
    if (counting) ++allocations;
    if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

using namespace lockstep;

namespace {

// Pixels and labels are functions of the index; may fail at one index, and may keep its pixels in memory.
class TestData : public Dataset {
public:
    explicit TestData(std::int64_t count, bool resident = false) {
        m_info.id = "test";
        m_info.count = count;
        m_info.fields = imageFields({3, 4, 5});
        m_info.classes = {"a", "b", "c"};
        m_info.mean = {0.1f, 0.2f, 0.3f};
        m_info.deviation = {0.5f, 0.6f, 0.7f};
        for (std::int64_t i = 0; resident && i < count * 60; ++i) m_pixels.push_back(pixel(i / 60, i % 60));
    }

    static std::uint8_t pixel(std::int64_t index, std::int64_t position) {
        return static_cast<std::uint8_t>(index * 7 + position * 3);
    }

    const DatasetInfo& info() const override { return m_info; }
    const std::byte* resident(std::int64_t index, std::size_t field) const override {
        const bool here = field == 0 && !m_pixels.empty();
        return here ? reinterpret_cast<const std::byte*>(&m_pixels[static_cast<std::size_t>(index * 60)]) : nullptr;
    }
    void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override {
        if (beforeRead) beforeRead();
        if (index == unreadable) throw UnreadableSample({"sample-17.png", "image.empty", {}});
        if (index == failAt) throw EngineError(EngineError::Kind::Io, "sample-13.png", "gone");
        const std::span<std::byte> image = into[0];
        if (image.empty() != !m_pixels.empty()) ++copies;
        for (std::size_t i = 0; i < image.size(); ++i) image[i] = std::byte{pixel(index, static_cast<std::int64_t>(i))};
        ++reads;
        const auto label = static_cast<std::int32_t>(index % 3);
        std::memcpy(into[1].data(), &label, sizeof label);
    }

    std::int64_t failAt = -1, unreadable = -1;
    std::function<void()> beforeRead;
    mutable std::atomic<int> reads{0}, copies{0};

private:
    DatasetInfo m_info;
    std::vector<std::uint8_t> m_pixels;
};

// Fields of many types and sizes, every byte a function of sample, field and position.
class ManyFields : public Dataset {
public:
    ManyFields(std::int64_t count, bool image) {
        m_info.count = count;
        m_info.fields = {{"tokens", {{7}, DType::I32}}, {"mask", {{7}, DType::U8}}};
        if (image) m_info.fields.push_back({"image", {{1, 2, 3}, DType::U8}});
        m_info.fields.push_back({"label", {{1}, DType::I32}});
        m_info.fields.push_back({"weight", {{2, 3}, DType::F64}});
        m_info.mean = {0};
        m_info.deviation = {1.0f / 255};  // an image comes out as the values of its bytes
    }

    static std::byte at(std::int64_t index, const Field& field, std::size_t position) {
        return static_cast<std::byte>(31 * index + 7 * field.name[0] + 3 * static_cast<int>(position));
    }

    const DatasetInfo& info() const override { return m_info; }
    void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override {
        if (into.size() != m_info.fields.size()) throw EngineError(EngineError::Kind::Internal, "", "other fields");
        for (std::size_t f = 0; f < into.size(); ++f) {
            if (into[f].size() != m_info.fields[f].type.bytes())
                throw EngineError(EngineError::Kind::Internal, m_info.fields[f].name, "another size");
            for (std::size_t p = 0; p < into[f].size(); ++p) into[f][p] = at(index, m_info.fields[f], p);
        }
    }

private:
    DatasetInfo m_info;
};

// The first field of the batch that is not what the dataset wrote; empty: all are.
std::string wrongField(const BatchLease& lease, const BatchLayout& layout, const DatasetInfo& info,
                       const std::vector<std::int64_t>& ids) {
    for (std::size_t f = 0; f < info.fields.size(); ++f) {
        const Field& field = info.fields[f];
        const std::byte* found = lease.data() + layout.offset(static_cast<std::size_t>(layout.find(field.name)));
        for (const std::int64_t id : ids) {
            for (std::size_t p = 0; p < field.type.bytes(); ++p) {
                const std::byte wanted = ManyFields::at(id, field, p);
                const float pixel = static_cast<float>(std::to_integer<int>(wanted));
                const bool right = field.name == "image"
                                       ? std::abs(reinterpret_cast<const float*>(found)[p] - pixel) < 0.01f
                                       : found[p] == wanted;
                if (!right) return field.name;
            }
            found += layout.sampleBytes(static_cast<std::size_t>(layout.find(field.name)));
        }
    }
    return std::memcmp(ids.data(), lease.data() + layout.offset(info.fields.size()), ids.size() * 8) == 0 ? "" : "ids";
}

struct Seen {
    std::vector<std::int64_t> ids;
    std::int64_t epoch, step;
    std::string image;
    bool operator==(const Seen&) const = default;
};

Seen look(const BatchLease& lease, const BatchLayout& layout) {
    Seen seen{{}, lease.epoch(), lease.step(), {}};
    const auto count = static_cast<std::size_t>(lease.count());
    const auto* ids = reinterpret_cast<const std::int64_t*>(lease.data() + layout.offset(2));
    seen.ids.assign(ids, ids + count);
    seen.image.assign(reinterpret_cast<const char*>(lease.data()), count * layout.sampleBytes(0));
    return seen;
}

std::vector<Seen> all(const std::shared_ptr<TestData>& data, std::int64_t batch, const LoaderOptions& options) {
    const Sampler sampler(data->info().count, batch, options.seed, Sampler::Order::Shuffled);
    Loader loader(data, sampler, batchLayout(data->info(), batch), options);
    std::vector<Seen> out;
    while (const BatchLease lease = loader.next()) out.push_back(look(lease, loader.layout()));
    return out;
}

}  // namespace

class TestLoader : public QObject {
    Q_OBJECT
private slots:
    void layoutIsAlignedAndNamed() {
        const BatchLayout layout = batchLayout(TestData(1).info(), 7);
        QCOMPARE(layout.fields().size(), std::size_t{3});
        QCOMPARE(layout.find("image"), 0);
        QCOMPARE(layout.find("mask"), -1);
        QCOMPARE(layout.sampleBytes(0), std::size_t{240});
        QCOMPARE(layout.offset(1), std::size_t{7 * 240 + 48});
        for (std::size_t f = 0; f < 3; ++f) QVERIFY(layout.offset(f) % 64 == 0);
        QCOMPARE(layout.bytes() % 64, std::size_t{0});
    }

    // The sample and its partner, both augmented as they would be alone, and mixed; the same for any rank.
    void mixturesAreOfTwoSamples_data() {
        QTest::addColumn<double>("mixup");
        QTest::addColumn<double>("cutmix");
        QTest::addRow("mixup") << 0.5 << 0.0;
        QTest::addRow("cutmix") << 0.0 << 1.0;
        QTest::addRow("either") << 0.5 << 1.0;
    }
    void mixturesAreOfTwoSamples() {
        QFETCH(double, mixup);
        QFETCH(double, cutmix);
        LoaderOptions options;
        options.seed = 9;
        options.epochs = 2;
        options.augmentation = {.flip = true, .mixup = mixup, .cutmix = cutmix};
        const Sampler sampler(23, 5, 9, Sampler::Order::Shuffled);
        std::vector<float> own(60), other(60);
        for (const bool resident : {false, true}) {
            const auto data = std::make_shared<TestData>(23, resident);
            const BatchLayout layout = batchLayout(data->info(), 3, true);
            options.threads = resident ? 2 : 1;
            const auto imageOf = [&](std::int64_t epoch, std::int64_t id, std::vector<float>& out) {
                std::vector<std::uint8_t> pixels;
                for (std::int64_t p = 0; p < 60; ++p) pixels.push_back(TestData::pixel(id, p));
                augment(options.augmentation, data->info(), pixels, 9, epoch, id, out);
            };
            for (options.rank = 0; options.rank < 2; ++options.rank) {
                options.partition = Partition::byRanks(2, 1);
                Loader loader(data, sampler, layout, options);
                while (const BatchLease lease = loader.next()) {
                    const auto at = [&]<class T>(T, const char* name) {
                        return reinterpret_cast<const T*>(lease.data() +
                                                          layout.offset(static_cast<std::size_t>(layout.find(name))));
                    };
                    for (std::int64_t i = 0; i < lease.count(); ++i) {
                        const std::int64_t id = at(std::int64_t{}, "ids")[i];
                        const Mixture mixture = mixtureOf(options.augmentation, {3, 4, 5}, 23, 9, lease.epoch(), id);
                        QCOMPARE(at(std::int32_t{}, "label")[i], static_cast<std::int32_t>(id % 3));
                        QCOMPARE(at(std::int32_t{}, "label2")[i], static_cast<std::int32_t>(mixture.partner % 3));
                        QCOMPARE(at(0.0f, "lambda")[i], mixture.lambda);
                        imageOf(lease.epoch(), id, own);
                        imageOf(lease.epoch(), mixture.partner, other);
                        mix(mixture, {3, 4, 5}, other, own);
                        QVERIFY(std::memcmp(own.data(), at(0.0f, "image") + i * 60, 240) == 0);
                    }
                }
            }
        }
    }

    // A mixture with what cannot be read counts for nothing; what can be is mixed as ever.
    void mixturesWithABlankHaveNoLabel() {
        const auto data = std::make_shared<TestData>(40);
        data->unreadable = 17;
        BadSamples bad;
        LoaderOptions options;
        options.augmentation = {.mixup = 0.5};
        options.bad = &bad;
        const BatchLayout layout = batchLayout(data->info(), 8, true);
        Loader loader(data, Sampler(40, 8, 3, Sampler::Order::Shuffled), layout, options);
        int blank = 0;
        while (const BatchLease lease = loader.next()) {
            const auto at = [&]<class T>(T, const char* name, std::int64_t i) {
                const auto place = layout.place(lease.data(), static_cast<std::size_t>(layout.find(name)),
                                                static_cast<std::size_t>(i));
                return *reinterpret_cast<const T*>(place.data());
            };
            for (std::int64_t i = 0; i < lease.count(); ++i) {
                const std::int64_t id = at(std::int64_t{}, "ids", i);
                const Mixture mixture = mixtureOf(options.augmentation, {3, 4, 5}, 40, 0, lease.epoch(), id);
                const bool isBlank = id == 17 || mixture.partner == 17;
                QCOMPARE(at(std::int32_t{}, "label", i), isBlank ? -1 : static_cast<std::int32_t>(id % 3));
                QVERIFY(at(std::int32_t{}, "label2", i) >= 0);
                blank += isBlank;
            }
        }
        QVERIFY(blank >= 1);
        QCOMPARE(bad.count(), std::int64_t{1});
    }

    // Whoever follows a batch's recipes has the bits that the loader makes itself.
    void recipesMakeTheSameImages_data() {
        QTest::addColumn<bool>("kept");
        QTest::addColumn<double>("mixup");
        QTest::addColumn<double>("cutmix");
        QTest::addColumn<double>("jitter");
        for (const bool kept : {false, true})
            for (const double mixup : {0.0, 0.4})
                for (const double cutmix : {0.0, 1.0})
                    for (const double jitter : {0.0, 0.4})
                        QTest::addRow("%s, mixup %g, cutmix %g, jitter %g", kept ? "kept" : "in the batch", mixup,
                                      cutmix, jitter)
                            << kept << mixup << cutmix << jitter;
    }
    void recipesMakeTheSameImages() {
        QFETCH(bool, kept);
        QFETCH(double, mixup);
        const auto data = std::make_shared<TestData>(23, kept);
        const DatasetInfo& info = data->info();
        QFETCH(double, cutmix);
        QFETCH(double, jitter);
        const bool mixes = mixup > 0 || cutmix > 0;
        LoaderOptions options;
        options.seed = 4;
        options.epochs = 3;
        options.augmentation = {
            .cropPadding = 2, .flip = true, .cutout = 2, .erasing = 0.5, .mixup = mixup, .cutmix = cutmix};
        options.augmentation.jitter = {jitter, jitter, jitter, jitter};
        const Sampler sampler(23, 5, 4, Sampler::Order::Shuffled);
        Loader made(data, sampler, batchLayout(info, 5, mixes), options);
        options.firstKept = 100;
        const BatchLayout layout = batchLayout(info, 5, mixes, kept ? ImagesAs::Recipes : ImagesAs::Pixels);
        QCOMPARE(layout.find("image"), -1);
        Loader told(data, sampler, layout, options);
        const auto imageOf = [&](const BatchLease& batch, std::size_t sample, std::size_t number) {
            ImageRecipe recipe;
            std::memcpy(&recipe, layout.place(batch.data(), 0, sample).data() + number * sizeof recipe, sizeof recipe);
            const auto level = [&](int pixel, int c) {
                const auto at = static_cast<std::size_t>(20 * c + pixel);
                if (kept) return TestData::pixel(recipe.source - 100, static_cast<std::int64_t>(at));
                const auto pixels = layout.place(batch.data(), layout.fields().size() - 1, sample);
                return std::to_integer<std::uint8_t>(pixels[number * 60 + at]);
            };
            std::vector<float> image;
            for (int i = 0; i < 60; ++i) {
                const int pixel = pixelAt(recipe, 4, 5, i % 20 / 5, i % 5), c = i / 20;
                const auto channel = static_cast<std::size_t>(c);
                const PixelScale scale(info.mean[channel], info.deviation[channel]);
                Colour colour{0, 0, 0};
                if (pixel >= 0) colour = jittered(recipe.jitter, {level(pixel, 0), level(pixel, 1), level(pixel, 2)});
                const std::array channels{colour.red, colour.green, colour.blue};
                image.push_back(pixel == kBlankPixel ? 0.0f : scale(static_cast<std::uint8_t>(channels[channel])));
            }
            return image;
        };
        while (const BatchLease expected = made.next()) {
            const BatchLease batch = told.next();
            QCOMPARE(batch.count(), expected.count());
            for (std::size_t sample = 0; sample < static_cast<std::size_t>(batch.count()); ++sample) {
                std::vector<float> image = imageOf(batch, sample, 0);
                for (std::size_t field = 1; field < made.layout().fields().size(); ++field)
                    QVERIFY(std::ranges::equal(made.layout().place(expected.data(), field, sample),
                                               layout.place(batch.data(), field, sample)));
                if (mixes) {
                    float lambda = 0;
                    std::memcpy(
                        &lambda,
                        layout.place(batch.data(), static_cast<std::size_t>(layout.find("lambda")), sample).data(), 4);
                    const std::vector<float> other = imageOf(batch, sample, 1);
                    std::array<ImageRecipe, 2> both;
                    std::memcpy(both.data(), layout.place(batch.data(), 0, sample).data(), sizeof both);
                    for (int i = 0; i < 60; ++i) {
                        const auto at = static_cast<std::size_t>(i);
                        const int shown = imageAt(both.data(), i % 20 / 5, i % 5);
                        if (shown == kBothImages) image[at] = lambda * image[at] + (1 - lambda) * other[at];
                        if (shown == 1) image[at] = other[at];
                    }
                }
                QVERIFY(std::memcmp(image.data(), made.layout().place(expected.data(), 0, sample).data(), 240) == 0);
            }
        }
        QVERIFY(!told.next());
    }

    void whoMixesNeedsRoomForIt() {
        const auto data = std::make_shared<TestData>(23);
        LoaderOptions options;
        options.augmentation.mixup = 1;
        const Sampler sampler(23, 5, 9, Sampler::Order::Shuffled);
        QVERIFY_EXCEPTION_THROWN(Loader(data, sampler, batchLayout(data->info(), 5), options), EngineError);
        options.augmentation = {.cutmix = 1};
        QVERIFY_EXCEPTION_THROWN(Loader(data, sampler, batchLayout(data->info(), 5), options), EngineError);
        options.augmentation = {};
        Loader leavesItAlone(data, sampler, batchLayout(data->info(), 5, true), options);
        QVERIFY(bool(leavesItAlone.next()));
    }

    void batchesComeInOrderWithTheirContents() {
        const auto data = std::make_shared<TestData>(23);
        LoaderOptions options;
        options.seed = 9;
        options.rank = 1;
        options.partition = Partition::byRanks(2, 1);
        options.epochs = 3;
        const Sampler sampler(23, 5, 9, Sampler::Order::Shuffled);
        Loader loader(data, sampler, batchLayout(data->info(), 3), options);
        std::vector<std::int64_t> ids;
        std::vector<float> image(60);
        for (std::int64_t at = 0; at < 15; ++at) {
            const BatchLease lease = loader.next();
            QVERIFY(bool(lease));
            QCOMPARE(lease.epoch(), at / 5);
            QCOMPARE(lease.step(), at % 5);
            sampler.batch(at / 5, at % 5, shareOf(sampler.batchSize(at % 5), 1, 2), ids);
            QCOMPARE(look(lease, loader.layout()).ids, ids);
            for (std::size_t i = 0; i < ids.size(); ++i) {
                std::vector<std::uint8_t> pixels;
                for (int p = 0; p < 60; ++p) pixels.push_back(TestData::pixel(ids[i], p));
                augment({}, data->info(), pixels, 9, at / 5, ids[i], image);
                QVERIFY(std::memcmp(image.data(), lease.data() + i * 240, 240) == 0);
                std::int32_t label;
                std::memcpy(&label, lease.data() + loader.layout().offset(1) + i * 4, 4);
                QCOMPARE(label, static_cast<std::int32_t>(ids[i] % 3));
            }
        }
        QVERIFY(!loader.next());
        QVERIFY(!loader.next());
    }

    void theImageAloneChangesItsType() {
        const BatchLayout layout = batchLayout(ManyFields(1, true).info(), 3);
        QCOMPARE(text(layout.fields()), std::string("tokens i32[7], mask u8[7], image f32[1x2x3], label i32[1], "
                                                    "weight f64[2x3], ids i64[1]"));
        QCOMPARE(text(batchLayout(ManyFields(1, false).info(), 3).fields()),
                 std::string("tokens i32[7], mask u8[7], label i32[1], weight f64[2x3], ids i64[1]"));
        for (std::size_t f = 0; f < 6; ++f) QVERIFY(layout.offset(f) % 64 == 0);
    }

    // 23 samples in batches of 7: the last has two, and of three ranks the third gets none.
    void everyFieldArrivesAtItsPlace() {
        for (const bool image : {true, false}) {
            const auto data = std::make_shared<ManyFields>(23, image);
            const Sampler sampler(23, 7, 5, Sampler::Order::Shuffled);
            for (int world = 1; world <= 3; ++world) {
                const Partition partition = Partition::byRanks(world, 1);
                for (int rank = 0; rank < world; ++rank) {
                    LoaderOptions options;
                    options.rank = rank;
                    options.partition = partition;
                    options.threads = 2;
                    options.epochs = 2;
                    options.seed = 5;
                    Loader loader(data, sampler, batchLayout(data->info(), shareOf(7, 0, world).count), options);
                    std::vector<std::int64_t> ids;
                    for (std::int64_t step = 0; step < 8; ++step) {
                        const BatchLease lease = loader.next();
                        QVERIFY(bool(lease));
                        sampler.batch(step / 4, step % 4, partition.share(sampler.batchSize(step % 4), rank), ids);
                        QCOMPARE(lease.count(), static_cast<std::int64_t>(ids.size()));
                        QCOMPARE(wrongField(lease, loader.layout(), data->info(), ids), std::string());
                    }
                    QVERIFY(!loader.next());
                }
            }
        }
    }

    void manyReadersGiveTheSameBytes() {
        LoaderOptions options;
        options.epochs = 4;
        options.augmentation = {2, true, 2};
        const auto data = std::make_shared<TestData>(101);
        const auto one = all(data, 8, options);
        QCOMPARE(one.size(), std::size_t{52});
        for (const int threads : {2, 5}) {
            for (const int slotCount : {2, 4, 9}) {
                options.threads = threads;
                options.slotCount = slotCount;
                QVERIFY(all(data, 8, options) == one);
            }
        }
        QVERIFY(all(std::make_shared<TestData>(101, true), 8, options) == one);
    }

    void residentSamplesAreNotCopied() {
        const auto data = std::make_shared<TestData>(50, true);
        QCOMPARE(all(data, 8, {}).size(), std::size_t{7});
        QCOMPARE(data->reads.load(), 50);
        QCOMPARE(data->copies.load(), 0);
    }

    void resumesAtAnyPosition() {
        LoaderOptions options;
        options.epochs = 3;
        options.threads = 2;
        options.augmentation = {1, true, 0};
        const auto data = std::make_shared<TestData>(40);
        const auto whole = all(data, 7, options);
        for (std::size_t start = 0; start < whole.size(); ++start) {
            options.firstEpoch = static_cast<std::int64_t>(start) / 6;
            options.firstStep = static_cast<std::int64_t>(start) % 6;
            options.epochs = 3 - options.firstEpoch;
            QVERIFY(all(data, 7, options) ==
                    std::vector(whole.begin() + static_cast<std::ptrdiff_t>(start), whole.end()));
        }
    }

    void slotsAreReusedAndNeverWhileLeased() {
        const auto data = std::make_shared<TestData>(64);
        LoaderOptions options;
        options.slotCount = 3;
        options.threads = 3;
        Loader loader(data, Sampler(64, 4, 0, Sampler::Order::Shuffled), batchLayout(data->info(), 4), options);
        std::set<std::byte*> bases;
        BatchLease held = loader.next();
        Seen before = look(held, loader.layout());
        bases.insert(held.data());
        for (int i = 1; i < 16; ++i) {
            BatchLease next = loader.next();
            QVERIFY(bool(next));
            QTest::qSleep(1);
            QVERIFY(look(held, loader.layout()) == before);
            bases.insert(next.data());
            before = look(next, loader.layout());
            held = std::move(next);
            QVERIFY(!next);
        }
        QCOMPARE(bases.size(), std::size_t{3});
        for (const std::byte* base : bases) QVERIFY(reinterpret_cast<std::uintptr_t>(base) % 64 == 0);
    }

    void aRankWithoutSamplesGetsEmptyBatches() {
        const auto data = std::make_shared<TestData>(9);
        LoaderOptions options;
        options.rank = 3;
        options.partition = Partition::byRanks(4, 1);
        Loader loader(data, Sampler(9, 8, 0, Sampler::Order::Shuffled), batchLayout(data->info(), 2), options);
        QCOMPARE(loader.next().count(), 2);
        const BatchLease last = loader.next();
        QVERIFY(bool(last));
        QCOMPARE(last.count(), 0);
        QVERIFY(!loader.next());
    }

    void stopWakesTheTakerAndTheReaders() {
        const auto data = std::make_shared<TestData>(100);
        LoaderOptions options;
        options.slotCount = 2;
        options.threads = 4;
        Loader loader(data, Sampler(100, 4, 0, Sampler::Order::Shuffled), batchLayout(data->info(), 4), options);
        const BatchLease first = loader.next(), second = loader.next();  // every slot is out: next() must block now
        std::atomic<bool> returned{false};
        std::latch started(1);
        std::jthread taker([&] {
            started.count_down();
            const BatchLease none = loader.next();
            returned = !none;
        });
        started.wait();
        QTest::qSleep(20);
        QVERIFY(!returned);
        loader.stop();
        taker.join();
        QVERIFY(returned);
        QVERIFY(!loader.next());
    }

    void destructionWhileReadersAreBusyOrBlockedIsClean() {
        const auto data = std::make_shared<TestData>(1000);
        for (int i = 0; i < 50; ++i) {
            LoaderOptions options;
            options.threads = 3;
            Loader loader(data, Sampler(1000, 50, 0, Sampler::Order::Shuffled), batchLayout(data->info(), 50), options);
            for (int taken = 0; taken < i % 4; ++taken) QVERIFY(bool(loader.next()));
        }
    }

    void aFailureArrivesInThePlaceOfItsBatch() {
        for (const int threads : {1, 4}) {
            const auto data = std::make_shared<TestData>(40);
            data->failAt = 33;
            LoaderOptions options;
            options.threads = threads;
            Loader loader(data, Sampler(40, 4, 0, Sampler::Order::Sequential), batchLayout(data->info(), 4), options);
            for (int step = 0; step < 8; ++step) QCOMPARE(loader.next().step(), step);
            for (int again = 0; again < 2; ++again) {
                try {
                    loader.next();
                    QFAIL("the failure was lost");
                } catch (const EngineError& error) {
                    QCOMPARE(error.kind(), EngineError::Kind::Io);
                    QCOMPARE(error.where(), std::string("sample-13.png"));
                }
            }
        }
    }

    void aSlotTooSmallIsRefused() {
        const auto data = std::make_shared<TestData>(40);
        QVERIFY_EXCEPTION_THROWN(
            Loader(data, Sampler(40, 9, 0, Sampler::Order::Sequential), batchLayout(data->info(), 8), {}), EngineError);
        QVERIFY_EXCEPTION_THROWN(
            Loader(data, Sampler(41, 8, 0, Sampler::Order::Sequential), batchLayout(data->info(), 8), {}), EngineError);
        for (const BatchLayout& other : {BatchLayout({}, 8), batchLayout(ManyFields(40, true).info(), 8)}) {
            QVERIFY_EXCEPTION_THROWN(Loader(data, Sampler(40, 8, 0, Sampler::Order::Sequential), other, {}),
                                     EngineError);
        }
    }

    void nothingIsAllocatedPerBatch() {
        TraceBoard board;
        const std::vector<std::shared_ptr<const Dataset>> sources{
            std::make_shared<TestData>(500, false), std::make_shared<TestData>(500, true),
            std::make_shared<ManyFields>(500, true), std::make_shared<ManyFields>(500, false)};
        for (const auto& data : sources) {
            LoaderOptions options;
            options.threads = 2;
            options.epochs = 4;
            options.augmentation = {2, true, 3};
            options.augmentation.jitter = {0.4, 0.4, 0.4, 0.1};
            options.trace = &board;
            Loader loader(data, Sampler(500, 16, 0, Sampler::Order::Shuffled), batchLayout(data->info(), 16), options);
            for (int i = 0; i < 8; ++i) QVERIFY(bool(loader.next()));
            allocations = 0;
            counting = true;
            int taken = 8;
            while (const BatchLease lease = loader.next()) ++taken;
            counting = false;
            QCOMPARE(taken, 128);
            QCOMPARE(allocations.load(), 0);
        }
    }

    // Readers share one batch, and so two of them are there for it even where there are few slots.
    void readersShareABatch() {
        const auto data = std::make_shared<TestData>(64);
        std::atomic<int> inside{0}, most{0};
        data->beforeRead = [&] {
            const int now = ++inside;
            most = std::max(most.load(), now);
            QTest::qSleep(2);
            --inside;
        };
        LoaderOptions options;
        options.threads = 4;
        options.slotCount = 2;
        Loader loader(data, Sampler(64, 32, 0, Sampler::Order::Shuffled), batchLayout(data->info(), 32), options);
        const BatchLease first = loader.next(), second = loader.next();  // the slots are out
        QVERIFY(most.load() >= 3);
        QCOMPARE(loader.pace().samples, std::int64_t{64});
        QCOMPARE(loader.pace().threads, 4);
        QVERIFY(loader.pace().seconds >= 64 * 0.002);
    }

    void thePaceDoesNotCountWaiting() {
        const auto data = std::make_shared<TestData>(64);
        LoaderOptions options;
        options.slotCount = 2;
        Loader loader(data, Sampler(64, 16, 0, Sampler::Order::Shuffled), batchLayout(data->info(), 16), options);
        QTest::qSleep(200);  // both slots are full, and wait for a taker
        QCOMPARE(loader.pace().samples, std::int64_t{32});
        QVERIFY(loader.pace().seconds < 0.1);
    }

    void aLimitHoldsItBack() {
        const auto data = std::make_shared<TestData>(100);
        for (const int threads : {1, 3}) {
            LoaderOptions options;
            options.threads = threads;
            options.limit = 400;
            QElapsedTimer timer;
            timer.start();
            QCOMPARE(all(data, 20, options).size(), std::size_t{5});
            QVERIFY2(timer.elapsed() >= 240 && timer.elapsed() < 600, qPrintable(QString::number(timer.elapsed())));
        }
    }

    void aLimitDoesNotHoldUpTheEnd() {
        const auto data = std::make_shared<TestData>(100);
        LoaderOptions options;
        options.limit = 0.1;
        QElapsedTimer timer;
        timer.start();
        { Loader loader(data, Sampler(100, 20, 0, Sampler::Order::Shuffled), batchLayout(data->info(), 20), options); }
        QVERIFY(timer.elapsed() < 5000);
    }

    void whoeverIsUrgedIsHeldBackNoLonger() {
        const auto data = std::make_shared<TestData>(100);
        std::stop_source urge;
        LoaderOptions options;
        options.limit = 0.1;
        options.urge = urge.get_token();
        Loader loader(data, Sampler(100, 20, 0, Sampler::Order::Shuffled), batchLayout(data->info(), 20), options);
        QTest::qSleep(50);
        QVERIFY(!loader.tryNext());
        urge.request_stop();
        QElapsedTimer timer;
        timer.start();
        for (int batch = 0; batch < 5; ++batch) QVERIFY(bool(loader.next()));
        QVERIFY(timer.elapsed() < 5000);
    }

    // However many turn out to be worth it, the samples are the same.
    void theNumberOfReadersIsFoundOut() {
        const auto data = std::make_shared<TestData>(4000);
        LoaderOptions options;
        options.epochs = 2;
        const auto one = all(data, 100, options);
        data->beforeRead = [] { std::this_thread::sleep_for(std::chrono::microseconds(200)); };
        options.threads = 0;
        options.mostThreads = 4;
        Loader loader(data, Sampler(4000, 100, 0, Sampler::Order::Shuffled), batchLayout(data->info(), 100), options);
        QCOMPARE(loader.pace().threads, 1);
        std::vector<Seen> seen;
        while (const BatchLease lease = loader.next()) seen.push_back(look(lease, loader.layout()));
        QCOMPARE(loader.pace().threads, 4);
        QVERIFY(seen == one);
    }

    void readSpansAreTraced() {
        TraceBoard board;
        LoaderOptions options;
        options.rank = 2;
        options.partition = Partition::byRanks(3, 1);
        options.threads = 2;
        options.epochs = 2;
        options.trace = &board;
        QCOMPARE(all(std::make_shared<TestData>(30), 6, options).size(), std::size_t{10});
        std::set<std::int64_t> steps;
        QCOMPARE(board.lanes().size(), std::size_t{2});
        for (const TraceLane* lane : board.lanes()) {
            QCOMPARE(lane->rank(), 2);
            QCOMPARE(lane->name(), std::string("load"));
            for (const TraceSpan& span : lane->read()) {
                QCOMPARE(board.names()[span.name], std::string("read"));
                QVERIFY(span.beginNs <= span.endNs);
                steps.insert(span.step);
            }
        }
        QCOMPARE(steps.size(), std::size_t{10});
        QCOMPARE(*steps.rbegin(), 9);
    }
};

QTEST_APPLESS_MAIN(TestLoader)
#include "tst_loader.moc"
