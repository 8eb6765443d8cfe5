#include <signal.h>

#include <QLineEdit>
#include <QPushButton>

#include "page_bench.h"

using namespace lockstep::ui;

namespace {

const QByteArray kHello = "read hello\necho '{\"id\":0,\"lockstep\":\"" LOCKSTEP_VERSION "\"}'\n";

QList<qint64> childrenOf(qint64 parent) {
    QFile file(QString("/proc/%1/task/%1/children").arg(parent));
    QList<qint64> children;
    if (!file.open(QIODevice::ReadOnly)) return children;
    for (const auto& each : file.readAll().split(' ')) {
        if (const auto id = each.trimmed().toLongLong()) children << id;
    }
    return children;
}

}  // namespace

// The page with engines that are missing, wrong, dying, raving or slow. What a person typed stays in every case.
class TestTrainEngines : public QObject {
    Q_OBJECT
private slots:
    void enginesThatCannotBeUsed_data() {
        QTest::addColumn<QByteArray>("script");
        QTest::addColumn<bool>("executable");
        QTest::addColumn<QString>("words");
        QTest::newRow("missing") << QByteArray() << true << "is not there";
        QTest::newRow("not executable") << QByteArray("#!/bin/sh\n") << false << "may not be run by you";
        QTest::newRow("other version") << QByteArray(
                                              "#!/bin/sh\nread l\necho '{\"id\":0,\"lockstep\":\"9.9.9\"}'\nread l\n")
                                       << true << "is of version 9.9.9, this window of version " LOCKSTEP_VERSION;
        QTest::newRow("rubbish at once") << QByteArray("#!/bin/sh\necho 'Welcome to the ark!'\nread l\n") << true
                                         << "answers in no language that this window knows: Welcome to the ark!";
        QTest::newRow("rubbish later") << "#!/bin/sh\n" + kHello + "read l\necho '<html>'\nread l\n"
                                       << true << "answers in no language that this window knows: <html>";
        QTest::newRow("dies each time") << "#!/bin/sh\n" + kHello + "read l\nexit 7\n"
                                        << true << "ended before it answered: exit status 7";
    }
    void enginesThatCannotBeUsed() {
        QFETCH(QByteArray, script);
        QFETCH(bool, executable);
        QFETCH(QString, words);
        QTemporaryDir folder;
        const auto program = folder.filePath("engine");
        if (!script.isEmpty()) {
            QFile file(program);
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write(script);
            file.setPermissions(QFile::ReadOwner | QFile::WriteOwner |
                                (executable ? QFile::ExeOwner : QFile::Permissions()));
        }
        PageBench bench(program);
        QTRY_VERIFY2_WITH_TIMEOUT(bench.shows(words), qPrintable(bench.visibleText()), 60000);
        QVERIFY(bench.shows(program));
        auto* start = bench.find<QPushButton>("startTraining");
        QVERIFY(!start->isEnabled() && start->toolTip().contains("engine"));
        bench.shot(QString("engine-") + QTest::currentDataTag());
        // Repaired while the window is open: one button, and it goes on.
        QFile::remove(program);
        QVERIFY(QFile::link(LOCKSTEP_PROGRAM, program));
        bench.find<QPushButton>("retry")->click();
        QTRY_VERIFY_WITH_TIMEOUT(bench.hasForm(), 60000);
        QTRY_VERIFY(!bench.shows(words));
    }

    void anEngineThatIsKilledComesBackOnce() {
        PageBench bench;
        QTRY_VERIFY_WITH_TIMEOUT(bench.hasForm(), 60000);
        bench.page->setSpec(synthetic());
        QTRY_VERIFY_WITH_TIMEOUT(bench.page->canStart(), 60000);
        const auto first = childrenOf(QCoreApplication::applicationPid());
        QCOMPARE(first.size(), 2);  // by age: one checks the form, one reads data
        kill(static_cast<pid_t>(first[0]), SIGKILL);
        QTRY_VERIFY_WITH_TIMEOUT(!bench.service->isAvailable(), 30000);
        QTRY_VERIFY_WITH_TIMEOUT(bench.page->canStart(), 60000);  // another one answers
        QCOMPARE(bench.page->spec(), synthetic());
        auto second = childrenOf(QCoreApplication::applicationPid());
        second.removeOne(first[1]);
        QVERIFY(second.size() == 1 && second[0] != first[0]);
        kill(static_cast<pid_t>(second[0]), SIGKILL);
        QTRY_VERIFY2_WITH_TIMEOUT(bench.shows("ended before it answered: it crashed"), qPrintable(bench.visibleText()),
                                  30000);
        bench.shot("engine-killed-twice");
        QVERIFY(!bench.page->canStart());
        QCOMPARE(bench.page->spec(), synthetic());
        bench.find<QPushButton>("retry")->click();
        QTRY_VERIFY_WITH_TIMEOUT(bench.page->canStart(), 60000);
    }

    // A change of the form asks a new one, however often the last died.
    void theEngineThatReadsDataComesBack() {
        PageBench bench;
        QTRY_VERIFY_WITH_TIMEOUT(bench.hasForm(), 60000);
        bench.page->setSpec(synthetic());
        QTRY_VERIFY_WITH_TIMEOUT(bench.page->canStart(), 60000);
        const auto form = childrenOf(QCoreApplication::applicationPid()).front();
        for (int deaths = 1; deaths <= 3; ++deaths) {
            auto readers = childrenOf(QCoreApplication::applicationPid());
            readers.removeOne(form);
            for (const auto reader : readers) kill(static_cast<pid_t>(reader), SIGKILL);
            auto spec = synthetic();
            spec["seed"] = 100 + deaths;
            bench.page->setSpec(spec);
            QTRY_VERIFY2_WITH_TIMEOUT(bench.page->canStart(), qPrintable(bench.visibleText()), 60000);
            QVERIFY(bench.service->isAvailable());
        }
    }

    // It answers what it should, but takes its time; meanwhile keys must reach the form, and only the last answer
    // counts.
    void aSlowEngineDoesNotHoldTheFormBack() {
        QTemporaryDir folder;
        const auto program = folder.filePath("engine");
        QFile file(program);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("#!/bin/bash\nif [ \"$1\" != serve ]; then exec " LOCKSTEP_PROGRAM
                   " \"$@\"; fi\n"
                   "while IFS= read -r line; do\n  case $line in "
                   "*hello*|*settings*|*datasets\\\"*|*models*|*devices\\\"*|*presets*) ;;"
                   " *) sleep 0.7;; esac\n  printf '%s\\n' \"$line\"\ndone | " LOCKSTEP_PROGRAM " serve\n");
        file.setPermissions(QFile::ReadOwner | QFile::ExeOwner);
        file.close();
        PageBench bench(program);
        QTRY_VERIFY_WITH_TIMEOUT(bench.hasForm(), 60000);
        bench.page->setSpec(synthetic());
        auto* epochs = bench.find<QLineEdit>("epochs");
        epochs->setFocus();
        const auto type = [&](const char* text) {
            epochs->selectAll();
            QTest::keyClicks(epochs, text);
        };
        type("0");  // wrong, asked for …
        QTest::qWait(400);
        type("17");                               // … and right again before the answer
        QCOMPARE(epochs->text(), QString("17"));  // no key has waited for the engine …
        QCOMPARE(bench.page->spec()["epochs"].toInt(), 17);
        QVERIFY(!bench.page->canStart());  // … which has not answered yet
        QTRY_VERIFY_WITH_TIMEOUT(bench.page->canStart(), 60000);
        QVERIFY(!bench.shows("epochs: 0"));
    }

    void startWaitsForAnAnswerUnderWay() {
        PageBench bench;
        QTRY_VERIFY_WITH_TIMEOUT(bench.hasForm(), 60000);
        bench.page->setSpec(synthetic());
        QTRY_VERIFY_WITH_TIMEOUT(bench.page->canStart(), 60000);
        auto* epochs = bench.find<QLineEdit>("epochs");
        epochs->setFocus();
        epochs->selectAll();
        QTest::keyClicks(epochs, "1");
        QVERIFY(!bench.page->canStart());
        QSignalSpy started(bench.launcher.get(), &RunLauncher::started);
        auto* start = bench.find<QPushButton>("startTraining");
        QTest::keyClick(epochs, Qt::Key_Return, Qt::ControlModifier);
        QCOMPARE(start->text(), QString("Starting …"));  // at once, before anything was answered
        QVERIFY(!start->isEnabled() && bench.shows("Starting: the settings are checked"));
        QTRY_COMPARE_WITH_TIMEOUT(started.size(), 1, 120000);
        QTRY_COMPARE(start->text(), QString("Start training"));
    }
};

QTEST_MAIN(TestTrainEngines)
#include "tst_train_engines.moc"
