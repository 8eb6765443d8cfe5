#include <matio.h>

#include <QtTest>

#include "dataset_files.h"
#include "image_files.h"

using namespace lockstep;
using namespace lockstep::test;

namespace fs = std::filesystem;

namespace {

void writeText(const fs::path& file, const std::string& text) { writeFile(file, Bytes(text.begin(), text.end())); }

// Pictures 0, 1… of that name.
void writePictures(const fs::path& folder, const std::string& name, int count, const std::string& ending = ".jpg") {
    for (int i = 0; i < count; ++i) writeFile(folder / (name + std::to_string(i) + ending), jpeg(8, 8));
}

bool isRemarked(const DatasetReport& report, const std::string& code) {
    return std::ranges::find(report.warnings, code, &Problem::code) != report.warnings.end();
}

using Names = std::vector<std::string>;
using Counts = std::vector<std::int64_t>;

// The fish and the bird of ImageNet.
const std::string kFish = "n01440764", kBird = "n01514668";

void writeImageNet(const fs::path& root) {
    writePictures(root / "train" / kFish, kFish + "_", 4, ".JPEG");
    writePictures(root / "train" / kBird, kBird + "_", 4, ".JPEG");
    writePictures(root / "val", "ILSVRC2012_val_0000000", 3, ".JPEG");
}

// The devkit's meta.mat.
void writeMeaning(const fs::path& file, const std::vector<std::pair<double, std::string>>& synsets) {
    const char* fields[] = {"ILSVRC2012_ID", "WNID", "words"};
    std::size_t count[] = {synsets.size(), 1}, one[] = {1, 1};
    fs::remove(file);
    mat_t* const mat = Mat_CreateVer(file.c_str(), nullptr, MAT_FT_MAT5);
    matvar_t* const all = Mat_VarCreateStruct("synsets", 2, count, fields, 3);
    for (std::size_t i = 0; i < synsets.size(); ++i) {
        auto [number, id] = synsets[i];
        std::string words = id == kFish ? "a fish, a carp" : "a bird";
        std::size_t length[] = {1, id.size()}, letters[] = {1, words.size()};
        auto whole = static_cast<std::int32_t>(number);  // scipy writes what was given: i is any kind of number
        Mat_VarSetStructFieldByName(all, fields[0], i,
                                    i == 0 ? Mat_VarCreate(nullptr, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, one, &number, 0)
                                           : Mat_VarCreate(nullptr, MAT_C_INT32, MAT_T_INT32, 2, one, &whole, 0));
        Mat_VarSetStructFieldByName(all, fields[2], i,
                                    Mat_VarCreate(nullptr, MAT_C_CHAR, MAT_T_UTF8, 2, letters, words.data(), 0));
        Mat_VarSetStructFieldByName(all, fields[1], i,
                                    Mat_VarCreate(nullptr, MAT_C_CHAR, MAT_T_UTF8, 2, length, id.data(), 0));
    }
    QCOMPARE(Mat_VarWrite(mat, all, MAT_COMPRESSION_ZLIB), 0);
    Mat_VarFree(all);
    Mat_Close(mat);
}

const std::string kKaggle =
    "ImageId,PredictionString\nILSVRC2012_val_00000001,n01440764 1 2 3 4 \n"
    "ILSVRC2012_val_00000000,n01514668 85 1 499 272 n01514668 1 1 9 9 \n"
    "ILSVRC2012_val_00000002,n01514668 1 1 2 2\n";

void writeTiny(const fs::path& root) {
    for (const std::string& id : {kFish, kBird}) {
        writePictures(root / "train" / id / "images", id + "_", 4, ".JPEG");
        writeText(root / "train" / id / (id + "_boxes.txt"), id + "_0.JPEG\t0\t0\t1\t1\n");
    }
    writePictures(root / "val/images", "val_", 3, ".JPEG");
    writeText(root / "val/val_annotations.txt", "val_0.JPEG\t" + kBird + "\t0\t32\t44\t62\nval_1.JPEG\t" + kFish +
                                                    "\t52\t55\t57\t59\nval_2.JPEG\t" + kBird + "\t4\t0\t60\t55\n");
    writePictures(root / "test/images", "test_", 3, ".JPEG");
    writeText(root / "wnids.txt", kBird + "\n" + kFish + "\n");
    writeText(root / "words.txt", "n00001740\tentity\n" + kFish + "\ttench, Tinca tinca\n" + kBird + "\tcock\n");
}

}  // namespace

class TestImageLayouts : public QObject {
    Q_OBJECT
private slots:
    void aListOfLabels_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("head");
        QTest::addColumn<QString>("row");
        QTest::newRow("columns") << "labels.csv"
                                 << "filename,label\n"
                                 << "%1.jpg,%2\n";
        QTest::newRow("other order") << "labels.csv"
                                     << "Class,Width,Image\n"
                                     << "%2,8,%1.jpg\n";
        QTest::newRow("no header") << "labels.csv"
                                   << ""
                                   << "%1.jpg,%2\n";
        QTest::newRow("no ending") << "any name.csv"
                                   << "id,breed\n"
                                   << "%1,%2\r\n";
        QTest::newRow("the other column") << "x.csv"
                                          << "\xef\xbb\xbfimage,mood\n"
                                          << "./%1.jpg, %2\n";
        QTest::newRow("text") << "train.txt"
                              << ""
                              << "%1.jpg %2\n";
        QTest::newRow("tabs") << "train.txt"
                              << ""
                              << "%1.jpg\t%2\tmore\n";
    }
    void aListOfLabels() {
        QFETCH(QString, name);
        QFETCH(QString, head);
        QFETCH(QString, row);
        for (const std::string below : {"", "images", "train"}) {
            const Folder folder;
            writePictures(folder / below, "a", 10);
            writePictures(folder / below, "b", 10);
            QString text = head;
            for (int i = 0; i < 20; ++i)
                text += row.arg((i % 2 ? "a" : "b") + QString::number(i / 2), i % 2 ? "cat" : "dog");
            writeText(folder / name.toStdString(), text.toStdString());
            QCOMPARE(idAt(folder.path()), std::string("image-folder"));
            const auto report = inspectImages(folder.path());
            QCOMPARE(codeOf(report), std::string("ok"));
            QCOMPARE(report.value().classes, (Names{"cat", "dog"}));
            QCOMPARE(report.value().trainCount + report.value().testCount, std::int64_t{20});
            QVERIFY(report.value().testCount > 0);
            QVERIFY(report.value().skipped.empty());
        }
    }

    void everyPictureHasItsLabel() {
        const Folder folder;
        writeFile(folder / "dark.png", pngOf(Bytes(64, 10), 8, 8, PNG_COLOR_TYPE_GRAY));
        writeFile(folder / "bright.png", pngOf(Bytes(64, 200), 8, 8, PNG_COLOR_TYPE_GRAY));
        for (int i = 0; i < 9; ++i) {
            fs::copy(folder / "dark.png", folder / (std::to_string(i) + ".png"));
            fs::copy(folder / "bright.png", folder / ("1" + std::to_string(i) + ".png"));
        }
        std::string list = "dark,10\nbright,9\n";
        for (int i = 0; i < 9; ++i) list += std::to_string(i) + ",10\n1" + std::to_string(i) + ",9\n";
        writeText(folder / "labels.csv", list);
        for (const std::string keep : {"memory", "stream"}) {
            const auto splits = open("image-folder", folder.path(), {{"keep", keep}});
            QCOMPARE(codeOf(splits), std::string("ok"));
            QCOMPARE(splits.value().train->info().classes, (Names{"9", "10"}));  // as numbers
            for (const auto& split : {splits.value().train, splits.value().test}) {
                for (std::int64_t i = 0; i < split->info().count; ++i)
                    QCOMPARE(imageOf(*split, i)[0] > 100, labelOf(*split, i) == 0);
            }
        }
    }

    void whatAListGetsWrongIsSkipped() {
        const Folder folder;
        writePictures(folder.path(), "a", 8);
        writePictures(folder.path(), "b", 8);
        std::string list = "file,label\n";
        for (int i = 0; i < 8; ++i) list += "a" + std::to_string(i) + ",cat\nb" + std::to_string(i) + ",dog\n";
        writeFile(folder / "unlabelled.jpg", jpeg(8, 8));
        writeFile(folder / "stranger.jpg", jpeg(8, 8));
        writeFile(folder / "picture.webp", Bytes{1});
        writeText(folder / "README.txt", "read me");
        list += "gone.jpg,cat\n../../etc/passwd,cat\na0,cat\nunlabelled,\n";
        writeText(folder / "labels.csv", list);
        const auto report = inspectImages(folder.path());
        QCOMPARE(codeOf(report), std::string("ok"));
        QCOMPARE(reasonFor(report.value(), "gone.jpg"), std::string("label-list.absent-file"));
        QCOMPARE(reasonFor(report.value(), "passwd"), std::string("label-list.outside-file"));
        QCOMPARE(reasonFor(report.value(), "a0.jpg"), std::string("label-list.named-twice"));
        QCOMPARE(reasonFor(report.value(), "unlabelled.jpg"), std::string("label-list.empty-label"));
        QCOMPARE(reasonFor(report.value(), "stranger.jpg"), std::string("label-list.not-listed"));
        QCOMPARE(reasonFor(report.value(), "picture.webp"), std::string("image.unknown-kind"));
        QCOMPARE(report.value().trainCount + report.value().testCount, std::int64_t{16});
        QCOMPARE(open("image-folder", folder.path()).value().leftOut, std::ssize(report.value().skipped));
    }

    void aListMaySayTheSplits() {
        const Folder folder;
        writePictures(folder.path(), "a", 8);
        const auto write = [&](const std::vector<std::string>& splits) {
            std::string list = "file,Split,label\n";
            for (std::size_t i = 0; i < splits.size(); ++i)
                list += "a" + std::to_string(i) + "," + splits[i] + (i % 2 ? ",dog\n" : ",cat\n");
            writeText(folder / "labels.csv", list);
            return inspectImages(folder.path());
        };
        const auto three = write({"train", "train", "Train", "test", "test", "val", "val", "train"});
        QCOMPARE(codeOf(three), std::string("ok"));
        QCOMPARE(three.value().trainPerClass, (Counts{2, 2}));
        QCOMPARE(three.value().testPerClass, (Counts{1, 1}));
        QCOMPARE(three.value().validationCount, std::int64_t{2});
        const auto two = write({"train", "train", "train", "train", "val", "val", "val", "val"});
        QCOMPARE(two.value().testPerClass, (Counts{2, 2}));
        const auto alone = write({"test", "test", "test", "test", "test", "test", "test", "test"});
        QCOMPARE(alone.value().trainCount + alone.value().testCount, std::int64_t{8});
        for (const char* other : {"5", "public", ""}) {
            const auto ignored = write({"train", "train", other, "test", "test", "val", "dev", "train"});
            QCOMPARE(codeOf(ignored), std::string("ok"));
            QVERIFY(isRemarked(ignored.value(), "label-list.unknown-split"));
            QCOMPARE(ignored.value().validationCount, std::int64_t{0});
        }
        QCOMPARE(write({"train", "train", "train", "TEST", "test", "dev", "dev", "train"}).value().validationCount,
                 std::int64_t{2});
    }

    void aListMayDivideAFolderCalledTrain() {
        const Folder folder;
        writePictures(folder / "train", "a", 8);
        std::string list = "file,label,split\n";
        for (int i = 0; i < 8; ++i)
            list += "train/a" + std::to_string(i) + ".jpg," + (i % 2 ? "dog," : "cat,") + (i < 6 ? "train\n" : "val\n");
        writeText(folder / "labels.csv", list);
        const auto report = inspectImages(folder.path());
        QCOMPARE(report.value().trainPerClass, (Counts{3, 3}));
        QCOMPARE(report.value().testPerClass, (Counts{1, 1}));
    }

    void aListOfSeveralFoldersNamesNothingInVain() {
        const Folder folder;
        std::string list = "file,label\n";
        for (const std::string split : {"train", "val"}) {
            writePictures(folder / split, "a", 4);
            for (int i = 0; i < 4; ++i)
                list += split + "/a" + std::to_string(i) + ".jpg," + (i % 2 ? "dog\n" : "cat\n");
        }
        writeText(folder / "labels.csv", list);
        const auto report = inspectImages(folder.path());
        QCOMPARE(report.value().trainPerClass, (Counts{2, 2}));
        QCOMPARE(report.value().testPerClass, (Counts{2, 2}));
        QVERIFY(report.value().skipped.empty());
    }

    void listsThatMakeNoSense() {
        const Folder folder;
        writePictures(folder.path(), "a", 8);
        const auto codeWith = [&](const std::string& list) {
            writeText(folder / "labels.csv", list);
            return codeOf(inspectImages(folder.path()));
        };
        QCOMPARE(codeWith("a0.jpg,cat\na1.jpg,dog\na0.jpg,dog\n"), std::string("label-list.contradiction"));
        QCOMPARE(codeWith("a0.jpg\n"), std::string("label-list.no-column"));
        QCOMPARE(codeWith("file,width,height\na0.jpg,8,8\n"), std::string("label-list.no-column"));
        QCOMPARE(codeWith("a0.jpg,cat\na1.jpg\n"), std::string("csv.ragged-row"));
        QCOMPARE(codeWith("a0.jpg,\"cat\n"), std::string("csv.unterminated-quote"));
        QCOMPARE(codeWith("a0.jpg,cat\xff\n"), std::string("text.not-utf8"));
        QCOMPARE(codeWith("a0.jpg,cat\na1.jpg,cat\n"), std::string("dataset.too-few-classes"));
        QCOMPARE(codeWith("x,cat\ny,dog\n"), std::string("label-list.matches-none"));
        QCOMPARE(codeWith(""), std::string("text.empty"));
        fs::remove(folder / "labels.csv");
        writeText(folder / "train.txt", "a0.jpg\n");
        QCOMPARE(codeOf(inspectImages(folder.path())), std::string("label-list.no-label"));
    }

    // Not taken for a list of the images: what lies beside class folders by chance.
    void aTableBesideClassFolders() {
        const Folder folder;
        writePictures(folder / "cat", "a", 8);
        writePictures(folder / "dog", "b", 8);
        writeFile(folder / "stray.jpg", jpeg(8, 8));
        writeText(folder / "prices.csv", "animal,price\ncat,3\n");
        const auto report = inspectImages(folder.path());
        QCOMPARE(codeOf(report), std::string("ok"));
        QCOMPARE(report.value().classes, (Names{"cat", "dog"}));
        QCOMPARE(reasonFor(report.value(), "stray.jpg"), std::string("class-folder.no-class"));
    }

    void splitsWithAListEach() {
        const Folder folder;
        for (const std::string split : {"train", "val", "test"}) writePictures(folder / split, "a", 4);
        writeText(folder / "train.csv", "id,label\na0,cat\na1,dog\na2,cat\na3,dog\n");
        writeText(folder / "test.csv", "id\na0\na1\na2\na3\n");
        writeText(folder / "val_labels.csv", "id,label\na0,dog\na1,cat\na2,cat\na3,cat\n");
        const auto report = inspectImages(folder.path());
        QCOMPARE(codeOf(report), std::string("ok"));
        QCOMPARE(report.value().trainPerClass, (Counts{2, 2}));
        QCOMPARE(report.value().testPerClass, (Counts{3, 1}));
        QVERIFY(isRemarked(report.value(), "label-list.unlabelled-split"));
        writeText(folder / "test.csv", "id,label\na0,dog\na1,dog\na2,dog\na3,dog\n");
        const auto three = inspectImages(folder.path());
        QCOMPARE(three.value().testPerClass, (Counts{0, 4}));
        QCOMPARE(three.value().validationCount, std::int64_t{4});
        writeText(folder / "test.csv", "id,label\na0,eel\na1,dog\na2,dog\na3,dog\n");
        QCOMPARE(codeOf(inspectImages(folder.path())), std::string("picture.unknown-class"));
    }

    void tinyImageNet() {
        const Folder folder;
        writeTiny(folder.path());
        QCOMPARE(idAt(folder.path()), std::string("image-folder"));
        const auto report = inspectImages(folder.path());
        QCOMPARE(codeOf(report), std::string("ok"));
        QCOMPARE(report.value().classes, (Names{"tench", "cock"}));
        QCOMPARE(report.value().trainPerClass, (Counts{4, 4}));
        QCOMPARE(report.value().testPerClass, (Counts{1, 2}));
        QVERIFY(report.value().skipped.empty());
        QVERIFY(isRemarked(report.value(), "label-list.unlabelled-split"));
        for (const std::string keep : {"memory", "stream"}) {
            const auto splits = open("image-folder", folder.path(), {{"keep", keep}});
            QCOMPARE(codeOf(splits), std::string("ok"));
            QVERIFY(splits.value().test->fileOf(0).ends_with("val/images/val_1.JPEG"));
        }
        fs::remove(folder / "val/val_annotations.txt");
        QCOMPARE(codeOf(inspectImages(folder.path())), std::string("label-list.missing"));
        fs::remove_all(folder / "val");
        QCOMPARE(codeOf(inspectImages(folder.path())), std::string("ok"));  // a share is held out
    }

    void imageNetAsItIsShipped_data() {
        QTest::addColumn<QString>("list");
        QTest::addColumn<QString>("text");
        QTest::newRow("Kaggle's") << "LOC_val_solution.csv" << QString::fromStdString(kKaggle);
        const QString names =
            "ILSVRC2012_val_00000000.JPEG,n01514668\nILSVRC2012_val_00000001.JPEG,n01440764\n"
            "ILSVRC2012_val_00000002.JPEG,n01514668\n";
        for (const char* list : {"val.csv", "val_labels.csv", "labels.csv", "val/labels.csv", "val/val.csv"})
            QTest::newRow(list) << list << names;
        QTest::newRow("text") << "val.txt" << QString(names).replace(',', ' ');
        QTest::newRow("in the folder") << "val/val.txt" << QString(names).replace(',', '\t');
    }
    void imageNetAsItIsShipped() {
        QFETCH(QString, list);
        QFETCH(QString, text);
        const Folder folder;
        writeImageNet(folder.path());
        writeText(folder / list.toStdString(), text.toStdString());
        QCOMPARE(idAt(folder.path()), std::string("image-folder"));
        const auto report = inspectImages(folder.path());
        QCOMPARE(codeOf(report), std::string("ok"));
        QCOMPARE(report.value().classes, (Names{kFish, kBird}));
        QCOMPARE(report.value().trainPerClass, (Counts{4, 4}));
        QCOMPARE(report.value().testPerClass, (Counts{1, 2}));
        QVERIFY(report.value().skipped.empty());
        writePictures(folder / "test" / kFish, "t", 2);
        writePictures(folder / "test" / kBird, "t", 2);
        const auto three = inspectImages(folder.path());
        QCOMPARE(three.value().testCount, std::int64_t{4});
        QCOMPARE(three.value().validationCount, std::int64_t{3});
    }

    void kagglesFolders() {
        for (const std::string above : {"", "ILSVRC"}) {
            const Folder folder;
            const fs::path data = folder / above / "Data/CLS-LOC";
            writeImageNet(data);
            writePictures(data / "test", "ILSVRC2012_test_0000000", 2, ".JPEG");
            writeText(folder / "LOC_val_solution.csv", kKaggle);
            writeText(folder / "LOC_synset_mapping.txt", kFish + " tench, Tinca tinca\n" + kBird + " cock\n");
            for (const fs::path& given : {folder.path(), folder / above, data}) {
                QCOMPARE(idAt(given), std::string("image-folder"));
                const auto report = inspectImages(given);
                QCOMPARE(codeOf(report), std::string("ok"));
                QCOMPARE(report.value().classes, (Names{"tench", "cock"}));
                QCOMPARE(report.value().testPerClass, (Counts{1, 2}));
                QVERIFY(report.value().skipped.empty());
            }
        }
    }

    void theDevkitAloneSaysNotEnough() {
        const Folder folder;
        writeImageNet(folder.path());
        QCOMPARE(codeOf(inspectImages(folder.path())), std::string("label-list.missing"));
        writeText(folder / "ILSVRC2012_devkit_t12/data/ILSVRC2012_validation_ground_truth.txt", "1\n2\n1\n");
        QCOMPARE(codeOf(inspectImages(folder.path())), std::string("devkit.no-meaning"));
    }

    // The numbers are not in the order of the folders, and inner nodes of the hierarchy have higher ones.
    void theDevkitNumbersTheClassesInAnOrderOfItsOwn() {
        const Folder folder;
        writeImageNet(folder.path());
        fs::rename(folder / "val/ILSVRC2012_val_00000000.JPEG", folder / "val/ILSVRC2012_val_00000003.JPEG");
        const fs::path data = folder / "ILSVRC2012_devkit_t12/data";
        writeText(data / "ILSVRC2012_validation_ground_truth.txt", "1\n2\n1\n");
        writeMeaning(data / "meta.mat", {{2, kFish}, {1, kBird}, {3, "n00001740"}});
        const auto report = inspectImages(folder.path());
        QCOMPARE(codeOf(report), std::string("ok"));
        QCOMPARE(report.value().testPerClass, (Counts{1, 2}));
        QCOMPARE(report.value().classes, (Names{"a fish", "a bird"}));
        writeText(data / "ILSVRC2012_validation_ground_truth.txt", "1\n7\n1\n");
        QCOMPARE(codeOf(inspectImages(folder.path())), std::string("devkit.unknown-number"));
        writeText(data / "meta.mat", "MATLAB 5.0 MAT-file, and nothing of it");
        QCOMPARE(codeOf(inspectImages(folder.path())), std::string("devkit.no-meaning"));
    }

    void aListThatIsOfOtherImagesIsRefused() {
        const Folder folder;
        writeImageNet(folder.path());
        writeText(folder / "val.csv", "file,label\nother1,n01440764\nother2,n01514668\n");
        QCOMPARE(codeOf(inspectImages(folder.path())), std::string("label-list.matches-none"));
    }

    void twoFoldersOfOneSplitAreRefused() {
        const Folder folder;
        for (const char* split : {"train", "val", "Validation"})
            for (const char* label : {"a", "b"}) writePictures(folder / split / label, "x", 2, ".jpg");
        QCOMPARE(codeOf(inspectImages(folder.path())), std::string("class-folder.split-twice"));
    }

    void splitsMayBeWrittenInCapitals() {
        for (const auto& [train, other] : {std::pair{"Train", "Val"}, {"TRAIN", "TEST"}, {"Training", "validation"}}) {
            const Folder folder;
            for (const char* label : {"a", "b"}) {
                writePictures(folder / train / label, "x", 3, ".jpg");
                writePictures(folder / other / label, "y", 2, ".jpg");
            }
            const auto report = inspectImages(folder.path());
            QCOMPARE(codeOf(report), std::string("ok"));
            QCOMPARE(report.value().classes, (Names{"a", "b"}));
            QCOMPARE(report.value().trainPerClass, (Counts{3, 3}));
            QCOMPARE(report.value().testPerClass, (Counts{2, 2}));
        }
    }

    void numbersNeedAListOfClasses() {
        const Folder folder;
        writeImageNet(folder.path());
        const auto write = [&](int first) {
            std::string text;
            for (int i = 0; i < 3; ++i)
                text += "ILSVRC2012_val_0000000" + std::to_string(i) + ".JPEG " + std::to_string(first + i % 2) + "\n";
            writeText(folder / "val.txt", text);
        };
        write(0);
        QCOMPARE(codeOf(inspectImages(folder.path())), std::string("label-list.numbers"));
        writeText(folder / "words.txt", kFish + "\ttench\n" + kBird + "\tcock\n");  // in no order of classes
        QCOMPARE(codeOf(inspectImages(folder.path())), std::string("label-list.numbers"));
        writeText(folder / "synset_words.txt", kFish + " tench, Tinca tinca\n" + kBird + " cock\n");
        const auto report = inspectImages(folder.path());
        QCOMPARE(codeOf(report), std::string("ok"));
        QCOMPARE(report.value().testPerClass, (Counts{2, 1}));
        write(1);  // the devkit's begin at 1
        QCOMPARE(codeOf(inspectImages(folder.path())), std::string("label-list.numbers"));
    }

    // As data to evaluate on are given.
    void oneSplitAlone() {
        const Folder folder;
        writeTiny(folder.path());
        QCOMPARE(idAt(folder / "val"), std::string("image-folder"));
        const DatasetEntry of = entry("image-folder");
        OpeningWatch watch;
        watch.trains = false;
        const auto splits = of.open(folder / "val", params(of), watch);
        QCOMPARE(codeOf(splits), std::string("ok"));
        QCOMPARE(splits.value().train->info().count + splits.value().test->info().count, std::int64_t{3});
        QCOMPARE(splits.value().train->info().classes, (Names{kFish, kBird}));
    }

    void listsThatNameOthers() {
        const Folder folder;
        writeImageNet(folder.path());
        writeText(folder / "val.csv", "ILSVRC2012_val_00000000,n01440764\nabsent,n01440764\n");
        const auto report = inspectImages(folder.path());
        QCOMPARE(codeOf(report), std::string("ok"));
        QCOMPARE(reasonFor(report.value(), "absent"), std::string("label-list.absent-file"));
        QCOMPARE(reasonFor(report.value(), "ILSVRC2012_val_00000001.JPEG"), std::string("label-list.not-listed"));
        writeText(folder / "val.csv", "ILSVRC2012_val_00000000,n02102040\n");
        QCOMPARE(codeOf(inspectImages(folder.path())), std::string("picture.unknown-class"));
        writeText(folder / "val.csv", "none,n01440764\n");
        QCOMPARE(codeOf(inspectImages(folder.path())), std::string("label-list.matches-none"));
    }

    void synsetsOfOneName() {
        const Folder folder;
        for (const std::string id : {"n02012849", "n03126707", "n02102040", "n09999999"})
            writePictures(folder / id, "a", 8);
        writeText(folder / "synset_words.txt",
                  "n02012849 crane\nn03126707 crane, hoist\r\nn02102040 English springer\n");
        QCOMPARE(inspectImages(folder.path()).value().classes,
                 (Names{"crane (n02012849)", "English springer", "crane (n03126707)", "n09999999"}));
    }
};

QTEST_APPLESS_MAIN(TestImageLayouts)
#include "tst_image_layouts.moc"
