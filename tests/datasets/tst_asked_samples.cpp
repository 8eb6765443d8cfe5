#include <QDir>
#include <QProcess>
#include <QtTest>

#include <cstring>
#include <thread>

#include "dataset_files.h"
#include "datasets/asked_samples.h"
#include "image_files.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

namespace fs = std::filesystem;

DatasetInfo imagesOf(int channels, int height, int width) {
    DatasetInfo info;
    info.fields = imageFields({channels, height, width});
    info.classes = {"cat", "dog"};
    return info;
}

DatasetInfo textsOf(std::int64_t tokens) {
    DatasetInfo info;
    info.fields = textFields(tokens);
    info.classes = {"cat", "dog"};
    return info;
}

QStringList namesOf(const std::vector<AskedSample>& samples, const fs::path& below = {}) {
    QStringList names;
    for (const AskedSample& each : samples)
        names << QString::fromStdString(below.empty() ? each.name
                                                      : fs::path(each.name).lexically_relative(below).string());
    return names;
}

void writeText(const fs::path& file, const std::string& text) {
    writeFile(file, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

template <class Work>
std::string codeOf(Work&& work) {
    try {
        work();
    } catch (const ProblemError& error) {
        return error.problem().code;
    }
    return {};
}

struct Read {
    std::vector<std::uint8_t> image;
    std::vector<std::int32_t> tokens;
    std::int32_t length = 0;
};
Read readTextAt(const AskedSamples& samples, std::int64_t index, std::size_t tokens) {
    Read out;
    out.tokens.resize(tokens);
    std::int32_t label = 0;
    const std::span<std::byte> room[] = {std::as_writable_bytes(std::span(out.tokens)),
                                         std::as_writable_bytes(std::span(&out.length, 1)),
                                         std::as_writable_bytes(std::span(&label, 1))};
    samples.read(index, room);
    return out;
}
std::vector<std::uint8_t> readImageAt(const AskedSamples& samples, std::int64_t index, std::size_t bytes) {
    std::vector<std::uint8_t> image(bytes, 7);
    std::int32_t label = 3;
    const std::span<std::byte> room[] = {std::as_writable_bytes(std::span(image)),
                                         std::as_writable_bytes(std::span(&label, 1))};
    samples.read(index, room);
    return image;
}

}  // namespace

class TestAskedSamples : public QObject {
    Q_OBJECT
private slots:
    void aFolderGivesItsImagesByName() {
        const Folder folder;
        for (const char* name : {"b.jpg", "a/2.JPEG", "a/10.png", "notes.txt", ".hidden.jpg", "__MACOSX/x.jpg"})
            writeFile(folder / name, jpeg(8, 8));
        QCOMPARE(namesOf(samplesAt(folder.path(), imagesOf(3, 8, 8)), folder.path()),
                 QStringList({"a/10.png", "a/2.JPEG", "b.jpg"}));
    }

    void whatCannotBeReadIsAReason() {
        const Folder folder;
        const Bytes whole = jpeg(16, 16);
        writeFile(folder / "good.jpg", whole);
        writeFile(folder / "half.jpg", std::span(whole).first(whole.size() / 2));
        writeText(folder / "none.jpg", "no image at all");
        const AskedSamples samples(imagesOf(1, 16, 16), samplesAt(folder.path(), imagesOf(1, 16, 16)));
        QCOMPARE(samples.info().count, std::int64_t{3});
        const auto good = readImageAt(samples, 0, 256);
        QVERIFY(!samples.failure(0) && std::ranges::any_of(good, [](auto x) { return x != 0 && x != 7; }));
        const auto bad = readImageAt(samples, 2, 256);
        QVERIFY(samples.failure(2) && samples.failure(2)->code == "image.not-an-image");
        QVERIFY(std::ranges::all_of(bad, [](auto x) { return x == 0; }));
        readImageAt(samples, 1, 256);
        QVERIFY(samples.failure(1)->code.starts_with("image."));
    }

    // Its name is no path of this machine.
    void anEmptyMemberOfAnArchiveIsEmpty() {
        const Folder folder;
        writeFile(folder / "a.jpg", jpeg(8, 8));
        std::vector<AskedSample> asked;
        asked.push_back({"x.zip/a.jpg", AskedImage{folder / "a.jpg", std::string()}});
        const AskedSamples samples(imagesOf(1, 8, 8), std::move(asked));
        readImageAt(samples, 0, 64);
        QVERIFY(samples.failure(0) && samples.failure(0)->code == "image.empty");
    }

    void aPathThatIsNoneIsSaid() {
        const Folder folder;
        const DatasetInfo images = imagesOf(1, 8, 8);
        QCOMPARE(codeOf([&] { samplesAt(folder / "absent.png", images); }), std::string("predict.not-found"));
        QCOMPARE(codeOf([&] { samplesAt(folder.path(), images); }), std::string("predict.nothing-there"));
        writeText(folder / "x.csv", "text\nhello\n");
        QCOMPARE(codeOf([&] { samplesAt(folder / "x.csv", images); }), std::string("predict.other-kind"));
        QCOMPARE(codeOf([&] { samplesAt(folder.path(), textsOf(8)); }), std::string("predict.nothing-there"));
    }

    void textsOfAFolderAreItsFiles() {
        const Folder folder;
        for (const char* of : {"b", "a", ".git"}) std::filesystem::create_directories(folder / of);
        writeText(folder / "b/1.txt", "one");
        writeText(folder / "a/2.TXT", "two");
        writeText(folder / "a/notes.md", "none");
        writeText(folder / ".git/3.txt", "none");
        writeText(folder / "b/broken.txt", "\xff\xfe");
        const auto samples = samplesAt(folder.path(), textsOf(8));
        QCOMPARE(samples.size(), std::size_t{3});
        QVERIFY(samples[0].name.ends_with("a/2.TXT") && std::get<AskedText>(samples[0].content).text == "two");
        QVERIFY(samples[1].name.ends_with("b/1.txt") && std::get<AskedText>(samples[1].content).text == "one");
    }

    void idxFilesAreTakenAsTheyAre() {
        const Folder folder;
        writeFile(folder / "x-idx3-ubyte", idxImages(3, 4, 5));
        const AskedSamples samples(imagesOf(1, 4, 5), samplesAt(folder / "x-idx3-ubyte", imagesOf(1, 4, 5)));
        QCOMPARE(samples.info().count, std::int64_t{3});
        const Bytes file = idxImages(3, 4, 5);
        for (std::int64_t i = 0; i < 3; ++i) {
            const auto image = readImageAt(samples, i, 20);
            QVERIFY(std::memcmp(image.data(), file.data() + 16 + i * 20, 20) == 0);
        }
        QCOMPARE(codeOf([&] { samplesAt(folder / "x-idx3-ubyte", imagesOf(1, 5, 4)); }),
                 std::string("predict.other-size"));
    }

    void aFolderOfIdxGivesItsTestImages() {
        const Folder folder;
        const auto names = [&] { return namesOf(samplesAt(folder.path(), imagesOf(1, 4, 5)), folder.path()); };
        writeFile(folder / "train-images-idx3-ubyte", idxImages(3, 4, 5));
        QCOMPARE(names().first(), QString("train-images-idx3-ubyte:0"));
        writeFile(folder / "t10k-images-idx3-ubyte", idxImages(2, 4, 5));
        writeFile(folder / "t10k-labels-idx1-ubyte", idxLabels({0, 1}));
        QCOMPARE(names(), QStringList({"t10k-images-idx3-ubyte:0", "t10k-images-idx3-ubyte:1"}));
        const auto other = samplesAt(folder.path(), imagesOf(1, 5, 4));
        QCOMPARE(namesOf(other, folder.path()), QStringList{"t10k-images-idx3-ubyte"});
        QCOMPARE(std::get<Problem>(other.front().content).code, std::string("predict.other-size"));
    }

    // Neither drives the other out; what cannot be taken is a row.
    void imagesAndIdxOfAFolderAreBothTaken() {
        const Folder folder;
        const auto names = [&] { return namesOf(samplesAt(folder.path(), imagesOf(1, 4, 5)), folder.path()); };
        writeFile(folder / "t10k-images-idx3-ubyte", idxImages(2, 4, 5));
        writeFile(folder / "z.jpg", jpeg(8, 8));
        QStringList expected{"z.jpg", "t10k-images-idx3-ubyte:0", "t10k-images-idx3-ubyte:1"};
        QCOMPARE(names(), expected);
        writeFile(folder / "more/digits.dat", idxImages(1, 4, 5));  // whatever its name
        writeFile(folder / "more/.digits.dat", idxImages(1, 4, 5));
        writeFile(folder / "more/labels.dat", idxLabels({0}));
        expected.insert(1, "more/digits.dat:0");
        QCOMPARE(names(), expected);
        writeFile(folder / "train-images-idx3-ubyte", idxImages(9, 4, 5));
        QCOMPARE(names(), expected);  // of one collection the test images
        writeFile(folder / "t10k-images-idx3-ubyte", Bytes{0, 0, 8});
        const auto samples = samplesAt(folder.path(), imagesOf(1, 4, 5));
        QCOMPARE(samples.size(), std::size_t{3});
        QCOMPARE(std::get<Problem>(samples.back().content).code, std::string("idx.truncated"));
    }

    void idxInAnArchive() {
        const Folder folder, packed;
        writeFile(folder / "a.jpg", jpeg(8, 8));
        writeFile(folder / "data/t10k-images-idx3-ubyte", idxImages(2, 4, 5));
        writeFile(folder / "data/train-images-idx3-ubyte", idxImages(3, 4, 5));
        writeFile(folder / "data/odd.bin", idxImages(1, 4, 5));
        writeText(folder / "data/notes.txt", "no images");
        for (const char* archive : {"x.zip", "x.tar.gz"}) {
            const auto file = packed / archive;
            QCOMPARE(QProcess::execute("bsdtar",
                                       {"-caf", QString::fromStdString(file.string()), "-C", folder.dir.path(), "."}),
                     0);
            const AskedSamples samples(imagesOf(1, 4, 5), samplesAt(file, imagesOf(1, 4, 5)));
            QStringList names;
            for (std::int64_t i = 0; i < samples.info().count; ++i)
                names << QString::fromStdString(fs::path(samples.sample(i).name).lexically_relative(file).string());
            QCOMPARE(names, QStringList({"a.jpg", "data/odd.bin:0", "data/t10k-images-idx3-ubyte:0",
                                         "data/t10k-images-idx3-ubyte:1"}));
            const Bytes bytes = idxImages(2, 4, 5);
            QVERIFY(std::memcmp(readImageAt(samples, 3, 20).data(), bytes.data() + 16 + 20, 20) == 0);
        }
        Folder gzipped;
        QVERIFY(QDir().mkpath(gzipped.dir.filePath("d")));
        writeFile(gzipped / "d/odd", idxImages(1, 4, 5));
        QCOMPARE(QProcess::execute("gzip", {gzipped.dir.filePath("d/odd")}), 0);
        QCOMPARE(QProcess::execute("bsdtar", {"-cf", packed.dir.filePath("y.tar"), "-C", gzipped.dir.path(), "d"}), 0);
        QCOMPARE(samplesAt(packed / "y.tar", imagesOf(1, 4, 5)).size(), std::size_t{1});
    }

    // As the dataset gives them: they lie on their side in the files.
    void emnistIsUpright() {
        const Folder folder;
        writeFile(folder / "emnist-letters-test-images-idx3-ubyte", idxImages(1, 3, 4));
        writeFile(folder / "other-test-images-idx3-ubyte", idxImages(1, 4, 3));
        const AskedSamples samples(imagesOf(1, 4, 3), samplesAt(folder.path(), imagesOf(1, 4, 3)));
        QCOMPARE(samples.info().count, std::int64_t{2});
        QCOMPARE(readImageAt(samples, 0, 12), (Bytes{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
        QCOMPARE(readImageAt(samples, 1, 12), (Bytes{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
    }

    // Whatever stands behind it in the name.
    void whatIsNamedEmnistIsUpright() {
        const Folder folder;
        writeFile(folder / "emnist-mine", idxImages(1, 3, 4));
        const AskedSamples samples(imagesOf(1, 4, 3), samplesAt(folder / "emnist-mine", imagesOf(1, 4, 3)));
        QCOMPARE(readImageAt(samples, 0, 12), (Bytes{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
    }

    void modelsOfRectanglesTakeNoFiles() {
        const Folder folder;
        writeFile(folder / "a.jpg", jpeg(8, 8));
        const AskedSamples samples(imagesOf(1, 4, 5), samplesAt(folder / "a.jpg", imagesOf(1, 4, 5)));
        readImageAt(samples, 0, 20);
        QCOMPARE(samples.failure(0)->code, std::string("predict.no-square"));
    }

    void rowsOfATableAreTexts() {
        const Folder folder;
        writeText(folder / "x.csv", "label,text\ncat,\"a, b\"\ndog,\nbird,longer than eight\n");
        const AskedSamples samples(textsOf(8), samplesAt(folder / "x.csv", textsOf(8)));
        QCOMPARE(samples.info().count, std::int64_t{3});
        QVERIFY(QString::fromStdString(samples.sample(2).name).endsWith("x.csv:4"));
        const Read first = readTextAt(samples, 0, 8), last = readTextAt(samples, 2, 8);
        QCOMPARE(first.length, 4);
        QCOMPARE(first.tokens, (std::vector<std::int32_t>{'a', ',', ' ', 'b', 0, 0, 0, 0}));
        QCOMPARE(last.length, 8);
        readTextAt(samples, 1, 8);
        QCOMPARE(samples.failure(1)->code, std::string("text.empty"));
        writeText(folder / "one.csv", "hello\nworld\n");
        QCOMPARE(samplesAt(folder / "one.csv", textsOf(8)).size(), std::size_t{2});
        writeText(folder / "two.csv", "a,b\nc,d\n");
        writeText(folder / "packed.zip", "PK\x03\x04");
        QCOMPARE(codeOf([&] { samplesAt(folder / "packed.zip", textsOf(8)); }), std::string("predict.packed-texts"));
        QCOMPARE(codeOf([&] { samplesAt(folder / "two.csv", textsOf(8)); }), std::string("text-csv.no-column"));
    }

    // A byte of another encoding costs its row alone; UTF-16 has no rows.
    void aRowThatIsNoUtf8IsAReason() {
        const Folder folder;
        writeText(folder / "x.csv", "text,note\nhello\xe9,a\nworld,\xe9\n\"caf\xc3\xa9\",c\n");
        const AskedSamples samples(textsOf(8), samplesAt(folder / "x.csv", textsOf(8)));
        QCOMPARE(samples.info().count, std::int64_t{3});
        Sample sample(samples);
        for (std::int64_t i = 0; i < 3; ++i) {
            sample.read(i);
            QCOMPARE(samples.failure(i).has_value(), i == 0);
        }
        const Problem reason = *samples.failure(0);
        QCOMPARE(reason.code, std::string("text.not-utf8"));
        QVERIFY(reason.field.ends_with("x.csv:2") && reason.args == (std::vector<std::string>{"5", "0xe9"}));
        writeText(folder / "wide.csv", std::string("\xff\xfet\0e\0x\0t\0\n\0a\0\n\0", 16));
        QCOMPARE(codeOf([&] { samplesAt(folder / "wide.csv", textsOf(8)); }), std::string("text.not-utf8"));
        writeText(folder / "head.csv", "a,t\xe9xt\nc,d\n");
        QCOMPARE(codeOf([&] { samplesAt(folder / "head.csv", textsOf(8)); }), std::string("text.not-utf8"));
    }

    void manyThreadsReadAtOnce() {
        std::vector<AskedSample> asked;
        for (int i = 0; i < 400; ++i) {
            if (i % 3 == 0) asked.push_back({std::to_string(i), Problem{"x", "file.unreadable", {}}});
            else asked.push_back({std::to_string(i), AskedText{"abc"}});
        }
        const AskedSamples samples(textsOf(4), std::move(asked));
        std::vector<std::jthread> readers;
        for (int t = 0; t < 4; ++t)
            readers.emplace_back([&, t] {
                for (std::int64_t i = t; i < 400; i += 4) readTextAt(samples, i, 4);
            });
        readers.clear();
        for (std::int64_t i = 0; i < 400; ++i) QCOMPARE(samples.failure(i).has_value(), i % 3 == 0);
    }
};

QTEST_APPLESS_MAIN(TestAskedSamples)
#include "tst_asked_samples.moc"
