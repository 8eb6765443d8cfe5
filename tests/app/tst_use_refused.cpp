#include <QFile>
#include <QJsonArray>

#include "tests/app/pictures.h"

namespace {

// A PNG file whose head alone is there, and promises that many pixels.
QByteArray promisedPng(quint32 width, quint32 height) {
    QByteArray head("IHDR");
    QDataStream fields(&head, QIODevice::Append);
    fields << width << height << quint8{8} << quint8{2} << quint8{0} << quint8{0} << quint8{0};
    QByteArray file("\x89PNG\r\n\x1a\n");
    QDataStream out(&file, QIODevice::Append);
    out << quint32{13};
    out.writeRawData(head.data(), static_cast<int>(head.size()));
    quint32 check = 0xffffffff;
    for (const char byte : head) {
        check ^= static_cast<quint8>(byte);
        for (int bit = 0; bit < 8; ++bit) check = check & 1 ? 0xedb88320 ^ (check >> 1) : check >> 1;
    }
    out << ~check;
    out << quint32{0} << quint32{0x49444154} << quint32{0x35af061e};  // "IDAT", without a pixel
    return file;
}

}  // namespace

// What cannot be asked of a trained model, and how that is said.
class TestUseRefused : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        writePictures(m_program, "bri\x1b[31mght", "dark");
        const auto trained = m_program.run({"train", "--data", m_program.path("photos"), "--model", "mlp", "--devices",
                                            "cpu:1", "--batch", "9", "--epochs", "2", "--lr", "0.05"});
        QVERIFY2(trained.status == 0, qPrintable(trained.err));
        m_checkpoints = m_program.trial(1)["run_directory"].toString() + "/checkpoints";
    }

    // Deleted meanwhile, or never written.
    void noCheckpoint_data() {
        QTest::addColumn<QStringList>("words");
        const QString out = m_program.path("out");
        QTest::newRow("evaluate") << QStringList{"evaluate", "1"};
        QTest::newRow("predict") << QStringList{"predict", "1", m_program.path("photos/test/dark/0.jpg")};
        QTest::newRow("onnx") << QStringList{"export", "1", "--onnx", out};
        QTest::newRow("weights") << QStringList{"export-weights", "1", out};
        QTest::newRow("first weights") << QStringList{"train", "--data", m_program.path("photos"), "--weights", "1"};
    }
    void noCheckpoint() {
        QFETCH(QStringList, words);
        QVERIFY(QDir().rename(m_checkpoints, m_checkpoints + ".away"));
        const auto said = m_program.run(words);
        QVERIFY(QDir().rename(m_checkpoints + ".away", m_checkpoints));
        QVERIFY2(said.status > 0 && said.err.contains("checkpoint") && said.err.contains("→"), qPrintable(said.err));
        QVERIFY2(said.err.toLower().contains("trial 1"), qPrintable(said.err));
        QVERIFY(!QFile::exists(m_program.path("out")));
        // The trial has ended: nothing will write it.
        QVERIFY2(said.err.contains("no longer in") && said.err.contains("lockstep show 1 --spec"),
                 qPrintable(said.err));
        QVERIFY2(!said.err.contains("resume") && !said.err.contains("attach"), qPrintable(said.err));
    }
    void aCardWithoutCheckpoints() {
        QVERIFY(QDir().rename(m_checkpoints, m_checkpoints + ".away"));
        const auto said = m_program.run({"card", "1", "--markdown", "-"});
        QVERIFY(QDir().rename(m_checkpoints + ".away", m_checkpoints));
        QVERIFY2(said.out.contains("Its checkpoints are gone") && !said.out.contains("resume"), qPrintable(said.out));
    }

    // Of a trial the others are named, of those that are there.
    void aDamagedBestLeavesTheLast() {
        const QString best = m_checkpoints + "/best.safetensors", last = m_checkpoints + "/last.safetensors";
        QVERIFY(QFile::copy(best, best + ".whole"));
        QFile file(best);
        QVERIFY(file.open(QIODevice::ReadWrite) && file.seek(file.size() - 1));
        char byte = 0;
        QVERIFY(file.peek(&byte, 1) == 1);
        byte = static_cast<char>(byte ^ 1);
        QVERIFY(file.write(&byte, 1) == 1);
        file.close();
        const auto said = m_program.run({"evaluate", "1"});
        const auto other = m_program.run({"evaluate", "1", "--last", "--no-keep"});
        QVERIFY(QFile::rename(last, last + ".away"));
        const auto alone = m_program.run({"evaluate", "1"});
        QVERIFY(QFile::rename(last + ".away", last));
        QVERIFY(QFile::remove(best) && QFile::rename(best + ".whole", best));
        QVERIFY2(said.status == 2 && said.err.contains("damaged") && said.err.contains("--last"), qPrintable(said.err));
        QVERIFY2(other.status == 0, qPrintable(other.err));
        QVERIFY2(alone.status == 2 && alone.err.contains("damaged") && !alone.err.contains("--last"),
                 qPrintable(alone.err));
    }

    void whatIsNoFileMayBeMeantForATrial() {
        for (const char* word : {"-1", "abc"}) {
            const auto said = m_program.run({"evaluate", word});
            QVERIFY2(said.status == 2 && said.err.contains("`lockstep trials` lists"), qPrintable(said.err));
        }
    }

    void whatIsNoCheckpointIsNotCalledDamaged() {
        const QString image = m_program.path("photos/test/dark/0.jpg"),
                      text = m_program.write("notes.md", "Dear all,\n");
        for (const auto& [file, kind] : {std::pair(image, "a JPEG image"), std::pair(text, "a text")}) {
            for (const QStringList& words : {QStringList{"evaluate", file}, QStringList{"predict", file, "1"},
                                             QStringList{"export", file, "--onnx", m_program.path("out")}}) {
                const auto said = m_program.run(words);
                QVERIFY2(said.status == 2 && !said.err.contains("damaged"), qPrintable(said.err));
                for (const QString& part :
                     {file + " is not a Lockstep checkpoint", QString(kind), QString("best.safetensors")})
                    QVERIFY2(said.err.contains(part), qPrintable(part + " in: " + said.err));
            }
        }
        QFile last(m_checkpoints + "/last.safetensors");
        QVERIFY(last.open(QIODevice::ReadOnly));
        QByteArray bytes = last.readAll();
        bytes.back() = static_cast<char>(bytes.back() ^ 1);
        const auto damaged = m_program.run({"evaluate", m_program.write("damaged.safetensors", bytes)});
        QVERIFY2(damaged.status == 2 && damaged.err.contains("is damaged"), qPrintable(damaged.err));
        const auto cut = m_program.run({"evaluate", m_program.write("cut.safetensors", bytes.left(100))});
        QVERIFY2(cut.status == 2 && cut.err.contains("is cut short"), qPrintable(cut.err));
    }

    void otherClasses() {
        QVERIFY(QDir().mkpath(m_program.path("others/cats")) && QDir().mkpath(m_program.path("others/dark")));
        for (const char* name : {"cats", "dark"})
            m_program.write(QString("others/%1/0.jpg").arg(name),
                            jpegBytes(std::vector<std::uint8_t>(16 * 16 * 3, 9), 16, 16));
        const auto said = m_program.run({"evaluate", "1", "--data", m_program.path("others")});
        QVERIFY2(said.status > 0 && said.err.contains("cats") && said.err.contains("dark"), qPrintable(said.err));
        QVERIFY2(said.err.contains("Name the classes"), qPrintable(said.err));
        QVERIFY2(said.err.contains(m_program.path("others")), qPrintable(said.err));
    }

    // IDX files are not scaled.
    void otherSizes() {
        const QByteArray head("\0\0\x08\x03\0\0\0\x02\0\0\0\x1c\0\0\0\x1c", 16);
        const QString idx = m_program.write("t10k-images-idx3-ubyte", head + QByteArray(2 * 784, 7));
        const auto said = m_program.run({"predict", "1", idx});
        QVERIFY2(said.status == 1 && (said.out + said.err).contains("28 x 28 grey"), qPrintable(said.out + said.err));
        QVERIFY2((said.out + said.err).contains("16 x 16 with 3 channels"), qPrintable(said.out + said.err));
    }

    // Before its images are read: they are none.
    void aSingleClassIsNothingToLearn() {
        QVERIFY(QDir().mkpath(m_program.path("single/cats")));
        for (int i = 0; i < 3; ++i) m_program.write(QString("single/cats/%1.jpg").arg(i), "\xff\xd8 no image");
        for (const QStringList& words : {QStringList{"train", "--data", m_program.path("single"), "--model", "mlp"},
                                         QStringList{"inspect", m_program.path("single")}}) {
            const auto said = m_program.run(words);
            QVERIFY2(said.status == 2 && said.err.contains("a single class, 'cats'"), qPrintable(said.err));
            QVERIFY2(said.err.contains("another folder beside"), qPrintable(said.err));
        }
    }

    void moreThanAnImageHas() {
        const QString huge = m_program.write("huge.png", promisedPng(100'000, 100'000));
        const auto said = m_program.shell("ulimit -v 4000000; exec \"$0\" \"$@\"", {"predict", "1", huge, "--json"});
        QVERIFY2(said.status == 1, qPrintable(said.err));
        const auto problem = said.lines().front()["problems"].toArray().at(0).toObject();
        QCOMPARE(problem["code"].toString(), QString("image.too-large"));
        QVERIFY2(problem["what"].toString().contains("100000 x 100000"), qPrintable(problem["what"].toString()));
    }

    void aFullDisk_data() {
        QTest::addColumn<QStringList>("words");
        QTest::newRow("onnx") << QStringList{"export", "1", "--onnx", "FILE"};
        QTest::newRow("curves") << QStringList{"export", "1", "--csv", "FILE"};
        QTest::newRow("trial") << QStringList{"export", "1", "--json", "FILE"};
        QTest::newRow("tensorboard") << QStringList{"export", "1", "--tensorboard", "FOLDER"};
        QTest::newRow("weights") << QStringList{"export-weights", "1", "FILE"};
        QTest::newRow("card") << QStringList{"card", "1", "--html", "FILE"};
        QTest::newRow("tensorboard in a new folder") << QStringList{"export", "1", "--tensorboard", "FOLDER/made/here"};
        QTest::newRow("curves in a new folder") << QStringList{"export", "1", "--csv", "FOLDER/made/here/file"};
        QTest::newRow("a card in a new folder") << QStringList{"card", "1", "--html", "FOLDER/made/here/file"};
        QTest::newRow("cards in a new folder") << QStringList{"card", "1", "--out", "FOLDER/made/here"};
    }
    // Nothing half-written, no folder that was made for it, and what was there before is there still.
    void aFullDisk() {
        QFETCH(QStringList, words);
        const QString disk = m_program.path("disk");
        QVERIFY(QDir().mkpath(disk));
        words.replaceInStrings("FOLDER", disk);
        words.replaceInStrings("FILE", disk + "/file");
        const auto said = m_program.shell("unshare -m bash -c 'mount -t tmpfs -o size=4k tmpfs " + disk +
                                              " || exit 77; echo old > " + disk + "/file; \"$0\" \"$@\"; s=$?; ls -A " +
                                              disk + "; cat " + disk + "/file; exit $s' \"$0\" \"$@\"",
                                          words);
        if (said.status == 77 || said.err.startsWith("unshare:"))
            QSKIP("no file system of one's own can be mounted here");
        const QString why = said.err + said.out;
        QVERIFY2(said.status == 1 && why.contains("No space left") && why.contains(disk), qPrintable(why));
        QCOMPARE(said.out, QString("file\nold\n"));
    }

    // What only reads the home does so where nothing can be written.
    void aHomeThatCannotBeWritten() {
        const QString script =
            "unshare -m bash -c 'mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" || exit 77; "
            "shift; \"$0\" \"$@\"' \"$0\" " +
            m_program.home() + " \"$@\"";
        const QString image = m_program.path("photos/test/dark/0.jpg");
        const auto said = m_program.shell(script, {"predict", "1", image});
        if (said.status == 77 || said.err.startsWith("unshare:"))
            QSKIP("no file system of one's own can be mounted here");
        QVERIFY2(said.status == 0 && said.out.contains("dark"), qPrintable(said.err));
        const auto evaluated = m_program.shell(script, {"evaluate", "1", "--json"});
        QVERIFY2(evaluated.out.contains("\"accuracy\""), qPrintable(evaluated.err));
        QVERIFY2(evaluated.status != 0, qPrintable(evaluated.err));  // it could not be kept
        QCOMPARE(m_program.shell(script, {"evaluate", "1", "--no-keep"}).status, 0);
    }

    // A terminal obeys no name of a class; programs read it as it is.
    void classesWithControlCharacters() {
        const QString image = m_program.path("photos/test/dark/0.jpg");
        for (const QStringList& words : {QStringList{"predict", "1", image}, QStringList{"evaluate", "1"}}) {
            const auto said = m_program.run(words);
            QVERIFY2(said.status == 0 && !said.out.contains('\x1b') && !said.err.contains('\x1b'),
                     qPrintable(said.out + said.err));
            QVERIFY2(said.out.contains("bri"), qPrintable(said.out));
        }
        // CSV keeps the bytes, and spells them where it is seen.
        QVERIFY(m_program.run({"predict", "1", image, "--csv"}).out.contains("bri\x1b[31mght"));
        for (const QStringList& words :
             {QStringList{"predict", "1", image, "--csv"}, {"evaluate", "1", "--csv", "classes"}}) {
            const auto seen = m_program.shell("script -qec \"$0 $*\" /dev/null 2>&1", words);
            QVERIFY2(seen.out.contains("bri\\x1b[31mght") && !seen.out.contains("bri\x1b"),
                     qPrintable(seen.out + seen.err));
        }
        const auto json = m_program.run({"predict", "1", image, "--json"});
        const auto answers = json.lines().front()["answers"].toArray();
        QCOMPARE(answers.at(1).toObject()["class"].toString(), QString("bri\x1b[31mght"));
    }

private:
    LockstepProgram m_program;
    QString m_checkpoints;
};

QTEST_GUILESS_MAIN(TestUseRefused)
#include "tst_use_refused.moc"
