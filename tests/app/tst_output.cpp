#include <QFile>
#include <QtTest>

#include "tests/app/lockstep_program.h"

namespace {

const QString kStatusOfFirst = "; exit ${PIPESTATUS[0]}";

bool said(const Outcome& outcome, const char* code) {
    for (const auto& line : outcome.lines()) {
        if (line["event"] == "message" && line["code"] == code) return true;
    }
    return false;
}

}  // namespace

// What becomes of a command whose output is full, closed, or read no longer: a status, a sentence where somebody can
// read it, and never an abort. A trial is never lost by it.
class TestOutput : public QObject {
    Q_OBJECT
private slots:
    void aFullDiskIsNamed_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::newRow("models") << QStringList{"models"};
        QTest::newRow("models of one") << QStringList{"models", "resnet50"};
        QTest::newRow("as JSON") << QStringList{"devices", "--json"};
        QTest::newRow("help") << QStringList{"--help"};
        QTest::newRow("version") << QStringList{"--version"};
    }
    void aFullDiskIsNamed() {
        QFETCH(QStringList, arguments);
        const auto outcome = m_program.shell("\"$0\" \"$@\" > /dev/full", arguments);
        QVERIFY2(outcome.status == 1, qPrintable(QString::number(outcome.status) + outcome.err));
        QVERIFY2(outcome.err.contains("No space left") && outcome.err.contains("→"), qPrintable(outcome.err));
        QVERIFY2(!outcome.err.contains("should not happen"), qPrintable(outcome.err));
    }

    void readersMayLeave() {
        const auto outcome = m_program.shell("\"$0\" \"$@\" | head -n 1" + kStatusOfFirst, {"models", "resnet50"});
        QVERIFY2(outcome.status == 141 || outcome.status == 0, qPrintable(QString::number(outcome.status)));
        QCOMPARE(outcome.out.count('\n'), 1);
        QVERIFY2(outcome.err.isEmpty(), qPrintable(outcome.err));
    }

    void closedFromTheStart_data() {
        QTest::addColumn<QString>("closing");
        QTest::addColumn<int>("status");
        QTest::newRow("input") << "<&-" << 0;
        QTest::newRow("output") << ">&-" << 1;
        QTest::newRow("error") << "2>&-" << 0;
        QTest::newRow("both") << ">&- 2>&-" << 1;
        QTest::newRow("all") << "<&- >&- 2>&-" << 1;
    }
    // Nor does a file of the history get the number of what is closed.
    void closedFromTheStart() {
        QFETCH(QString, closing);
        QFETCH(int, status);
        const LockstepProgram program;
        for (const auto& arguments : {QStringList{"trials"}, shortRun(), QStringList{"trials"}}) {
            const auto outcome = program.shell("\"$0\" \"$@\" " + closing, arguments);
            QVERIFY2(outcome.status == status, qPrintable(QString::number(outcome.status) + outcome.err));
        }
        QCOMPARE(program.trial(1)["state"].toString(), QString("finished"));
    }

    // A trial goes on where its output is full; whoever asks for the status hears of it, and so does the history.
    void aRunOutlivesAFullDisk_data() {
        QTest::addColumn<QStringList>("more");
        QTest::newRow("for people") << QStringList{};
        QTest::newRow("as JSON") << QStringList{"--json"};
    }
    void aRunOutlivesAFullDisk() {
        QFETCH(QStringList, more);
        const LockstepProgram program;
        const auto outcome = program.shell("\"$0\" \"$@\" > /dev/full", shortRun() + more);
        QVERIFY2(outcome.status == 1, qPrintable(QString::number(outcome.status) + outcome.err));
        QVERIFY2(outcome.err.contains("No space left") && outcome.err.contains("goes on without it"),
                 qPrintable(outcome.err));
        QCOMPARE(program.trial(1)["state"].toString(), QString("finished"));
        QVERIFY(said(program.run({"attach", "1", "--json"}), "output.unwritable"));
    }

    // Whoever watched the run has ended it, as they would end any other program so: but with a checkpoint.
    void aRunStopsWithItsReader_data() {
        QTest::addColumn<QString>("script");
        QTest::newRow("output") << "\"$0\" \"$@\" | head -n 1";
        QTest::newRow("both") << "\"$0\" \"$@\" 2>&1 | head -n 1";
        QTest::newRow("as JSON") << "\"$0\" \"$@\" --json 2>&1 | head -n 5";
    }
    void aRunStopsWithItsReader() {
        QFETCH(QString, script);
        const LockstepProgram program;
        QCOMPARE(program.shell(script + kStatusOfFirst, longRun()).status, 4);
        const auto first = program.trial(1);
        QCOMPARE(first["state"].toString(), QString("stopped"));
        QVERIFY(said(program.run({"attach", "1", "--json"}), "output.reader-gone"));

        QCOMPARE(program.shell(script + kStatusOfFirst, {"resume", "1"}).status, 4);
        const auto second = program.trial(1);
        QCOMPARE(second["state"].toString(), QString("stopped"));
        QVERIFY(second["step"].toInt() > first["step"].toInt());
    }

private:
    LockstepProgram m_program;
};

QTEST_APPLESS_MAIN(TestOutput)
#include "tst_output.moc"
