#include <archive.h>
#include <archive_entry.h>
#include <csignal>

#include <QDirIterator>
#include <QFile>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>

#include "page_bench.h"
#include "ui/train/archive_name.h"
#include "ui/train/archive_unpacker.h"

using namespace lockstep::ui;

namespace {

struct Entry {
    QString name;
    QByteArray bytes;
    int type = AE_IFREG;
};

using SetFormat = int (*)(archive*);

void writeArchive(const QString& path, SetFormat format, SetFormat filter, const QVector<Entry>& entries) {
    auto* out = archive_write_new();
    format(out);
    if (filter) filter(out);
    if (archive_write_open_filename(out, path.toLocal8Bit().constData()) != ARCHIVE_OK) qFatal("cannot write it");
    for (const auto& each : entries) {
        auto* entry = archive_entry_new();
        archive_entry_set_pathname(entry, each.name.toUtf8().constData());
        archive_entry_set_filetype(entry, static_cast<unsigned>(each.type));
        archive_entry_set_perm(entry, 0644);
        archive_entry_set_size(entry, each.bytes.size());
        if (each.type == AE_IFLNK) archive_entry_set_symlink(entry, "/etc/passwd");
        archive_write_header(out, entry);
        if (!each.bytes.isEmpty()) archive_write_data(out, each.bytes.constData(), std::size_t(each.bytes.size()));
        archive_entry_free(entry);
    }
    archive_write_close(out);
    archive_write_free(out);
}

QVector<Entry> entriesOf(const QString& folder, const QString& top) {
    QVector<Entry> entries;
    QDirIterator it(folder, QDir::Files, QDirIterator::Subdirectories);
    while (it.hasNext()) {
        QFile file(it.next());
        if (!file.open(QIODevice::ReadOnly)) qFatal("cannot read %s", qPrintable(file.fileName()));
        entries << Entry{top + QDir(folder).relativeFilePath(file.fileName()), file.readAll()};
    }
    return entries;
}

QByteArray bigEndian(std::initializer_list<quint32> numbers) {
    QByteArray out;
    for (const auto number : numbers) {
        for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(number >> shift);
    }
    return out;
}

QVector<Entry> idxEntries() {
    QByteArray labels(20, 0);
    for (int i = 0; i < 20; ++i) labels[i] = static_cast<char>(i % 4);
    QVector<Entry> entries;
    for (const QString split : {"train", "t10k"}) {
        entries << Entry{"mnist/" + split + "-images-idx3-ubyte",
                         bigEndian({2051, 20, 8, 8}) + QByteArray(20 * 64, 'x')};
        entries << Entry{"mnist/" + split + "-labels-idx1-ubyte", bigEndian({2049, 20}) + labels};
    }
    return entries;
}

QVector<Entry> cifarEntries() {
    QByteArray records;
    for (int i = 0; i < 40; ++i) records += static_cast<char>(i % 10) + QByteArray(3072, static_cast<char>(6 * i));
    QVector<Entry> entries;
    for (const char* file : {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
                             "data_batch_5.bin", "test_batch.bin"})
        entries << Entry{QString("cifar-10-batches-bin/") + file, records};
    return entries;
}

}  // namespace

// Folders, archives and files that are dropped on the page, and the unpacking beneath.
class TestTrainDrop : public QObject {
    Q_OBJECT
private slots:
    void init() {
        m_bench = std::make_unique<PageBench>();
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->hasForm(), 60000);
        auto small = synthetic();  // the datasets here have a dozen images
        small["batch"] = 4;
        m_bench->page->setSpec(small);
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->page->canStart(), 60000);
        m_bench->page->undoStack()->clear();
    }
    void cleanup() { m_bench.reset(); }

    void weightsAreTaken() {
        const auto weights = m_bench->file("start.safetensors", "not weights");
        m_bench->drop(weights);
        QCOMPARE(m_bench->page->spec()["weights"].toString(), weights);
        QCOMPARE(dataset()["id"].toString(), QString("synthetic"));
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->shows("the weights " + weights + " are not safetensors"), 60000);
        m_bench->page->undoStack()->undo();
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->page->canStart(), 60000);
    }

    void aFolderOfImagesIsTaken() {
        const auto folder = m_bench->imageFolder("pets");
        m_bench->drop(folder);
        QTRY_COMPARE_WITH_TIMEOUT(dataset()["path"].toString(), folder, 60000);
        QCOMPARE(dataset()["id"].toString(), QString("image-folder"));
        QVERIFY2(m_bench->shows("Recognised as Image folder: 12 training and 12 test samples, 2 classes of 6 each"),
                 qPrintable(m_bench->visibleText()));
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->page->canStart(), 60000);
        m_bench->page->undoStack()->undo();  // one step back
        QVERIFY(dataset()["path"].toString() != folder);
    }

    void aTypedPathIsRecognised_data() {
        QTest::addColumn<QString>("kind");
        for (const char* kind : {"fashion-mnist", "synthetic", "idx", "image-folder"}) QTest::newRow(kind) << kind;
    }
    void aTypedPathIsRecognised() {
        QFETCH(QString, kind);
        choose(kind);
        const auto folder = m_bench->imageFolder("pets");
        type(folder);
        QTRY_COMPARE_WITH_TIMEOUT(dataset()["id"].toString(), QString("image-folder"), 60000);
        QTRY_COMPARE_WITH_TIMEOUT(dataset()["path"].toString(), folder, 60000);
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->page->canStart(), 60000);
        QVERIFY(kind == "image-folder" || m_bench->shows("Recognised as Image folder"));
        QVERIFY2(!m_bench->shows("IDX"), qPrintable(m_bench->visibleText()));
    }

    // The form is checked by one process, and the data are looked at by another: either may be the slower one.
    void aTypedPathIsRecognisedHoweverLateTheFormIsChecked() {
        choose("fashion-mnist");
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->page->canStart(), 60000);
        const pid_t checking = firstChild();
        QVERIFY(checking > 0 && ::kill(checking, SIGSTOP) == 0);
        const auto folder = m_bench->imageFolder("late");
        type(folder);
        QTest::qWait(3000);
        QCOMPARE(dataset()["id"].toString(), QString("fashion-mnist"));
        QCOMPARE(::kill(checking, SIGCONT), 0);
        QTRY_COMPARE_WITH_TIMEOUT(dataset()["id"].toString(), QString("image-folder"), 60000);
    }

    // Where it is of no kind, what the chosen one says stands, and the choice with it.
    void aTypedPathToNothingIsTheChosenKinds() {
        choose("fashion-mnist");
        const auto folder = m_bench->folder.filePath("empty");
        QVERIFY(QDir().mkpath(folder));
        type(folder);
        QTRY_VERIFY2_WITH_TIMEOUT(m_bench->shows("IDX"), qPrintable(m_bench->visibleText()), 60000);
        QTest::qWait(1000);
        QCOMPARE(dataset()["id"].toString(), QString("fashion-mnist"));
        QCOMPARE(dataset()["path"].toString(), folder);
    }

    void aTypedTextIsTakenWithItsModel_data() { aTypedPathIsRecognised_data(); }
    void aTypedTextIsTakenWithItsModel() {
        QFETCH(QString, kind);
        choose(kind);
        const QJsonValue model = m_bench->page->spec().value("model");
        const auto file = play();
        type(file);
        QTRY_COMPARE_WITH_TIMEOUT(dataset()["id"].toString(), QString("text"), 60000);
        QTRY_COMPARE_WITH_TIMEOUT(dataset()["path"].toString(), file, 60000);
        QCOMPARE(m_bench->page->spec()["model"].toObject()["id"].toString(), QString("gpt"));
        QVERIFY2(m_bench->shows("The model is now one that reads them"), qPrintable(m_bench->visibleText()));
        m_bench->page->undoStack()->undo();  // one step back
        QCOMPARE(m_bench->page->spec().value("model"), model);
    }

    void aTextIsTaken() {
        const auto file = play();
        m_bench->drop(file);
        QTRY_COMPARE_WITH_TIMEOUT(dataset()["path"].toString(), file, 60000);
        QCOMPARE(dataset()["id"].toString(), QString("text"));
        QVERIFY2(m_bench->shows("Recognised as Text: 29 training and 2 test samples, 128 bytes of text"),
                 qPrintable(m_bench->visibleText()));
    }

    void archivesAreUnpackedAndTaken_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("format");
        QTest::newRow("images, zip") << "pets.zip"
                                     << "image-folder";
        QTest::newRow("images, zip without a folder on top") << "flat.zip"
                                                             << "image-folder";
        QTest::newRow("idx, tar.gz") << "mnist.tar.gz"
                                     << "idx";
        QTest::newRow("cifar, tgz") << "cifar-10-binary.tgz"
                                    << "cifar10";
        QTest::newRow("idx, tar.xz") << "mnist.tar.xz"
                                     << "idx";
        QTest::newRow("images, 7z") << "pets.7z"
                                    << "image-folder";
    }
    void archivesAreUnpackedAndTaken() {
        QFETCH(QString, name);
        const auto archive = m_bench->folder.filePath(name);
        const QString top = name == "flat.zip" ? "" : "pets/";
        const auto images = entriesOf(m_bench->imageFolder("source"), top);
        auto entries = name.startsWith("cifar") ? cifarEntries() : name.startsWith("mnist") ? idxEntries() : images;
        if (name.endsWith(".zip"))
            entries << Entry{"__MACOSX/pets/cat/._1.png", "fork"} << Entry{top + ".DS_Store", "x"};
        const SetFormat format = name.endsWith(".zip")  ? archive_write_set_format_zip
                                 : name.endsWith(".7z") ? archive_write_set_format_7zip
                                                        : archive_write_set_format_pax_restricted;
        const SetFormat filter = name.endsWith("gz")    ? archive_write_add_filter_gzip
                                 : name.endsWith(".xz") ? archive_write_add_filter_xz
                                                        : nullptr;
        writeArchive(archive, format, filter, entries);
        m_bench->drop(archive);
        QTRY_VERIFY2_WITH_TIMEOUT(m_bench->shows("Recognised as"), qPrintable(m_bench->visibleText()), 60000);
        QTEST(dataset()["id"].toString(), "format");
        QVERIFY(dataset()["path"].toString().startsWith(m_bench->folder.filePath("datasets/")));
        QVERIFY(!QDir(dataset()["path"].toString()).entryList(QDir::AllEntries | QDir::Hidden).contains("__MACOSX"));
        QTRY_VERIFY2_WITH_TIMEOUT(m_bench->page->canStart(), qPrintable(m_bench->visibleText()), 60000);
    }

    void anArchiveThatIsReadInPlaceStaysWhereItIs() {
        const auto archive = m_bench->folder.filePath("plain.tar");
        writeArchive(archive, archive_write_set_format_pax_restricted, nullptr,
                     entriesOf(m_bench->imageFolder("source"), "pets/"));
        m_bench->drop(archive);
        QTRY_VERIFY2_WITH_TIMEOUT(m_bench->shows("Recognised as"), qPrintable(m_bench->visibleText()), 60000);
        QCOMPARE(dataset()["path"].toString(), archive);
        QTRY_VERIFY2_WITH_TIMEOUT(m_bench->page->canStart(), qPrintable(m_bench->visibleText()), 60000);
    }

    void whatIsNoDataIsRefusedAndLosesNothing_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("words");
        QTest::newRow("no data") << "sounds.bin" << QByteArray("\xff\xfe\x01milk", 7)
                                 << "sounds.bin is none of the formats looked for";
        QTest::newRow("no zip") << "broken.zip" << QByteArray("PK no zip") << "broken.zip cannot be unpacked";
        QTest::newRow("empty") << "empty.tar.gz" << QByteArray() << "empty.tar.gz";
        QTest::newRow("no spec") << "list.json" << QByteArray("[1, 2]")
                                 << "list.json was not opened; the form is as it was";
    }
    void whatIsNoDataIsRefusedAndLosesNothing() {
        QFETCH(QString, name);
        QFETCH(QByteArray, bytes);
        QFETCH(QString, words);
        auto spec = synthetic();
        spec["title"] = "dear to me";
        m_bench->page->setSpec(spec);
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->page->canStart(), 60000);
        const int steps = m_bench->page->undoStack()->count();
        m_bench->drop(m_bench->file(name, bytes));
        QTRY_VERIFY2_WITH_TIMEOUT(m_bench->shows(words), qPrintable(m_bench->visibleText()), 60000);
        m_bench->shot("refused-" + name);
        QCOMPARE(m_bench->page->spec(), spec);
        QCOMPARE(m_bench->page->undoStack()->count(), steps);
        QVERIFY(m_bench->page->canStart());  // what was there still starts
    }

    void oneThingAtATime() {
        const auto before = m_bench->page->spec();
        const auto one = QUrl::fromLocalFile(m_bench->folder.path());
        m_bench->drop({one, one});
        QVERIFY(m_bench->shows("2 things were dropped"));
        m_bench->drop(QList<QUrl>{QUrl("https://example.org/cats.zip")});
        QVERIFY(m_bench->shows("not a file or folder of this machine"));
        QCOMPARE(m_bench->page->spec(), before);
    }

    void aFolderThatIsGoneOffersAnother() {
        const auto folder = m_bench->imageFolder("moves");
        m_bench->drop(folder);
        QTRY_COMPARE_WITH_TIMEOUT(dataset()["path"].toString(), folder, 60000);
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->page->canStart(), 60000);
        const auto recent = m_bench->page->spec();
        m_bench->page->setSpec(synthetic());
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->page->canStart(), 60000);
        QVERIFY(QDir().rename(folder, folder + "-away"));
        m_bench->page->setSpec(recent);
        QTRY_VERIFY2_WITH_TIMEOUT(m_bench->shows(folder), qPrintable(m_bench->visibleText()), 60000);
        QVERIFY(m_bench->shows("There is no dataset at"));
        m_bench->shot("moved");
        auto* start = m_bench->find<QPushButton>("startTraining");
        QVERIFY(!start->isEnabled() && start->toolTip().contains(folder));
        m_bench->action("Show problem")->trigger();
        QTRY_VERIFY(m_bench->find<QWidget>("dataset.path")->hasFocus());
        m_bench->drop(folder + "-away");
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->page->canStart(), 60000);
        QVERIFY(!m_bench->shows("There is no dataset at"));
    }

    void names() {
        QVERIFY(isArchiveName("/a/b.ZIP") && isArchiveName("b.tar.zst") && isArchiveName("c.tgz"));
        QVERIFY(!isArchiveName("train-images-idx3-ubyte.gz") && !isArchiveName("notes.txt") && !isArchiveName("zip"));
        QCOMPARE(archiveStem("/a/cats.and.dogs.tar.gz"), QString("cats.and.dogs"));
        QCOMPARE(safeEntryPath("./a//b/c"), QString("a/b/c"));
        QVERIFY(safeEntryPath("/etc/passwd").isEmpty() && safeEntryPath("a/../../b").isEmpty());
    }

    void nothingIsWrittenOutside() {
        const auto home = m_bench->folder.filePath("home");
        const auto archive = m_bench->folder.filePath("evil.tar");
        writeArchive(archive, archive_write_set_format_pax_restricted, nullptr,
                     {{"ok/a.txt", "a"}, {"../../outside.txt", "b"}});
        QCOMPARE(failureOf(home, archive).code, std::string("archive.unsafe"));
        QVERIFY(!QFile::exists(m_bench->folder.filePath("outside.txt")));
        QVERIFY(QDir(home).isEmpty(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot));
    }

    void linksAreLeftOut() {
        const auto archive = m_bench->folder.filePath("links.tar");
        writeArchive(archive, archive_write_set_format_pax_restricted, nullptr,
                     {{"d/link", {}, AE_IFLNK}, {"d/file", "text"}});
        ArchiveUnpacker unpacker(m_bench->folder.filePath("home"));
        QSignalSpy done(&unpacker, &ArchiveUnpacker::unpacked);
        unpacker.unpack(archive);
        QTRY_COMPARE_WITH_TIMEOUT(done.size(), 1, 30000);
        QCOMPARE(QDir(done[0][1].toString()).entryList(QDir::AllEntries | QDir::System | QDir::NoDotAndDotDot),
                 QStringList{"file"});
        unpacker.unpack(archive);  // found again, not unpacked again
        QTRY_COMPARE_WITH_TIMEOUT(done.size(), 2, 30000);
        QCOMPARE(done[1][1], done[0][1]);
    }

    void aHomeThatCannotBeWrittenIsSaid() {
        const auto archive = m_bench->folder.filePath("a.tar");
        writeArchive(archive, archive_write_set_format_pax_restricted, nullptr, {{"a", "a"}});
        const auto problem = failureOf("/dev/null/datasets", archive);
        QCOMPARE(problem.code, std::string("archive.unwritable"));
        QVERIFY(!problem.args.at(0).empty());
    }

    void aCancelledArchiveStaysSilent() {
        const auto archive = m_bench->folder.filePath("large.tar.gz");
        QVector<Entry> entries;
        for (int i = 0; i < 1200; ++i)
            entries << Entry{QString("f%1").arg(i), QByteArray(100000, static_cast<char>(i))};
        writeArchive(archive, archive_write_set_format_pax_restricted, archive_write_add_filter_gzip, entries);
        const auto before = m_bench->page->spec();
        m_bench->drop(archive);
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->shows("Unpacking the archive"), 20000);
        QTest::keyClick(m_bench->page.get(), Qt::Key_Escape);
        QVERIFY(!m_bench->shows("Unpacking the archive"));
        QTest::qWait(200);
        QCOMPARE(m_bench->page->spec(), before);
        QVERIFY(!m_bench->shows("Unpacking the archive"));
        const QDir home(m_bench->folder.filePath("datasets"));
        QVERIFY(home.isEmpty(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot));
    }

    void realPhotographs() {
        const auto folder = qEnvironmentVariable("LOCKSTEP_TEST_DATA", LOCKSTEP_SOURCE_DIR "/../shared/data");
        const auto archive = folder + "/imagenet-sample.tar";
        if (!QFileInfo::exists(archive)) QSKIP("imagenet-sample.tar is not here");
        m_bench->drop(archive);
        // One photograph a class: what is missing is said, where it was unpacked to, and the form stays.
        QTRY_VERIFY2_WITH_TIMEOUT(m_bench->shows("imagenet-sample has no test split"),
                                  qPrintable(m_bench->visibleText()), 120000);
        QVERIFY(m_bench->page->canStart());
        m_bench->shot("photographs");
    }

private:
    void choose(const QString& kind) const {
        auto spec = m_bench->page->spec();
        spec["dataset"] = QJsonObject{{"id", kind}};
        m_bench->page->setSpec(spec);
    }
    void type(const QString& path) const {
        auto* line = m_bench->find<QLineEdit>("dataset.path");
        line->setFocus();
        QTest::keyClicks(line, path);
        QTest::keyClick(line, Qt::Key_Return);
    }
    // Of this process, the one that was started first.
    static pid_t firstChild() {
        QFile children(QString("/proc/self/task/%1/children").arg(QCoreApplication::applicationPid()));
        if (!children.open(QIODevice::ReadOnly)) return -1;
        return children.readAll().trimmed().split(' ').value(0).toInt();
    }
    QString play() const {
        QFile text(m_bench->folder.filePath("play.txt"));
        if (!text.open(QIODevice::WriteOnly) || text.write(QByteArray("what is in a name?\n").repeated(200)) <= 0)
            qFatal("%s cannot be written", qPrintable(text.fileName()));
        return text.fileName();
    }
    QJsonObject dataset() const { return m_bench->page->spec()["dataset"].toObject(); }

    static lockstep::Problem failureOf(const QString& home, const QString& archive) {
        ArchiveUnpacker unpacker(home);
        std::optional<lockstep::Problem> told;
        connect(&unpacker, &ArchiveUnpacker::failed, &unpacker,
                [&](const QString&, const lockstep::Problem& problem) { told = problem; });
        unpacker.unpack(archive);
        for (int i = 0; i < 600 && !told; ++i) QTest::qWait(50);
        return told.value_or(lockstep::Problem{});
    }

    std::unique_ptr<PageBench> m_bench;
};

QTEST_MAIN(TestTrainDrop)
#include "tst_train_drop.moc"
