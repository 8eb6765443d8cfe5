#include <sys/stat.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "engine/core/disk_use.h"

using namespace lockstep;
namespace fs = std::filesystem;

namespace {

struct Place {
    fs::path path() const { return folder.path().toStdString(); }
    fs::path write(const std::string& name, std::size_t bytes) const {
        fs::create_directories((path() / name).parent_path());
        std::ofstream(path() / name) << std::string(bytes, 'x');
        return path() / name;
    }
    QTemporaryDir folder;
};

std::vector<std::string> pathsOf(const std::vector<DiskFile>& files) {
    std::vector<std::string> paths;
    for (const DiskFile& each : files) paths.push_back(each.path);
    std::ranges::sort(paths);
    return paths;
}

DiskFile fileOf(const std::vector<DiskFile>& files, const std::string& path) {
    const auto found = std::ranges::find(files, path, &DiskFile::path);
    return found == files.end() ? DiskFile{} : *found;
}

}  // namespace

class TestDiskUse : public QObject {
    Q_OBJECT
private slots:
    // The oracle is `du`, which counts blocks and every file once.
    void itIsWhatDuSays() {
        const Place place;
        place.write("runs/1/checkpoints/last.safetensors", 300'000);
        place.write("runs/1/run.log", 7);
        fs::create_hard_link(place.path() / "runs/1/checkpoints/last.safetensors", place.path() / "runs/other");
        const fs::path sparse = place.write("runs/sparse", 1);
        fs::resize_file(sparse, 50'000'000);
        fs::create_symlink("/usr", place.path() / "runs/away");
        QProcess du;
        du.start("du", {"-s", "--block-size=1", QString::fromStdString((place.path() / "runs").string())});
        QVERIFY(du.waitForFinished());
        struct stat itself {};
        QCOMPARE(::stat((place.path() / "runs").c_str(), &itself), 0);
        const auto told = du.readAllStandardOutput().split('\t').front().toULongLong();
        const auto own = static_cast<std::uint64_t>(itself.st_blocks) * 512;
        QCOMPARE(bytesOnDisk(filesBelow(place.path() / "runs")), told - own);
        QVERIFY(told < 2'000'000);  // the holes are none
    }

    void linksAreThemselves() {
        const Place place, elsewhere;
        elsewhere.write("secret/a", 100'000);
        place.write("run/a", 10);
        fs::create_symlink(elsewhere.path() / "secret", place.path() / "run/folder");
        fs::create_symlink(elsewhere.path() / "secret/a", place.path() / "run/file");
        fs::create_symlink(place.path() / "run", place.path() / "run/loop");
        fs::create_symlink(elsewhere.path() / "secret", place.path() / "itself");
        QCOMPARE(pathsOf(filesBelow(place.path() / "run")), (std::vector<std::string>{"a", "file", "folder", "loop"}));
        QVERIFY(fileOf(filesBelow(place.path() / "run"), "file").bytes < 100'000);
        QVERIFY(filesBelow(place.path() / "itself").empty());
        QVERIFY(filesBelow(place.path() / "none").empty());
    }

    void aFileWithAnotherNameGivesNothingBack() {
        const Place place;
        const fs::path first = place.write("first", 100'000), alone = place.write("alone", 50'000);
        fs::create_hard_link(first, place.path() / "second");
        const auto files = filesBelow(place.path());
        const auto one = fileOf(files, "first"), two = fileOf(files, "second"), other = fileOf(files, "alone");
        QCOMPARE(one.names, std::uint64_t{2});
        QVERIFY(one.bytes >= 100'000);
        QCOMPARE(bytesFreedBy(std::vector{one}), std::uint64_t{0});
        QCOMPARE(bytesFreedBy(std::vector{one, other}), other.bytes);
        QCOMPARE(bytesFreedBy(std::vector{one, two}), one.bytes);
        QCOMPARE(bytesOnDisk(std::vector{one, two, other}), one.bytes + other.bytes);
    }

    // Between the look and the removal a folder becomes a link to somebody's own files.
    void noFileIsRemovedThroughALink() {
        const Place place, elsewhere;
        place.write("run/checkpoints/best.safetensors", 10);
        place.write("run/checkpoints/last.safetensors", 10);
        elsewhere.write("best.safetensors", 10);
        const fs::path run = place.path() / "run";
        QVERIFY(!removeFileBelow(run, "checkpoints/last.safetensors"));
        QVERIFY(!fs::exists(run / "checkpoints/last.safetensors"));
        fs::remove_all(run / "checkpoints");
        fs::create_symlink(elsewhere.path(), run / "checkpoints");
        QVERIFY(removeFileBelow(run, "checkpoints/best.safetensors"));
        QVERIFY(fs::exists(elsewhere.path() / "best.safetensors"));
        fs::rename(run, place.path() / "moved");
        fs::create_symlink(place.path() / "moved", run);
        QVERIFY(removeFileBelow(run, "checkpoints"));
        QVERIFY(!removeFileBelow(place.path() / "moved", "checkpoints"));  // the link itself, not what it points to
        QVERIFY(fs::exists(elsewhere.path() / "best.safetensors"));
        QVERIFY(!removeFileBelow(place.path() / "moved", "gone"));  // is not there: as good as removed
    }
};

QTEST_APPLESS_MAIN(TestDiskUse)
#include "tst_disk_use.moc"
