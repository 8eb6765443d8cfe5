#include <sys/stat.h>

#include <QtTest>
#include <algorithm>
#include <array>
#include <cstring>

#include "dataset_files.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

const Bytes kTrainLabels{0, 1, 2, 0, 1, 2}, kTestLabels{2, 1, 0};

void writeCollection(const Folder& folder, const std::string& prefix = "", const std::string& test = "t10k") {
    writeFile(folder / (prefix + "train-images-idx3-ubyte"), idxImages(6, 3, 4));
    writeFile(folder / (prefix + "train-labels-idx1-ubyte"), idxLabels(kTrainLabels));
    writeFile(folder / (prefix + test + "-images-idx3-ubyte"), idxImages(3, 3, 4));
    writeFile(folder / (prefix + test + "-labels-idx1-ubyte"), idxLabels(kTestLabels));
}

// Replaces one file of a good collection and opens it.
Result<DatasetSplits> openWith(const std::string& name, const Bytes& bytes) {
    static const Folder folder;
    static const bool written = (writeCollection(folder), true);
    Q_UNUSED(written);
    const Bytes good = readFile(folder / name);
    writeFile(folder / name, bytes);
    auto result = open("idx", folder.path());
    writeFile(folder / name, good);
    return result;
}

}  // namespace

class TestIdx : public QObject {
    Q_OBJECT
private slots:
    void opensAndNormalises() {
        const Folder folder;
        writeCollection(folder);
        const auto result = open("idx", folder.path());
        QCOMPARE(codeOf(result), std::string("ok"));
        const Dataset& train = *result.value().train;
        QCOMPARE(train.info().count, 6);
        QCOMPARE(train.info().image(), (ImageShape{1, 3, 4}));
        QCOMPARE(train.info().classes, (std::vector<std::string>{"0", "1", "2"}));
        QCOMPARE(result.value().test->info().count, 3);
        QCOMPARE(text(train.info().fields), std::string("image u8[1x3x4], label i32[1]"));
        const Bytes image{4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
        QCOMPARE(imageOf(train, 4), image);
        QCOMPARE(labelOf(train, 4), 1);
        QVERIFY(std::memcmp(image.data(), train.resident(4, 0), image.size()) == 0);
        std::int32_t label = -1;
        const std::array<std::span<std::byte>, 2> labelAlone{{{}, std::as_writable_bytes(std::span(&label, 1))}};
        train.read(4, labelAlone);
        QCOMPARE(label, 1);
        // Pixels i + p: mean 2.5 + 5.5, variance 35/12 + 143/12.
        QVERIFY(std::abs(train.info().mean[0] - 8.0f / 255) < 1e-6f);
        QVERIFY(std::abs(train.info().deviation[0] - std::sqrt(178.0 / 12) / 255) < 1e-6);
        QCOMPARE(result.value().test->info().mean, train.info().mean);
    }

    void reportsCountsAndImbalance() {
        const Folder folder;
        writeCollection(folder);
        writeFile(folder / "train-labels-idx1-ubyte", idxLabels({0, 0, 0, 0, 1, 3}));
        writeFile(folder / "t10k-labels-idx1-ubyte", idxLabels({0, 1, 3}));
        const auto report = entry("idx").inspect(folder.path(), params(entry("idx")), {});
        QVERIFY(report.ok());
        QCOMPARE(report.value().format, std::string("idx"));
        QCOMPARE(report.value().trainPerClass, (std::vector<std::int64_t>{4, 1, 0, 1}));
        QCOMPARE(report.value().testPerClass, (std::vector<std::int64_t>{1, 1, 0, 1}));
        QCOMPARE(report.value().warnings.size(), std::size_t{2});
        QCOMPARE(report.value().warnings[0].code, std::string("dataset.empty-class"));
    }

    void everyTruncationIsAProblem() {
        for (const auto& [name, whole] : {std::pair{"train-images-idx3-ubyte", idxImages(6, 3, 4)},
                                          std::pair{"t10k-labels-idx1-ubyte", idxLabels(kTestLabels)}}) {
            for (std::size_t size = 0; size < whole.size(); ++size) {
                const auto result =
                    openWith(name, Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
                QCOMPARE(codeOf(result), std::string("idx.truncated"));
                QVERIFY(result.problems()[0].field.ends_with(name));
                QCOMPARE(result.problems()[0].args[1], std::to_string(size));
            }
        }
    }

    void everyBitFlipOfAHeaderIsAProblem() {
        const Bytes whole = idxImages(6, 3, 4);
        for (std::size_t bit = 0; bit < 16 * 8; ++bit) {
            Bytes flipped = whole;
            flipped[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
            const std::string code = codeOf(openWith("train-images-idx3-ubyte", flipped));
            QVERIFY2(code == "idx.truncated" || code == "idx.wrong-magic" || code == "idx.bad-dimension" ||
                         code == "idx.over-long",
                     qPrintable(QString("bit %1: %2").arg(bit).arg(code.c_str())));
        }
    }

    void hugeHeadersAllocateNothing() {
        Bytes bytes;
        for (const std::uint32_t word : {0x803u, 0x7fffffffu, 4096u, 4096u}) putWord(bytes, word);
        QCOMPARE(codeOf(openWith("train-images-idx3-ubyte", bytes)), std::string("idx.truncated"));
    }

    void mistakesAreNamed() {
        const auto code = [](const char* name, const Bytes& bytes) { return codeOf(openWith(name, bytes)); };
        Bytes longer = idxImages(6, 3, 4);
        longer.push_back(0);
        QCOMPARE(code("train-images-idx3-ubyte", longer), std::string("idx.over-long"));
        QCOMPARE(code("train-images-idx3-ubyte", idxLabels(kTrainLabels)), std::string("idx.wrong-magic"));
        QCOMPARE(code("train-labels-idx1-ubyte", idxLabels({0, 1, 2})), std::string("idx.count-mismatch"));
        QCOMPARE(code("t10k-labels-idx1-ubyte", idxLabels({0, 1, 3})), std::string("idx.label-out-of-range"));
        QCOMPARE(code("train-labels-idx1-ubyte", idxLabels({0, 0, 0, 0, 0, 0})), std::string("idx.label-out-of-range"));
        QCOMPARE(code("t10k-images-idx3-ubyte", idxImages(3, 4, 4)), std::string("dataset.shape-mismatch"));
        const auto outside = openWith("t10k-labels-idx1-ubyte", idxLabels({0, 9, 1}));
        QVERIFY(outside.problems()[0].field.ends_with("t10k-labels-idx1-ubyte"));
        QCOMPARE(outside.problems()[0].args, (std::vector<std::string>{"1", "9", "0", "2"}));
    }

    void oneClassIsTooFew() {
        const Folder folder;
        writeCollection(folder);
        writeFile(folder / "train-labels-idx1-ubyte", idxLabels({0, 0, 0, 0, 0, 0}));
        writeFile(folder / "t10k-labels-idx1-ubyte", idxLabels({0, 0, 0}));
        QCOMPARE(codeOf(open("idx", folder.path())), std::string("dataset.too-few-classes"));
    }

    void missingFilesAreNamed() {
        for (const char* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
                                 "t10k-labels-idx1-ubyte"}) {
            const Folder folder;
            writeCollection(folder);
            std::filesystem::remove(folder / name);
            const auto result = open("idx", folder.path());
            QCOMPARE(codeOf(result), std::string("idx.missing-file"));
            QCOMPARE(result.problems()[0].args, (std::vector<std::string>{name}));
        }
        const Folder folder;
        QCOMPARE(codeOf(open("idx", folder.path())), std::string("idx.no-files"));
        QCOMPARE(codeOf(open("idx", folder / "nowhere")), std::string("dataset.not-found"));
        writeCollection(folder);
        std::filesystem::remove(folder / "t10k-images-idx3-ubyte");
        std::filesystem::remove(folder / "t10k-labels-idx1-ubyte");
        QCOMPARE(codeOf(open("idx", folder.path())), std::string("dataset.missing-test"));
    }

    // Not to train on.
    void aQuestionMayBeAboutOneSplit() {
        const Folder folder;
        writeCollection(folder);
        const auto asked = [&] { return entry("idx").open(folder.path(), params(entry("idx")), {.trains = false}); };
        const auto whole = asked().value();
        std::filesystem::remove(folder / "train-images-idx3-ubyte");
        QCOMPARE(codeOf(asked()), std::string("idx.missing-file"));
        std::filesystem::remove(folder / "train-labels-idx1-ubyte");
        QCOMPARE(recogniseDataset(builtinDatasets({}), folder.path()).value()->id, std::string("idx"));
        QCOMPARE(codeOf(open("idx", folder.path())), std::string("idx.missing-file"));
        const auto tested = asked().value();
        QCOMPARE(tested.train->info().count, std::int64_t{0});
        QCOMPARE(tested.test->info().count, whole.test->info().count);
        QVERIFY(fingerprintOf(tested)->test == fingerprintOf(whole)->test);
        writeCollection(folder);
        std::filesystem::remove(folder / "t10k-images-idx3-ubyte");
        std::filesystem::remove(folder / "t10k-labels-idx1-ubyte");
        const auto trained = asked().value();
        QVERIFY(trained.train->info().count == whole.train->info().count && trained.test->info().count == 0);
    }

    void aPipeDoesNotHang() {
        const Folder folder;
        writeCollection(folder);
        std::filesystem::remove(folder / "train-images-idx3-ubyte");
        QCOMPARE(mkfifo((folder / "train-images-idx3-ubyte").c_str(), 0600), 0);
        QCOMPARE(codeOf(open("idx", folder.path())), std::string("file.not-regular"));
    }

    void emnistIsTransposedAndChosenBySplit() {
        const Folder folder;
        writeCollection(folder, "emnist-balanced-", "test");
        auto result = open("idx", folder.path());
        QCOMPARE(codeOf(result), std::string("ok"));
        QCOMPARE(result.value().train->info().image(), (ImageShape{1, 4, 3}));
        QCOMPARE(result.value().train->info().classes.size(), std::size_t{47});
        QCOMPARE(imageOf(*result.value().train, 0), (Bytes{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));

        writeCollection(folder, "emnist-letters-", "test");
        QCOMPARE(codeOf(open("idx", folder.path())), std::string("idx.several-splits"));
        QCOMPARE(codeOf(open("idx", folder.path(), {{"split", std::string("digits")}})),
                 std::string("idx.no-such-split"));
        QCOMPARE(codeOf(open("idx", folder.path(), {{"split", std::string("balanced")}})), std::string("ok"));
        // Labels of "letters" start at 1.
        QCOMPARE(codeOf(open("idx", folder.path(), {{"split", std::string("letters")}})),
                 std::string("idx.label-out-of-range"));
        writeFile(folder / "emnist-letters-train-labels-idx1-ubyte", idxLabels({1, 2, 3, 26, 1, 1}));
        writeFile(folder / "emnist-letters-test-labels-idx1-ubyte", idxLabels({1, 2, 3}));
        result = open("idx", folder.path(), {{"split", std::string("letters")}});
        QCOMPARE(codeOf(result), std::string("ok"));
        QCOMPARE(labelOf(*result.value().train, 3), 25);
        QCOMPARE(result.value().train->info().classes[25], std::string("Z"));
    }

    void dottedNamesAreKnownToo() {
        const Folder folder;
        writeCollection(folder);
        std::filesystem::rename(folder / "train-images-idx3-ubyte", folder / "train-images.idx3-ubyte");
        QCOMPARE(codeOf(open("idx", folder.path())), std::string("ok"));
    }

    void recognisedByContent() {
        const Folder folder;
        const auto entries = builtinDatasets({});
        QCOMPARE(codeOf(recogniseDataset(entries, folder.path())), std::string("dataset.unrecognised"));
        QCOMPARE(codeOf(recogniseDataset(entries, folder / "nowhere")), std::string("dataset.not-found"));
        writeCollection(folder);
        QCOMPARE(recogniseDataset(entries, folder.path()).value()->id, std::string("idx"));
        QCOMPARE(recogniseDataset(entries, folder / "train-images-idx3-ubyte").value()->id, std::string("idx"));
        writeFile(folder / "train-labels-idx1-ubyte", idxLabels({9, 0, 0, 3, 0, 2, 7, 2, 5, 5}));
        QCOMPARE(recogniseDataset(entries, folder.path()).value()->id, std::string("fashion-mnist"));
    }

    void fashionMnistAbsentSaysWhatToInstall() {
        const DatasetEntry fashion = entry("fashion-mnist");
        QVERIFY(fashion.remedy.find("dataset-fashion-mnist") != std::string::npos);
        QCOMPARE(codeOf(open("fashion-mnist", "/nowhere")), std::string("dataset.not-found"));
        const Folder folder;
        writeCollection(folder);
        QCOMPARE(codeOf(open("fashion-mnist", folder.path())), std::string("idx.unexpected-shape"));
    }

    void realFashionMnist() {
        const DatasetEntry fashion = entry("fashion-mnist");
        if (!std::filesystem::exists(fashion.defaultPath)) QSKIP("dataset-fashion-mnist is not installed");
        const auto entries = builtinDatasets({});
        const bool minimal = std::ranges::count(entries, "image-folder", &DatasetEntry::id) == 0;
        if (minimal) {
            QCOMPARE(codeOf(open("fashion-mnist", {})), std::string("gzip.unsupported"));
            return;
        }
        QCOMPARE(recogniseDataset(entries, fashion.defaultPath).value()->id, std::string("fashion-mnist"));
        const auto result = open("fashion-mnist", {});
        QCOMPARE(codeOf(result), std::string("ok"));
        const Dataset &train = *result.value().train, &test = *result.value().test;
        QCOMPARE(train.info().count, 60000);
        QCOMPARE(test.info().count, 10000);
        QCOMPARE(train.info().classes[9], std::string("Ankle boot"));
        const std::vector<std::int32_t> first{9, 0, 0, 3, 0};
        for (std::size_t i = 0; i < first.size(); ++i) QCOMPARE(labelOf(train, static_cast<std::int64_t>(i)), first[i]);
        const auto report = fashion.inspect({}, params(fashion), {});
        QCOMPARE(report.value().trainPerClass, std::vector<std::int64_t>(10, 6000));
        QCOMPARE(report.value().testPerClass, std::vector<std::int64_t>(10, 1000));
        QVERIFY(report.value().warnings.empty());
        double sum = 0;
        for (std::int64_t i = 0; i < 60000LL * 784; ++i) sum += std::to_integer<int>(train.resident(0, 0)[i]);
        QVERIFY(std::abs(sum / 60000 / 784 / 255 - static_cast<double>(train.info().mean[0])) < 1e-4);
    }
};

QTEST_APPLESS_MAIN(TestIdx)
#include "tst_idx.moc"
