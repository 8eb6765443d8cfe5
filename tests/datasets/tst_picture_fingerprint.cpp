#include <QtTest>

#include "dataset_files.h"
#include "engine/core/result.h"
#include "image_files.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

namespace fs = std::filesystem;

fs::path fileOf(const Folder& folder, int number) {
    return folder / ((number % 2 ? "cat/" : "dog/") + std::to_string(number) + ".png");
}

DataFingerprint fingerprint(const fs::path& path) {
    const auto splits = open("image-folder", path, {{"keep", std::string("stream")}, {"test_share", 0.1}});
    if (!splits.ok()) qFatal("%s", splits.problems().front().code.c_str());
    return fingerprintOf(splits.value()).value();
}

}  // namespace

// Of streamed pictures all names and sizes count, although few are looked into.
class TestPictureFingerprint : public QObject {
    Q_OBJECT
private slots:
    void init() {
        m_folder = std::make_unique<Folder>();
        for (int i = 0; i < 300; ++i) writeFile(fileOf(*m_folder, i), png(20, 20 + i % 3));
    }

    void aCopyElsewhereIsTheSame() {
        const Folder other;
        fs::copy(m_folder->path(), other / "a copy", fs::copy_options::recursive);
        QVERIFY(fingerprint(m_folder->path()) == fingerprint(other / "a copy"));
    }

    void oneThatIsLostOrAnotherIsNoticed() {
        const auto before = fingerprint(m_folder->path());
        for (const int other : {3, 40, 77, 150}) {
            writeFile(fileOf(*m_folder, other), png(20, 30 + other));
            QVERIFY(!(before == fingerprint(m_folder->path())));
            fs::remove(fileOf(*m_folder, other));
            QVERIFY(!(before == fingerprint(m_folder->path())));
            writeFile(fileOf(*m_folder, other), png(20, 20 + other % 3));
        }
        QVERIFY(before == fingerprint(m_folder->path()));
    }

    // As long as it can be read.
    void oneThatCannotBeDecodedHasContent() {
        const auto before = fingerprint(m_folder->path());
        for (int i = 0; i < 300; ++i) writeFile(fileOf(*m_folder, i), Bytes(fs::file_size(fileOf(*m_folder, i)), 'x'));
        const auto after = fingerprint(m_folder->path());
        QVERIFY(before.train.content != after.train.content);
        fs::remove(fileOf(*m_folder, 7));
        QVERIFY(!(after == fingerprint(m_folder->path())));
    }

private:
    std::unique_ptr<Folder> m_folder;
};

QTEST_APPLESS_MAIN(TestPictureFingerprint)
#include "tst_picture_fingerprint.moc"
