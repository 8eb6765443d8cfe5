#include <QJsonArray>
#include <QtTest>
#include <filesystem>

#include "engine/history/queue_query.h"
#include "engine/session/places.h"
#include "tests/app/sweep_runs.h"
#include "tests/support/flip_byte.h"
#include "tests/support/long_tests.h"

namespace {

namespace fs = std::filesystem;
using lockstep::test::flipAByte;
using lockstep::test::isLong;

// What a sweep decided and what came of it. Numbers of trials are no part of that: one whose keeper was killed between
// a run folder and its row skips a number.
QJsonArray decisionsIn(const QJsonObject& sweep) {
    QJsonArray cells;
    for (const auto& each : sweep["cells"].toArray()) {
        QJsonObject cell = each.toObject();
        cell["trials"] = cell["trials"].toArray().size();
        cell.remove("best_trial");
        cells << cell;
    }
    return cells;
}

// The jobs of a sweep that trains one at a time, as its history has them: "2@1", the second cell to the second rung.
QStringList jobsIn(const LockstepProgram& program) {
    const fs::path home = program.home().toStdString();
    const lockstep::Places places{home, home / "cache", home / "sockets", home / "config"};
    const auto query = lockstep::TrialQuery::open(places.history());
    QStringList jobs;
    if (!query.ok()) return jobs;
    for (const auto& each : lockstep::QueueQuery(*query.value()).arrivals(1))
        jobs << QString("%1@%2").arg(each.cell + 1).arg(each.rung);
    return jobs;
}

void endEngines(const LockstepProgram& program) {
    for (const char* command : {"--until-epoch", "resume"})
        for (const pid_t each : processes(program, command)) kill(each, SIGKILL);
}

// Small rates lower the loss by the more the larger they are, whenever one looks. So their order is that of the losses
// 5 3 8 1 9 2 7 4 6, with which tst_rungs has the list of algorithm 2 by hand.
QStringList goldenSweep() {
    QStringList rates;
    for (const int rank : {5, 3, 8, 1, 9, 2, 7, 4, 6}) rates << QString::number(0.0002 * (10 - rank));
    QStringList words = sweepOf({"learning_rate=" + rates.join(',')},
                                {"--method", "grid", "--objective", "test.loss", "--scheduler", "asha", "--detach"});
    words[words.indexOf("--epochs") + 1] = "9";
    return words;
}
const QString kGoldenJobs = "1@0 2@0 3@0 2@1 4@0 4@1 5@0 6@0 6@1 4@2 7@0 8@0 9@0";

bool hasFinished(const LockstepProgram& program) { return sweepIn(program, 1)["state"].toString() == "finished"; }

}  // namespace

// Cells that pause at rungs, and those that go on: the programs as a person and an accident meet them.
class TestClimbingSweep : public QObject {
    Q_OBJECT
private slots:
    // By hand from algorithm 2 of the paper: 21 of 81 epochs.
    void initTestCase() {
        const auto begun = m_whole.run(goldenSweep());
        QVERIFY2(begun.status == 0, qPrintable(begun.err));
        QTRY_VERIFY_WITH_TIMEOUT(hasFinished(m_whole), 60'000);
        QCOMPARE(jobsIn(m_whole).join(' '), kGoldenJobs);
        int epochs = 0;
        for (int trial = 1; trial <= 9; ++trial) epochs += m_whole.trial(trial)["epoch"].toInt();
        QCOMPARE(epochs, 21);
        m_decisions = decisionsIn(sweepIn(m_whole, 1));
        QCOMPARE(m_decisions[3].toObject()["finished"].toInt(), 1);
    }

    // Keeper and engines die after the sixth job, and a run folder has been left without a row.
    void aKillChangesNoDecision() {
        LockstepProgram program;
        QVERIFY(QDir().mkpath(program.home() + "/runs/4"));
        QCOMPARE(program.run(goldenSweep() + QStringList{"--retries", "20"}).status, 0);
        QTRY_VERIFY_WITH_TIMEOUT(jobsIn(program).size() >= 6, 60'000);
        endKeeper(program);
        endEngines(program);
        QCOMPARE(program.run({"sweeps", "1", "--continue"}).status, 0);
        QTRY_VERIFY_WITH_TIMEOUT(hasFinished(program), 60'000);
        QCOMPARE(jobsIn(program).join(' '), kGoldenJobs);
        const auto result = sweepIn(program, 1);
        QCOMPARE(result["cells"][0]["trials"][0].toInt(), 5);
        QCOMPARE(decisionsIn(result), m_decisions);
    }

    // The fourth cell has come to the second rung and will go on to the last. Its checkpoints are kept from whoever
    // frees what he can; and when they are damaged, it is trained anew and comes to the same.
    void aFinalistOutlivesItsCheckpoints() {
        LockstepProgram program;
        QCOMPARE(program.run(goldenSweep()).status, 0);
        QTRY_VERIFY_WITH_TIMEOUT(jobsIn(program).size() >= 6, 60'000);
        QCOMPARE(program.run({"sweeps", "1", "--pause"}).status, 0);
        QTRY_VERIFY_WITH_TIMEOUT(processes(program, "--no-steps").isEmpty(), 10'000);
        QVERIFY2(jobsIn(program).size() < 9, qPrintable(jobsIn(program).join(' ')));

        const QStringList frees{"disk", "--free", "--keep", "none"};
        const auto shown = program.run(frees + QStringList{"--dry-run", "--at-rungs"});
        QVERIFY2(shown.out.contains("Those that sweep 1 lets go on are trained anew"), qPrintable(shown.out));
        const auto freed = program.run(frees + QStringList{"--yes"});
        QVERIFY2(freed.out.contains("The newest checkpoints stay, for sweep 1 may let the trials go on (--at-rungs"),
                 qPrintable(freed.out + freed.err));
        const fs::path last = program.home().toStdString() + "/runs/4/checkpoints/last.safetensors";
        QVERIFY(fs::exists(last));

        flipAByte(last);
        QCOMPARE(program.run({"sweeps", "1", "--continue"}).status, 0);
        QTRY_VERIFY_WITH_TIMEOUT(hasFinished(program), 60'000);
        QCOMPARE(jobsIn(program).join(' '), kGoldenJobs);
        QCOMPARE(decisionsIn(sweepIn(program, 1)), m_decisions);
        QVERIFY(QString::fromUtf8(logOf(program, 4)).contains("run.damaged-checkpoint"));
        QCOMPARE(program.trial(4)["test_loss"].toDouble(), m_whole.trial(4)["test_loss"].toDouble());
    }

    // Too few cells for the last rung: the best at the highest one is what the sweep came to, and keeps its
    // checkpoints.
    void aSweepThatNoneFinishes() {
        LockstepProgram program;
        QStringList words =
            sweepOf({"learning_rate=0.001,0.0002,0.0004,0.0006"},
                    {"--method", "grid", "--objective", "test.loss", "--scheduler", "asha", "--trials", "3"});
        words[words.indexOf("--epochs") + 1] = "9";
        const auto ended = program.run(words);
        QVERIFY2(ended.status == 0, qPrintable(ended.out + ended.err));
        QVERIFY2(ended.out.contains("none trained to its end; the best at rung 2: test loss"), qPrintable(ended.out));
        QVERIFY2(ended.out.contains(" at epoch 1"), qPrintable(ended.out));
        const auto result = sweepIn(program, 1);
        QVERIFY(result["best"].isNull());
        QCOMPARE(result["best_at_rung"].toInt(-1), 0);
        QCOMPARE(result["cells"][0]["rung"]["epoch"].toInt(), 3);
        QVERIFY(result["cells"][0]["rung"]["value"].toDouble() > 0);
        const auto isKept = [&](int trial) {
            return QFile::exists(program.home() + QString("/runs/%1/checkpoints/last.safetensors").arg(trial));
        };
        QVERIFY(isKept(1) && !isKept(2) && !isKept(3));

        const auto extended = program.run({"sweeps", "1", "--trials", "4"});
        QVERIFY2(extended.status == 0 && extended.err.contains("2 trials at rungs without checkpoints"),
                 qPrintable(extended.out + extended.err));
        QTRY_VERIFY_WITH_TIMEOUT(hasFinished(program), 30'000);
    }

    // Few cells come to the end; it says so, and asks at a rung.
    void importanceIsAskedAtRungs() {
        const auto shown = m_whole.run({"importance", "1"});
        QVERIFY2(
            shown.out.contains("1 of 9 cells were trained to the end; --rung 1 asks with the 9 that came to epoch 1."),
            qPrintable(shown.out));
        const auto whole = m_whole.run({"importance", "1", "--json"}).last();
        QVERIFY(whole["cells"].toInt() == 1 && whole["epoch"].isNull());
        QCOMPARE(whole["rungs"][1]["epochs"].toInt(), 3);
        QCOMPARE(whole["rungs"][1]["cells"].toInt(), 3);
        const auto atRung = m_whole.run({"importance", "1", "--rung", "1", "--json"}).last();
        QVERIFY(atRung["cells"].toInt() == 9 && atRung["used"].toInt() == 9 && atRung["epoch"].toInt() == 1);
        QCOMPARE(atRung["left_out"]["not_there"].toInt(), 0);
        const auto between = m_whole.run({"importance", "1", "--at-epoch", "2"});
        QVERIFY2(between.out.contains("Test loss by epoch 2: 3 cells, 3 trials; left out: 6 not there"),
                 qPrintable(between.out));
        const auto codeOf = [&](const QStringList& words) {
            const auto refused = m_whole.run(QStringList{"importance", "--json"} + words);
            return QString("%1 %2").arg(refused.status).arg(refused.last()["problems"][0]["code"].toString());
        };
        QCOMPARE(codeOf({"1", "--rung", "4"}), QString("2 rungs.beyond"));
        QCOMPARE(codeOf({"1", "--rung", "1", "--at-epoch", "1"}), QString("2 cli.usage"));
        QCOMPARE(codeOf({"--rung", "1"}), QString("2 cli.usage"));
        const auto zero = m_whole.run({"importance", "1", "--at-epoch", "0"});
        QVERIFY2(zero.status == 2 && zero.err.contains("0 is below 1"), qPrintable(zero.err));
        QCOMPARE(m_whole.run(sweepOf({"model.width=8,16"}, {"--method", "grid"})).status, 0);
        QCOMPARE(codeOf({"2", "--rung", "1"}), QString("2 rungs.none"));
        QVERIFY(!m_whole.run({"importance", "2"}).out.contains("trained to the end"));
    }

    // Pauses change nothing: what climbs to the top has trained as if it had never paused, and a sweep whose processes
    // are killed (with --long) comes to the same.
    void cellsPauseAtRungs() {
        const auto resultOf = [](LockstepProgram& program, bool kills) {
            QStringList words = sweepOf({"learning_rate=0.003,0.03,0.1", "model.width=8,32", "--method", "grid"},
                                        {"--scheduler", "asha", "--reduction", "2", "--retries", "20", "--detach"});
            words[words.indexOf("--epochs") + 1] = "4";
            const auto begun = program.run(words);
            if (begun.status != 0) qWarning("%s", qPrintable(begun.err));
            for (int i = 0; i < 1000 && sweepIn(program, 1)["state"].toString() != "finished"; ++i) {
                QTest::qWait(100);
                if (!kills || i % 4 != 0) continue;
                for (const pid_t each : processes(program, "--until-epoch")) kill(each, SIGKILL);
                endKeeper(program);
                program.run({"sweeps", "1", "--continue"});
                kills = i < 20;
            }
            return sweepIn(program, 1);
        };
        LockstepProgram whole, killed;
        const auto result = resultOf(whole, false);
        QCOMPARE(result["state"].toString(), QString("finished"));
        const auto rungs = result["rungs"].toArray();
        QCOMPARE(rungs.size(), 3);
        QCOMPARE(rungs[0].toObject()["cells"].toInt(), 6);
        QVERIFY(rungs[1].toObject()["cells"].toInt() >= 3 && rungs[1].toObject()["cells"].toInt() < 6);
        QVERIFY(result["finished"].toInt() >= 1);
        if (isLong()) {
            const auto ofKilled = resultOf(killed, true);
            QVERIFY2(decisionsIn(ofKilled) == decisionsIn(result),
                     qPrintable(killed.run({"sweeps", "1"}).out + whole.run({"sweeps", "1"}).out));
            QCOMPARE(ofKilled["rungs"].toArray(), rungs);
        }
        QVERIFY(whole.run({"sweeps", "1"}).out.contains("stopped at rung 1 of 3, rank"));

        const auto best = result["cells"].toArray()[result["best"].toInt()].toObject();
        const int trial = best["trials"].toArray()[0].toInt();
        QFile spec(whole.home() + "/spec.json");
        QVERIFY(spec.open(QIODevice::WriteOnly));
        spec.write(whole.run({"show", QString::number(trial), "--spec"}).out.toUtf8());
        spec.close();
        QCOMPARE(whole.run({"train", "--spec", spec.fileName(), "--json"}).status, 0);
        const auto straight = whole.trial(7), climbed = whole.trial(trial);
        QCOMPARE(climbed["epoch"].toInt(), 4);
        QCOMPARE(straight["test_loss"].toDouble(), climbed["test_loss"].toDouble());
        QVERIFY(climbed["attempts"].toInt() == 3 && straight["attempts"].toInt() == 1);
    }

    // What did not go on was freed at its end.
    void aLongerSweepTrainsAnewWhatWasFreed() {
        LockstepProgram program;
        QStringList words = sweepOf({"learning_rate=log:1e-3..0.1"},
                                    {"--trials", "4", "--scheduler", "asha", "--reduction", "2", "--json"});
        words[words.indexOf("--epochs") + 1] = "4";
        QCOMPARE(program.run(words).status, 0);
        const QString few = program
                                .run({"sweep", "--dataset", "synthetic", "--model", "mlp", "--vary", "batch=64",
                                      "--epochs", "9", "--scheduler", "asha", "--dry-run"})
                                .out;
        QVERIFY2(few.contains("No cell is sure to train to its end"), qPrintable(few));
        QCOMPARE(program.run({"sweeps", "1", "--trials", "10"}).status, 0);
        QTRY_COMPARE_WITH_TIMEOUT(sweepIn(program, 1)["state"].toString(), QString("finished"), 60'000);
        const auto result = sweepIn(program, 1);
        QCOMPARE(result["failed"].toInt(), 0);
        QCOMPARE(result["rungs"].toArray()[0].toObject()["cells"].toInt(), 10);
        QVERIFY(result["finished"].toInt() >= 2);
        for (const auto& each : program.run({"trials", "--json"}).last()["trials"].toArray())
            QVERIFY(each.toObject()["state"].toString() != "failed");
    }

private:
    static QByteArray logOf(const LockstepProgram& program, int trial) {
        QFile log(program.home() + "/runs/" + QString::number(trial) + "/run.log");
        return log.open(QIODevice::ReadOnly) ? log.readAll() : QByteArray();
    }

    LockstepProgram m_whole;  // that nobody disturbed
    QJsonArray m_decisions;
};

QTEST_GUILESS_MAIN(TestClimbingSweep)
#include "tst_climbing_sweep.moc"
