#include <QtTest>
#include <atomic>
#include <fstream>
#include <future>

#include "dataset_files.h"
#include "datasets/picture_store.h"
#include "engine/core/result.h"
#include "image_files.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

namespace fs = std::filesystem;

// Pictures made in memory, every seventh of which cannot be decoded.
class MadePictures final : public PictureSource {
public:
    explicit MadePictures(std::int64_t count) : m_count(count) {}
    std::int64_t count() const override { return m_count; }
    void read(std::int64_t index, const DecodeWish& wish, DecodedPart& into) const override {
        if (index % 7 == 3) throw ProblemError({fileOf(index), "image.corrupt", {"made so", ""}});
        ++decoded;
        const int height = 20 + static_cast<int>(index % 5), width = 20 + static_cast<int>(index % 9);
        decodeImage(index % 2 == 0 ? png(width, height) : png(width, height, false), fileOf(index), wish, into);
    }
    std::string fileOf(std::int64_t index) const override { return "made " + std::to_string(index); }
    std::uint64_t identity() const override { return 1; }
    std::optional<std::uint64_t> contentOf(std::int64_t) const override { return std::nullopt; }
    mutable std::atomic<int> decoded = 0;

private:
    std::int64_t m_count;
};

constexpr StoreRule kRule{.shortSide = 22, .channels = 3, .decode = Decode::Exact};

std::shared_ptr<const PictureStore> made(const std::shared_ptr<const MadePictures>& source, const fs::path& file,
                                         const OpeningWatch& watch = {}, std::uint64_t key = 5) {
    Reading reading(watch, "made");
    return PictureStore::make(source, kRule, file, key, reading, 0);
}

Bytes pixelsOf(const PictureSource& source, std::int64_t index) {
    DecodedPart part;
    DecodeWish wish;
    wish.part = [](const PictureSize& size) {
        return PictureBox{0, 0, static_cast<double>(size.width), static_cast<double>(size.height)};
    };
    source.read(index, wish, part);
    return {part.view.pixels, part.view.pixels + static_cast<std::size_t>(part.view.height) * part.view.rowBytes};
}

std::string codeOf(const std::function<void()>& work) {
    try {
        work();
    } catch (const ProblemError& error) {
        return error.problem().code;
    }
    return "ok";
}

}  // namespace

class TestPictureStore : public QObject {
    Q_OBJECT
private slots:
    void keepsPicturesInTheirOrderAndSaysWhichCannotBeRead() {
        const Folder folder;
        const auto source = std::make_shared<MadePictures>(600);
        for (const fs::path& file : {fs::path(), folder / "p.pictures"}) {
            const auto store = made(source, file);
            QCOMPARE(store->failures().size(), std::size_t{86});
            QCOMPARE(store->count(), std::int64_t{514});
            QCOMPARE(store->failures()[1].index, std::int64_t{10});
            QCOMPARE(store->failures()[1].reason.code, std::string("image.corrupt"));
            QCOMPARE(store->failures()[1].reason.args, (std::vector<std::string>{"made so", ""}));
            QCOMPARE(store->sourceOf(3), std::int64_t{4});
            QCOMPARE(store->fileOf(3), std::string("made 4"));
            // 20 x 21, which is not larger than wanted: as it is. 24 x 28: 22 x 25.
            QCOMPARE(pixelsOf(*store, 0), gradient(20, 20, 3));
            QCOMPARE(pixelsOf(*store, 4), pixelsOf(*store, 4));
            QCOMPARE(pixelsOf(*store, store->count() - 1).size() % 3, std::size_t{0});
        }
    }

    // The same part of a picture is seen whether it was scaled or not.
    void cutsAreOfThePicturesThatTheyWere() {
        const auto source = std::make_shared<MadePictures>(20);
        const auto store = made(source, {});
        bool anyScaled = false;
        for (std::int64_t i = 0; i < store->count(); ++i) {
            PictureSize seen, asked;
            DecodedPart part, whole;
            DecodeWish wish{.channels = 3, .height = 8, .width = 8};
            wish.part = [&](const PictureSize& size) {
                asked = size;
                return PictureBox{0.25 * size.width, 0.5 * size.height, 0.75 * size.width, 1.0 * size.height};
            };
            store->read(i, wish, part);
            seen = asked;
            source->read(store->sourceOf(i), wish, whole);
            QVERIFY(seen.height == asked.height && seen.width == asked.width);
            QCOMPARE(part.box.left, 0.25 * part.view.width);
            QCOMPARE(part.box.top, 0.5 * part.view.height);
            QCOMPARE(part.box.bottom, 1.0 * part.view.height);
            anyScaled = anyScaled || part.view.height < seen.height;
        }
        QVERIFY(anyScaled);
    }

    void greyPicturesAmongColouredOnesHaveThreeChannels() {
        const auto store = made(std::make_shared<MadePictures>(3), {});
        const Bytes pixels = pixelsOf(*store, 1);
        for (std::size_t i = 0; i < pixels.size(); i += 3)
            QVERIFY(pixels[i] == pixels[i + 1] && pixels[i] == pixels[i + 2]);
    }

    void aFileIsFoundAgainAndOneOfOtherPicturesIsMadeAnew() {
        const Folder folder;
        const auto source = std::make_shared<MadePictures>(50);
        const Bytes before = pixelsOf(*made(source, folder / "p"), 20);
        const int decodedOnce = source->decoded;
        QCOMPARE(pixelsOf(*made(source, folder / "p"), 20), before);
        QCOMPARE(source->decoded.load(), decodedOnce);
        made(source, folder / "p", {}, 6);
        QCOMPARE(source->decoded.load(), 2 * decodedOnce);
    }

    void whatWasInterruptedGoesOn() {
        const Folder folder;
        const auto source = std::make_shared<MadePictures>(1000);
        std::stop_source stop;
        OpeningWatch watch{.stop = stop.get_token()};
        watch.progress = [&](std::int64_t, std::int64_t) { stop.request_stop(); };
        Reading reading(watch, "made");
        QTest::qWait(150);  // progress is told ten times a second
        QCOMPARE(codeOf([&] { PictureStore::make(source, kRule, folder / "p", 5, reading, 0); }),
                 std::string("dataset.cancelled"));
        const int decodedBefore = source->decoded;
        QVERIFY(decodedBefore > 0);
        const auto store = made(source, folder / "p");
        QVERIFY(source->decoded < 857 + decodedBefore);  // the first 256 at least were there
        const auto whole = made(std::make_shared<MadePictures>(1000), {});
        QCOMPARE(store->count(), whole->count());
        for (std::int64_t i = 0; i < whole->count(); ++i) QCOMPARE(pixelsOf(*store, i), pixelsOf(*whole, i));
    }

    void whatIsCutShortOrChangedIsFoundOut() {
        const Folder folder;
        const auto source = std::make_shared<MadePictures>(40);
        made(source, folder / "p");
        const Bytes whole = readFile(folder / "p");
        for (const std::size_t size : {std::size_t{0}, std::size_t{20}, std::size_t{4096}, whole.size() - 1}) {
            writeFile(folder / "p", std::span(whole).first(size));
            const int before = source->decoded;
            QVERIFY(!pixelsOf(*made(source, folder / "p"), 1).empty());
            QVERIFY(source->decoded > before);  // made anew
        }
        Bytes changed = whole;
        changed[changed.size() - 5] ^= 1;
        writeFile(folder / "p", changed);
        const auto store = made(source, folder / "p");
        const auto memory = made(source, {});
        QCOMPARE(pixelsOf(*store, 0), pixelsOf(*memory, 0));
        QVERIFY(fs::exists(folder / "p") && store->takeRemarks().empty());
        QCOMPARE(pixelsOf(*store, store->count() - 1), pixelsOf(*memory, store->count() - 1));  // decoded anew
        const auto remarks = store->takeRemarks();
        QCOMPARE(remarks.size(), std::size_t{1});
        QCOMPARE(remarks[0].code, std::string("picture-store.damaged"));
        QCOMPARE(remarks[0].field, (folder / "p").string());
        QVERIFY(!fs::exists(folder / "p"));  // so that the next opening makes it anew
    }

    void anyByteOfItsNumbersIsWatched() {
        const Folder folder;
        const auto source = std::make_shared<MadePictures>(40);
        const auto memory = made(source, {});
        made(source, folder / "p");
        const Bytes whole = readFile(folder / "p");
        for (std::size_t at = 0; at < 4096 + 40 * sizeof(StoreFile::Run); at += at < 40 || at > 4090 ? 1 : 50) {
            Bytes changed = whole;
            changed[at] ^= 0x10;
            writeFile(folder / "p", changed);
            const auto store = made(source, folder / "p");
            QCOMPARE(store->count(), memory->count());
            for (const std::int64_t i : {std::int64_t{0}, store->count() / 2, store->count() - 1})
                QCOMPARE(pixelsOf(*store, i), pixelsOf(*memory, i));
        }
    }

    // Whatever somebody does to the file under a run: the process lives, and sees the same pictures.
    void aFileThatIsCutShortOrWrittenIntoWhileItIsReadChangesNothing_data() {
        QTest::addColumn<int>("bytes");
        for (const int bytes : {0, 100, 4096, 6000, 20000}) QTest::addRow("%d", bytes) << bytes;
    }
    void aFileThatIsCutShortOrWrittenIntoWhileItIsReadChangesNothing() {
        QFETCH(int, bytes);
        const Folder folder;
        const auto source = std::make_shared<MadePictures>(40);
        const auto memory = made(source, {}), store = made(source, folder / "p");
        for (std::int64_t i = 0; i < store->count(); ++i) pixelsOf(*store, i);  // all are checked
        const auto whole = fs::file_size(folder / "p");
        const fs::path other = folder / "other";  // the same file by another name, which stays
        fs::create_hard_link(folder / "p", other);
        fs::resize_file(other, static_cast<std::uintmax_t>(bytes));
        for (std::int64_t i = 0; i < store->count(); ++i) QCOMPARE(pixelsOf(*store, i), pixelsOf(*memory, i));
        QCOMPARE(store->takeRemarks().size(), std::size_t{1});
        fs::resize_file(other, whole);  // zeros now
        for (std::int64_t i = 0; i < store->count(); ++i) QCOMPARE(pixelsOf(*store, i), pixelsOf(*memory, i));
    }

    void whoComesSecondWaitsForTheFirst() {
        const Folder folder;
        const auto none = [](std::int64_t) {};
        StoreFile first(folder / "p", 1, 10, none);
        std::int64_t heard = 0, committed = -1;
        QCOMPARE(codeOf([&] {
                     StoreFile(folder / "p", 1, 10, [&](std::int64_t so) {
                         committed = so;
                         if (++heard == 1) {
                             first.append({.height = 1, .width = 1}, Bytes{1, 2, 3});
                             first.commit();
                         }
                         if (heard == 3) throw ProblemError({"p", "dataset.cancelled", {}});
                     });
                 }),
                 std::string("dataset.cancelled"));
        QCOMPARE(committed, std::int64_t{1});

        const auto source = std::make_shared<MadePictures>(3000);
        const auto half = std::async(std::launch::async, [&] { return made(source, folder / "q"); });
        const auto other = made(source, folder / "q");
        QCOMPARE(half.wait_for(std::chrono::seconds(20)), std::future_status::ready);
        QCOMPARE(source->decoded.load(), 3000 - 429);  // once
        QCOMPARE(other->count(), std::int64_t{3000 - 429});
    }

    // As it is read from the picture itself, bit for bit.
    void aSquareIsWhatIsCutFromThePicture() {
        const auto source = std::make_shared<MadePictures>(40);
        const ImageRule rule{.size = 12, .channels = 3, .share = 0.8, .decode = Decode::Exact};
        StoreRule stored = kRule;
        stored.square = rule.size, stored.share = rule.share;
        Reading reading;
        const auto store = PictureStore::make(source, stored, {}, 5, reading, 0);
        const auto cut = [&](const PictureSource& from, std::int64_t index) {
            Bytes out(3 * 12 * 12);
            cutPicture([&](const DecodeWish& wish, DecodedPart& part) { from.read(index, wish, part); }, rule,
                       [&](int height, int width) { return rule.middle(height, width); }, out);
            return out;
        };
        for (std::int64_t i = 0; i < store->count(); ++i) QCOMPARE(cut(*store, i), cut(*source, store->sourceOf(i)));
    }

    void aDiskThatFillsLeavesNothing() {
        if (!fs::exists("/dev/full")) QSKIP("there is no /dev/full here");
        const Folder folder;
        fs::create_symlink("/dev/full", folder / "p");
        const auto source = std::make_shared<MadePictures>(10);
        const std::string code = codeOf([&] { made(source, folder / "p"); });
        QVERIFY2(code == "picture-store.disk-full" || code == "picture-store.unwritable", code.c_str());
        QVERIFY(!fs::exists(folder / "p") || fs::is_symlink(folder / "p"));
        QCOMPARE(codeOf([&] { made(source, folder / "no/such/folder/p"); }), std::string("picture-store.unwritable"));
    }
};

QTEST_GUILESS_MAIN(TestPictureStore)
#include "tst_picture_store.moc"
