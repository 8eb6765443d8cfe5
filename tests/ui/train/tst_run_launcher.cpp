#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <QDir>
#include <QFile>
#include <QJsonDocument>
#include <QProcess>
#include <QScopeGuard>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

#include "engine/trials/trial_service.h"
#include "ui/train/run_launcher.h"

using namespace lockstep::ui;

namespace {

QJsonObject spec(int epochs) {
    return {{"dataset", QJsonObject{{"id", "synthetic"}}}, {"model", "mlp"}, {"devices", "cpu:2"}, {"epochs", epochs}};
}

}  // namespace

class TestRunLauncher : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        qputenv("LOCKSTEP_HOME", m_folder.path().toUtf8());
        m_places = lockstep::placesFromEnvironment();
    }

    void aRunStartsAndOutlivesItsLauncher() {
        qint64 trial = 0;
        {
            RunLauncher launcher(LOCKSTEP_PROGRAM, m_places);
            QSignalSpy started(&launcher, &RunLauncher::started), failed(&launcher, &RunLauncher::failed);
            launcher.start(spec(100000));
            QVERIFY(launcher.isBusy());
            QTRY_COMPARE_WITH_TIMEOUT(started.size() + failed.size(), 1, 120000);
            QCOMPARE(started.size(), 1);
            trial = started[0][0].toLongLong();
            QTRY_VERIFY(!launcher.isBusy());
        }
        QVERIFY(trial > 0);
        QCOMPARE(rows().size(), std::size_t{1});
        const auto folder = QString::fromStdString(m_places.run(trial).string());
        QVERIFY(QFile::exists(folder + "/output-1.log"));
        QVERIFY(QDir(m_folder.filePath("launches")).isEmpty());
        QCOMPARE(QProcess::execute(LOCKSTEP_PROGRAM, {"stop", QString::number(trial)}), 0);  // it was still there

        RunLauncher launcher(LOCKSTEP_PROGRAM, m_places);
        QSignalSpy started(&launcher, &RunLauncher::started);
        QTRY_VERIFY_WITH_TIMEOUT(lastState(trial) == "stopped", 60000);
        launcher.resume(trial);
        QTRY_COMPARE_WITH_TIMEOUT(started.size(), 1, 120000);
        QCOMPARE(started[0][0].toLongLong(), trial);
        QVERIFY(QFile::exists(folder + "/output-2.log"));
        QCOMPARE(QProcess::execute(LOCKSTEP_PROGRAM, {"stop", QString::number(trial)}), 0);
    }

    // It has begun for whoever watches, who may end it: the trial stays, and begins again.
    void aRunThatMeasuresPrecisionsCanBeStopped() {
        RunLauncher launcher(LOCKSTEP_PROGRAM, m_places);
        QSignalSpy started(&launcher, &RunLauncher::started), failed(&launcher, &RunLauncher::failed);
        auto measuring = spec(100000);
        measuring["precision"] = "auto";
        measuring["model"] = "small-cnn";
        measuring["batch"] = 1024;
        launcher.start(measuring);
        QTRY_COMPARE_WITH_TIMEOUT(started.size() + failed.size(), 1, 120000);
        QCOMPARE(started.size(), 1);
        const qint64 trial = started[0][0].toLongLong();
        const QString whenStarted = lastState(trial);
        QCOMPARE(QProcess::execute(LOCKSTEP_PROGRAM, {"stop", QString::number(trial), "--wait"}), 0);
        QCOMPARE(whenStarted, QString("preparing"));
        QTRY_VERIFY_WITH_TIMEOUT(lastState(trial) == "stopped", 60000);
        QVERIFY(QFile::exists(QString::fromStdString(m_places.run(trial).string()) + "/output-1.log"));
        launcher.resume(trial);
        QTRY_COMPARE_WITH_TIMEOUT(started.size() + failed.size(), 2, 120000);
        QCOMPARE(started.size(), 2);
        QVERIFY(QFile::exists(QString::fromStdString(m_places.run(trial).string()) + "/output-2.log"));
        QCOMPARE(QProcess::execute(LOCKSTEP_PROGRAM, {"stop", QString::number(trial), "--wait"}), 0);
    }

    void whatIsWrongComesBackAsProblems() {
        RunLauncher launcher(LOCKSTEP_PROGRAM, m_places);
        auto wrong = spec(0);
        wrong["model"] = "none";
        const auto problems = failureOf(launcher, [&] { launcher.start(wrong); });
        QCOMPARE(problems.size(), 2u);
        QCOMPARE(problems[0].field, std::string("model"));
        QCOMPARE(problems[1].field, std::string("epochs"));
        for (const auto& row : rows()) QVERIFY(row.model != "none");  // what never began leaves no trial
        QVERIFY(QDir(m_folder.filePath("launches")).isEmpty());
    }

    // Its number is known before an engine says anything.
    void theTrialIsThereBeforeItsEngineSpeaks() {
        const auto program = m_folder.filePath("silent");
        script(program, "sleep 60");
        RunLauncher launcher(program, m_places);
        const auto before = rows().size();
        launcher.start(spec(1));
        QTRY_COMPARE_WITH_TIMEOUT(rows().size(), before + 1, 20000);
        QCOMPARE(rows().front().state, std::string("queued"));
        QVERIFY(launcher.isBusy());
        lockstep::TrialService(m_places).discard(rows().front().id);
    }

    void aTrialThatIsNotThereCannotGoOn() {
        RunLauncher launcher(LOCKSTEP_PROGRAM, m_places);
        QCOMPARE(failureOf(launcher, [&] { launcher.resume(9999); }).at(0).code, std::string("trial.unknown"));
    }

    void anEngineThatIsMissingIsSaid() {
        const QDir launches(m_folder.filePath("launches"));
        const auto before = launches.entryList(QDir::Files);
        RunLauncher launcher(m_folder.filePath("nothing"), m_places);
        QCOMPARE(failureOf(launcher, [&] { launcher.start(spec(1)); }).at(0).code, std::string("engine.missing"));
        QCOMPARE(launches.entryList(QDir::Files), before);
    }

    void anEngineThatDiesIsQuoted() {
        const auto program = m_folder.filePath("dies");
        script(program, "echo 'no room in the ark' >&2\nexit 1");
        const auto before = rows().size();
        RunLauncher launcher(program, m_places);
        const auto problems = failureOf(launcher, [&] { launcher.start(spec(1)); });
        QCOMPARE(problems.at(0).code, std::string("launch.ended"));
        QCOMPARE(problems.at(0).args, std::vector<std::string>{"no room in the ark"});
        QVERIFY(QFile::exists(QString::fromStdString(problems[0].field)));
        QCOMPARE(rows().size(), before);
    }

    // Not refused for good: whoever hears it may go on all the same.
    void changedDataAreAQuestion() {
        const auto program = m_folder.filePath("asks");
        script(program, R"(case "$*" in *"--changed-data accept") echo '{"event":"run_started","attempt":2}';;
*) echo '{"problems":[{"field":"/data","code":"data.other-count","args":["training","800","799","3"]}]}';; esac)");
        RunLauncher launcher(program, m_places);
        QSignalSpy changed(&launcher, &RunLauncher::dataChanged), failed(&launcher, &RunLauncher::failed),
            started(&launcher, &RunLauncher::started);
        launcher.resume(3);
        QTRY_COMPARE_WITH_TIMEOUT(changed.size(), 1, 20000);
        QCOMPARE(changed[0][0].toLongLong(), 3);
        QVERIFY(!launcher.isBusy());
        launcher.resumeWithChangedData(3);
        QTRY_COMPARE_WITH_TIMEOUT(started.size(), 1, 20000);
        QCOMPARE(changed.size() + failed.size(), 1);
    }

    void aFolderThatIsNoneIsSaid() {
        auto places = m_places;
        places.data = m_folder.filePath("dies").toStdString();  // a file
        RunLauncher launcher(LOCKSTEP_PROGRAM, places);
        QCOMPARE(failureOf(launcher, [&] { launcher.start(spec(1)); }).at(0).code, std::string("home.unwritable"));
    }

    // The trial's row is the first that cannot be written; here because of the process' own limit.
    void aRowThatCannotBeWrittenIsSaid() {
        RunLauncher launcher(LOCKSTEP_PROGRAM, m_places);
        const auto before = rows().size();
        signal(SIGXFSZ, SIG_IGN);
        rlimit limit{};
        getrlimit(RLIMIT_FSIZE, &limit);
        const auto back = qScopeGuard([&] { setrlimit(RLIMIT_FSIZE, &limit); });
        const rlimit nothing{0, limit.rlim_max};
        const auto problems = failureOf(launcher, [&] {
            setrlimit(RLIMIT_FSIZE, &nothing);
            launcher.start(spec(1));
        });
        setrlimit(RLIMIT_FSIZE, &limit);
        QCOMPARE(problems.size(), 1u);
        QVERIFY2(problems[0].code.starts_with("history."), problems[0].code.c_str());
        QTRY_VERIFY(!launcher.isBusy());
        QCOMPARE(rows().size(), before);
    }

    // The home is a disk that has room for the spec, but not for the history and what the engine would say about it.
    void aFullDiskIsSaid() {
        const auto home = m_folder.filePath("small disk");
        QVERIFY(QDir().mkpath(home));
        if (mount("lockstep-test", home.toLocal8Bit(), "tmpfs", 0, "size=64k") != 0)
            QSKIP("a small disk can only be mounted with the right to");
        const auto unmount = qScopeGuard([&] { umount2(home.toLocal8Bit(), MNT_DETACH); });
        lockstep::Places places;
        places.data = places.cache = places.runtime = places.config = home.toStdString();
        qputenv("LOCKSTEP_HOME", home.toUtf8());
        const auto back = qScopeGuard([&] { qputenv("LOCKSTEP_HOME", m_folder.path().toUtf8()); });
        RunLauncher launcher(LOCKSTEP_PROGRAM, places);
        const auto problems = failureOf(launcher, [&] { launcher.start(spec(1)); });
        QVERIFY(!problems.empty());
        const auto code = QString::fromStdString(problems[0].code);
        qInfo("told as %s %s", qPrintable(code), problems[0].args.empty() ? "" : problems[0].args[0].c_str());
        QVERIFY2(code != "launch.ended" || problems[0].args.at(0) != "it said nothing", qPrintable(code));
    }

private:
    template <class Start>
    static Problems failureOf(RunLauncher& launcher, const Start& start) {
        Problems told;
        int times = 0;
        connect(&launcher, &RunLauncher::failed, &launcher,
                [&](const Problems& problems) { told = problems, ++times; });
        start();
        for (int i = 0; i < 1200 && times == 0; ++i) QTest::qWait(50);
        return times == 1 ? told : Problems{};
    }

    std::vector<lockstep::TrialRow> rows() const { return lockstep::TrialService(m_places).list({}); }

    static void script(const QString& program, const QByteArray& body) {
        QFile file(program);
        if (!file.open(QIODevice::WriteOnly)) qFatal("cannot write a script");
        file.write("#!/bin/sh\n" + body + "\n");
        file.close();
        file.setPermissions(QFile::ReadOwner | QFile::ExeOwner);
    }

    static QString lastState(qint64 trial) {
        QProcess show;
        show.start(LOCKSTEP_PROGRAM, {"show", QString::number(trial), "--json"});
        show.waitForFinished();
        return QJsonDocument::fromJson(show.readAllStandardOutput()).object()["state"].toString();
    }

    QTemporaryDir m_folder;
    lockstep::Places m_places;
};

QTEST_GUILESS_MAIN(TestRunLauncher)
#include "tst_run_launcher.moc"
