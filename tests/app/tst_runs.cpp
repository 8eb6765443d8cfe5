#include <signal.h>

#include <QDir>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QJsonArray>
#include <QtTest>
#include <algorithm>
#include <cmath>

#include "tests/app/lockstep_program.h"

namespace {

QString lastCheckpoint(const QJsonObject& trial) {
    return trial["run_directory"].toString() + "/checkpoints/last.safetensors";
}

}  // namespace

// Trials from their start to their end and back.
class TestRuns : public QObject {
    Q_OBJECT
private slots:
    void showSaysWhatAutomaticPrecisionCameTo() {
        LockstepProgram program;
        const auto trained = program.run(shortRun() + QStringList{"--precision", "auto"});
        QVERIFY2(trained.status == 0, qPrintable(trained.out + trained.err));
        const QString precision = program.trial(1)["precision"].toString();
        QVERIFY2(QStringList({"fp32", "bf16"}).contains(precision), qPrintable(precision));
        QVERIFY(program.run({"show", "1"}).out.contains(precision + ", chosen by precision=auto"));
        QCOMPARE(program.trial(1)["spec"].toObject()["precision"].toString(), QString("auto"));
    }

    void trainTrialsShowDelete() {
        LockstepProgram program;
        const auto trained = program.run(shortRun() + QStringList{"--title", "first light"});
        QVERIFY2(trained.status == 0, qPrintable(trained.out + trained.err));
        QVERIFY(trained.out.contains("epoch 2/2") && trained.out.contains("Trial 1 finished"));

        const auto trials = program.run({"trials"});
        QVERIFY(trials.out.contains("first light") && trials.out.contains("finished"));
        const auto row = program.trial(1);
        QCOMPARE(row["state"].toString(), QString("finished"));
        QCOMPARE(row["step"].toInt(), 2 * 10);  // 600 samples in batches of 64: nine whole and a short one
        QVERIFY(row["test_accuracy"].toDouble() > 0.5);
        QCOMPARE(row["spec"].toObject()["title"].toString(), QString("first light"));
        for (const char* key : {"trial",
                                "title",
                                "state",
                                "dataset",
                                "model",
                                "devices",
                                "batch",
                                "learning_rate",
                                "attempts",
                                "step",
                                "epoch",
                                "epochs",
                                "best_accuracy",
                                "test_accuracy",
                                "lowest_test_loss",
                                "test_loss",
                                "train_samples_per_second",
                                "seconds",
                                "created_at",
                                "finished_at",
                                "run_directory",
                                "failure",
                                "note",
                                "deleted",
                                "star",
                                "archived",
                                "tags"})
            QVERIFY2(row.contains(key), key);  // scripts rely on them
        QVERIFY(row["trial"].toInt() == 1 && row["train_samples_per_second"].toDouble() > 0);
        QVERIFY(row["deleted"].isBool() && row["tags"].isArray() && row["finished_at"].isString());
        const auto shown = program.run({"show", "1"});
        QVERIFY(shown.out.contains("synthetic") && shown.out.contains("•"));
        QCOMPARE(program.run({"resume", "1"}).status, 2);  // nothing is left to do

        QCOMPARE(program.run({"delete", "1"}).status, 0);
        QVERIFY(!program.run({"trials"}).out.contains("first light"));
        QVERIFY(program.run({"trials", "--deleted"}).out.contains("first light"));
        QCOMPARE(program.run({"delete", "1", "--restore"}).status, 0);
        QVERIFY(program.run({"trials"}).out.contains("first light"));
        QVERIFY(QFileInfo::exists(row["run_directory"].toString()));
        QCOMPARE(program.run({"delete", "1", "--purge"}).status, 0);
        QVERIFY(!QFileInfo::exists(row["run_directory"].toString()));
        QCOMPARE(program.run({"show", "1"}).status, 3);
    }

    // Out of one trial and into another, whose head is for other classes.
    void weightsGoOutAndIn() {
        LockstepProgram program;
        QCOMPARE(program.run(shortRun()).status, 0);
        const auto checkpoint = lastCheckpoint(program.trial(1)), file = program.path("weights.safetensors");
        const auto written = program.run({"export-weights", checkpoint, file, "--json"}).last();
        QCOMPARE(written["tensors"].toInt(), 6);
        QVERIFY(QFileInfo(file).size() < QFileInfo(checkpoint).size() * 2 / 3);
        QVERIFY(program.run({"export-weights", checkpoint, file}).out.contains("6 tensors of mlp after 20 updates"));
        const auto ofTrial = program.run({"export-weights", "1", file, "--json"}).last();
        QCOMPARE(ofTrial["checkpoint"].toString(), QString(checkpoint).replace("last", "best"));
        QCOMPARE(program.run({"export-weights", "1", file, "--last", "--json"}).last()["checkpoint"].toString(),
                 checkpoint);
        QCOMPARE(program.run({"export-weights", checkpoint, checkpoint}).status, 2);
        QCOMPARE(program.run({"export-weights", checkpoint, file, "--names", "torchvision"}).status, 2);

        const QStringList start{"--weights", file, "--set", "dataset.classes=7"};
        const auto refused = program.run(shortRun() + start);
        QVERIFY2(refused.status == 2 && refused.err.contains("new_head"), qPrintable(refused.err));
        const auto tuned =
            program.run(shortRun() + start + QStringList{"--new-head", "auto", "--frozen", "dense1,dense2"});
        QVERIFY2(tuned.status == 0, qPrintable(tuned.out + tuned.err));
        const auto spec = program.trial(3)["spec"].toObject();  // the refused one has left no row
        QCOMPARE(spec["weights"].toString(), file);
        QCOMPARE(spec["frozen"].toString(), QString("dense1,dense2"));
        const auto printed = program.run(shortRun() + QStringList{"--weights", "1", "--print-spec"});
        QVERIFY2(printed.out.contains("runs/1/checkpoints/best.safetensors"), qPrintable(printed.out));
    }

    // A language model is told by its perplexity, and by what it writes.
    void checkpointsSayWhatTheyWereJudgedBy() {
        LockstepProgram program;
        QCOMPARE(program.run(shortRun()).status, 0);
        const auto header = [&](const char* trial) {
            const QStringList lines = program.run({"show", trial}).out.split('\n').filter("CHECKPOINT");
            return lines.isEmpty() ? QString() : lines.front();
        };
        QVERIFY(header("1").contains("TEST") && !header("1").contains("VALIDATION"));
        QCOMPARE(program.run(shortRun() + QStringList{"--set", "validation_share=0.2"}).status, 0);
        QVERIFY(header("2").contains("VALIDATION") && !header("2").contains("TEST"));
    }

    void aTextIsLearnt() {
        LockstepProgram program;
        const auto notes = program.write("notes.txt", QByteArray("It was a dark and stormy night. ").repeated(200));
        const QStringList start{"train", "--data",   notes, "--model",     "gpt",   "--devices", "cpu:2", "--batch",
                                "16",    "--epochs", "2",   "--optimizer", "adamw", "--lr",      "0.01"};
        const QStringList small{"--set",
                                "model.layers=1",
                                "model.width=16",
                                "model.heads=2",
                                "dataset.sequence=32",
                                "sample_length=40",
                                "sample_prompt=It was a dark "};
        const auto trained = program.run(start + small);
        QVERIFY2(trained.status == 0, qPrintable(trained.out + trained.err));
        QCOMPARE(trained.out.count("bits per byte"), 3);  // of each epoch, and at the end
        QVERIFY2(trained.out.contains("finished after"), qPrintable(trained.out));
        QVERIFY2(trained.out.contains(": test perplexity "), qPrintable(trained.out));
        QVERIFY(!trained.out.contains("accuracy"));
        QCOMPARE(trained.out.count("  «It was a dark »"), 2);

        const auto shown = program.trial(1);
        const double perplexity = shown["test_perplexity"].toDouble();
        QVERIFY(std::abs(perplexity - std::exp(shown["test_loss"].toDouble())) < 1e-9 * perplexity);
        QVERIFY(std::abs(shown["test_bits_per_byte"].toDouble() - std::log2(perplexity)) < 1e-9);
        const auto text = shown["text"].toObject();
        QCOMPARE(text["epoch"].toInt(), 2);
        QCOMPARE(text["prompt"].toString(), QString("It was a dark "));
        QVERIFY(!text["text"].toString().isEmpty());
        const auto told = program.run({"show", "1"}).out;
        QVERIFY2(told.contains("test perplexity") && told.contains("bits per byte"), qPrintable(told));
        QVERIFY2(told.contains("written after epoch 2\n  «It was a dark »"), qPrintable(told));

        const auto events = program.run(start + small + QStringList{"--json", "--no-steps", "--no-history"}).lines();
        const auto isText = [](const QJsonObject& event) { return event["event"].toString() == "text_sample"; };
        const auto sample = std::find_if(events.rbegin(), events.rend(), isText);
        QVERIFY(sample != events.rend());
        QCOMPARE((*sample)["text"].toString(), text["text"].toString());
        QCOMPARE(events.first()["task"].toString(), QString("next-tokens"));
    }

    void theJsonContract() {
        LockstepProgram program;
        const auto outcome = program.run(shortRun() + QStringList{"--json"});
        QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
        int number = 0;
        int steps = 0;
        int evaluations = 0;
        for (const auto& event : outcome.lines()) {
            QCOMPARE(event["n"].toInt(), ++number);
            steps += event["event"] == "step_done";
            evaluations += event["event"] == "eval_done";
        }
        QCOMPARE(steps, 20);
        QCOMPARE(evaluations, 2);
        QCOMPARE(outcome.lines().first()["event"].toString(), QString("run_started"));
        const auto last = outcome.last();
        QCOMPARE(last["event"].toString(), QString("run_finished"));
        QCOMPARE(last["outcome"].toString(), QString("finished"));
        QCOMPARE(last["trial"].toInt(), 1);
        QVERIFY(last["test_accuracy"].toDouble() > 0.5);
        QVERIFY(last["train_samples_per_second"].toDouble() > 0);
    }

    // A log of a run that is watched over its socket holds the turns of the run, and what prevented it.
    void theJsonContractWithoutSteps() {
        LockstepProgram program;
        const auto outcome = program.run(shortRun() + QStringList{"--json", "--no-steps"});
        QCOMPARE(outcome.status, 0);
        QStringList events;
        for (const auto& event : outcome.lines()) events << event["event"].toString();
        QVERIFY(events.contains("run_started") && events.contains("eval_done") && events.last() == "run_finished");
        QVERIFY(!events.contains("step_done"));
        QCOMPARE(program.run(shortRun() + QStringList{"--no-steps"}).status, 2);

        const auto refused = program.run(shortRun() + QStringList{"--json", "--epochs", "0", "--model", "mpl"});
        QCOMPARE(refused.status, 2);
        const auto problems = refused.last()["problems"].toArray();
        QCOMPARE(problems.size(), 2);
        QCOMPARE(problems[0].toObject()["code"].toString(), QString("spec.unknown-model"));
        QVERIFY(refused.err.contains("mpl") && problems[1].toObject()["what"].toString().contains("epochs"));
        QCOMPARE(program.run({"resume", "99", "--json"}).last()["problems"].toArray().size(), 1);
    }

    void withoutHistory() {
        LockstepProgram program;
        const auto folder = program.path("out");
        const auto trained = program.run(shortRun() + QStringList{"--out", folder, "--json"});
        QVERIFY2(trained.status == 0, qPrintable(trained.err));
        QCOMPARE(trained.last()["trial"].toInt(), 0);
        QVERIFY(QFileInfo::exists(folder + "/last.safetensors"));
        QVERIFY(program.run({"trials"}).out.contains("No trials"));
        const auto more = program.run({"train", "--from", folder + "/last.safetensors", "--epochs", "3", "--json"});
        QVERIFY2(more.status == 0, qPrintable(more.err));
        QCOMPARE(more.last()["step"].toInt(), 30);
    }

    void aSpecShownTrainsTheSameAgain() {
        LockstepProgram program;
        const auto first = program.run(shortRun() + QStringList{"--json"});
        const auto spec = program.write("again.json", program.run({"show", "1", "--spec"}).out.toUtf8());
        const auto again = program.run({"train", "--spec", spec, "--json"});
        QVERIFY2(again.status == 0, qPrintable(again.err));
        QCOMPARE(again.last()["trial"].toInt(), 2);
        QCOMPARE(again.last()["test_loss"].toDouble(), first.last()["test_loss"].toDouble());
    }

    // Ctrl+C, then resume: the same end as a run that was never stopped.
    void interruptAndResume() {
        LockstepProgram program;
        auto arguments = longRun();
        const auto running = program.start(arguments);
        QCOMPARE(program.waitUntilRunning(), 1);
        ::kill(static_cast<pid_t>(running->processId()), SIGINT);
        const auto stopped = LockstepProgram::finish(*running);
        QVERIFY2(stopped.status == 4, qPrintable(stopped.out + stopped.err));
        QVERIFY(stopped.out.contains("lockstep resume 1"));
        QVERIFY(stopped.err.contains("with a checkpoint"));
        const auto before = program.trial(1);
        QCOMPARE(before["state"].toString(), QString("stopped"));
        QVERIFY(QFileInfo::exists(lastCheckpoint(before)));

        const auto again = program.start({"resume", "1", "--json"});
        QCOMPARE(program.waitUntilRunning(), 1);
        ::kill(static_cast<pid_t>(again->processId()), SIGTERM);
        const auto resumed = LockstepProgram::finish(*again);
        QCOMPARE(resumed.status, 4);
        QCOMPARE(resumed.lines().first()["first_step"].toInt(), before["step"].toInt());
        QCOMPARE(resumed.lines().first()["attempt"].toInt(), 2);
        QVERIFY(program.trial(1)["step"].toInt() > before["step"].toInt());
    }

    // Both signals reach a process that stands still: it cannot have stopped in between.
    void aSecondInterruptEndsAtOnce() {
        LockstepProgram program;
        const auto running = program.start(longRun() + QStringList{"--json"});
        QCOMPARE(program.waitUntilRunning(), 1);
        QTRY_VERIFY_WITH_TIMEOUT(QFileInfo::exists(lastCheckpoint(program.trial(1))), 20000);
        const auto process = static_cast<pid_t>(running->processId());
        for (const int signal : {SIGSTOP, SIGINT, SIGTERM, SIGCONT}) ::kill(process, signal);
        const auto ended = LockstepProgram::finish(*running, 5);
        QCOMPARE(ended.status, 130);
        QVERIFY(!ended.out.contains("run_finished"));

        const auto row = program.trial(1);
        QCOMPARE(row["state"].toString(), QString("crashed"));
        QVERIFY(row["step"].toInt() > 0);
        const auto attached = program.run({"attach", "1"});
        QVERIFY2(attached.status == 1 && attached.err.contains("resume 1"), qPrintable(attached.err));
        const auto again = program.start({"resume", "1"});
        QCOMPARE(program.waitUntilRunning(), 1);
        ::kill(static_cast<pid_t>(again->processId()), SIGINT);
        QCOMPARE(LockstepProgram::finish(*again).status, 4);
        QCOMPARE(program.trial(1)["attempts"].toInt(), 2);
    }

    void attachPauseResumeAndStop() {
        LockstepProgram program;
        const auto running = program.start(longRun());
        QCOMPARE(program.waitUntilRunning(), 1);
        const auto follower = program.start({"attach", "1", "--json"});
        QCOMPARE(program.run({"delete", "1"}).status, 2);  // not while it runs
        QCOMPARE(program.run({"resume", "1"}).status, 2);
        QCOMPARE(program.run({"pause", "1"}).status, 0);
        QTRY_COMPARE_WITH_TIMEOUT(program.trial(1)["state"].toString(), QString("paused"), 10000);
        QCOMPARE(program.run({"resume", "1"}).status, 0);
        QTRY_COMPARE_WITH_TIMEOUT(program.trial(1)["state"].toString(), QString("running"), 10000);
        const auto stop = program.run({"stop", "1", "--wait"});
        QVERIFY2(stop.status == 0 && stop.out.contains("stopped"), qPrintable(stop.out + stop.err));
        QCOMPARE(LockstepProgram::finish(*running).status, 4);

        const auto followed = LockstepProgram::finish(*follower);
        QCOMPARE(followed.status, 4);
        int number = 0;
        for (const auto& event : followed.lines()) QCOMPARE(event["n"].toInt(), ++number);
        QCOMPARE(followed.last()["event"].toString(), QString("run_finished"));
        QCOMPARE(program.run({"stop", "1"}).status, 2);  // it has ended
        const auto afterwards = program.run({"attach", "1", "--json"});
        QCOMPARE(afterwards.status, 4);
        QCOMPARE(afterwards.last()["event"].toString(), QString("run_finished"));
    }

    void killedAtAnyMomentItIsCrashedAndGoesOn() {
        LockstepProgram program;
        auto arguments = shortRun();
        arguments.replaceInStrings("dataset.samples=600", "dataset.samples=4000");
        arguments[arguments.indexOf("--epochs") + 1] = "40";
        const auto running = program.start(arguments);
        QCOMPARE(program.waitUntilRunning(), 1);
        QTRY_VERIFY_WITH_TIMEOUT(QFileInfo::exists(lastCheckpoint(program.trial(1))), 20000);
        running->kill();
        running->waitForFinished();
        QVERIFY(program.run({"trials"}).out.contains("crashed"));
        const auto crashed = program.trial(1);
        QCOMPARE(crashed["state"].toString(), QString("crashed"));
        const auto attached = program.run({"attach", "1"});
        QVERIFY(attached.status == 1 && attached.err.contains("resume 1"));

        const auto resumed = program.run({"resume", "1", "--json"});
        QVERIFY2(resumed.status == 0, qPrintable(resumed.err));
        QVERIFY(resumed.lines().first()["first_step"].toInt() > 0);
        const auto row = program.trial(1);
        QCOMPARE(row["state"].toString(), QString("finished"));
        QCOMPARE(row["step"].toInt(), 40 * 63);
        QCOMPARE(row["attempts"].toInt(), 2);
    }

    void twoEnginesIntoOneHistory() {
        LockstepProgram program;
        const auto first = program.start(shortRun() + QStringList{"--json", "--title", "one"});
        const auto second = program.start(shortRun() + QStringList{"--json", "--title", "two"});
        const auto a = LockstepProgram::finish(*first);
        const auto b = LockstepProgram::finish(*second);
        QVERIFY2(a.status == 0 && b.status == 0, qPrintable(a.err + b.err));
        QVERIFY(a.last()["trial"].toInt() != b.last()["trial"].toInt());
        QCOMPARE(a.last()["trial"].toInt() + b.last()["trial"].toInt(), 3);
        for (const int trial : {1, 2}) {
            QCOMPARE(program.trial(trial)["state"].toString(), QString("finished"));
            const auto series =
                program.run({"show", QString::number(trial), "--metric", "loss", "--json"}).last()["series"].toObject();
            QCOMPARE(series["step"].toArray().size(), 20);
        }
    }
};

QTEST_APPLESS_MAIN(TestRuns)
#include "tst_runs.moc"
