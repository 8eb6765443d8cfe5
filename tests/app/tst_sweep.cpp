#include <signal.h>

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QRandomGenerator>
#include <QRegularExpression>
#include <QSet>
#include <QtTest>
#include <algorithm>

#include "engine/history/queue_query.h"
#include "tests/app/sweep_runs.h"
#include "tests/support/long_tests.h"

namespace {

using lockstep::test::isLong;

// Trials by what they are of: the settings of their cells and their seeds.
QSet<QString> differentTrials(const LockstepProgram& program) {
    QSet<QString> all;
    for (const auto& each : program.run({"trials", "--json"}).last()["trials"].toArray()) {
        const auto spec = program.trial(each.toObject()["trial"].toInt())["spec"].toObject();
        all << QString("%1 %2 %3")
                   .arg(spec["learning_rate"].toDouble())
                   .arg(spec["model"]["width"].toInt())
                   .arg(spec["seed"].toInt());
    }
    return all;
}

// What the history says of a sweep, without a command that would look after its queue.
std::string stateInHistory(const LockstepProgram& program, int sweep) {
    const auto query = lockstep::TrialQuery::open(program.home().toStdString() + "/history.sqlite");
    if (!query.ok()) return query.problems().front().code;
    const auto group = lockstep::QueueQuery(*query.value()).group(sweep);
    return group ? std::string(text(group->state)) : "none";
}

}  // namespace

class TestSweep : public QObject {
    Q_OBJECT
private slots:
    void aGridIsTrainedToItsEnd() {
        LockstepProgram program;
        const auto ran = program.run(sweepOf(kNine, {"--repeats", "2", "--parallel", "2", "--json"}));
        QVERIFY2(ran.status == 0, qPrintable(ran.out + ran.err));
        const auto result = ran.last();
        QCOMPARE(result["state"].toString(), QString("finished"));
        QCOMPARE(result["finished"].toInt(), 18);
        QCOMPARE(result["cells"].toArray().size(), 9);
        QCOMPARE(differentTrials(program).size(), 18);
        const auto best = result["cells"].toArray().at(result["best"].toInt()).toObject();
        QCOMPARE(best["n"].toInt(), 2);
        for (const auto& each : result["cells"].toArray())
            QVERIFY(each.toObject()["mean"].toDouble() <= best["mean"].toDouble());
        const auto importance = program.run({"importance", "1", "--json"}).last();
        QCOMPARE(importance["objective"], result["objective"]);
        QCOMPARE(importance["cells"].toInt(), 9);
        QCOMPARE(importance["used"].toInt(), 18);
        QCOMPARE(importance["settings"].toArray().size(), 2);
        QCOMPARE(importance["fanova"]["verdict"].toString(), QString("too-few-tried"));
        QVERIFY(program.run({"sweeps"}).out.contains("finished"));
        QVERIFY(program.run({"queue"}).out.contains("Nothing is queued"));
    }

    // The keeper and the engines, at any moment; five times here, a hundred with --long.
    void killsLoseAndDoubleNothing() {
        const int kills = isLong() ? 100 : 5;
        LockstepProgram program;
        const QStringList cells{"learning_rate=0.01,0.03,0.1", "model.width=8,16,32", "seed=1,2,3", "--method", "grid"};
        const auto begun = program.run(sweepOf(cells, {"--parallel", "2", "--retries", "20", "--detach"}));
        QVERIFY2(begun.status == 0, qPrintable(begun.err));
        QRandomGenerator random(7);
        int killed = 0;
        for (; killed < kills; ++killed) {
            QTest::qWait(static_cast<int>(random.bounded(isLong() ? 120 : 500)));
            const QByteArray command = random.bounded(3) == 0 ? QByteArray("queue\0keep", 10) : QByteArray("--trial");
            auto found = processes(program, command);
            if (command == "--trial") found += processes(program, "resume");
            if (found.isEmpty()) continue;
            kill(found[random.bounded(found.size())], SIGKILL);
            if (processes(program, QByteArray("queue\0keep", 10)).isEmpty())
                QCOMPARE(program.run({"sweeps", "1", "--continue"}).status, 0);
        }
        QTRY_VERIFY_WITH_TIMEOUT(
            (program.run({"sweeps", "1", "--continue"}), sweepIn(program, 1)["state"].toString() == "finished"),
            240'000);
        QCOMPARE(sweepIn(program, 1)["finished"].toInt(), 27);
        QCOMPARE(program.run({"trials", "--json"}).last()["trials"].toArray().size(), 27);
        QCOMPARE(program.run({"trials", "--sweep", "1", "--json"}).last()["trials"].toArray().size(), 27);
        QCOMPARE(differentTrials(program).size(), 27);
    }

    // The keeper is killed while a trial runs, and nobody looks: the engine at its end starts another one.
    void aSweepGoesOnWithoutItsKeeper() {
        LockstepProgram program;
        const QStringList more{"--trials", "0", "--method", "grid", "--detach"};
        QStringList words = sweepOf({"seed=1..2"}, more);
        words[words.indexOf("--epochs") + 1] = "80";
        QCOMPARE(program.run(words).status, 0);
        QTRY_VERIFY_WITH_TIMEOUT(!processes(program, "--trial").isEmpty(), 10'000);
        const QByteArray keeper("queue\0keep", 10);
        endKeeper(program);
        QTRY_VERIFY_WITH_TIMEOUT(processes(program, keeper).isEmpty(), 5'000);
        QVERIFY2(!processes(program, "--trial").isEmpty(), "the trial was too short");
        const auto finished = [&] { return stateInHistory(program, 1) == "finished"; };  // by no command
        QTRY_VERIFY_WITH_TIMEOUT(finished(), 30'000);
        QTRY_VERIFY_WITH_TIMEOUT(processes(program, keeper).isEmpty(), 10'000);
        QCOMPARE(sweepIn(program, 1)["finished"].toInt(), 2);
        QCOMPARE(program.run({"trials", "--json"}).last()["trials"].toArray().size(), 2);
    }

    // Whoever looks at what the queue has starts who keeps it; what a person has paused stays.
    void whoLooksStartsTheKeeper() {
        LockstepProgram program;
        const QByteArray keeper("queue\0keep", 10);
        QStringList words = sweepOf({"seed=1..2"}, {"--trials", "0", "--method", "grid", "--detach"});
        words[words.indexOf("--epochs") + 1] = "100000";
        QCOMPARE(program.run(words).status, 0);
        QTRY_VERIFY_WITH_TIMEOUT(!processes(program, "--trial").isEmpty(), 10'000);
        for (const QStringList& look : {QStringList{"queue"}, QStringList{"sweeps"}, QStringList{"sweeps", "1"},
                                        QStringList{"trials", "--json"}, QStringList{"show", "1"}}) {
            QTRY_VERIFY_WITH_TIMEOUT(!processes(program, keeper).isEmpty(), 5'000);
            endKeeper(program);
            QTRY_VERIFY_WITH_TIMEOUT(processes(program, keeper).isEmpty(), 5'000);
            QCOMPARE(program.run(look).status, 0);
            QVERIFY2(QTest::qWaitFor([&] { return !processes(program, keeper).isEmpty(); }, 5'000),
                     qPrintable(look.join(' ')));
        }
        QCOMPARE(program.run({"sweeps", "1", "--pause"}).status, 0);
        QCOMPARE(program.run({"stop", "1"}).status, 0);
        QTRY_VERIFY_WITH_TIMEOUT(processes(program, keeper).isEmpty(), 20'000);  // nothing is left to do
        for (const char* look : {"queue", "sweeps", "trials"}) QCOMPARE(program.run({look}).status, 0);
        QTest::qWait(200);
        QVERIFY(processes(program, keeper).isEmpty());
        QCOMPARE(program.run({"sweeps", "1", "--cancel"}).status, 0);
    }

    // The same sweep and seed suggest the same, also where the keeper was killed in between.
    void suggestionsDependOnTheSeedAlone() {
        const auto cellsOf = [](bool interrupts) {
            LockstepProgram program;
            const QStringList vary{
                "learning_rate=log:1e-3..1", "model.width=8..64", "--method", "sobol", "--trials", "6"};
            program.run(sweepOf(vary, {"--sweep-seed", "9", "--detach"}));
            if (interrupts) {
                for (int i = 0; i < 3; ++i) {
                    QTest::qWait(300);
                    endKeeper(program);
                    program.run({"sweeps", "1", "--continue"});
                }
            }
            for (int i = 0; i < 200 && sweepIn(program, 1)["state"].toString() != "finished"; ++i) QTest::qWait(100);
            QStringList cells;
            for (const auto& each : sweepIn(program, 1)["cells"].toArray())
                cells << QString::fromUtf8(
                    QJsonDocument(each.toObject()["settings"].toObject()).toJson(QJsonDocument::Compact));
            return cells;
        };
        const auto whole = cellsOf(false);
        QCOMPARE(whole.size(), 6);
        QCOMPARE(cellsOf(true), whole);
    }

    // What a person starts by hand begins at once, and nothing more is started while it has the cores.
    void neverMoreThanTheMachineHas() {
        LockstepProgram program;
        const int cores = QThread::idealThreadCount();
        program.run(sweepOf({"seed=1..40"}, {"--parallel", "64", "--trials", "0", "--method", "grid", "--detach"}));
        int most = 0;
        for (int i = 0; i < 30; ++i) {
            QTest::qWait(60);
            most = std::max(most, static_cast<int>(processes(program, "--trial").size()));
        }
        QVERIFY2(most <= cores, qPrintable(QString::number(most)));
        QCOMPARE(program.run({"sweeps", "1", "--cancel"}).status, 0);
        QTRY_VERIFY_WITH_TIMEOUT(processes(program, "--trial").isEmpty(), 10'000);
        QCOMPARE(sweepIn(program, 1)["state"].toString(), QString("cancelled"));
        QVERIFY(program.run({"queue"}).out.contains("Nothing is queued"));
    }

    void aTrialThatWasTrainedIsACellAlready() {
        LockstepProgram program;
        const auto first = program.run(sweepOf({"model.width=8,16"}, {"--method", "grid", "--json"}));
        QCOMPARE(first.last()["finished"].toInt(), 2);
        const auto again = program.run(sweepOf({"model.width=8,16,32"}, {"--method", "grid", "--json"}));
        QCOMPARE(again.last()["finished"].toInt(), 3);
        QCOMPARE(again.last()["adopted"].toInt(), 2);
        const auto of = [&](const QStringList& more) {
            return program.run(QStringList{"trials", "--json", "--sweep"} + more).last()["trials"].toArray().size();
        };
        QCOMPARE(of({"1"}), 2);
        QCOMPARE(of({"2"}), 3);  // those that it has adopted, too
        QCOMPARE(of({"2", "--limit", "1"}), 1);
        QCOMPARE(program.run({"trials", "--json"}).last()["trials"].toArray().size(), 3);
    }

    // Who chooses by validation has samples held out, and is told.
    void validationIsHeldOutWhereItChooses() {
        LockstepProgram program;
        const QStringList more{"--method", "grid", "--objective", "validation.accuracy"};
        const auto said = program.run(sweepOf({"model.width=8,16"}, more));
        QVERIFY2(said.status == 0 && said.out.contains("10.00 % of the training samples are held out"),
                 qPrintable(said.out + said.err));
        QCOMPARE(sweepIn(program, 1)["objective"].toString(), QString("validation_accuracy"));
        QVERIFY(sweepIn(program, 1)["best"].isDouble());
        QCOMPARE(program.trial(1)["spec"].toObject()["validation_share"].toDouble(), 0.1);
    }

    void aSweepThatFailsSaysWhy() {
        LockstepProgram program;
        // With more samples in a batch than there are, no trial begins.
        auto words = sweepOf({"batch=501..520"}, {"--method", "grid", "--trials", "0", "--json"});
        const auto ran = program.run(words);
        QVERIFY2(ran.status == 1, qPrintable(ran.out + ran.err));
        QCOMPARE(ran.last()["state"].toString(), QString("failed"));
        const auto problem = ran.last()["problems"].toArray().at(0).toObject();
        QCOMPARE(problem["code"].toString(), QString("sweep.all-failed"));
        // In words, not by the names of their codes.
        const QRegularExpression why("batch: a batch of 5\\d\\d is larger than the dataset synthetic, which has 500");
        const QString shown = program.run({"sweeps", "1"}).out, first = ran.last()["first_failure"].toString();
        for (const QString& said : {problem["what"].toString(), first, shown}) {
            QVERIFY2(why.match(said).hasMatch(), qPrintable(said));
            QVERIFY2(!said.contains("spec.batch-too-large"), qPrintable(said));
        }
        QVERIFY2(shown.contains("8 failed; the first: batch") && shown.contains("Choose a batch of at most 500"),
                 qPrintable(shown));
    }

    void theQueueIsChanged() {
        LockstepProgram program;
        const QStringList more{"--trials", "0", "--method", "grid", "--parallel", "1", "--detach", "--epochs", "100"};
        program.run(sweepOf({"seed=1..6"}, more));
        QTRY_VERIFY_WITH_TIMEOUT(!processes(program, "--trial").isEmpty(), 10'000);
        QCOMPARE(program.run({"queue", "hold", "1"}).status, 2);  // it runs, or has been started
        QCOMPARE(program.run({"sweeps", "1", "--pause"}).status, 0);
        const auto queued = [&] { return program.run({"queue", "--json"}).last()["queue"].toArray(); };
        const auto waits = [](const QJsonValue& each) { return each["waits"].toString() == "its sweep is paused"; };
        QTRY_VERIFY_WITH_TIMEOUT(!queued().isEmpty() && std::ranges::all_of(queued(), waits), 10'000);
        const auto waiting = queued();
        const auto trial = QString::number(waiting[0].toObject()["trial"].toInt());
        QVERIFY(program.run({"queue", "hold", trial}).out.contains("held"));
        QCOMPARE(program.run({"queue", "release", trial}).status, 0);
        QCOMPARE(program.run({"queue", "priority", trial, "3"}).status, 0);
        QCOMPARE(program.run({"queue", "cancel", trial}).status, 0);
        QCOMPARE(program.run({"queue", "hold", trial}).status, 2);
        QCOMPARE(program.run({"queue", "hold", "99"}).status, 3);
        QCOMPARE(program.run({"sweeps", "7"}).status, 3);
        QCOMPARE(program.run({"trials", "--sweep", "7"}).status, 3);
        QCOMPARE(program.run({"sweeps", "1", "--continue"}).status, 0);
        QTRY_COMPARE_WITH_TIMEOUT(sweepIn(program, 1)["state"].toString(), QString("finished"), 30'000);
        QCOMPARE(sweepIn(program, 1)["finished"].toInt(), 5);  // one was cancelled
        QCOMPARE(program.run({"sweeps", "1", "--retry"}).status, 0);
        QTRY_COMPARE_WITH_TIMEOUT(sweepIn(program, 1)["finished"].toInt(), 6, 30'000);
    }

    // It is neither trained nor made again, and its sweep comes to an end without it.
    void aTrialThatIsDeletedWhileItWaits() {
        LockstepProgram program;
        const QStringList more{"--trials", "0", "--method", "grid", "--detach", "--epochs", "100"};
        program.run(sweepOf({"seed=1..3"}, more));
        const auto waiting = [&] {
            for (const auto& each : program.run({"queue", "--json"}).last()["queue"].toArray()) {
                if (!each.toObject()["running"].toBool() && each.toObject()["state"].toString() == "queued")
                    return each.toObject()["trial"].toInt();
            }
            return 0;
        };
        int trial = 0;
        QTRY_VERIFY_WITH_TIMEOUT((trial = waiting()) > 1, 10'000);
        QCOMPARE(program.run({"delete", QString::number(trial)}).status, 0);
        QTRY_COMPARE_WITH_TIMEOUT(sweepIn(program, 1)["state"].toString(), QString("finished"), 30'000);
        QCOMPARE(sweepIn(program, 1)["finished"].toInt(), 2);
        QCOMPARE(sweepIn(program, 1)["ended"].toInt(), 3);
        QCOMPARE(program.run({"trials", "--json"}).last()["trials"].toArray().size(), 2);
    }

    void oneKeepsTheQueue() {
        LockstepProgram program;
        program.run(sweepOf({"seed=1..2"}, {"--trials", "0", "--method", "grid", "--detach", "--epochs", "100"}));
        QTRY_VERIFY_WITH_TIMEOUT(!processes(program, QByteArray("queue\0keep", 10)).isEmpty(), 5'000);
        const auto second = program.run({"queue", "keep"});
        QVERIFY2(second.status == 0 && second.err.contains("keeps the queue"), qPrintable(second.err));
        QTRY_COMPARE_WITH_TIMEOUT(sweepIn(program, 1)["finished"].toInt(), 2, 30'000);
        QTRY_VERIFY_WITH_TIMEOUT(processes(program, QByteArray("queue\0keep", 10)).isEmpty(), 10'000);
    }

    // A method is tried on a function in place of training, and the history stays as it is.
    void aFunctionStandsInForTraining() {
        LockstepProgram program;
        const QStringList words{"sweep", "--objective", "branin", "--method", "tpe", "--trials", "30", "--seed", "3"};
        const auto ran = program.run(words + QStringList{"--parallel", "2", "--json"});
        QVERIFY2(ran.status == 0, qPrintable(ran.err));
        QCOMPARE(ran.lines().size(), 30);
        double best = 1e9;
        for (const auto& each : ran.lines()) {
            best = std::min(best, each["loss"].toDouble());
            QCOMPARE(each["best"].toDouble(), best);
            QCOMPARE(each["settings"].toObject().keys(), (QStringList{"x1", "x2"}));
        }
        QCOMPARE(program.run(words + QStringList{"--parallel", "2", "--json"}).out, ran.out);
        QVERIFY(program.run({"sweeps"}).out.contains("No sweeps yet"));
    }

    void aTableStandsInForTraining() {
        LockstepProgram program;
        const auto table =
            program.write("losses.v1.csv", "batch,optimizer,loss\n32,sgd,0.5\n64,sgd,0.25\n32,adamw,1\n");
        const auto ran = program.run({"sweep", "--objective", "table:" + table, "--method", "auto"});
        QVERIFY2(ran.status == 0, qPrintable(ran.err));
        QVERIFY2(ran.out.contains("The method is grid") && ran.out.contains("best 0.25"), qPrintable(ran.out));
        const auto refused = program.run({"sweep", "--objective", "table:" + table, "--vary", "batch=32,64", "--json"});
        QCOMPARE(refused.status, 2);
        QVERIFY(refused.err.contains("optimizer, which is not varied"));
    }

    // No value of another one, and no silence.
    void aCombinationThatATableHasNotIsToldOf() {
        LockstepProgram program;
        const auto table = program.write("losses.csv", "batch,optimizer,loss\n32,sgd,0.5\n64,adamw,0.25\n");
        const QStringList words{"sweep", "--objective", "table:" + table, "--method", "grid", "--trials", "0"};
        const auto ran = program.run(words);
        QVERIFY2(ran.status == 0 && ran.out.contains("best 0.25"), qPrintable(ran.out));
        const QString failed = "failed: %1 has no line for batch=%2 optimizer=%3 (columns: batch, optimizer)";
        QVERIFY2(ran.out.contains(failed.arg(table, "32", "adamw")), qPrintable(ran.out));
        QVERIFY2(ran.out.contains(failed.arg(table, "64", "sgd")), qPrintable(ran.out));
        QCOMPARE(ran.out.count("Add a line for it"), 1);
        QStringList codes;
        for (const auto& each : program.run(words + QStringList{"--json"}).lines()) {
            QCOMPARE(each["loss"].isNull(), !each["problems"].toArray().isEmpty());
            for (const QJsonValue problem : each["problems"].toArray()) codes << problem["code"].toString();
        }
        QCOMPARE(codes, (QStringList{"search.table-no-cell", "search.table-no-cell"}));
        const auto other = program.run(words + QStringList{"--vary", "batch=32", "optimizer=sgd", "epochs=1,2"});
        QVERIFY2(other.status == 2 && other.err.contains("has no column epochs"), qPrintable(other.err));
    }

    // As spreadsheets write them.
    void aTableIsReadAsOthersAre() {
        LockstepProgram program;
        const auto table = program.write(
            "losses.csv",
            "\xEF\xBB\xBF\"batch\",\"the \"\"schedule\"\", in words\",loss\r\n32,\"a, b\",\"0.5\"\r\n64,c,0.25\r\n");
        const auto ran =
            program.run({"sweep", "--objective", "table:" + table, "--method", "grid", "--trials", "0", "--json"});
        QVERIFY2(ran.status == 0, qPrintable(ran.err));
        QStringList found;
        for (const auto& each : ran.lines()) {
            const auto settings = each["settings"].toObject();
            QCOMPARE(settings.keys(), (QStringList{"batch", "the \"schedule\", in words"}));
            if (each["loss"].isDouble())
                found << QString("%1 %2").arg(settings["batch"].toInt()).arg(each["loss"].toDouble());
        }
        found.sort();
        QCOMPARE(found, (QStringList{"32 0.5", "64 0.25"}));
        for (const auto& [text, what] :
             {std::pair("a,loss\n1,2,3\n", "3"), std::pair("a,loss\n\"1,2\n", "quote"), std::pair("", "")}) {
            const auto refused = program.run({"sweep", "--objective", "table:" + program.write("bad.csv", text)});
            QVERIFY2(refused.status == 2 && refused.err.contains("bad.csv") && refused.err.contains(what),
                     qPrintable(refused.err));
        }
    }

    // A trial that waits already is waited for, and trained once.
    void aTrialInTheQueueIsACellAlready() {
        LockstepProgram program;
        QStringList single = sweepOf({}, {"--queue", "--set", "model.width=16"});
        single[0] = "train", single.removeOne("--vary");
        const auto queued = program.run(single + QStringList{"--set", "dataset.samples=20000", "--epochs", "3"});
        QVERIFY2(queued.status == 0, qPrintable(queued.out + queued.err));
        const auto swept = program.run(
            sweepOf({"model.width=8,16"}, {"--method", "grid", "--set", "dataset.samples=20000", "--epochs", "3"}));
        QVERIFY2(swept.status == 0 && swept.out.contains("2 of 2 trials finished, 1 known before"),
                 qPrintable(swept.out + swept.err));
        QCOMPARE(program.run({"trials", "--json"}).last()["trials"].toArray().size(), 2);
    }

    // By their names: nothing that a person asks for is passed over.
    void aFunctionRefusesWhatItCannotDo() {
        LockstepProgram program;
        const auto table = program.write("losses.csv", "batch,loss\n32,0.5\n64,0.25\n");
        for (const QString& objective : {QString("branin"), QString("hartmann6"), "table:" + table}) {
            const auto refused = program.run({"sweep", "--objective", objective, "--preset", "fashion", "--devices",
                                              "cpu:1", "--scheduler", "asha", "--repeats", "3", "--set",
                                              "model.width=3", "--data", "/tmp", "--dry-run", "--json"});
            QCOMPARE(refused.status, 2);
            QStringList fields;
            for (const QJsonValue each : refused.last()["problems"].toArray()) {
                QCOMPARE(each["code"].toString(), QString("sweep.not-of-functions"));
                fields << each["field"].toString();
            }
            fields.sort();
            QCOMPARE(fields, (QStringList{"--data", "--devices", "--dry-run", "--preset", "--repeats", "--scheduler",
                                          "--set"}));
        }
        const auto said = program.run({"sweep", "--objective", "branin", "--detach"});
        QVERIFY2(said.err.contains("--detach means nothing with the function branin"), qPrintable(said.err));
        const QStringList few{"sweep", "--objective", "branin", "--trials", "2", "--seed"};
        QCOMPARE(program.run(few + QStringList{"3", "--sweep-seed", "4"}).status, 2);
        QCOMPARE(program.run(few + QStringList{"three"}).status, 2);
        QCOMPARE(program.run(few + QStringList{"3"}).status, 0);
    }

    void whatCannotBeSweptIsRefused_data() {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QString>("code");
        QTest::newRow("nothing varied") << QStringList{"sweep", "--preset", "fashion", "--json"} << "search.empty";
        const auto row = [](const char* name, const QStringList& vary, const char* code) {
            QTest::newRow(name) << sweepOf(vary, {"--json"}) << code;
        };
        row("inverted", {"learning_rate=1..0.1"}, "search.inverted");
        row("log of zero", {"learning_rate=log:0..1"}, "search.log-of-nothing");
        row("unknown path", {"optimizer.momentmu=0.8..0.9"}, "spec.unknown-key");
        row("too many cells", {"learning_rate=0..1/100000", "label_smoothing=0..0.9/10000", "--method", "grid"},
            "search.too-many-cells");
        row("an objective of texts", {"batch=10,20", "--objective", "test.perplexity"},
            "sweep.objective-of-another-task");
        row("nothing that the constraints allow", {"batch=10,20", "--method", "grid", "--constraint", "batch >= 1000"},
            "sweep.no-cells");
        for (const char* method : {"random", "sobol", "tpe", "gp", "auto"})
            row(method, {"learning_rate=log:1e-3..1", "--method", method, "--constraint", "learning_rate > 2"},
                "sweep.no-cells-drawn");
        row("a constraint on a setting that nobody has", {"batch=10,20", "--constraint", "model.widht > 2"},
            "search.not-a-setting");
        row("a condition on a setting that nobody has", {"batch=10,20?optimizer.momentmu=0.9"}, "search.never");
        row("a lowest rung of nothing", {"batch=10,20", "--first-rung", "2"}, "sweep.without-scheduler");
        row("a reduction of nothing", {"batch=10,20", "--reduction", "2"}, "sweep.without-scheduler");
        row("a value out of range", {"epochs=0..3"}, "spec.out-of-range");
        row("devices that are not there", {"devices=cpu:1x1,cuda:7"}, "devices.unavailable");
        row("twice the same", {"batch=10,20", "batch=40"}, "search.twice-varied");
        row("other validation samples in each cell", {"validation_share=0.1,0.2", "--objective", "validation.accuracy"},
            "search.other-samples");
        row("a circle", {"optimizer=sgd,adamw?schedule=cosine", "schedule=cosine,constant?optimizer=sgd"},
            "search.circle");
    }
    void whatCannotBeSweptIsRefused() {
        QFETCH(QStringList, words);
        QFETCH(QString, code);
        LockstepProgram program;
        const auto refused = program.run(words);
        QStringList codes;
        for (const auto& each : refused.last()["problems"].toArray()) codes << each.toObject()["code"].toString();
        QVERIFY2(refused.status == 2 && codes.contains(code), qPrintable(codes.join(", ") + refused.err));
        QVERIFY(program.run({"sweeps"}).out.contains("No sweeps yet"));
    }

    // Before anything is trained, and in words.
    void noCellIsSaidInTheDryRun() {
        LockstepProgram program;
        const auto grid = program.run(sweepOf({"batch=10,20,30"}, {"--method", "grid", "--dry-run", "--constraint",
                                                                   "batch <= 40", "batch / devices >= 1000"}));
        QCOMPARE(grid.status, 2);
        QVERIFY2(grid.err.contains("None of the 3 cells fulfils batch / devices >= 1000.") && grid.err.contains("→"),
                 qPrintable(grid.err));
        for (const char* function : {"branin", "hartmann6"}) {
            const auto none = program.run({"sweep", "--objective", function, "--constraint", "x1 > 99"});
            QCOMPARE(none.status, 2);
            QVERIFY2(none.err.contains("cells that were drawn fulfils x1 > 99") && none.out.isEmpty(),
                     qPrintable(none.err));
        }
    }

    // As train says it; a sweep says so beforehand.
    void virtualDevicesAreSaid() {
        LockstepProgram program;
        const QString said = "The devices are virtual: they share cores or cards";
        QStringList words = sweepOf({"seed=1"}, {"--method", "grid"});
        QVERIFY(!program.run(words + QStringList{"--dry-run"}).out.contains("virtual"));
        words[words.indexOf("--devices") + 1] = QString("cpu:%1x1").arg(QThread::idealThreadCount() + 2);
        QVERIFY(program.run(words + QStringList{"--dry-run"}).out.contains(said));
        const auto ran = program.run(words);
        QVERIFY2(ran.status == 0 && ran.out.contains(said), qPrintable(ran.out + ran.err));
        QVERIFY(program.run({"sweeps", "1"}).out.contains(said));
        QVERIFY(sweepIn(program, 1)["virtual_devices"].toBool());
        const QString choices = QString("devices=cpu:1x1,cpu:%1x1").arg(QThread::idealThreadCount() + 2);
        const auto one = program.run(sweepOf({choices}, {"--dry-run"})).out;
        QVERIFY2(
            one.count("virtual") == 1 && one.contains(QString("On cpu:%1x1: ").arg(QThread::idealThreadCount() + 2)),
            qPrintable(one));
    }

    // A number that cannot be is refused in a line that a person can read.
    void numbersAreRefusedInWords() {
        LockstepProgram program;
        QCOMPARE(program.run(sweepOf({"seed=1,2"}, {"--method", "grid", "--json"})).status, 0);
        for (const QStringList& words :
             {QStringList{"sweeps", "1", "--trials", "0"}, QStringList{"sweeps", "1", "--trials", "-3"},
              QStringList{"sweeps", "0"}, QStringList{"trials", "--sweep", "0"}, QStringList{"importance", "0"},
              QStringList{"train", "--trial", "0"}, QStringList{"resume", "1", "--until-epoch", "0"}}) {
            const auto refused = program.run(words);
            QVERIFY2(refused.status == 2 && refused.err.contains("is below 1"), qPrintable(refused.err));
            QVERIFY2(refused.err.size() < 300, qPrintable(refused.err));
        }
        for (const char* cells : {"0", "-3"}) {
            const auto refused = program.run({"sweeps", "1", "--trials", cells});
            QVERIFY2(refused.err.contains(QString("--trials: %1 is below 1").arg(cells)), qPrintable(refused.err));
            QVERIFY2(refused.err.contains("`lockstep sweeps 1` lists them"), qPrintable(refused.err));
        }
        for (const QStringList& words :
             {QStringList{"sweeps", "1", "--trials", "1e9"},
              QStringList{"sweeps", "1", "--trials", "99999999999999999999"},
              QStringList{"queue", "priority", "1", "99999999999999999999"}, QStringList{"queue", "hold", "one"}}) {
            const auto refused = program.run(words);
            QVERIFY2(refused.status == 2 && refused.err.size() < 300, qPrintable(refused.err));
        }
        for (const char* option : {"--trials", "--repeats", "--parallel", "--retries", "--max-failures"}) {
            const auto refused = program.run(sweepOf({"batch=10,20"}, {option, "-1", "--dry-run"}));
            QVERIFY2(refused.status == 2 && refused.err.count("is outside") == 1 && refused.err.size() < 400,
                     qPrintable(refused.err));
            const auto large = program.run(sweepOf({"batch=10,20"}, {option, "99999999999999999999", "--dry-run"}));
            QVERIFY2(large.status == 2 && large.err.contains("99999999999999999999 is too large"),
                     qPrintable(large.err));
        }
        for (const char* seed : {"-1", "99999999999999999999"})
            QCOMPARE(program.run(sweepOf({"batch=10,20"}, {"--sweep-seed", seed, "--dry-run"})).status, 2);
        QCOMPARE(program.run(sweepOf({"batch=10,20"}, {"--sweep-seed", "18446744073709551615", "--dry-run"})).status,
                 0);
        const auto beyond = program.run({"sweeps", "1", "--trials", "5"});
        QCOMPARE(beyond.status, 2);
        QVERIFY2(beyond.err.contains("The sweep has all 2 cells that its values make, so that 5 are too many"),
                 qPrintable(beyond.err));
    }

    void helpHasExamplesOfItsOwn() {
        LockstepProgram program;
        for (const char* name : {"sweep", "sweeps", "queue"}) {
            const QString help = program.run({name, "--help"}).out;
            QVERIFY2(help.contains(QString("Examples:\n  lockstep %1").arg(name)), qPrintable(help));
            QVERIFY2(!help.contains("lockstep train --preset fashion "), qPrintable(help));
        }
        for (const QStringList& words : {QStringList{"queue", "hold", "--help"}, QStringList{"stop", "--help"}})
            QVERIFY(!program.run(words).out.contains("lockstep train --preset"));
    }

    void eachChoiceOfDevicesIsWeighed() {
        LockstepProgram program;
        const auto said = program.run(sweepOf({"devices=cpu:1x1,cpu:2x1"}, {"--parallel", "1000", "--dry-run"}));
        QCOMPARE(said.status, 0);
        const QRegularExpression one(
            "A trial on cpu:1x1 takes 1 of (\\d+) cores: the machine has room for \\1 at once");
        const QRegularExpression two(
            "A trial on cpu:2x1 takes [12] of \\d+ cores: the machine has room for \\d+ at once");
        QVERIFY2(one.match(said.out).hasMatch() && two.match(said.out).hasMatch(), qPrintable(said.out));
    }

    void everythingWrongWithAFileIsSaidAtOnce() {
        LockstepProgram program;
        const QString file = program.write("sweep.json",
                                           "{\"trials\": 1.5, \"method\": \"guess\","
                                           " \"objective\": \"colour\", \"trial\": {\"model\": \"mlp\"},"
                                           " \"vary\": {\"batch\": 3, \"learning_rate\":"
                                           " {\"from\": 1, \"to\": 0.1}}}");
        const auto refused = program.run({"sweep", file, "--dataset", "synthetic", "--epochs", "0", "--json"});
        QStringList codes;
        for (const auto& each : refused.last()["problems"].toArray()) codes << each.toObject()["code"].toString();
        codes.sort();
        QCOMPARE(codes, (QStringList{"search.inverted", "search.objective", "spec.not-a-choice", "spec.out-of-range",
                                     "spec.wrong-type", "spec.wrong-type"}));
    }

    void aFileSaysTheSame() {
        LockstepProgram program;
        const auto printed = program.run(sweepOf(kNine, {"--repeats", "2", "--print-sweep"}));
        QCOMPARE(printed.status, 0);
        const auto file = program.write("sweep.json", printed.out.toUtf8());
        QCOMPARE(program.run({"sweep", file, "--print-sweep"}).out, printed.out);
        QVERIFY(program.run({"sweep", file, "--dry-run"}).out.contains("9 cells by grid, 2 seeds each: 18 trials"));
        auto newer = printed.out;
        newer.replace("\"version\": 1", "\"version\": 9");
        QCOMPARE(program.run({"sweep", program.write("newer.json", newer.toUtf8()), "--json"})
                     .last()["problems"]
                     .toArray()
                     .at(0)
                     .toObject()["code"]
                     .toString(),
                 QString("sweep.newer-version"));
    }
};

QTEST_GUILESS_MAIN(TestSweep)
#include "tst_sweep.moc"
