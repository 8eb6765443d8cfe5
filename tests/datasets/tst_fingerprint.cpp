#include <QtTest>

#include "dataset_files.h"
#include "engine/core/error.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

namespace fs = std::filesystem;
using Given = std::map<std::string, ParamValue>;

void write(const fs::path& file, const std::string& text) {
    writeFile(file, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

DataFingerprint fingerprint(const std::string& id, const fs::path& path, const Given& given = {}) {
    const auto splits = open(id, path, given);
    if (!splits.ok()) qFatal("%s", splits.problems().front().code.c_str());
    return fingerprintOf(splits.value()).value();
}

void copyAged(const fs::path& from, const fs::path& to) {
    fs::copy(from, to, fs::copy_options::recursive);
    for (const auto& item : fs::recursive_directory_iterator(to)) {
        if (item.is_regular_file())
            fs::last_write_time(item.path(), fs::file_time_type::clock::now() - std::chrono::hours(100));
    }
}

// A collection in one format, and what changes some of it.
struct Format {
    std::string id;
    Given given;
    std::function<void(const Folder&)> make;
    std::string file;     // one of the training files
    std::string content;  // other, as long as what it has
};

void makeIdx(const Folder& folder) {
    writeFile(folder / "train-images-idx3-ubyte", idxImages(20, 5, 5));
    writeFile(folder / "train-labels-idx1-ubyte",
              idxLabels(Bytes{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}));
    writeFile(folder / "t10k-images-idx3-ubyte", idxImages(2, 5, 5));
    writeFile(folder / "t10k-labels-idx1-ubyte", idxLabels({0, 1}));
}

void makeTextFolder(const Folder& folder) {
    for (const std::string split : {"train", "test"}) {
        for (const std::string name : {"cat", "dog"}) {
            for (int i = 0; i < 6; ++i)
                write(folder / (split + "/" + name + "/" + std::to_string(i) + ".txt"), name + std::to_string(i));
        }
    }
}

std::vector<Format> formats() {
    const auto labels = idxLabels(Bytes{1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1});
    return {{"idx", {}, makeIdx, "train-labels-idx1-ubyte", std::string(labels.begin(), labels.end())},
            {"text-folder", {}, makeTextFolder, "train/cat/3.txt", "cot3"},
            {"text-csv",
             {},
             [](const Folder& folder) {
                 write(folder / "train.csv", "text,label\nhiss,cat\nwoof,dog\npurr,cat\n");
                 write(folder / "test.csv", "text,label\nmeow,cat\nbark,dog\n");
             },
             "train.csv",
             "text,label\nhiss,cat\nwoof,dog\npurr,dog\n"},
            {"text",
             {{"sequence", std::int64_t{8}}},
             [](const Folder& folder) {
                 write(folder / "a.txt", std::string(300, 'x'));
                 write(folder / "b.txt", std::string(100, 'y'));
             },
             "a.txt",
             std::string(200, 'x').append("z").append(99, 'x')}};
}

// Says how many samples it has, and that one of them cannot be read.
class Numbers final : public Dataset {
public:
    explicit Numbers(std::int64_t count, std::int64_t broken = -1, std::int32_t first = 0)
        : m_broken(broken), m_first(first) {
        m_info.count = count;
        m_info.fields = {{"label", {{1}, DType::I32}}};
    }
    const DatasetInfo& info() const override { return m_info; }
    void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override {
        if (index == m_broken) throw EngineError(EngineError::Kind::Io, "sample", "bad sector");
        ++reads;
        const auto value = static_cast<std::int32_t>(index) + m_first;
        std::memcpy(into[0].data(), &value, sizeof value);
    }
    mutable int reads = 0;

private:
    DatasetInfo m_info;
    std::int64_t m_broken;
    std::int32_t m_first;
};

}  // namespace

class TestFingerprint : public QObject {
    Q_OBJECT
private slots:
    void aCopyElsewhereIsTheSame_data() { rows(); }
    void aCopyElsewhereIsTheSame() {
        const Format format = of();
        const Folder folder, other;
        format.make(folder);
        copyAged(folder.path(), other / "a copy");
        QVERIFY(fingerprint(format.id, folder.path(), format.given) ==
                fingerprint(format.id, other / "a copy", format.given));
    }

    void otherContentOfTheSameSizeIsAnother_data() { rows(); }
    void otherContentOfTheSameSizeIsAnother() {
        const Format format = of();
        const Folder folder;
        format.make(folder);
        const auto before = fingerprint(format.id, folder.path(), format.given);
        QCOMPARE(fs::file_size(folder / format.file), format.content.size());
        write(folder / format.file, format.content);
        const auto after = fingerprint(format.id, folder.path(), format.given);
        QVERIFY(before.train.content != after.train.content);
        QCOMPARE(before.train.samples, after.train.samples);
        QVERIFY(before.test == after.test);
    }

    void aMissingFileIsACountLess() {
        const Folder folder;
        makeTextFolder(folder);
        const auto before = fingerprint("text-folder", folder.path());
        fs::remove(folder / "test/dog/2.txt");
        const auto after = fingerprint("text-folder", folder.path());
        QVERIFY(before.train == after.train);
        QCOMPARE(before.test.samples, std::int64_t{12});
        QCOMPARE(after.test.samples, std::int64_t{11});
    }

    // Cut at other places, the same bytes are other samples.
    void otherSettingsMakeOtherSamples() {
        const Folder folder;
        write(folder / "a.txt", std::string(400, 'x'));
        const auto of = [&](std::int64_t sequence) {
            return fingerprint("text", folder.path(), {{"sequence", sequence}}).train.content;
        };
        QVERIFY(of(8) != of(16));
        const auto seeded = [](std::int64_t seed) { return fingerprint("synthetic", {}, {{"seed", seed}}); };
        QVERIFY(seeded(1) == seeded(1));
        QVERIFY(seeded(1).train.content != seeded(2).train.content);
        QVERIFY(seeded(1).train.content != seeded(1).test.content);
    }

    // A format that gives no bytes at hand is looked at here and there: at both ends, too.
    void samplesHereAndThereStandForAll() {
        const Numbers many(100'000), shifted(100'000, -1, 1), fewer(99'999);
        QCOMPARE(many.fingerprint(), Numbers(100'000).fingerprint());
        QVERIFY(many.reads == 64);
        QVERIFY(many.fingerprint() != shifted.fingerprint());
        QVERIFY(many.fingerprint() != fewer.fingerprint());
        QVERIFY(Numbers(1).fingerprint() != Numbers(1, -1, 5).fingerprint());
    }

    // Nor is it another content: what happens once to a disk far away must not keep a trial from being resumed.
    void aSampleThatCannotBeReadLeavesNoFingerprint() {
        QVERIFY(!Numbers(10, 3).fingerprint());
        const auto broken = std::make_shared<Numbers>(10, 3), whole = std::make_shared<Numbers>(10);
        QVERIFY(!fingerprintOf({whole, broken}));
        QVERIFY(!fingerprintOf({broken, whole}));
        QVERIFY(fingerprintOf({whole, whole}));
    }

private:
    static void rows() {
        QTest::addColumn<std::size_t>("format");
        const auto all = formats();
        for (std::size_t i = 0; i < all.size(); ++i) QTest::newRow(all[i].id.c_str()) << i;
    }
    static Format of() {
        QFETCH(std::size_t, format);
        return formats()[format];
    }
};

QTEST_APPLESS_MAIN(TestFingerprint)
#include "tst_fingerprint.moc"
