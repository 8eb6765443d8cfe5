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

private:
    LockstepProgram m_program;
};

QTEST_GUILESS_MAIN(TestGivenData)
#include "tst_given_data.moc"
