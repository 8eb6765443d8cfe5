#include <QDir>
#include <QJsonArray>
#include <QtTest>
#include <filesystem>

#include "engine/trials/trial_service.h"
#include "tests/app/lockstep_program.h"

namespace {

// Makes a trial's row, and nothing else; returns its number.
int queueTrial(const LockstepProgram& program, const QString& spec) {
    const auto read = lockstep::trialSpecFromJson(spec.toStdString(), "spec");
    if (!read.ok()) qFatal("no spec: %s", read.problems().front().code.c_str());
    const std::filesystem::path home = program.home().toStdString();
    std::filesystem::create_directories(home);
    lockstep::TrialService trials({home, home / "cache", home / "sockets", home / "config"});
    return static_cast<int>(trials.create(read.value()));
}

}  // namespace

// Whoever accepts a spec makes its row; an engine runs it by its number.
class TestQueuedTrials : public QObject {
    Q_OBJECT
private slots:
    // Made by one, run by another: as the window does, and whoever queues.
    void aQueuedTrialIsRunByItsNumber() {
        LockstepProgram program;
        queueTrial(program, program.run(shortRun() + QStringList{"--print-spec"}).out);
        QCOMPARE(program.trial(1)["state"].toString(), QString("queued"));
        QVERIFY(program.run({"trials"}).out.contains("queued"));
        QCOMPARE(program.run({"resume", "1"}).status, 2);
        QCOMPARE(program.run({"train", "--trial", "1", "--epochs", "3"}).status, 2);  // it has its spec
        const auto ran = program.run({"train", "--trial", "1", "--json", "--no-steps"});
        QVERIFY2(ran.status == 0, qPrintable(ran.err));
        QCOMPARE(ran.last()["trial"].toInt(), 1);
        QCOMPARE(program.trial(1)["state"].toString(), QString("finished"));
        const auto again = program.run({"train", "--trial", "1"});
        QVERIFY2(again.status == 2 && again.err.contains("finished, not queued"), qPrintable(again.err));
        QCOMPARE(program.run({"train", "--trial", "2"}).status, 3);
    }

    // Two engines for one attempt: a keeper of the queue was killed when it had started the first.
    void theSecondEngineOfAnAttemptChangesNothing() {
        LockstepProgram program;
        const auto first = program.run(shortRun() + QStringList{"--epochs", "4", "--until-epoch", "1"});
        const QStringList further{"resume", "1", "--attempt", "2", "--until-epoch"};
        QCOMPARE(program.run(further + QStringList{"2"}).status, first.status);
        const auto late = program.run(further + QStringList{"2"});
        QVERIFY2(late.status == 2 && late.err.contains("as its attempt 2, and the next is attempt 3"),
                 qPrintable(late.out + late.err));
        QCOMPARE(program.trial(1)["epoch"].toInt(), 2);
        QCOMPARE(program.trial(1)["attempts"].toInt(), 2);
    }

    void aQueuedTrialCanBeCancelledAndDeleted() {
        LockstepProgram program;
        const auto spec = program.run(shortRun() + QStringList{"--print-spec"}).out;
        queueTrial(program, spec);
        queueTrial(program, spec);
        const auto stopped = program.run({"stop", "1"});
        QVERIFY2(stopped.status == 0 && stopped.out.contains("cancelled"), qPrintable(stopped.out + stopped.err));
        QCOMPARE(program.trial(1)["state"].toString(), QString("cancelled"));
        QCOMPARE(program.run({"delete", "2"}).status, 0);
        QVERIFY(program.run({"trials", "--deleted"}).out.contains("queued"));
    }

    // Out of the trash, outside queue and sweep: there is a way on, and it is told.
    void aRestoredTrialSaysHowItGoesOn() {
        LockstepProgram program;
        const auto spec = program.run(shortRun() + QStringList{"--print-spec"}).out;
        queueTrial(program, spec);
        queueTrial(program, spec);
        QCOMPARE(program.run({"stop", "1"}).status, 0);
        for (const char* trial : {"1", "2"}) QCOMPARE(program.run({"delete", trial}).status, 0);
        const QString cancelled = program.run({"delete", "1", "--restore"}).out;
        QVERIFY2(cancelled.contains("Trial 1 is back in the list, cancelled") &&
                     cancelled.contains("`lockstep queue add 1` queues it again, `lockstep resume 1`"),
                 qPrintable(cancelled));
        const QString queued = program.run({"delete", "2", "--restore"}).out;
        QVERIFY2(queued.contains("in no queue") && queued.contains("`lockstep train --trial 2`"), qPrintable(queued));
        QCOMPARE(program.run({"queue", "add", "1"}).status, 0);
        QTRY_COMPARE_WITH_TIMEOUT(program.trial(1)["state"].toString(), QString("finished"), 30'000);
        QCOMPARE(program.run({"delete", "1"}).status, 0);
        QCOMPARE(program.run({"delete", "1", "--restore"}).out, QString("Trial 1 is back in the list.\n"));
    }

    // Refused when its data are open: a model that does not fit its images. Where the one who asked is told, nothing is
    // left; of a trial that was queued the row says why.
    void whatNeverBeganLeavesNothing() {
        LockstepProgram program;
        const QStringList tooSmall{"train",     "--dataset", "synthetic", "--model",          "vgg19",
                                   "--devices", "cpu:1",     "--set",     "dataset.height=8", "dataset.width=8"};
        const auto refused = program.run(tooSmall + QStringList{"--json"});
        QVERIFY2(refused.status == 2, qPrintable(refused.out + refused.err));
        QVERIFY(program.run({"trials", "--json"}).last()["trials"].toArray().isEmpty());
        QVERIFY(QDir(program.home() + "/runs").isEmpty());

        const auto trial = queueTrial(program, program.run(tooSmall + QStringList{"--print-spec"}).out);
        QCOMPARE(program.run({"train", "--trial", QString::number(trial)}).status, 2);
        const auto row = program.trial(trial);
        QCOMPARE(row["state"].toString(), QString("failed"));
        QCOMPARE(row["problems"].toArray().size(), 1);
    }

    // `attach` and `show` say the same as `train` did.
    void aRefusalIsToldTheSameAfterwards() {
        LockstepProgram program;
        auto arguments = shortRun();
        arguments[arguments.indexOf("--batch") + 1] = "601";
        queueTrial(program, program.run(arguments + QStringList{"--print-spec"}).out);
        const auto trained = program.run({"train", "--trial", "1"});
        QVERIFY2(trained.status == 2 && trained.err.contains("601"), qPrintable(trained.out + trained.err));
        const auto attached = program.run({"attach", "1"});
        QCOMPARE(attached.status, 2);
        QCOMPARE(attached.err, trained.err);
        const auto shown = program.run({"show", "1"});
        const auto problem = program.trial(1)["problems"].toArray().at(0).toObject();
        for (const char* part : {"what", "remedy"}) {
            const auto sentence = problem[part].toString();
            QVERIFY2(!sentence.isEmpty() && trained.err.contains(sentence), qPrintable(sentence));
            QVERIFY2(shown.out.contains(sentence), qPrintable(shown.out));
        }
        QCOMPARE(problem["args"].toArray(), (QJsonArray{"601", "synthetic", "600"}));
    }

    void devicesAreNamedInTheRow() {
        LockstepProgram program;
        auto arguments = shortRun();
        arguments[arguments.indexOf("--devices") + 1] = "auto";
        QCOMPARE(program.run(arguments).status, 0);
        QVERIFY(program.trial(1)["devices"].toString() != "auto");
    }
};

QTEST_APPLESS_MAIN(TestQueuedTrials)
#include "tst_queued_trials.moc"
