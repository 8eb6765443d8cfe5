#include <QtTest>
#include <chrono>
#include <functional>
#include <random>
#include <utility>

#include "archive_files.h"
#include "dataset_files.h"
#include "datasets/entries.h"
#include "datasets/image_layouts.h"
#include "datasets/picture_index.h"
#include "engine/core/error.h"
#include "engine/data/bad_samples.h"
#include "image_files.h"
#include "tests/support/long_tests.h"

using namespace lockstep;
using namespace lockstep::test;

namespace fs = std::filesystem;

namespace {

constexpr double kShare = 0.2;
const Reading kUnwatched;

// As if all had been written an hour ago; what a link leads to, too.
void settle(const fs::path& folder) {
    using namespace std::chrono_literals;
    const auto before = fs::file_time_type::clock::now() - 1h;
    std::error_code ignored;
    for (const auto& item : fs::recursive_directory_iterator(folder)) fs::last_write_time(item.path(), before, ignored);
    fs::last_write_time(folder, before);
}

void writeText(const fs::path& file, const std::string& text) { writeFile(file, bytesOf(text)); }

PictureIndex indexOf(const fs::path& cache, const fs::path& root, double share = kShare) {
    return PictureIndex(cache, fs::weakly_canonical(root), share);
}

std::optional<FolderScan> opened(const fs::path& cache, const fs::path& root, double share = kShare) {
    return indexOf(cache, root, share).open(kUnwatched);
}

FolderScan scanned(const fs::path& root) { return scanImages(fs::weakly_canonical(root), kShare, kUnwatched); }

// Lists the folder as it was an hour ago, and keeps that.
bool keepIndex(const fs::path& cache, const fs::path& root) {
    settle(root);
    FolderScan scan = scanned(root);
    return indexOf(cache, root).write(scan);
}

bool isSame(const LabelledFile& a, const LabelledFile& b) {
    return a.file == b.file && a.name == b.name && a.label == b.label && a.bytes == b.bytes &&
           a.modifiedNs == b.modifiedNs && a.changedNs == b.changedNs && a.archive == b.archive && a.offset == b.offset;
}

bool isSame(const SkippedFile& a, const SkippedFile& b) { return a.file == b.file && a.reason == b.reason; }

template <class List>
bool areSame(const List& a, const List& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!isSame(a[i], b[i])) return false;
    return true;
}

bool areSame(const FolderScan& a, const FolderScan& b) {
    return a.classes == b.classes && a.archives == b.archives && a.notes == b.notes && a.watched == b.watched &&
           areSame(a.train, b.train) && areSame(a.test, b.test) && areSame(a.validation, b.validation) &&
           areSame(a.skipped, b.skipped);
}

const std::vector<std::string> kNames{"a.jpg",   "b.JPEG",   "two\nlines.png", "\x1b[31mred.png", "naïve.jpg",
                                      "c d.png", "a-x.jpg",  "notes.txt",      ".hidden.jpg",     "Thumbs.db",
                                      "z.jpg",   "\xff.jpg", "0000001.jpg",    "0000002.jpg",     "no ending"};

class RandomTree {
public:
    RandomTree(fs::path root, unsigned seed) : m_root(std::move(root)), m_random(seed) {}

    void write() {
        if (below(3) > 0) return writeClasses(m_root);
        writeClasses(m_root / "train");
        if (below(2))
            fs::copy(m_root / "train", m_root / "test", fs::copy_options::recursive | fs::copy_options::copy_symlinks);
        if (below(2)) writeListed(m_root / "val");
    }

private:
    unsigned below(unsigned bound) { return m_random() % bound; }
    std::string name() { return kNames[below(static_cast<unsigned>(kNames.size()))]; }
    void writeOne(const fs::path& file) { writeText(file, std::string(below(9), 'x')); }

    void writeClasses(const fs::path& folder) {
        for (const char* each : {"cat", "dog", "n01440764", "eel\n2"}) {
            for (unsigned left = 2 + below(6); left > 0; --left) writeOne(folder / each / name());
            for (unsigned left = below(3); left > 0; --left) writeOne(folder / each / "a" / name());
            if (below(4) == 0) fs::create_directories(folder / each / "nothing");
            writeOne(folder / each / "always.jpg");
            writeOne(folder / each / "as well.jpg");
        }
        std::error_code ignored;
        if (below(2)) fs::create_directory_symlink("..", folder / "cat" / "up", ignored);
        if (below(2)) fs::create_symlink("always.jpg", folder / "dog" / "link.jpg", ignored);
        if (below(2)) fs::create_symlink("nowhere", folder / "dog" / "dangling.jpg", ignored);
        if (below(2)) writeOne(folder / "beside.jpg");
    }

    void writeListed(const fs::path& folder) {
        std::string list = "file,label\n";
        for (unsigned i = 0; i < 1 + below(5); ++i) {
            writeOne(folder / (std::to_string(i) + ".jpg"));
            list += std::to_string(i + below(2)) + ".jpg,cat\n";
        }
        writeText(folder / "labels.csv", list);
    }

    fs::path m_root;
    std::mt19937 m_random;
};

void writeTree(const fs::path& root) {
    for (const std::string split : {"train", "test"})
        for (const std::string name : {"cat", "dog"})
            for (int i = 0; i < 4; ++i)
                writeFile(root / split / name / (std::to_string(i) + ".png"), png(8 + i, 9, name == "cat"));
    writeFile(root / "train/cat/nested/5.png", png(9, 9));
    writeFile(root / "val/0.png", png(8, 8));
    writeText(root / "val/labels.csv", "file,label\n0.png,cat\n");
    fs::create_directories(root / "train/dog/empty");
    fs::create_directory_symlink("nowhere", root / "train/eel");
    fs::create_symlink("nowhere.png", root / "train/dog/gone.png");
    settle(root);
}

DatasetEntry indexing(const fs::path& cache) { return imageFolderEntry(cache, 1); }

Result<DatasetSplits> openStream(const fs::path& cache, const fs::path& root, const char* keep = "stream",
                                 std::int64_t size = 16) {
    const DatasetEntry of = indexing(cache);
    return of.open(root, params(of, {{"keep", std::string(keep)}, {"size", size}}), {});
}

std::vector<fs::path> indicesIn(const fs::path& cache) {
    std::vector<fs::path> found;
    for (const auto& item : fs::directory_iterator(cache))
        if (item.path().extension() == ".picture-index") found.push_back(item.path());
    return found;
}

// What reading each sample gives: how many of each code.
std::map<std::string, int> codesOf(const Dataset& data) {
    std::map<std::string, int> codes;
    for (std::int64_t i = 0; i < data.info().count; ++i) {
        try {
            imageOf(data, i);
            ++codes["ok"];
        } catch (const UnreadableSample& error) {
            ++codes[error.problem().code];
        }
    }
    return codes;
}

// Written over with as many other bytes, and the time set back.
void spoil(const fs::path& file) {
    const auto time = fs::last_write_time(file);
    writeFile(file, Bytes(fs::file_size(file), 7));
    fs::last_write_time(file, time);
}

// Written over with what it was, and the time as it is.
void rewrite(const fs::path& file, const Bytes& bytes) {
    const auto time = fs::last_write_time(file);
    writeFile(file, bytes);
    fs::last_write_time(file, time);
}

using Codes = std::map<std::string, int>;

}  // namespace

class TestPictureIndex : public QObject {
    Q_OBJECT
private slots:
    void whatIsOpenedIsWhatWasListed() {
        for (unsigned seed = 0; seed < static_cast<unsigned>(rounds(20, 1000)); ++seed) {
            const Folder folder, cache;
            RandomTree(folder.path(), seed).write();
            settle(folder.path());
            FolderScan scan = scanned(folder.path());
            PictureIndex index = indexOf(cache.path(), folder.path());
            index.keep(7, {1.5, -2}, 9, 10);
            index.keep(8, {1}, 8, 10);
            QVERIFY2(index.write(scan), qPrintable(QString::number(seed)));
            PictureIndex again = indexOf(cache.path(), folder.path());
            const auto kept = again.open(kUnwatched);
            QVERIFY2(kept && areSame(*kept, scan), qPrintable(QString::number(seed)));
            QVERIFY(again.measured(7) && *again.measured(7) == (std::vector<double>{1.5, -2}));
            QVERIFY(!again.measured(8) && areAsListed(*kept, kUnwatched));
        }
    }

    void archivesToo() {
        const Folder folder, cache;
        for (int i = 0; i < 3; ++i) {
            std::vector<Member> members;
            for (const std::string name : {"cat/a.png", "cat/b/c.png", "dog/a.png", "dog/z.txt"})
                members.push_back({"pets/" + std::to_string(i) + name, png(8, 8)});
            writeFile(folder / ("train-" + std::to_string(i) + ".tar"), tarOf(members));
            writeFile(folder / ("val-" + std::to_string(i) + ".zip"), zipOf(members));
        }
        QVERIFY(keepIndex(cache.path(), folder.path()));
        const auto kept = opened(cache.path(), folder.path());
        QVERIFY(kept && areSame(*kept, scanned(folder.path())));
        QCOMPARE(kept->archives.size(), std::size_t{6});
        const auto splits = openStream(cache.path(), folder.path());
        QCOMPARE(codesOf(*splits.value().train), (Codes{{"ok", 9}}));
        fs::last_write_time(folder / "val-1.zip", fs::file_time_type::clock::now());
        QVERIFY(!opened(cache.path(), folder.path()));
    }

    void aDamagedIndexIsNeverTaken() {
        const Folder folder, cache;
        writeTree(folder.path());
        QVERIFY(keepIndex(cache.path(), folder.path()));
        const fs::path file = indexOf(cache.path(), folder.path()).file();
        const Bytes whole = readFile(file);
        for (std::size_t size = 0; size < whole.size(); size += 1 + size % 97) {
            writeFile(file, std::span(whole).first(size));
            QVERIFY2(!opened(cache.path(), folder.path()), qPrintable(QString::number(size)));
        }
        for (std::size_t at = 0; at < whole.size(); at += at < 64 ? 1 : 1 + at % 13) {
            Bytes flipped = whole;
            flipped[at] ^= static_cast<std::uint8_t>(1u << at % 8);
            writeFile(file, flipped);
            QVERIFY2(!opened(cache.path(), folder.path()), qPrintable(QString::number(at)));
        }
        Bytes longer = whole;
        longer.resize(longer.size() + 8);
        writeFile(file, longer);
        QVERIFY(!opened(cache.path(), folder.path()));
        writeFile(file, whole);
        QVERIFY(opened(cache.path(), folder.path()));
    }

    void anIndexOfOtherFilesIsNotTaken() {
        const Folder folder, other, cache;
        writeTree(folder.path());
        writeTree(other.path());
        QVERIFY(keepIndex(cache.path(), folder.path()));
        const fs::path file = indexOf(cache.path(), folder.path()).file();
        fs::copy_file(file, indexOf(cache.path(), other.path()).file());
        fs::copy_file(file, indexOf(cache.path(), folder.path(), 0.5).file());
        QVERIFY(!opened(cache.path(), other.path()));
        QVERIFY(!opened(cache.path(), folder.path(), 0.5));
        QVERIFY(opened(cache.path(), folder.path()));
        QVERIFY(!indexOf({}, folder.path()).open(kUnwatched));
        fs::remove(file);
        fs::create_directory(file);
        QVERIFY(!opened(cache.path(), folder.path()));
    }

    void whateverChangesTheListingIsNoticed_data() {
        QTest::addColumn<int>("number");
        for (int i = 0; i < static_cast<int>(changes().size()); ++i)
            QTest::newRow(changes()[static_cast<std::size_t>(i)].first) << i;
    }
    void whateverChangesTheListingIsNoticed() {
        QFETCH(int, number);
        const Folder folder, cache;
        writeTree(folder.path());
        QVERIFY(keepIndex(cache.path(), folder.path()));
        QVERIFY(opened(cache.path(), folder.path()));
        changes()[static_cast<std::size_t>(number)].second(folder.path());
        QVERIFY(!opened(cache.path(), folder.path()));
    }

    // Two changes within one tick of the clock leave one time.
    void whatWasJustWrittenIsListedAgain() {
        const Folder folder, cache;
        writeTree(folder.path());
        writeFile(folder / "train/cat/new.png", png(8, 8));
        FolderScan scan = scanned(folder.path());
        QVERIFY(!indexOf(cache.path(), folder.path()).write(scan));
        const auto toTheFuture = [](const fs::path& file) {
            fs::last_write_time(file, fs::file_time_type::clock::now() + std::chrono::hours(1000));
        };
        settle(folder.path());
        writeText(folder / "train/cat/0.png", "edited in its place");
        scan = scanned(folder.path());
        QVERIFY(!indexOf(cache.path(), folder.path()).write(scan));
        toTheFuture(folder / "train/cat/0.png");
        scan = scanned(folder.path());
        QVERIFY(indexOf(cache.path(), folder.path()).write(scan));
        QVERIFY(opened(cache.path(), folder.path()));
    }

    void theNextStartListsNothing() {
        const Folder folder, cache;
        writeTree(folder.path());
        QCOMPARE(codeOf(openStream(cache.path(), folder.path())), std::string("ok"));
        QCOMPARE(indicesIn(cache.path()).size(), std::size_t{1});
        // In its place, so that no folder's time says so: the list is taken, and reading the file finds out.
        writeFile(folder / "train/cat/1.png", png(30, 30));
        const auto changed = openStream(cache.path(), folder.path());
        QCOMPARE(codesOf(*changed.value().test), (Codes{{"ok", 8}}));
        QCOMPARE(codesOf(*changed.value().train), (Codes{{"ok", 8}, {"picture-index.changed", 1}}));
        QVERIFY(indicesIn(cache.path()).empty());
        settle(folder.path());
        const auto anew = openStream(cache.path(), folder.path());
        QCOMPARE(codesOf(*anew.value().train), (Codes{{"ok", 9}}));
        QCOMPARE(indicesIn(cache.path()).size(), std::size_t{1});
    }

    void aFileThatVanishesIsMissedAlone() {
        const Folder folder, cache;
        writeTree(folder.path());
        const auto splits = openStream(cache.path(), folder.path());
        fs::remove(folder / "train/dog/2.png");
        QCOMPARE(codesOf(*splits.value().train), (Codes{{"ok", 8}, {"file.unreadable", 1}}));
        QCOMPARE(openStream(cache.path(), folder.path()).value().train->info().count, std::int64_t{8});
        fs::remove_all(folder.path());
        QCOMPARE(codesOf(*splits.value().train), (Codes{{"file.unreadable", 9}}));
        QCOMPARE(codeOf(openStream(cache.path(), folder.path())), std::string("dataset.not-found"));
    }

    // What is decoded at the start, all of it, is never older than its files.
    void picturesInMemoryAreAsTheFilesAre() {
        const Folder folder, cache;
        writeTree(folder.path());
        const auto before = openStream(cache.path(), folder.path(), "memory");
        writeFile(folder / "train/cat/1.png", png(30, 30, false));
        const auto after = openStream(cache.path(), folder.path(), "memory");
        QCOMPARE(after.value().train->info().count, std::int64_t{9});
        QVERIFY(imageOf(*after.value().train, 1) != imageOf(*before.value().train, 1));
    }

    // Where the data say it, size and colour are the same at every start.
    void theImagesAreTheSameAtEveryStart_data() {
        QTest::addColumn<int>("width");
        QTest::addColumn<int>("height");
        QTest::addColumn<bool>("colour");
        QTest::newRow("small") << 32 << 32 << true;
        QTest::newRow("small, upright, grey") << 28 << 40 << false;
        QTest::newRow("photographs") << 120 << 90 << true;
        QTest::newRow("upright photographs") << 70 << 150 << true;
    }
    void theImagesAreTheSameAtEveryStart() {
        QFETCH(int, width);
        QFETCH(int, height);
        QFETCH(bool, colour);
        const Folder folder, cache;
        writeTree(folder.path());
        for (const auto& item : fs::recursive_directory_iterator(folder.path()))
            if (item.path().extension() == ".png") writeFile(item.path(), png(width, height, colour));
        settle(folder.path());
        const DatasetEntry of = indexing(cache.path());
        const auto start = [&](const char* keep) {
            return of.open(folder.path(), params(of, {{"keep", std::string(keep)}}), {}).value();
        };
        const auto first = start("stream"), second = start("stream"), kept = start("cache"), again = start("cache");
        QCOMPARE(indicesIn(cache.path()).size(), std::size_t{1});
        QCOMPARE(first.train->info().image(),
                 (ImageShape{colour ? 3 : 1, std::min({width, height, 64}), std::min({width, height, 64})}));
        for (const auto* other : {&second, &kept, &again}) {
            QVERIFY(other->train->info().fields == first.train->info().fields);
            QCOMPARE(other->train->info().mean, first.train->info().mean);
            QCOMPARE(imageOf(*other->train, 1), imageOf(*first.train, 1));
        }
        QVERIFY(fingerprintOf(second) == fingerprintOf(first));
    }

    void normalisationIsMeasuredOnce() {
        const Folder folder, cache;
        writeTree(folder.path());
        const auto first = openStream(cache.path(), folder.path()).value().train->info();
        for (const auto& item : fs::recursive_directory_iterator(folder / "train"))
            if (item.is_regular_file()) spoil(item.path());
        const auto again = openStream(cache.path(), folder.path()).value().train->info();
        QVERIFY(!first.mean.empty());
        QCOMPARE(again.mean, first.mean);
        QCOMPARE(again.deviation, first.deviation);
        QVERIFY(openStream(cache.path(), folder.path(), "stream", 24).value().train->info().mean != first.mean);
    }

    // As when a disk is away for a moment.
    void whatCouldNotBeReadIsNotMeasured() {
        const Folder folder, cache;
        writeTree(folder.path());
        QVERIFY(keepIndex(cache.path(), folder.path()));
        for (const auto& item : fs::recursive_directory_iterator(folder / "train"))
            if (item.is_regular_file()) spoil(item.path());
        const auto nothing = openStream(cache.path(), folder.path());
        QCOMPARE(codesOf(*nothing.value().train), (Codes{{"image.not-an-image", 9}}));
        for (const char* name : {"cat", "dog"})
            for (int i = 0; i < 4; ++i)
                rewrite(folder / "train" / name / (std::to_string(i) + ".png"), png(8 + i, 9, *name == 'c'));
        QVERIFY(!indicesIn(cache.path()).empty());
        const auto again = openStream(cache.path(), folder.path());
        QVERIFY(again.value().train->info().mean != nothing.value().train->info().mean);
    }

    // A list that was found to be out of date does not come back with what is measured later.
    void anOutdatedIndexStaysAway() {
        const Folder folder, cache;
        writeTree(folder.path());
        QVERIFY(keepIndex(cache.path(), folder.path()));
        PictureIndex index = indexOf(cache.path(), folder.path());
        auto kept = index.open(kUnwatched);
        QVERIFY(kept);
        fs::remove(index.file());
        index.keep(1, {2}, 1, 1);
        QVERIFY(!index.write(*kept) && !fs::exists(index.file()));
    }

    void aFolderOfFewFilesHasNone() {
        const Folder folder, cache;
        writeTree(folder.path());
        QCOMPARE(codeOf(openStream(cache.path(), folder.path())), std::string("ok"));
        const DatasetEntry usual = imageFolderEntry(cache.path());
        fs::remove(folder / "test/cat/3.png");
        QCOMPARE(codeOf(usual.open(folder.path(), params(usual), {})), std::string("ok"));
        QVERIFY(indicesIn(cache.path()).empty());
    }

    void anIndexThatCannotBeWrittenIsAWarning() {
        const Folder folder;
        writeTree(folder.path());
        const auto splits = openStream("/proc/nowhere", folder.path());
        QCOMPARE(codeOf(splits), std::string("ok"));
        int warnings = 0;
        for (const Problem& each : splits.value().remarks) warnings += each.code == "picture-index.not-written";
        QCOMPARE(warnings, 1);
    }

    void listingIsCalledOff() {
        const Folder folder, cache;
        writeTree(folder.path());
        const DatasetEntry of = indexing(cache.path());
        std::stop_source stop;
        stop.request_stop();
        OpeningWatch watch{.stop = stop.get_token()};
        for (const bool hasIndex : {false, true}) {
            QCOMPARE(codeOf(of.open(folder.path(), params(of), watch)), std::string("dataset.cancelled"));
            QCOMPARE(indicesIn(cache.path()).empty(), !hasIndex);
            QVERIFY(keepIndex(cache.path(), folder.path()));
        }
    }

    void listingIsTold() {
        const Folder folder;
        for (const char* name : {"cat", "dog"}) fs::create_directories(folder / name);
        for (int i = 0; i < 2500; ++i) writeText(folder / (i % 2 ? "cat" : "dog") / (std::to_string(i) + ".jpg"), "");
        std::vector<std::int64_t> told;
        OpeningWatch watch;
        watch.progress = [&](std::int64_t done, std::int64_t total) {
            QCOMPARE(total, std::int64_t{0});
            told.push_back(done);
        };
        const Reading reading(watch, folder.path());
        QTest::qSleep(101);
        scanImages(fs::weakly_canonical(folder.path()), kShare, reading);
        QVERIFY(!told.empty() && told.front() == 1000);
    }

private:
    using Change = std::pair<const char*, std::function<void(const fs::path&)>>;
    static const std::vector<Change>& changes() {
        static const std::vector<Change> all{
            {"a file more", [](const fs::path& at) { writeFile(at / "train/cat/new.png", png(8, 8)); }},
            {"a file more, deep", [](const fs::path& at) { writeFile(at / "train/cat/nested/new.png", png(8, 8)); }},
            {"in what was empty", [](const fs::path& at) { writeFile(at / "train/dog/empty/new.png", png(8, 8)); }},
            {"a file less", [](const fs::path& at) { fs::remove(at / "test/dog/3.png"); }},
            {"another name", [](const fs::path& at) { fs::rename(at / "test/dog/3.png", at / "test/dog/9.png"); }},
            {"another class", [](const fs::path& at) { fs::rename(at / "test/dog/3.png", at / "test/cat/9.png"); }},
            {"a class more", [](const fs::path& at) { fs::create_directory(at / "train/fox"); }},
            {"a class less", [](const fs::path& at) { fs::remove_all(at / "test/dog"); }},
            {"classes exchanged",
             [](const fs::path& at) {
                 fs::rename(at / "train/dog", at / "was");
                 fs::rename(at / "train/cat", at / "train/dog");
                 fs::rename(at / "was", at / "train/cat");
                 settle(at);
             }},
            {"a split renamed", [](const fs::path& at) { fs::rename(at / "test", at / "testing"); }},
            {"a split less", [](const fs::path& at) { fs::remove_all(at / "val"); }},
            {"a list of labels",
             [](const fs::path& at) { writeText(at / "val/labels.csv", "file,label\n0.png,dog\n"); }},
            {"another list", [](const fs::path& at) { writeText(at / "val.csv", "0.png,dog\n"); }},
            {"names of classes", [](const fs::path& at) { writeText(at / "words.txt", "cat\ttiger\n"); }},
            {"a link leads to a folder", [](const fs::path& at) { fs::create_directory(at / "train/nowhere"); }},
            {"a link leads to a picture",
             [](const fs::path& at) {
                 writeFile(at / "train/dog/nowhere.png", png(8, 8));
                 settle(at);
             }},
            {"Kaggle's folders", [](const fs::path& at) { fs::create_directories(at / "Data/CLS-LOC/train"); }},
            {"nothing", [](const fs::path& at) { fs::remove_all(at); }}};
        return all;
    }
};

QTEST_APPLESS_MAIN(TestPictureIndex)
#include "tst_picture_index.moc"
