#include "tests/app/lockstep_program.h"
#include "tests/ui/shell/shell_support.h"

using namespace lockstep;
using namespace lockstep::ui;

namespace {

// The number of the launch with which the card fails; without it, never. Launches are those of steps and evaluations.
constexpr const char* kFails = "LOCKSTEP_HOST_CUDA_BREAKS_AT";

QStringList training(const QString& devices = "cuda:0,0") {
    return {"train",   "--dataset", "synthetic", "--set", "dataset.samples=640", "--model", "mlp",
            "--batch", "64",        "--epochs",  "5",     "--devices",           devices};
}

bool until(const std::function<bool()>& holds) { return QTest::qWaitFor(holds, kPatience); }

}  // namespace

// People and a card that fails for good: the real programs, with the host in place of the card.
class TestCudaStories : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() {
        qputenv("LD_LIBRARY_PATH", LOCKSTEP_FAKE_DRIVER);
        applyTheme(*qApp, ThemeChoice::Light);
    }
    void init() {
        qputenv("LOCKSTEP_BACKENDS", LOCKSTEP_HOST_MODULE);
        qputenv(kFails, "60");
    }

    void theProgramEndsAndResumes() {
        const LockstepProgram program;
        QVERIFY(program.run({"devices"}).out.contains("cuda:0"));
        const Outcome failed = program.run(training());
        QVERIFY2(failed.status > 0, qPrintable(failed.out + failed.err));
        QVERIFY2(failed.err.contains("an illegal memory access was encountered"), qPrintable(failed.err));
        QVERIFY2(failed.err.contains("can use no GPU any longer"), qPrintable(failed.err));
        QCOMPARE(program.trial(1)["state"].toString(), QString("failed"));
        qunsetenv(kFails);
        const Outcome resumed = program.run({"resume", "1"});
        QVERIFY2(resumed.status == 0, qPrintable(resumed.out + resumed.err));
        QCOMPARE(program.trial(1)["step"].toInt(), 50);
    }

    // And the history names them.
    void autoTakesTheCardsThatThereAre() {
        qunsetenv(kFails);
        const LockstepProgram program;
        QCOMPARE(program.run(training("auto")).status, 0);
        QCOMPARE(program.trial(1)["devices"].toString(), QString("cuda:all"));
        QVERIFY(program.run({"show", "1"}).out.contains("cuda:all"));
        qputenv("LOCKSTEP_BACKENDS", QByteArray("/nowhere"));  // the real module, where it was built, sees no card
        QCOMPARE(program.run(training("auto")).status, 0);
        QCOMPARE(program.trial(2)["devices"].toString(), QString("cpu:1"));
    }

    void aCardBelongsToOneRun() {
        qunsetenv(kFails);
        const LockstepProgram program;
        const auto first = program.start(training() << "--set"
                                                    << "epochs=1000");
        QVERIFY(program.waitUntilRunning() > 0);
        const Outcome second = program.run(training());
        QVERIFY(second.status > 0);
        QVERIFY2(second.err.contains("cuda:0 is in use by another run"), qPrintable(second.err));
        first->kill();
        QVERIFY(first->waitForFinished());
    }

    void theWindowLivesOn() {
        Home home;
        QProcess& engine = home.start(LOCKSTEP_PROGRAM, training());
        QVERIFY(home.waitForRun(1));
        const auto window = home.open();
        window->openRun(1);
        RunFeed& feed = *window->findChild<OpenRuns*>()->open(1);
        QVERIFY(until([&] { return feed.state() == RunState::Failed; }));
        QVERIFY(until([&] { return engine.state() == QProcess::NotRunning; }));
        QCOMPARE(engine.exitStatus(), QProcess::NormalExit);
        QVERIFY(engine.exitCode() > 0);
        QCOMPARE(feed.record().failed()->kind, std::string("corrupted-context"));
        QVERIFY(until([&] { return !textWith(*window, "could not recover from").isEmpty(); }));
        QVERIFY(!textWith(*window, "an illegal memory access was encountered").isEmpty());

        qunsetenv(kFails);  // a process of its own has a sound card again
        QPushButton* resume = nullptr;
        QVERIFY(until([&] { return (resume = buttonWith(*window, "Resume")) && resume->isEnabled(); }));
        QTest::mouseClick(resume, Qt::LeftButton);
        QVERIFY(until([&] { return feed.state() == RunState::Finished; }));
        QCOMPARE(feed.record().started()->attempt, 2);
        QVERIFY(until([&] { return !Lease::isHeld(home.places.lease(1)); }));
        QVERIFY(until([&] { return isWhole(feed, home); }));
    }
};

QTEST_MAIN(TestCudaStories)
#include "tst_cuda_stories.moc"
