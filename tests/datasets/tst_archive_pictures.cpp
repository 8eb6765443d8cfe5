#include <sys/resource.h>

#include <QProcess>
#include <QScopeGuard>
#include <QtTest>
#include <algorithm>
#include <set>

#include "archive_files.h"
#include "dataset_files.h"
#include "datasets/archive_index.h"
#include "engine/core/error.h"
#include "engine/data/bad_samples.h"
#include "image_files.h"

using namespace lockstep;
using namespace lockstep::test;

namespace fs = std::filesystem;

namespace {

using Names = std::vector<std::string>;
using Counts = std::vector<std::int64_t>;
using Members = std::vector<Member>;

// Dark for a label of 0, bright for 1.
Bytes picture(int label) { return pngOf(Bytes(64, label == 0 ? 10 : 200), 8, 8, PNG_COLOR_TYPE_GRAY); }

Members classFolders(const std::string& above, int count = 20) {
    Members members;
    for (int i = 0; i < count; ++i) {
        members.push_back({above + "cat/" + std::to_string(i) + ".png", picture(0)});
        members.push_back({above + "dog/" + std::to_string(i) + ".PNG", picture(1)});
    }
    return members;
}

Members shard(int first, int count) {
    Members members;
    for (int i = first; i < first + count; ++i) {
        members.push_back({"s" + std::to_string(i) + ".png", picture(i % 2)});
        members.push_back({"s" + std::to_string(i) + ".cls", bytesOf(std::to_string(i % 2) + "\n")});
    }
    return members;
}

// Whether each picture is what its label says, decoded at once and when it is read.
bool everyPictureHasItsLabel(const fs::path& path) {
    for (const std::string keep : {"memory", "stream"}) {
        const auto splits = open("image-folder", path, {{"keep", keep}});
        if (!splits.ok()) return false;
        for (const auto& split : {splits.value().train, splits.value().test}) {
            if (split->info().count == 0) return false;
            for (std::int64_t i = 0; i < split->info().count; ++i) {
                if ((imageOf(*split, i)[0] > 100) != (labelOf(*split, i) == 1)) return false;
            }
        }
    }
    return true;
}

std::vector<MemberPlace> index(const fs::path& path) {
    return indexArchive(RandomFile(path), [] {});
}

std::string codeOfIndex(const fs::path& path) {
    try {
        index(path);
        return "ok";
    } catch (const ProblemError& error) {
        return error.problem().code;
    }
}

bool run(const QString& program, const QStringList& arguments, const fs::path& in) {
    QProcess process;
    process.setWorkingDirectory(in.c_str());
    process.start(program, arguments);
    return process.waitForStarted() && process.waitForFinished(60000) && process.exitCode() == 0;
}

std::ptrdiff_t openDescriptors() { return std::distance(fs::directory_iterator("/proc/self/fd"), {}); }

}  // namespace

class TestArchivePictures : public QObject {
    Q_OBJECT
private slots:
    void classFoldersInAnArchive_data() {
        QTest::addColumn<QString>("above");
        QTest::newRow("at the top") << "";
        QTest::newRow("in a folder") << "photos/";
        QTest::newRow("from a point") << "./";
        QTest::newRow("deep") << "home/me/photos/";
    }
    void classFoldersInAnArchive() {
        QFETCH(QString, above);
        const Folder folder;
        const Members members = classFolders(above.toStdString());
        writeFile(folder / "photos.tar", tarOf(members));
        writeFile(folder / "photos.zip", zipOf(members));
        writeFile(folder / "large.zip", zipOf(members, 0, true));
        for (const std::string name : {"photos.tar", "photos.zip", "large.zip"}) {
            QCOMPARE(idAt(folder / name), std::string("image-folder"));
            const auto report = inspectImages(folder / name);
            QCOMPARE(codeOf(report), std::string("ok"));
            QCOMPARE(report.value().classes, (Names{"cat", "dog"}));
            QCOMPARE(report.value().trainCount + report.value().testCount, std::int64_t{40});
            QVERIFY(everyPictureHasItsLabel(folder / name));
        }
    }

    void splitsInAnArchive() {
        const Folder folder;
        Members members = classFolders("data/train/", 4);
        for (const Member& each : classFolders("data/val/", 3)) members.push_back(each);
        writeFile(folder / "a.tar", tarOf(members));
        QCOMPARE(inspectImages(folder / "a.tar").value().testPerClass, (Counts{3, 3}));
        for (const Member& each : classFolders("data/test/", 2)) members.push_back(each);
        writeFile(folder / "a.tar", tarOf(members));
        QCOMPARE(inspectImages(folder / "a.tar").value().trainPerClass, (Counts{4, 4}));
        QCOMPARE(inspectImages(folder / "a.tar").value().testPerClass, (Counts{2, 2}));
        QCOMPARE(inspectImages(folder / "a.tar").value().validationCount, std::int64_t{6});
        QVERIFY(everyPictureHasItsLabel(folder / "a.tar"));
        members.push_back({"data/test/eel/1.png", picture(0)});
        writeFile(folder / "a.tar", tarOf(members));
        QCOMPARE(codeOf(inspectImages(folder / "a.tar")), std::string("picture.unknown-class"));
    }

    void theSameAsUnpacked() {
        const Folder folder;
        Members members = classFolders("");
        const Bytes dark = picture(0);
        members.push_back({"cat/half.png", Bytes(dark.begin(), dark.begin() + 60)});
        for (const Member& each : members) writeFile(folder / "photos" / each.name, each.bytes);
        writeFile(folder / "photos.tar", tarOf(members));
        const auto of = [&](const char* name) {
            return fingerprintOf(open("image-folder", folder / name, {{"keep", std::string("memory")}}).value())
                .value();
        };
        QVERIFY(of("photos") == of("photos.tar"));
        QCOMPARE(reasonFor(inspectImages(folder / "photos.tar").value(), "half.png"), std::string("image.truncated"));
    }

    void whatIsKeptIsOfThisArchive() {
        const Folder folder, cache;
        writeFile(folder / "photos.tar", tarOf(classFolders("")));
        const DatasetEntry of = entry("image-folder", cache.path());
        const auto first = [&] { return imageOf(*of.open(folder / "photos.tar", params(of), {}).value().train, 0)[0]; };
        QCOMPARE(first(), first());
        Members other = classFolders("");
        for (Member& each : other) each.bytes = pngOf(Bytes(64, 99), 8, 8, PNG_COLOR_TYPE_GRAY);
        writeFile(folder / "photos.tar", tarOf(other));
        QCOMPARE(int(first()), 99);
    }

    void shards() {
        const Folder folder;
        writeFile(folder / "train-000.tar", tarOf(shard(0, 6)));
        writeFile(folder / "train-001.tar", tarOf(shard(6, 6)));
        writeFile(folder / "shards-val-000.tar", tarOf(shard(0, 4)));
        QCOMPARE(idAt(folder.path()), std::string("image-folder"));
        const auto report = inspectImages(folder.path());
        QCOMPARE(codeOf(report), std::string("ok"));
        QCOMPARE(report.value().classes, (Names{"0", "1"}));
        QCOMPARE(report.value().trainPerClass, (Counts{6, 6}));
        QCOMPARE(report.value().testPerClass, (Counts{2, 2}));
        QVERIFY(report.value().skipped.empty());
        QVERIFY(everyPictureHasItsLabel(folder.path()));
        const auto splits = open("image-folder", folder.path(), {{"keep", std::string("stream")}});
        QCOMPARE(splits.value().train->fileOf(1), (folder / "train-000.tar/s2.png").string());
    }

    void shardsInFolders() {
        const Folder folder;
        writeFile(folder / "train/0.tar", tarOf(shard(0, 6)));
        writeFile(folder / "train/1.tar", tarOf(shard(0, 6)));  // the same keys
        writeFile(folder / "test/0.tar", tarOf(shard(0, 4)));
        const auto report = inspectImages(folder.path());
        QCOMPARE(codeOf(report), std::string("ok"));
        QCOMPARE(idAt(folder.path()), std::string("image-folder"));
        QCOMPARE(report.value().trainPerClass, (Counts{6, 6}));
        QCOMPARE(report.value().testPerClass, (Counts{2, 2}));
    }

    void moreArchivesThanStayOpen() {
        const Folder folder;
        for (int i = 0; i < 300; ++i) writeFile(folder / (std::to_string(i) + ".tar"), tarOf(shard(i, 1)));
        QCOMPARE(inspectImages(folder.path()).value().trainCount + inspectImages(folder.path()).value().testCount,
                 std::int64_t{300});
        QVERIFY(everyPictureHasItsLabel(folder.path()));
    }

    void labelsOfShards() {
        const Folder folder;
        const auto json = [](const std::string& text) { return bytesOf(text); };
        const Bytes image = picture(0);
        Members members;
        for (int i = 0; i < 12; ++i) {
            const std::string key = "d/" + std::to_string(i);
            members.push_back({key + ".jpeg", jpeg(8, 8)});
            members.push_back({key + ".json", json(i % 2 ? "{\"label\": 11}" : "{\"label\": 2, \"x\": []}")});
        }
        members.insert(members.end(), {{"none.png", image},
                                       {"alone.cls", bytesOf("1")},
                                       {"word.png", image},
                                       {"word.cls", bytesOf("cat")},
                                       {"minus.png", image},
                                       {"minus.cls", bytesOf("-1")},
                                       {"empty.png", image},
                                       {"empty.cls", {}},
                                       {"two.png", image},
                                       {"two.jpg", image},
                                       {"two.cls", bytesOf("2")},
                                       {"bad.png", image},
                                       {"bad.json", json("{\"label\": ")},
                                       {"list.png", image},
                                       {"list.json", json("[1]")},
                                       {"fine.png", image},
                                       {"fine.seg.png", image},
                                       {"fine.cls", bytesOf(" 2 \r\n")}});
        for (const char* each : {"said.input.png", "both.left.png", "both.right.png"}) members.push_back({each, image});
        for (const char* each : {"said.cls", "both.cls"}) members.push_back({each, bytesOf("2")});
        writeFile(folder / "s.tar", tarOf(members));
        const auto report = inspectImages(folder / "s.tar");
        QCOMPARE(codeOf(report), std::string("ok"));
        QCOMPARE(report.value().classes, (Names{"2", "11"}));
        QCOMPARE(report.value().trainCount + report.value().testCount, std::int64_t{14});
        QCOMPARE(reasonFor(report.value(), "both.left.png"), std::string("shard.two-images"));
        QCOMPARE(reasonFor(report.value(), "none.png"), std::string("shard.no-label"));
        QCOMPARE(reasonFor(report.value(), "alone.cls"), std::string("shard.no-image"));
        QCOMPARE(reasonFor(report.value(), "two.png"), std::string("shard.two-images"));
        for (const char* bad : {"word.cls", "minus.cls", "empty.cls", "bad.json", "list.json"})
            QCOMPARE(reasonFor(report.value(), bad), std::string("shard.bad-label"));
        QCOMPARE(report.value().skipped.size(), std::size_t{9});
    }

    void gapsInANumberedSeriesAreRemarked() {
        const Folder folder;
        const auto write = [&](const std::string& name) { writeFile(folder / name, tarOf(shard(0, 4))); };
        const auto remarks = [&] {
            std::vector<std::string> said;
            const auto report = inspectImages(folder.path());
            for (const Problem& each : report.value().warnings)
                if (each.code == "shard.missing") said.insert(said.end(), each.args.begin(), each.args.end());
            return said;
        };
        for (const char* each : {"train-001.tar", "train-002.tar", "val-7.tar"}) write(each);
        QCOMPARE(remarks(), (std::vector<std::string>{}));
        for (const char* each : {"train-005.tar", "val-000.tar", "val-001.tar"}) write(each);
        QCOMPARE(remarks(), (std::vector<std::string>{"3", "2", "2", "5"}));
        const Folder whole;  // 0 to 2 of 4
        for (const char* each : {"s-00000-of-00004.tar", "s-00001-of-00004.tar", "s-00002-of-00004.tar"})
            writeFile(whole / each, tarOf(shard(0, 4)));
        const auto report = inspectImages(whole.path());
        const auto& warnings = report.value().warnings;
        QCOMPARE(std::ranges::count(warnings, std::string("shard.missing"), &Problem::code), 1);
        QCOMPARE(warnings.front().args, (std::vector<std::string>{"3", "1"}));
    }

    void whatIsNoPictureIsSkipped() {
        const Folder folder;
        Members members = classFolders("p/");
        members.insert(members.end(), {{"p/cat/notes.txt", bytesOf("x")},
                                       {"p/stray.png", picture(0)},
                                       {"p/cat/link.png", {}, '2'},
                                       {"p/cat/", {}, '5'},
                                       {"__MACOSX/p/cat/._0.png", bytesOf("x")},
                                       {"p/dog/.DS_Store", bytesOf("x")}});
        writeFile(folder / "a.tar", tarOf(members));
        const auto report = inspectImages(folder / "a.tar");
        QCOMPARE(codeOf(report), std::string("ok"));
        QCOMPARE(report.value().classes, (Names{"cat", "dog"}));
        QCOMPARE(reasonFor(report.value(), "notes.txt"), std::string("image.unknown-kind"));
        QCOMPARE(reasonFor(report.value(), "stray.png"), std::string("class-folder.no-class"));
        QCOMPARE(reasonFor(report.value(), "link.png"), std::string("file.not-regular"));
        QCOMPARE(report.value().skipped.size(), std::size_t{3});
        QCOMPARE(report.value().warnings.front().args, Names{"2"});
    }

    void packedOnesAreRefused() {
        const Folder folder;
        const std::pair<const char*, std::string> beginnings[] = {{"a.tar.gz", "\x1f\x8b\x08"},
                                                                  {"a.tgz", "\x1f\x8b\x08"},
                                                                  {"a.tar.zst", "\x28\xb5\x2f\xfd"},
                                                                  {"a.tar.bz2", "BZh91AY"},
                                                                  {"a.tar", "\x1f\x8b\x08"},
                                                                  {"a.tar.xz",
                                                                   "\xfd"
                                                                   "7zXZ"}};
        for (const auto& [name, begin] : beginnings) {
            writeFile(folder / name, bytesOf(begin + std::string(600, '\xff')));
            QCOMPARE(codeOf(inspectImages(folder / name)), std::string("archive.packed"));
            QCOMPARE(idAt(folder / name), std::string("image-folder"));  // whose opening says why not
        }
        writeFile(folder / "a.zip", zipOf(classFolders(""), 8));
        QCOMPARE(codeOf(inspectImages(folder / "a.zip")), std::string("archive.member-packed"));
        writeFile(folder / "b.tar", bytesOf(std::string(2000, 'x')));
        QCOMPARE(codeOf(inspectImages(folder / "b.tar")), std::string("archive.unknown"));
        writeFile(folder / "b.tar", Bytes());
        QCOMPARE(codeOf(inspectImages(folder / "b.tar")), std::string("archive.no-bytes"));
        writeFile(folder / "b.tar", tarOf({{"notes.txt", bytesOf("x")}}));
        QCOMPARE(codeOf(inspectImages(folder / "b.tar")), std::string("archive.no-images"));
        QCOMPARE(idAt(folder / "b.tar"), std::string("dataset.archive-of-others"));
        Bytes cut = zipOf(classFolders(""));
        cut.resize(cut.size() / 2);
        writeFile(folder / "cut.zip", cut);
        QCOMPARE(codeOf(inspectImages(folder / "cut.zip")), std::string("archive.cut-short"));
        QCOMPARE(idAt(folder / "cut.zip"), std::string("image-folder"));
        for (const Bytes& none : {tarOf({}), zipOf({})}) {
            writeFile(folder / "none.tar", none);
            QCOMPARE(codeOf(inspectImages(folder / "none.tar")), std::string("archive.no-images"));
        }
        QCOMPARE(codeOf(inspectImages(folder / "nowhere.tar")), std::string("dataset.not-found"));
    }

    void splitsWithoutClassFoldersAndArchivesInArchivesAreRefused() {
        const Folder folder;
        for (const std::string flat : {"il/val/0.png", "il/val/images/0.png"}) {
            Members members;
            for (const char* label : {"cat", "dog"})
                for (int i = 0; i < 2; ++i)
                    members.push_back(
                        {std::string("il/train/") + label + "/" + std::to_string(i) + ".png", picture(i)});
            members.push_back({flat, picture(3)});
            writeFile(folder / "a.tar", tarOf(members));
            QCOMPARE(codeOf(inspectImages(folder / "a.tar")), std::string("archive.flat-split"));
        }
        writeFile(folder / "b.tar", tarOf({{"n01440764.tar", tarOf(classFolders(""))}}));
        QCOMPARE(codeOf(inspectImages(folder / "b.tar")), std::string("archive.of-archives"));
        QCOMPARE(idAt(folder / "b.tar"), std::string("image-folder"));  // whose opening says so
    }

    void namesThatLeadElsewhere() {
        const Folder folder;
        for (const std::string name : {"../cat/1.png", "/cat/1.png", "cat/../../dog/1.png", "cat/.."}) {
            Members members = classFolders("");
            members.push_back({name, picture(0)});
            writeFile(folder / "a.tar", tarOf(members));
            QCOMPARE(codeOf(inspectImages(folder / "a.tar")), std::string("archive.unsafe-name"));
            writeFile(folder / "a.zip", zipOf(members));
            QCOMPARE(codeOf(inspectImages(folder / "a.zip")), std::string("archive.unsafe-name"));
        }
        Members twice = classFolders("");
        twice.push_back({"./cat/1.png", picture(1)});
        writeFile(folder / "a.tar", tarOf(twice));
        QCOMPARE(codeOf(inspectImages(folder / "a.tar")), std::string("archive.named-twice"));
        writeFile(folder / "a.tar", tarOf({{"cat/..1.png", picture(0)}, {"a/...", picture(0)}}));
        QCOMPARE(codeOfIndex(folder / "a.tar"), std::string("ok"));
    }

    // Wherever it is cut: between members, too.
    void aCutArchiveIsNeverTaken() {
        const Folder folder;
        const Bytes tar = tarOf(shard(0, 3)), zip = zipOf(shard(0, 3)), large = zipOf(shard(0, 3), 0, true);
        for (const Bytes& whole : {tar, zip, large}) {
            const std::size_t most = whole == tar ? tar.size() - 1024 : whole.size() - 1;
            for (std::size_t size = 0; size <= most; size += size + 64 > most ? 1 : 64) {
                writeFile(folder / "a.tar", std::span(whole).first(size));
                const std::string code = codeOfIndex(folder / "a.tar");
                const std::string shorter = size == 0    ? "archive.no-bytes"
                                            : size < 512 ? "archive.unknown"
                                                         : "archive.cut-short";
                QVERIFY2(code == "archive.cut-short" || code == shorter, code.c_str());
            }
        }
        writeFile(folder / "s/train-0.tar", tar);
        writeFile(folder / "s/train-1.tar", std::span(tar).first(tar.size() / 2));
        QCOMPARE(codeOf(inspectImages(folder / "s")), std::string("archive.cut-short"));
    }

    // As `cat` makes them of shards.
    void archivesBehindEachOther() {
        const Folder folder;
        Bytes both = tarOf(shard(0, 8));
        const Bytes second = tarOf(shard(8, 8));
        both.insert(both.end(), second.begin(), second.end());
        writeFile(folder / "a.tar", both);
        QCOMPARE(codeOf(inspectImages(folder / "a.tar")), std::string("ok"));
        QCOMPARE(index(folder / "a.tar").size(), std::size_t{32});
        writeFile(folder / "a.tar", std::span(both).first(both.size() - 1024));
        QCOMPARE(codeOfIndex(folder / "a.tar"), std::string("archive.cut-short"));
        both.resize(both.size() + 700, 7);
        writeFile(folder / "a.tar", both);
        QCOMPARE(codeOfIndex(folder / "a.tar"), std::string("archive.damaged"));
    }

    void whatLiesUnpackedIsMeant() {
        const Folder folder;
        for (const Member& each : classFolders("photos/")) writeFile(folder / each.name, each.bytes);
        writeFile(folder / "photos.tar.gz", bytesOf("\x1f\x8b\x08 and so on"));
        QCOMPARE(inspectImages(folder / "photos").value().classes, (Names{"cat", "dog"}));
        fs::rename(folder / "photos/cat", folder / "cat");
        fs::rename(folder / "photos/dog", folder / "dog");
        fs::remove(folder / "photos");
        QCOMPARE(inspectImages(folder.path()).value().classes, (Names{"cat", "dog"}));
        fs::remove_all(folder / "cat");
        fs::remove_all(folder / "dog");
        QCOMPARE(idAt(folder.path()), std::string("image-folder"));
        QCOMPARE(codeOf(inspectImages(folder.path())), std::string("archive.packed"));
    }

    void damagedHeaders() {
        const Folder folder;
        Bytes tar = tarOf(shard(0, 3));
        tar[1024 + 3] ^= 1;
        writeFile(folder / "a.tar", tar);
        QCOMPARE(codeOfIndex(folder / "a.tar"), std::string("archive.damaged"));
        for (const std::uint64_t size : {std::uint64_t{1} << 20, std::uint64_t{1} << 34, std::uint64_t{1} << 62}) {
            Bytes beyond = tarHeader("cat/1.png", size);
            beyond.resize(4096);
            writeFile(folder / "a.tar", beyond);
            QCOMPARE(codeOfIndex(folder / "a.tar"), std::string("archive.cut-short"));
        }
        Bytes pax = tarOf({{"x", bytesOf("99 path=cat/1.png\n"), 'x'}, {"y", picture(0)}});
        writeFile(folder / "a.tar", pax);
        QCOMPARE(codeOfIndex(folder / "a.tar"), std::string("archive.damaged"));
        const Bytes zip = zipOf(shard(0, 3));
        std::set<std::string> codes;
        for (std::size_t at = 0; at < zip.size(); at += 1 + at % 3) {
            Bytes flipped = zip;
            flipped[at] ^= 0x81;
            writeFile(folder / "a.zip", flipped);
            codes.insert(codeOfIndex(folder / "a.zip"));
        }
        for (const char* code : {"archive.damaged", "archive.cut-short", "ok"}) QVERIFY2(codes.contains(code), code);
    }

    void longNamesOfEveryTar_data() {
        QTest::addColumn<QString>("format");
        for (const char* format : {"gnu", "pax", "ustar", "v7"}) QTest::newRow(format) << format;
    }
    void longNamesOfEveryTar() {
        QFETCH(QString, format);
        const Folder folder;
        const std::string deep = format == "v7" ? "d" : "a folder " + std::string(format == "ustar" ? 80 : 150, 'd');
        Members members = classFolders("photos/" + deep + "/");
        members.front().name = "photos/" + deep + "/cat/\xc3\xa4 b.png";
        for (const Member& each : members) writeFile(folder / each.name, each.bytes);
        if (!run("tar", {"--format=" + format, "-cf", "a.tar", "photos"}, folder.path())) QSKIP("there is no tar");
        const auto places = index(folder / "a.tar");
        QCOMPARE(places.size(), members.size());
        const RandomFile file(folder / "a.tar");
        for (const MemberPlace& each : places) {
            Bytes bytes(each.bytes);
            file.read(each.offset, bytes);
            QVERIFY(bytes == readFile(folder / each.name));
        }
        QVERIFY(everyPictureHasItsLabel(folder / "a.tar"));
    }

    void zipsOfOthers() {
        const Folder folder;
        for (const Member& each : classFolders("photos/")) writeFile(folder / each.name, each.bytes);
        const QStringList pack{"-cf", "a.zip", "--format=zip", "--options=zip:compression=store", "photos"};
        if (!run("bsdtar", pack, folder.path())) QSKIP("there is no bsdtar");
        QCOMPARE(index(folder / "a.zip").size(), std::size_t{40});
        QVERIFY(everyPictureHasItsLabel(folder / "a.zip"));
    }

    // Of what changes while it is used, no picture is taken: another one may lie in its place by now.
    void anArchiveThatIsCutWhileItIsUsed() {
        const Folder folder;
        writeFile(folder / "a.tar", tarOf(classFolders("")));
        const auto splits = open("image-folder", folder / "a.tar", {{"keep", std::string("stream")}});
        fs::resize_file(folder / "a.tar", 2000);
        const Dataset& train = *splits.value().train;
        for (const std::int64_t index : {std::int64_t{0}, train.info().count - 1}) {
            try {
                imageOf(train, index);
                QFAIL("it was read");
            } catch (const UnreadableSample& error) {
                QCOMPARE(error.problem().code, std::string("picture-index.changed"));
                QVERIFY(error.problem().field.starts_with((folder / "a.tar/").string()));
            }
        }
    }

    // Splits share those that are open, and they leave most of what a process may have open to others.
    void moreArchivesThanMayBeOpen() {
        const Folder folder;
        for (int i = 0; i < 400; ++i) {
            const char* split = i % 3 == 0 ? "train" : i % 3 == 1 ? "test" : "val";
            writeFile(folder / (std::string(split) + '-' + std::to_string(i) + ".tar"), tarOf(shard(4 * i, 4)));
        }
        rlimit usual{};
        QCOMPARE(getrlimit(RLIMIT_NOFILE, &usual), 0);
        for (const rlim_t most : {rlim_t{1024}, rlim_t{80}}) {
            const rlimit low{std::min(most, usual.rlim_max), usual.rlim_max};
            QCOMPARE(setrlimit(RLIMIT_NOFILE, &low), 0);
            const auto restored = qScopeGuard([&] { setrlimit(RLIMIT_NOFILE, &usual); });
            const auto splits = open("image-folder", folder.path(), {{"keep", std::string("stream")}});
            QCOMPARE(codeOf(splits), std::string("ok"));
            QCOMPARE(splits.value().train->info().count, std::int64_t{4 * 134});
            QVERIFY(openDescriptors() < static_cast<std::ptrdiff_t>(low.rlim_cur / 2));
            for (const auto& split : {splits.value().train, splits.value().test, splits.value().validation})
                for (std::int64_t i = 0; i < split->info().count; i += 37)
                    QCOMPARE(imageOf(*split, i)[0] > 100, labelOf(*split, i) == 1);
        }
    }

    void realPhotographs() {
        const auto archive = sharedData("imagenet-sample.tar");
        if (!archive) QSKIP("imagenet-sample.tar is absent (LOCKSTEP_TEST_DATA)");
        QCOMPARE(idAt(*archive), std::string("image-folder"));
        QCOMPARE(index(*archive).size(), std::size_t{200});
        QCOMPARE(codeOf(inspectImages(*archive)), std::string("dataset.missing-test"));  // one image each
    }
};

QTEST_APPLESS_MAIN(TestArchivePictures)
#include "tst_archive_pictures.moc"
