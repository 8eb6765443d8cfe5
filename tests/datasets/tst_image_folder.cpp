#include <QProcess>
#include <QtTest>
#include <set>

#include "dataset_files.h"
#include "datasets/decoded.h"
#include "datasets/image_layouts.h"
#include "engine/core/error.h"
#include "image_files.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {
const FileKind kImageFiles{{".jpg", ".jpeg", ".png"}, "image.unknown-kind"};
Reading unwatched;
}  // namespace

namespace fs = std::filesystem;

namespace {

void writeSplits(const Folder& folder) {
    for (const std::string split : {"train", "test"}) {
        for (int i = 0; i < 4; ++i) {
            const std::string name = std::to_string(i);
            writeFile(folder / (split + "/cat/" + name + ".jpg"), jpeg(16, 16));
            writeFile(folder / (split + "/dog/" + name + ".PNG"), png(16, 16));
        }
    }
}

Result<DatasetReport> inspect(const fs::path& path, const std::map<std::string, ParamValue>& given = {},
                              const fs::path& cache = {}) {
    const DatasetEntry of = entry("image-folder", cache);
    return of.inspect(path, params(of, given), {});
}

std::vector<std::string> codes(const std::vector<Problem>& problems) {
    std::vector<std::string> out;
    for (const Problem& problem : problems) out.push_back(problem.code);
    return out;
}

// Unpacks files of an archive; false when there is no program to do it.
bool unpack(const fs::path& archive, const fs::path& into, const QStringList& more = {}) {
    QProcess tar;
    tar.start("tar", QStringList{"-xf", archive.c_str(), "-C", into.c_str()} + more);
    return tar.waitForStarted() && tar.waitForFinished(60000) && tar.exitCode() == 0;
}

}  // namespace

class TestImageFolder : public QObject {
    Q_OBJECT
private slots:
    void splitsClassesAndPixels() {
        const Folder folder;
        writeSplits(folder);
        QCOMPARE(recogniseDataset(builtinDatasets({}), folder.path()).value()->id, std::string("image-folder"));
        const auto result = open("image-folder", folder.path());
        QCOMPARE(codeOf(result), std::string("ok"));
        const Dataset& train = *result.value().train;
        QCOMPARE(train.info().classes, (std::vector<std::string>{"cat", "dog"}));
        QCOMPARE(train.info().image(), (ImageShape{3, 16, 16}));
        QCOMPARE(train.info().count, 8);
        QCOMPARE(labelOf(train, 7), 1);
        const Bytes image = imageOf(train, 7);
        const Bytes pixels = gradient(16, 16, 3);
        for (std::size_t i = 0; i < 256; ++i) QCOMPARE(image[256 + i], pixels[3 * i + 1]);
    }

    // However they are kept: whole, and cut at random.
    void imagesAreTheSameWhereverTheyAreKept() {
        const Folder folder, cache;
        for (const std::string name : {"cat", "dog"}) {
            for (int i = 0; i < 6; ++i) {
                const std::string file = name + "/" + std::to_string(i);
                writeFile(folder / ("train/" + file + ".jpg"), jpeg(40, 44 + i, i % 2 == 0));
                writeFile(folder / ("test/" + file + ".png"), png(44, 40));
            }
        }
        const DatasetEntry of = entry("image-folder", cache.path());
        const auto opened = [&](const char* keep, bool cuts = false) {
            const auto given = params(of, {{"size", std::int64_t{40}},
                                           {"colour", std::string("rgb")},
                                           {"keep", std::string(keep)},
                                           {"decode", std::string("exact")}});
            OpeningWatch watch;
            watch.cuts = cuts;
            return of.open(folder.path(), given, watch).value();
        };
        const DatasetSplits cached = opened("cache"), again = opened("cache"), stream = opened("stream"),
                            memory = opened("memory");
        QVERIFY(stream.train->info().isCut && !memory.train->info().isCut);
        QCOMPARE(stream.train->info().mean, memory.train->info().mean);
        const auto choose = [](int height, int width) { return randomCut({}, height, width, 1, 2, 3); };
        for (std::int64_t i = 0; i < 12; ++i) {
            QCOMPARE(imageOf(*stream.train, i), imageOf(*memory.train, i));
            QCOMPARE(imageOf(*cached.train, i), imageOf(*memory.train, i));
            QCOMPARE(imageOf(*again.test, i), imageOf(*memory.test, i));
            QCOMPARE(labelOf(*stream.train, i), labelOf(*memory.train, i));
        }
        const DatasetSplits cutCached = opened("cache", true), cutStream = opened("stream", true),
                            cutMemory = opened("memory", true), cutAuto = opened("auto", true);
        QCOMPARE(cutAuto.notes.front().code, std::string("image-folder.in-memory"));  // nothing is made smaller
        for (std::int64_t i = 0; i < 12; ++i) {
            Bytes one(3 * 40 * 40), other(one);
            const std::span<std::byte> rooms[] = {std::as_writable_bytes(std::span(one)), {}};
            const std::span<std::byte> others[] = {std::as_writable_bytes(std::span(other)), {}};
            cutStream.train->readCut(i, rooms, choose);
            for (const DatasetSplits* kept : {&cutCached, &cutMemory, &cutAuto}) {
                kept->train->readCut(i, others, choose);
                QCOMPARE(one, other);
                QCOMPARE(imageOf(*kept->test, i), imageOf(*cutStream.test, i));
            }
            QVERIFY(one != imageOf(*cutStream.train, i));
        }
        QVERIFY(stream.train->fileOf(0).ends_with("cat/0.jpg"));
    }

    void sizesComeFromTheModel() {
        const Folder folder;
        for (const std::string name : {"a", "b"})
            for (int i = 0; i < 5; ++i) writeFile(folder / (name + "/" + std::to_string(i) + ".jpg"), jpeg(300, 260));
        const DatasetEntry of = entry("image-folder");
        const auto infoFor = [&](int usual, bool cuts) {
            OpeningWatch watch;
            watch.usualSize = usual, watch.cuts = cuts;
            return of.open(folder.path(), params(of), watch).value().train->info();
        };
        QCOMPARE(infoFor(0, false).image(), (ImageShape{3, 64, 64}));
        QCOMPARE(infoFor(32, false).image(), (ImageShape{3, 64, 64}));
        QCOMPARE(infoFor(224, false).image(), (ImageShape{3, 224, 224}));
        QCOMPARE(infoFor(224, false).seenShare, 1.0);
        QCOMPARE(infoFor(224, true).seenShare, 0.875);
        QVERIFY(infoFor(224, true).isCut);
        QCOMPARE(infoFor(32, true).seenShare, 0.875);  // 64 x 64, parts of what is larger
        QVERIFY(infoFor(32, true).isCut);
    }

    // What was chosen is said, and nobody gets parts that are less sharp without having asked for them.
    void howTheyAreKeptIsSaid() {
        const Folder folder, cache;
        for (const std::string name : {"a", "b"})
            for (int i = 0; i < 5; ++i) writeFile(folder / (name + "/" + std::to_string(i) + ".jpg"), jpeg(300, 260));
        const DatasetEntry of = entry("image-folder", cache.path());
        const auto noteOf = [&](const char* keep, bool cuts) {
            OpeningWatch watch;
            std::uint64_t announced = 0;
            watch.usualSize = 224, watch.cuts = cuts, watch.makes = [&](std::uint64_t bytes) { announced = bytes; };
            const auto notes = of.open(folder.path(), params(of, {{"keep", std::string(keep)}}), watch).value().notes;
            std::uintmax_t written = 0;
            for (const auto& each : fs::directory_iterator(cache.path()))
                if (each.path().extension() == ".pictures") written += fs::file_size(each.path()), fs::remove(each);
            // About as large as was said, but for the places of the pictures in it.
            const bool isRight = written == 0 ? announced == 0 : announced < written && written < announced + 32768;
            return isRight ? notes.empty() ? "" : notes.front().code : "said " + std::to_string(announced);
        };
        QCOMPARE(noteOf("auto", false), std::string("image-folder.in-memory-and-cache"));
        QCOMPARE(noteOf("auto", true), std::string("image-folder.streamed-for-cuts"));
        QCOMPARE(noteOf("cache", false), std::string("image-folder.cached"));
        QCOMPARE(noteOf("cache", true), std::string("image-folder.cached"));
        QCOMPARE(noteOf("stream", true), std::string());
    }

    void anUnreadableImageIsNamedWhenItsTurnComes() {
        const Folder folder;
        writeSplits(folder);
        writeFile(folder / "train/cat/1.jpg", Bytes{0xff, 0xd8, 1, 2});
        const DatasetEntry of = entry("image-folder");
        const auto splits =
            of.open(folder.path(), params(of, {{"keep", std::string("stream")}, {"size", std::int64_t{16}}}), {});
        QCOMPARE(codeOf(splits), std::string("ok"));
        try {
            imageOf(*splits.value().train, 1);
            QFAIL("it was read");
        } catch (const EngineError& error) {
            QVERIFY(error.kind() == EngineError::Kind::Io && QString(error.what()).contains("cat/1.jpg"));
        }
    }

    void classesAreSortedBytewiseAndHiddenNamesPassedOver() {
        const Folder folder;
        for (const std::string name : {"b", "a", "Z", ".git", "\xc3\xa4"}) {
            for (int i = 0; i < 5; ++i)
                writeFile(folder / ("train/" + name + "/" + std::to_string(i) + ".png"), png(8, 8, false));
            writeFile(folder / ("val/" + name + "/x.png"), png(8, 8, false));
        }
        writeFile(folder / "train/a/.DS_Store", Bytes{1});
        const auto report = inspect(folder.path());
        QVERIFY(report.ok());
        QCOMPARE(report.value().classes, (std::vector<std::string>{"Z", "a", "b", "\xc3\xa4"}));
        QCOMPARE(report.value().fields, imageFields({1, 8, 8}));
        QVERIFY(report.value().skipped.empty());
    }

    // With a folder for testing, too, the one for validation is a split of its own; alone it is the test split.
    void aFolderForValidationIsASplit() {
        const Folder folder;
        writeSplits(folder);
        const auto alone = open("image-folder", folder.path());
        QVERIFY(alone.ok() && !alone.value().validation);
        for (const std::string name : {"cat", "dog"}) {
            for (int i = 0; i < 3; ++i)
                writeFile(folder / ("val/" + name + "/" + std::to_string(i) + ".png"), png(16, 16));
        }
        const auto splits = open("image-folder", folder.path());
        QCOMPARE(codeOf(splits), std::string("ok"));
        QCOMPARE(splits.value().train->info().count, alone.value().train->info().count);
        QCOMPARE(splits.value().test->info().count, alone.value().test->info().count);
        QCOMPARE(splits.value().validation->info().count, std::int64_t{6});
        QVERIFY(splits.value().validation->info().mean == splits.value().train->info().mean);
        QCOMPARE(splits.value().choosing().get(), splits.value().validation.get());
        QCOMPARE(inspect(folder.path()).value().validationCount, std::int64_t{6});
        fs::remove_all(folder / "test");
        const auto test = open("image-folder", folder.path());
        QVERIFY(!test.value().validation);
        QCOMPARE(test.value().test->info().count, std::int64_t{6});
    }

    void badFilesAreSkippedWithReasons() {
        const Folder folder;
        writeSplits(folder);
        const Bytes whole = jpeg(100, 100);
        writeFile(folder / "train/cat/half.jpg", std::span(whole).first(whole.size() / 2));
        writeFile(folder / "train/cat/empty.jpg", {});
        writeFile(folder / "train/cat/text.jpg", Bytes{'h', 'e', 'l', 'l', 'o'});
        writeFile(folder / "train/cat/notes.txt", Bytes{'h'});
        writeFile(folder / "test/dog/png-inside.jpeg", png(16, 16));
        fs::create_symlink("nowhere", folder / "train/cat/broken.jpg");
        const auto report = inspect(folder.path());
        QVERIFY(report.ok());
        QCOMPARE(reasonFor(report.value(), "half.jpg"), std::string("image.truncated"));
        QCOMPARE(reasonFor(report.value(), "empty.jpg"), std::string("image.empty"));
        QCOMPARE(reasonFor(report.value(), "text.jpg"), std::string("image.not-an-image"));
        QCOMPARE(reasonFor(report.value(), "notes.txt"), std::string("image.unknown-kind"));
        QCOMPARE(reasonFor(report.value(), "broken.jpg"), std::string("file.not-regular"));
        QCOMPARE(report.value().skipped.size(), std::size_t{5});
        QCOMPARE(report.value().trainPerClass, (std::vector<std::int64_t>{4, 4}));
        QCOMPARE(report.value().testPerClass, (std::vector<std::int64_t>{4, 5}));
    }

    // Once, however many reasons there are.
    void whatIsLeftOutIsRemarked() {
        const Folder folder;
        writeSplits(folder);
        const Bytes whole = jpeg(100, 100);
        for (const std::string name : {"train/cat/half", "train/dog/half", "test/dog/half"})
            writeFile(folder / (name + ".jpg"), std::span(whole).first(whole.size() / 2));
        writeFile(folder / "train/dog/notes.txt", Bytes{'h'});
        const auto remarks = open("image-folder", folder.path()).value().remarks;
        QCOMPARE(codes(remarks), std::vector<std::string>{"dataset.left-out"});
        const std::string root = folder.path().string();
        QCOMPARE(remarks[0].field, root);
        QCOMPARE(remarks[0].args,
                 (std::vector<std::string>{"4", "20", "image.unknown-kind", root + "/train/dog/notes.txt"}));
        fs::remove_all(folder.path());
        writeSplits(folder);
        QVERIFY(open("image-folder", folder.path()).value().remarks.empty());
    }

    // As macOS, Windows and a NAS leave them behind, also beside the splits.
    void whatSystemsLeaveIsNoClass() {
        const Folder folder;
        writeSplits(folder);
        writeFile(folder / "__MACOSX/train/cat/._0.jpg", jpeg(8, 8));
        writeFile(folder / "train/__MACOSX/cat/0.jpg", jpeg(8, 8));
        writeFile(folder / "train/@eaDir/cat/0.jpg", jpeg(8, 8));
        writeFile(folder / "train/cat/._0.jpg", Bytes{0, 5, 22, 7});
        writeFile(folder / "train/cat/Thumbs.db", Bytes{1});
        writeFile(folder / "train/cat/.hidden/0.jpg", jpeg(8, 8));
        const auto report = inspect(folder.path());
        QCOMPARE(codeOf(report), std::string("ok"));
        QCOMPARE(report.value().classes, (std::vector<std::string>{"cat", "dog"}));
        QCOMPARE(report.value().trainPerClass, (std::vector<std::int64_t>{4, 4}));
        QVERIFY(report.value().skipped.empty());
        QCOMPARE(codes(report.value().warnings), std::vector<std::string>{"class-folder.passed-over"});
        QCOMPARE(report.value().warnings.front().args, std::vector<std::string>{"6"});
        QVERIFY(open("image-folder", folder.path()).value().remarks.empty());
        fs::remove_all(folder / "train");
        fs::remove_all(folder / "test");
        QVERIFY(!recogniseDataset(builtinDatasets({}), folder.path()).ok());
    }

    void loopsOfLinksAreSkipped() {
        const Folder folder;
        for (int i = 0; i < 8; ++i) {
            for (const std::string name : {"a", "b"})
                writeFile(folder / (name + "/" + std::to_string(i) + ".png"), png(8, 8));
        }
        fs::create_directory_symlink("..", folder / "a/up");
        fs::create_symlink("self.png", folder / "a/self.png");
        fs::create_directory_symlink(".", folder / "around");
        fs::create_symlink("knot", folder / "knot");
        const Folder elsewhere;
        for (int i = 0; i < 3; ++i) writeFile(elsewhere / (std::to_string(i) + ".png"), png(8, 8));
        fs::create_directory_symlink(elsewhere.path(), folder / "a/album");
        fs::create_directory_symlink(elsewhere.path(), folder / "c");  // a class on another disk
        QCOMPARE(recogniseDataset(builtinDatasets({}), folder.path()).value()->id, std::string("image-folder"));
        const auto report = inspect(folder.path());
        QCOMPARE(codeOf(report), std::string("ok"));
        QCOMPARE(report.value().classes, (std::vector<std::string>{"a", "b", "c"}));
        QCOMPARE(report.value().trainCount + report.value().testCount, std::int64_t{19});
        for (const char* loop : {"up", "self.png", "around", "knot"})
            QCOMPARE(reasonFor(report.value(), loop), std::string("folder.loop"));
        QCOMPARE(reasonFor(report.value(), "album"), std::string("folder.link"));
    }

    void imagesBesideTheClassesAreNamed() {
        const Folder folder;
        writeSplits(folder);
        writeFile(folder / "train/stray.jpg", jpeg(8, 8));
        writeFile(folder / "stray.png", png(8, 8));
        writeFile(folder / "labels.txt", Bytes{'h'});
        const auto report = inspect(folder.path());
        QCOMPARE(reasonFor(report.value(), "stray.jpg"), std::string("class-folder.no-class"));
        QCOMPARE(reasonFor(report.value(), "stray.png"), std::string("class-folder.no-class"));
        QCOMPARE(report.value().skipped.size(), std::size_t{2});
    }

    void openingTellsHowFarItIsAndStops() {
        const Folder folder, cache;
        const Bytes large = jpeg(1200, 1200);
        for (int i = 0; i < 600; ++i) writeFile(folder / ((i % 2 ? "a/" : "b/") + std::to_string(i) + ".jpg"), large);
        const DatasetEntry of = entry("image-folder", cache.path());
        std::vector<std::int64_t> told;
        std::vector<std::string> order;
        std::stop_source stop;
        OpeningWatch watch{stop.get_token(), {}, {}};
        watch.described = [&](const DatasetInfo& info) {
            order.push_back("described");
            QCOMPARE(info.classes, (std::vector<std::string>{"a", "b"}));
            QCOMPARE(info.image(), (ImageShape{3, 64, 64}));
        };
        watch.progress = [&](std::int64_t done, std::int64_t total) {
            order.push_back("progress");
            QCOMPARE(total, std::int64_t{600});
            told.push_back(done);
            stop.request_stop();
        };
        const auto cancelled = of.open(folder.path(), params(of), watch);
        QCOMPARE(codeOf(cancelled), std::string("dataset.cancelled"));
        QCOMPARE(order, (std::vector<std::string>{"described", "progress"}));
        QVERIFY2(told.front() > 0 && told.front() < 600, qPrintable(QString::number(told.front())));
        QVERIFY(fs::is_empty(cache.path()));

        watch.stop = {};
        watch.progress = [&](std::int64_t done, std::int64_t) { told.push_back(done); };
        QCOMPARE(codeOf(of.open(folder.path(), params(of), watch)), std::string("ok"));
        QVERIFY(told.size() > 2 && std::ranges::is_sorted(told.begin() + 1, told.end()) && told.back() <= 600);
        QCOMPARE(std::distance(fs::directory_iterator(cache.path()), fs::directory_iterator()), 2);
    }

    // Refused before a single image is decoded.
    void whoDoesNotLikeTheShapeIsHeardFirst() {
        const Folder folder, cache;
        writeSplits(folder);
        const DatasetEntry of = entry("image-folder", cache.path());
        OpeningWatch watch;
        watch.described = [](const DatasetInfo&) { throw ProblemError({"model", "model.image-too-small", {}}); };
        QCOMPARE(codeOf(of.open(folder.path(), params(of), watch)), std::string("model.image-too-small"));
        QVERIFY(fs::is_empty(cache.path()));
    }

    void emptyClassesAndTooFew() {
        const Folder folder;
        writeSplits(folder);
        fs::create_directories(folder / "train/eel");
        const auto report = inspect(folder.path());
        QVERIFY(report.ok());
        QCOMPARE(codes(report.value().warnings),
                 (std::vector<std::string>{"dataset.empty-class", "dataset.empty-class"}));
        fs::remove_all(folder / "train/dog");
        QCOMPARE(codeOf(inspect(folder.path())), std::string("class-folder.unknown-class"));
        fs::remove_all(folder / "test/dog");
        QCOMPARE(codeOf(inspect(folder.path())), std::string("dataset.too-few-classes"));
        fs::remove_all(folder / "train/cat");
        for (const char* name : {"cat", "eel"}) writeFile(folder / "train" / name / "bad.jpg", Bytes{1, 2, 3});
        QCOMPARE(codeOf(inspect(folder.path())), std::string("image-folder.none-readable"));
        for (const char* name : {"cat", "eel"}) fs::remove_all(folder / "train" / name / "bad.jpg");
        QCOMPARE(codeOf(inspect(folder.path())), std::string("dataset.no-samples"));
        const Folder bare;
        QCOMPARE(codeOf(inspect(bare.path())), std::string("class-folder.no-classes"));
        QCOMPARE(codeOf(inspect(bare / "nowhere")), std::string("dataset.not-found"));
    }

    void aShareIsHeldOutByName() {
        const Folder folder;
        for (int i = 0; i < 200; ++i) {
            for (const std::string name : {"a", "b"})
                writeFile(folder / (name + "/" + std::to_string(i) + ".png"), png(4, 4, false));
        }
        const auto before = scanClassFolders(folder.path(), kImageFiles, 0.2);
        const double share = static_cast<double>(before.test.size()) / 400;
        QVERIFY2(share > 0.12 && share < 0.28, qPrintable(QString::number(share)));
        std::set<std::string> test, all;
        for (const LabelledFile file : before.test) test.insert(file.name), all.insert(file.name);
        for (const LabelledFile file : before.train) all.insert(file.name);
        QCOMPARE(all.size(), std::size_t{400});
        // Files that stay keep their split.
        for (int i = 0; i < 100; ++i) fs::remove(folder / ("a/" + std::to_string(i) + ".png"));
        const auto after = scanClassFolders(folder.path(), kImageFiles, 0.2);
        for (const LabelledFile file : after.test) QVERIFY(test.contains(file.name));
        QVERIFY(scanClassFolders(folder.path(), kImageFiles, 0.5).test.size() > after.test.size());
        for (const auto& files : {before.train, before.test})
            QVERIFY(std::ranges::is_sorted(files, {}, &LabelledFile::name));
    }

    void aClassOfOneImageIsTrainedOn() {
        const Folder folder;
        for (char c = 'a'; c < 'z'; ++c) writeFile(folder / (std::string(1, c) + "/only.png"), png(4, 4));
        const auto scan = scanClassFolders(folder.path(), kImageFiles, 0.9);
        QCOMPARE(scan.train.size(), std::size_t{25});
        QCOMPARE(codeOf(inspect(folder.path())), std::string("dataset.missing-test"));
    }

    void sizeAndColourAreDecidedOrGiven() {
        const Folder folder;
        writeSplits(folder);
        QCOMPARE(inspect(folder.path(), {{"size", std::int64_t{10}}, {"colour", std::string("grey")}}).value().fields,
                 imageFields({1, 10, 10}));
        writeFile(folder / "train/cat/large.jpg", jpeg(300, 200));
        QCOMPARE(inspect(folder.path()).value().fields, imageFields({3, 64, 64}));
        QCOMPARE(inspect(folder.path(), {{"size", std::int64_t{16}}}).value().fields, imageFields({3, 16, 16}));
    }

    void theCacheGivesTheSameAndIsNeverTrusted() {
        const Folder folder, cache;
        writeSplits(folder);
        const Bytes whole = jpeg(16, 16);
        writeFile(folder / "train/cat/half.jpg", std::span(whole).first(whole.size() / 2));
        const auto listed = std::make_shared<FolderScan>(scanClassFolders(folder.path(), kImageFiles, 0.2));
        const FolderScan& scan = *listed;
        const DecodedFormat format{16, 3};
        const std::uint64_t key = decodedKey(folder.path(), scan.train, format);
        const DecodedImages images = decodeAll(*picturesOf(listed).train, format, unwatched);
        QCOMPARE(images.failures.size(), std::size_t{1});
        QCOMPARE(images.pixels.size(), 8 * format.bytes());
        const fs::path file = cache / "x.decoded";
        QVERIFY(!loadDecoded(file, key, scan.train, format));
        storeDecoded(file, key, images);
        const auto kept = loadDecoded(file, key, scan.train, format);
        QVERIFY(kept && kept->pixels == images.pixels);
        QCOMPARE(kept->content, images.content);
        QCOMPARE(kept->failures[0].reason, images.failures[0].reason);
        QVERIFY(!loadDecoded(file, key + 1, scan.train, format));

        const Bytes stored = readFile(file);
        for (std::size_t size = 0; size < stored.size(); size += 1 + size % 97) {
            writeFile(file, std::span(stored).first(size));
            QVERIFY(!loadDecoded(file, key, scan.train, format));
        }
        for (std::size_t at = 0; at < stored.size(); at += 1 + at % 53) {
            Bytes flipped = stored;
            flipped[at] ^= 0x40;
            writeFile(file, flipped);
            QVERIFY2(!loadDecoded(file, key, scan.train, format), qPrintable(QString::number(at)));
        }
        Bytes longer = stored;
        longer.push_back(0);
        writeFile(file, longer);
        QVERIFY(!loadDecoded(file, key, scan.train, format));
    }

    void theCacheFollowsChangedFiles() {
        const Folder folder, cache;
        writeSplits(folder);
        const DatasetEntry of = entry("image-folder", cache.path());
        const auto pixelsOf = [&] {
            const auto result = of.open(folder.path(), params(of), {});
            return imageOf(*result.value().train, 0);
        };
        const Bytes first = pixelsOf();
        QCOMPARE(std::distance(fs::directory_iterator(cache.path()), fs::directory_iterator()), 2);
        QCOMPARE(pixelsOf(), first);
        writeFile(folder / "train/cat/0.jpg", jpegOf(Bytes(768, 200), 16, 16, TJPF_RGB));
        fs::last_write_time(folder / "train/cat/0.jpg", fs::file_time_type::clock::now() + std::chrono::seconds(3));
        QVERIFY(pixelsOf() != first);
        QCOMPARE(std::distance(fs::directory_iterator(cache.path()), fs::directory_iterator()), 2);
    }

    // As `cp -p` and `rsync -t` leave it: as many bytes, and the time of before.
    void aFileThatKeepsItsSizeAndTimeIsReadAnew() {
        const Folder folder, cache;
        writeSplits(folder);
        const DatasetEntry of = entry("image-folder", cache.path());
        const auto opened = [&] { return of.open(folder.path(), params(of), {}).value(); };
        const fs::path file = folder / "test/cat" / fs::directory_iterator(folder / "test/cat")->path().filename();
        const auto size = fs::file_size(file);
        const auto time = fs::last_write_time(file);
        const auto before = fingerprintOf(opened()).value();
        Bytes other = jpegOf(Bytes(768, 200), 16, 16, TJPF_RGB);
        QVERIFY(other.size() <= size);
        other.resize(size);  // nothing behind the picture counts
        writeFile(file, other);
        fs::last_write_time(file, time);
        const auto after = fingerprintOf(opened()).value();
        QVERIFY(after.test != before.test);
        QVERIFY(after.train == before.train);
    }

    // By the files themselves: decoders differ, and a cache is of one machine.
    void theFingerprintIsOfTheFilesInUse() {
        const Folder folder, cache, other;
        writeSplits(folder);
        const Bytes whole = jpeg(16, 16);
        writeFile(folder / "train/cat/half.jpg", std::span(whole).first(whole.size() / 2));
        const auto fingerprint = [](const fs::path& path, const fs::path& cacheFolder = {}) {
            const DatasetEntry of = entry("image-folder", cacheFolder);
            return fingerprintOf(of.open(path, params(of), {}).value()).value();
        };
        const auto decoded = fingerprint(folder.path());
        QCOMPARE(decoded.train.samples, std::int64_t{8});
        QVERIFY(fingerprint(folder.path(), cache.path()) == decoded);
        QVERIFY(fingerprint(folder.path(), cache.path()) == decoded);  // out of the cache
        fs::copy(folder.path(), other / "copy", fs::copy_options::recursive);
        QVERIFY(fingerprint(other / "copy") == decoded);
        fs::remove(folder / "train/cat/half.jpg");  // was left out
        QVERIFY(fingerprint(folder.path()) == decoded);

        fs::remove(folder / "train/dog/1.PNG");
        const auto fewer = fingerprint(folder.path());
        QCOMPARE(fewer.train.samples, std::int64_t{7});
        QVERIFY(fewer.test == decoded.test);
        Bytes same = whole;  // a byte behind the picture: the same pixels
        same.push_back(0);
        writeFile(folder / "test/cat/1.jpg", same);
        QVERIFY(fingerprint(folder.path()).test.content != decoded.test.content);
    }

    void aCacheThatCannotBeWrittenIsAWarning() {
        const Folder folder;
        writeSplits(folder);
        const auto report = inspect(folder.path(), {}, "/proc/nowhere");
        QVERIFY(report.ok());
        QCOMPARE(codes(report.value().warnings),
                 (std::vector<std::string>{"image-folder.cache-not-written", "image-folder.cache-not-written"}));
    }

    void realPhotographs() {
        const auto archive = sharedData("imagenet-sample.tar");
        if (!archive) QSKIP("imagenet-sample.tar is absent (LOCKSTEP_TEST_DATA)");
        const Folder folder;
        if (!unpack(*archive, folder.path())) QSKIP("tar cannot unpack the photographs");
        const auto listed =
            std::make_shared<FolderScan>(scanClassFolders(folder / "imagenet-sample", kImageFiles, 0.2));
        const FolderScan& scan = *listed;
        QCOMPARE(scan.classes.size(), std::size_t{200});
        QCOMPARE(scan.train.size() + scan.test.size(), std::size_t{200});
        const DecodedFormat format{64, 3};
        const DecodedImages images = decodeAll(*picturesOf(listed).train, format, unwatched);
        for (const auto& failure : images.failures)
            qInfo("%s: %s", failure.reason.field.c_str(), failure.reason.code.c_str());
        QVERIFY(images.failures.size() <= 2);
        std::int64_t extremes = 0;
        for (const std::uint8_t pixel : images.pixels) extremes += pixel == 128;
        QVERIFY(extremes < static_cast<std::int64_t>(images.pixels.size() / 20));
    }

    void realCifarJpegs() {
        const auto archive = sharedData("cifar10-jpeg.tar.zst");
        if (!archive) QSKIP("cifar10-jpeg.tar.zst is absent (LOCKSTEP_TEST_DATA)");
        const Folder folder;
        if (!unpack(*archive, folder.path(), {"-I", "zstd", "--wildcards", "cifar10-jpeg/*/*/00*.jpg"})) {
            QSKIP("tar cannot unpack the images (zstd missing?)");
        }
        const auto report = inspect(folder / "cifar10-jpeg");
        QCOMPARE(codeOf(report), std::string("ok"));
        QCOMPARE(report.value().fields, imageFields({3, 32, 32}));
        QCOMPARE(report.value().classes[0], std::string("airplane"));
        QCOMPARE(report.value().classes.size(), std::size_t{10});
        QVERIFY(report.value().skipped.empty());
        QCOMPARE(report.value().trainPerClass, std::vector<std::int64_t>(10, 100));
    }
};

QTEST_APPLESS_MAIN(TestImageFolder)
#include "tst_image_folder.moc"
