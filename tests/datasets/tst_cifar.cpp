#include <QtTest>

#include "dataset_files.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

// Records of label bytes and 3,072 pixels, all equal to the record's number.
Bytes records(const std::vector<Bytes>& labels) {
    Bytes bytes;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        bytes.insert(bytes.end(), labels[i].begin(), labels[i].end());
        bytes.insert(bytes.end(), 3072, static_cast<std::uint8_t>(i));
    }
    return bytes;
}

void writeCifar10(const std::filesystem::path& folder) {
    for (int batch = 1; batch <= 5; ++batch) {
        writeFile(folder / ("data_batch_" + std::to_string(batch) + ".bin"), records({{0}, {1}, {9}}));
    }
    writeFile(folder / "test_batch.bin", records({{3}, {4}}));
}

std::vector<std::string> codes(const std::vector<Problem>& problems) {
    std::vector<std::string> out;
    for (const Problem& problem : problems) out.push_back(problem.code);
    return out;
}

}  // namespace

class TestCifar : public QObject {
    Q_OBJECT
private slots:
    void opensTheFolderOrTheOneAbove() {
        const Folder folder;
        writeCifar10(folder / "cifar-10-batches-bin");
        for (const auto& path : {folder.path(), folder / "cifar-10-batches-bin"}) {
            QCOMPARE(recogniseDataset(builtinDatasets({}), path).value()->id, std::string("cifar10"));
            const auto result = open("cifar10", path);
            QCOMPARE(codeOf(result), std::string("ok"));
            const Dataset& train = *result.value().train;
            QCOMPARE(train.info().count, 15);
            QCOMPARE(train.info().image(), (ImageShape{3, 32, 32}));
            QCOMPARE(train.info().classes[9], std::string("truck"));
            QCOMPARE(labelOf(train, 5), 9);
            QCOMPARE(imageOf(train, 5), Bytes(3072, 2));
        }
    }

    void namesComeFromTheMetaFile() {
        const Folder folder;
        writeCifar10(folder.path());
        std::string names;
        for (char c = 'a'; c < 'k'; ++c) names += std::string(1, c) + "\r\n";
        writeFile(folder / "batches.meta.txt", Bytes(names.begin(), names.end()));
        QCOMPARE(open("cifar10", folder.path()).value().train->info().classes[2], std::string("c"));
    }

    void truncationsAreFound() {
        const Bytes whole = records({{0}, {1}, {9}});
        const Folder folder;
        writeCifar10(folder.path());
        for (std::size_t size = 0; size < whole.size(); size += 1 + size % 61) {
            writeFile(folder / "data_batch_3.bin", std::span(whole).first(size));
            const auto result = open("cifar10", folder.path());
            QCOMPARE(codeOf(result), std::string(size == 0 || size % 3073 != 0 ? "cifar.truncated" : "ok"));
            if (!result.ok()) QVERIFY(result.problems()[0].field.ends_with("data_batch_3.bin"));
        }
    }

    void overLongAndMislabelled() {
        const Folder folder;
        writeCifar10(folder.path());
        writeFile(folder / "data_batch_2.bin", Bytes(10'001 * 3073));
        QCOMPARE(codeOf(open("cifar10", folder.path())), std::string("cifar.over-long"));
        writeFile(folder / "data_batch_2.bin", records({{0}, {10}}));
        const auto result = open("cifar10", folder.path());
        QCOMPARE(codeOf(result), std::string("cifar.label-out-of-range"));
        QCOMPARE(result.problems()[0].args, (std::vector<std::string>{"1", "10", "9"}));
    }

    void everyLabelBitFlipIsALabelOrAProblem() {
        for (int bit = 0; bit < 8; ++bit) {
            const Folder folder;
            writeCifar10(folder.path());
            const int label = 9 ^ (1 << bit);
            writeFile(folder / "test_batch.bin", records({{3}, {static_cast<std::uint8_t>(label)}}));
            QCOMPARE(codeOf(open("cifar10", folder.path())),
                     std::string(label < 10 ? "ok" : "cifar.label-out-of-range"));
        }
    }

    void missingFiles() {
        const Folder folder;
        QCOMPARE(codeOf(open("cifar10", folder.path())), std::string("cifar.no-files"));
        QCOMPARE(codeOf(open("cifar10", folder / "nowhere")), std::string("dataset.not-found"));
        writeCifar10(folder.path());
        std::filesystem::remove(folder / "data_batch_4.bin");
        const auto report = entry("cifar10").inspect(folder.path(), params(entry("cifar10")), {});
        QVERIFY(report.ok());
        QCOMPARE(codes(report.value().warnings).front(), std::string("cifar.missing-batch"));
        QVERIFY(std::ranges::count(codes(report.value().warnings), "cifar.fewer-records") == 5);
        std::filesystem::remove(folder / "test_batch.bin");
        QCOMPARE(codeOf(open("cifar10", folder.path())), std::string("dataset.missing-test"));
    }

    void cifar100FineAndCoarse() {
        const Folder folder;
        writeFile(folder / "train.bin", records({{19, 99}, {0, 1}, {3, 50}}));
        writeFile(folder / "test.bin", records({{0, 0}}));
        QCOMPARE(recogniseDataset(builtinDatasets({}), folder.path()).value()->id, std::string("cifar100"));
        const auto fine = open("cifar100", folder.path());
        QCOMPARE(codeOf(fine), std::string("ok"));
        QCOMPARE(labelOf(*fine.value().train, 0), 99);
        QCOMPARE(fine.value().train->info().classes.size(), std::size_t{100});
        const auto coarse = open("cifar100", folder.path(), {{"labels", std::string("coarse")}});
        QCOMPARE(labelOf(*coarse.value().train, 0), 19);
        QCOMPARE(coarse.value().train->info().classes.size(), std::size_t{20});
        writeFile(folder / "train.bin", records({{20, 99}, {0, 1}}));
        QCOMPARE(codeOf(open("cifar100", folder.path())), std::string("ok"));
        QCOMPARE(codeOf(open("cifar100", folder.path(), {{"labels", std::string("coarse")}})),
                 std::string("cifar.label-out-of-range"));
    }
};

QTEST_APPLESS_MAIN(TestCifar)
#include "tst_cifar.moc"
