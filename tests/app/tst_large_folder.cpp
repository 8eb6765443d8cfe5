#include <sys/resource.h>

#include <QElapsedTimer>
#include <QtTest>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "tests/app/lockstep_program.h"
#include "tests/datasets/image_files.h"
#include "tests/support/long_tests.h"

namespace fs = std::filesystem;

namespace {

constexpr int kClasses = 1000, kOfEach = 1280;
constexpr int kLinks = 50'000;  // of one file: ext4 allows 65,000

// As long ago as that its times are trusted.
void age(const fs::path& path) { fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1)); }

// As large as ImageNet's training split, with names like its own; its files are links to a few.
void makeFolder(const fs::path& root) {
    fs::path picture;
    for (int label = 0, made = 0; label < kClasses; ++label) {
        char name[48];
        std::snprintf(name, sizeof name, "n%08d", 1'000'000 + 977 * label);
        const fs::path folder = root / "train" / name;
        fs::create_directories(folder);
        for (int i = 0; i < kOfEach; ++i, ++made) {
            if (made % kLinks == 0) {
                picture = root / (std::to_string(made) + ".picture");
                const auto bytes = lockstep::test::jpeg(48 + made / kLinks, 40);
                QFile file(picture.c_str());
                QVERIFY(file.open(QIODevice::WriteOnly));
                file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<qint64>(bytes.size()));
                file.close();
                age(picture);
            }
            std::snprintf(name, sizeof name, "n%08d_%d.JPEG", 1'000'000 + 977 * label, 10 * i + label);
            fs::create_hard_link(picture, folder / name);
        }
        age(folder);
    }
    age(root / "train"), age(root);
}

struct Start {
    double seconds = 0;  // until its first event
    QByteArray before;   // what it said of the data meanwhile
};

}  // namespace

class TestLargeFolder : public QObject {
    Q_OBJECT
private slots:
    // 1.28 million files: listed once, then trained on within seconds, in little memory.
    void isListedOnce() {
        if (!lockstep::test::isLong()) QSKIP("1.28 million files: packaging/test --long");
        const QTemporaryDir folder;
        const fs::path root = folder.path().toStdString();
        QElapsedTimer timer;
        timer.start();
        makeFolder(root);
        qInfo("made in %.1f s", static_cast<double>(timer.elapsed()) / 1000);

        const LockstepProgram program;
        const Start first = startTraining(program, folder.path()), second = startTraining(program, folder.path());
        QVERIFY(first.before.contains("\"total\":0"));  // was told of while it was listed
        QVERIFY(!second.before.contains("\"total\":0"));
        const double bytes = static_cast<double>(bytesOfIndex(program)) / (kClasses * kOfEach);
        rusage used{};
        getrusage(RUSAGE_CHILDREN, &used);
        qInfo("first start %.2f s, second %.2f s; index %.1f bytes a file; at most %ld MB of memory", first.seconds,
              second.seconds, bytes, used.ru_maxrss / 1024);
        QVERIFY2(bytes > 48 && bytes <= 100, qPrintable(QString::number(bytes)));
        QVERIFY2(second.seconds <= 2, qPrintable(QString::number(second.seconds)));
        QVERIFY2(used.ru_maxrss <= 400 * 1024, qPrintable(QString::number(used.ru_maxrss)));
    }

private:
    // Until it trains; then it is stopped.
    static Start startTraining(const LockstepProgram& program, const QString& data) {
        QElapsedTimer timer;
        timer.start();
        const auto run = program.start({"train", "--dataset", "image-folder", "--data", data, "--model", "mlp", "--set",
                                        "dataset.keep=stream", "dataset.size=32", "--devices", "cpu:1", "--batch", "32",
                                        "--epochs", "1", "--json"});
        Start start;
        while (!start.before.contains("run_started") && run->waitForReadyRead(300'000))
            start.before += run->readAllStandardOutput();
        start.seconds = static_cast<double>(timer.elapsed()) / 1000;
        QTest::qWait(1000);
        run->terminate();
        LockstepProgram::finish(*run);
        return start;
    }

    static std::uintmax_t bytesOfIndex(const LockstepProgram& program) {
        for (const auto& item : fs::recursive_directory_iterator(program.home().toStdString()))
            if (item.path().extension() == ".picture-index") return item.file_size();
        return 0;
    }
};

QTEST_GUILESS_MAIN(TestLargeFolder)
#include "tst_large_folder.moc"
