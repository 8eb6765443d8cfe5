#include <QFile>
#include <QJsonArray>

#include "tests/app/pictures.h"

// What a model is asked about, given in ways that people give it.
class TestGivenData : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        writePictures(m_program);
        const auto trained = m_program.run({"train", "--data", m_program.path("photos"), "--model", "mlp", "--devices",
                                            "cpu:1", "--batch", "9", "--epochs", "3", "--lr", "0.05"});
        QVERIFY2(trained.status == 0, qPrintable(trained.err));
    }

    // Of a list of paths: they have no rows, and do not vanish.
    void blankLinesAreCounted() {
        const QByteArray one = m_program.path("photos/test/dark/0.jpg").toUtf8();
        const auto told = m_program.run({"predict", "1", "-"}, "\n" + one + "\n\r\n" + one + "\n\n");
        QVERIFY2(told.status == 0 && told.err.contains("3 blank lines passed over"), qPrintable(told.err));
        QCOMPARE(told.out.count("dark/0.jpg"), 2);
        const auto json = m_program.run({"predict", "1", "-", "--json"}, one + "\n\n");
        QCOMPARE(json.last()["summary"].toObject()["blank_lines"].toInt(), 1);
        QCOMPARE(json.last()["summary"].toObject()["samples"].toInt(), 1);
        const auto none = m_program.run({"predict", "1", "-"}, one + "\n");
        QVERIFY2(!none.err.contains("blank"), qPrintable(none.err));
    }

    // A number beside the samples, wherever the evaluation is told of.
    void whatIsLeftOutIsKept() {
        copyPhotos("holed");
        m_program.write("holed/dark/none.jpg", "no image");
        m_program.write("holed/dark/notes.doc", "no image either");
        const auto said = m_program.run({"evaluate", "1", "--data", m_program.path("holed"), "--json"});
        QVERIFY2(said.status == 0, qPrintable(said.err));
        QCOMPARE(said.last()["left_out"].toInt(), 2);
        QCOMPARE(said.last()["samples"].toInt(), 18);
        const auto kept = m_program.trial(1)["evaluations"].toArray().at(0).toObject();
        QCOMPARE(kept["left_out"].toInt(), 2);
        const auto shown = m_program.run({"show", "1"}).out;
        QVERIFY2(shown.contains("18, 2 files left out"), qPrintable(shown));
        const auto card = m_program.run({"card", "1", "--markdown", "-"}).out;
        QVERIFY2(card.contains("| 18, 2 files left out |") && card.contains("18 samples, 2 files left out (all) of"),
                 qPrintable(card));
        const auto report = m_program.run({"evaluate", "1", "--data", m_program.path("holed")}).out;
        QVERIFY2(report.contains(", 2 files left out\n"), qPrintable(report));
        const auto whole = m_program.run({"evaluate", "1", "--json"});
        QCOMPARE(whole.last()["left_out"].toInt(), 0);
    }

    // A sample that is a file is named by it.
    void mistakesNameTheirFiles() {
        copyPhotos("mixed");
        QVERIFY(QFile::rename(m_program.path("mixed/bright/4.jpg"), m_program.path("mixed/dark/not dark.jpg")));
        const QString wrong = QFileInfo(m_program.path("mixed/dark/not dark.jpg")).canonicalFilePath();
        const auto said = m_program.run({"evaluate", "1", "--data", m_program.path("mixed"), "--json"});
        QVERIFY2(said.status == 0, qPrintable(said.err));
        const auto mistakes = said.last()["mistakes"].toArray();
        QCOMPARE(mistakes.size(), 1);
        const auto mistake = mistakes.at(0).toObject();
        QCOMPARE(mistake["file"].toString(), wrong);
        QVERIFY(mistake["class"].toString() == "dark" && mistake["answer"].toString() == "bright");
        const auto csv =
            m_program.run({"evaluate", "1", "--no-keep", "--data", m_program.path("mixed"), "--csv", "samples"});
        const QStringList lines = csv.out.split('\n', Qt::SkipEmptyParts);
        QVERIFY2(lines.front().endsWith(",file"), qPrintable(lines.front()));
        QVERIFY2(lines[1 + mistake["sample"].toInt()].endsWith("," + wrong), qPrintable(csv.out));
    }

    // Scored by the order of the model's classes, which may be another than was meant.
    void classesTakenByNumbersAreSaid() {
        copyPhotos("counted");
        QVERIFY(QDir().rename(m_program.path("counted/bright"), m_program.path("counted/0")));
        QVERIFY(QDir().rename(m_program.path("counted/dark"), m_program.path("counted/1")));
        const QStringList words{"evaluate", "1", "--no-keep", "--data", m_program.path("counted")};
        const auto told = m_program.run(words);
        QVERIFY2(told.status == 0 && told.err.contains("(0 = bright, 1 = dark)"), qPrintable(told.err));
        const auto remarks = m_program.run(words + QStringList{"--json"}).last()["remarks"].toArray();
        QCOMPARE(remarks.size(), 1);
        QCOMPARE(remarks.at(0).toObject()["code"].toString(), QString("evaluate.by-numbers"));
        QVERIFY(m_program.run({"evaluate", "1", "--no-keep"}).err.isEmpty());
    }

    // What predict takes and evaluate does not is refused with what fits.
    void whatHasNoClassesIsRefusedInWords() {
        const QString one = m_program.path("photos/test/dark/0.jpg"),
                      packed = m_program.write("photos.tar.gz", QByteArray("\x1f\x8b\x08\0\0\0", 6));
        const auto image = m_program.run({"evaluate", "1", "--data", one});
        QVERIFY2(image.status == 2 && image.err.contains("one folder of images or texts per class") &&
                     image.err.contains("lockstep predict"),
                 qPrintable(image.err));
        const auto folder = m_program.run({"evaluate", "1", "--data", m_program.path("photos/test/dark"), "--json"});
        QCOMPARE(folder.last()["problems"].toArray().at(0).toObject()["code"].toString(),
                 QString("evaluate.unlabelled"));
        const auto archive = m_program.run({"evaluate", "1", "--data", packed});
        QVERIFY2(archive.status == 2 && archive.err.contains("is compressed") && archive.err.contains("Unpack it"),
                 qPrintable(archive.err));
    }

private:
    // Of both classes the test images, in folders by their names.
    void copyPhotos(const QString& to) const {
        for (const QString& name : {QString("bright"), QString("dark")}) {
            QVERIFY(QDir().mkpath(m_program.path(to + '/' + name)));
            for (int i = 0; i < 9; ++i)
                QFile::copy(m_program.path(QString("photos/test/%1/%2.jpg").arg(name).arg(i)),
                            m_program.path(QString("%1/%2/%3.jpg").arg(to, name).arg(i)));
        }
    }

    LockstepProgram m_program;
};

QTEST_GUILESS_MAIN(TestGivenData)
#include "tst_given_data.moc"
