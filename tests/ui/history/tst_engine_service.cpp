#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

#include "ui/history/engine_command.h"
#include "ui/history/engine_service.h"

using namespace lockstep;
using namespace lockstep::ui;

Q_DECLARE_METATYPE(lockstep::Problem)

// The real engine, and stand-ins that behave badly.
class TestEngineService : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { qputenv("LOCKSTEP_HOME", m_folder.filePath("home").toUtf8()); }

    // Lines come while the command runs; its input is given to it, and ends.
    void aCommandTellsWhileItRuns() {
        EngineCommand command(engine("#!/bin/sh\necho one\nsleep 0.2\ncat\nprintf two\n", true));
        QByteArrayList lines;
        bool ran = false;
        connect(&command, &EngineCommand::lineWritten, this, [&](const QByteArray& line) {
            ran = command.isRunning();
            lines << line;
        });
        QSignalSpy done(&command, &EngineCommand::done);
        command.start({"any"}, "half a line, ");
        QTRY_COMPARE_WITH_TIMEOUT(done.size(), 1, 30000);
        QCOMPARE(lines, QByteArrayList{"one"});
        QVERIFY(ran);
        QCOMPARE(done.front().front().toByteArray(), QByteArray("one\nhalf a line, two"));
    }

    void aCommandFailsWithWhatItsLastLineSays() {
        EngineCommand command(
            engine("#!/bin/sh\necho '{\"event\":\"x\"}'\necho '{\"problems\":[{\"what\":\"Bad.\",\"remedy\":\"Mend "
                   "it.\"}]}'\nexit 2\n",
                   true));
        QString said;
        connect(&command, &EngineCommand::failed, this, [&](const Explanation& why) { said = why.inOneLine(); });
        command.start({"any"});
        QTRY_COMPARE_WITH_TIMEOUT(said, QString("Bad. Mend it."), 30000);
    }

    void questionsAreAnsweredInOrder() {
        EngineService service(LOCKSTEP_PROGRAM);
        QStringList order;
        service.ask(ModelsRequest{}, this, [&](const auto& reply) {
            QVERIFY(reply.ok() && !reply.answer.models.empty());
            order << "models";
        });
        service.ask(InspectRequest{"/nowhere"}, this, [&](const auto& reply) {
            QVERIFY(!reply.ok());
            order << "nowhere";
        });
        QTRY_COMPARE_WITH_TIMEOUT(order, (QStringList{"models", "nowhere"}), 60000);
        QVERIFY(service.isAvailable());
    }

    void withdrawnQuestionsStaySilent() {
        EngineService service(LOCKSTEP_PROGRAM);
        int answered = 0, last = 0;
        auto receiver = std::make_unique<QObject>();
        const auto first = service.ask(ModelsRequest{}, this, [&](const auto&) { ++answered; });
        service.ask(ModelsRequest{}, receiver.get(), [&](const auto&) { ++answered; });
        service.ask(SettingsRequest{}, this, [&](const auto&) { ++last; });
        service.withdraw(first);
        receiver.reset();
        QTRY_COMPARE_WITH_TIMEOUT(last, 1, 60000);
        QCOMPARE(answered, 0);
    }

    // One that is worked on for long is not waited for.
    void aLongQuestionThatIsWithdrawnHoldsUpNobody() {
        const auto once = m_folder.filePath("reading");
        EngineService service(engine("#!/bin/sh\nif [ ! -e " + once.toUtf8() + " ]; then touch " + once.toUtf8() +
                                         "; read a; echo '{\"id\":0,\"lockstep\":\"" LOCKSTEP_VERSION
                                         "\"}'; exec sleep 1000; fi\n"
                                         "exec " LOCKSTEP_PROGRAM " \"$@\"\n",
                                     true));
        int answered = 0;
        bool next = false;
        const auto longOne = service.ask(SamplesRequest{}, this, [&](const auto&) { ++answered; });
        service.ask(SettingsRequest{}, this, [&](const auto& answer) { next = answer.ok(); });
        QTRY_VERIFY_WITH_TIMEOUT(service.isAvailable(), 30000);
        QTest::qWait(1200);
        QVERIFY(!next);
        service.withdraw(longOne);
        QTRY_VERIFY_WITH_TIMEOUT(next, 60000);
        QCOMPARE(answered, 0);
        QVERIFY(service.isAvailable());
    }

    void badEngines_data() {
        QTest::addColumn<QByteArray>("script");
        QTest::addColumn<bool>("executable");
        QTest::addColumn<QString>("code");
        QTest::newRow("missing") << QByteArray() << true << "engine.missing";
        QTest::newRow("not executable") << QByteArray("#!/bin/sh\n") << false << "engine.not-executable";
        QTest::newRow("no program") << QByteArray("#!/no/such/shell\n") << true << "engine.cannot-start";
        QTest::newRow("other version")
            << QByteArray("#!/bin/sh\nread line\necho '{\"id\":0,\"lockstep\":\"9.9.9\"}'\nread line\n") << true
            << "engine.other-version";
        QTest::newRow("older, without hello")
            << QByteArray("#!/bin/sh\nread line\necho '{\"id\":0,\"problems\":[]}'\nread line\n") << true
            << "engine.other-version";
        QTest::newRow("silent") << QByteArray("#!/bin/sh\nexec sleep 60\n") << true << "engine.silent";
        QTest::newRow("ends at once") << QByteArray("#!/bin/sh\nexit 3\n") << true << "engine.ended";
    }
    void badEngines() {
        QFETCH(QByteArray, script);
        QFETCH(bool, executable);
        EngineService service(engine(script, executable));
        service.setPatience(1, 1);
        QSignalSpy gone(&service, &EngineService::unavailable);
        std::vector<Problem> told;
        service.ask(ModelsRequest{}, this, [&](const auto& answer) { told = answer.problems; });
        QTRY_COMPARE_WITH_TIMEOUT(gone.size(), 1, 30000);
        QTEST(QString::fromStdString(service.problem()->code), "code");
        QTRY_COMPARE(told.size(), 1u);  // whoever asked hears of it
        QCOMPARE(told.front(), *service.problem());
    }

    // Whoever says how far it has come is waited for.
    void progressIsToldAndLengthensPatience() {
        EngineService service(engine("#!/bin/sh\nread a; echo '{\"id\":0,\"lockstep\":\"" LOCKSTEP_VERSION
                                     "\"}'; read b; for n in 1 2 3 4; do sleep 0.6; echo "
                                     "\"{\\\"id\\\":1,\\\"reading\\\":$n,\\\"of\\\":0}\"; done\n"
                                     "echo '{\"id\":1,\"models\":[]}'; read c\n",
                                     true));
        service.setPatience(5, 1);
        std::vector<std::int64_t> told;
        bool isAnswered = false;
        connect(&service, &EngineService::reading, this, [&](const ServeProgress& now) { told.push_back(now.done); });
        service.ask(ModelsRequest{}, this, [&](const auto& answer) { isAnswered = answer.ok(); });
        QTRY_VERIFY_WITH_TIMEOUT(isAnswered, 30000);
        QCOMPARE(told, (std::vector<std::int64_t>{1, 2, 3, 4}));
    }

    void aCrashCostsOneQuestion() {
        const auto once = m_folder.filePath("crashed");
        EngineService service(engine("#!/bin/sh\nif [ ! -e " + once.toUtf8() + " ]; then touch " + once.toUtf8() +
                                         "; read a; echo '{\"id\":0,\"lockstep\":\"" LOCKSTEP_VERSION
                                         "\"}'; read b; kill -9 $$; fi\n"
                                         "exec " LOCKSTEP_PROGRAM " \"$@\"\n",
                                     true));
        std::vector<Problem> first;
        bool second = false;
        service.ask(ModelsRequest{}, this, [&](const auto& answer) { first = answer.problems; });
        service.ask(SettingsRequest{}, this, [&](const auto& answer) { second = answer.ok(); });
        QTRY_VERIFY_WITH_TIMEOUT(second, 60000);
        QCOMPARE(first.size(), 1u);
        QCOMPARE(first.front().code, std::string("engine.ended"));
        QVERIFY(service.isAvailable());
    }

    void aRepairedEngineIsFoundAgain() {
        const auto program = m_folder.filePath("late");
        EngineService service(program);
        QSignalSpy gone(&service, &EngineService::unavailable), back(&service, &EngineService::available);
        QTRY_COMPARE(gone.size(), 1);
        QVERIFY(QFile::link(LOCKSTEP_PROGRAM, program));
        service.retry();
        QTRY_COMPARE_WITH_TIMEOUT(back.size(), 1, 60000);
        QVERIFY(!service.problem());
    }

    // Before the question that the last child died of was answered.
    void retryAtTheMomentItIsGone() {
        const auto program = engine(
            "#!/bin/sh\nread a\necho '{\"id\":0,\"lockstep\":\"" LOCKSTEP_VERSION "\"}'\nread b\nexit 7\n", true);
        EngineService service(program);
        int failed = 0;
        bool answered = false;
        for (int i = 0; i < 2; ++i)  // one for each child
            service.ask(ModelsRequest{}, this, [&](const auto& answer) { failed += !answer.ok(); });
        connect(&service, &EngineService::unavailable, this, [&] {
            QFile::remove(program);
            QVERIFY(QFile::link(LOCKSTEP_PROGRAM, program));
            service.retry();
            service.ask(SettingsRequest{}, this, [&](const auto& answer) { answered = answer.ok(); });
        });
        QTRY_VERIFY_WITH_TIMEOUT(answered, 60000);
        QCOMPARE(failed, 2);
        QVERIFY(service.isAvailable());
    }

private:
    QString engine(const QByteArray& script, bool executable) {
        const auto path = m_folder.filePath(QString("engine-%1").arg(++m_engines));
        if (script.isEmpty()) return path;
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly)) qFatal("cannot write %s", qPrintable(path));
        file.write(script);
        file.setPermissions(QFile::ReadOwner | QFile::WriteOwner |
                            (executable ? QFile::ExeOwner : QFile::Permissions()));
        return path;
    }

    QTemporaryDir m_folder;
    int m_engines = 0;
};

QTEST_GUILESS_MAIN(TestEngineService)
#include "tst_engine_service.moc"
