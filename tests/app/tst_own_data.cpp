#include <signal.h>

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QtTest>

#include "tests/app/lockstep_program.h"
#include "tests/datasets/image_files.h"

// A person's own folder of images, and names that terminals would obey.

namespace {

using lockstep::test::jpeg;

void put(const QString& path, const std::vector<std::uint8_t>& bytes) {
    QDir().mkpath(QFileInfo(path).path());
    QFile file(path);
    const auto size = static_cast<qint64>(bytes.size());
    if (!file.open(QIODevice::WriteOnly) || file.write(reinterpret_cast<const char*>(bytes.data()), size) != size)
        qFatal("cannot write %s", qPrintable(path));
}

// Two classes; of every image's file there is one on the disk, so that many take no room.
QString imageFolder(const LockstepProgram& program, int images, int side) {
    const auto folder = program.path("photos"), first = folder + "/a/0.jpg";
    put(first, jpeg(side, side));
    QDir().mkpath(folder + "/b");
    for (int i = 1; i < images; ++i) {
        const auto name = QString("%1/%2/%3.jpg").arg(folder, i % 2 ? "b" : "a").arg(i);
        if (::link(first.toLocal8Bit().constData(), name.toLocal8Bit().constData()) != 0) qFatal("cannot link");
    }
    return folder;
}

QStringList training(const QString& folder) {
    return {"train", "--data", folder, "--model", "mlp", "--devices", "cpu:1", "--batch", "8", "--epochs", "1"};
}

QJsonObject messageIn(const Outcome& outcome, const QString& code) {
    for (const auto& event : outcome.lines()) {
        if (event["event"] == "message" && event["code"] == code) return event;
    }
    return {};
}

bool holdsFiles(const QString& folder) {
    return !QDir(folder).entryList(QDir::Files | QDir::Hidden | QDir::NoDotAndDotDot).isEmpty();
}

}  // namespace

class TestOwnData : public QObject {
    Q_OBJECT
private slots:
    // At the start, in the events, and in what is kept.
    void filesLeftOutAreToldOf() {
        LockstepProgram program;
        const auto folder = imageFolder(program, 40, 16);
        for (int i = 0; i < 5; ++i) put(QString("%1/b/bad%2.jpg").arg(folder).arg(i), {'h', 'e', 'l', 'l', 'o'});
        const auto told = program.run(training(folder));
        QVERIFY2(told.status == 0, qPrintable(told.err));
        QVERIFY2(told.err.contains("5 of 45 files") && told.err.contains("bad0.jpg is neither JPEG nor PNG"),
                 qPrintable(told.err));
        const auto shown = program.run({"show", "1"}).out;
        QVERIFY2(shown.contains("5 of 45 files"), qPrintable(shown));
        const auto kept = program.trial(1)["messages"].toArray().at(0).toObject();
        QCOMPARE(kept["code"].toString(), QString("dataset.left-out"));
        QCOMPARE(kept["level"].toString(), QString("warning"));

        const auto events = program.run(training(folder) + QStringList{"--json"});
        const auto args = messageIn(events, "dataset.left-out")["args"].toArray();
        QCOMPARE(args.at(0).toString(), QString("5"));
        QCOMPARE(args.at(1).toString(), QString("45"));
        QCOMPARE(args.at(2).toString(), QString("image.not-an-image"));
        QVERIFY(args.at(3).toString().endsWith("b/bad0.jpg"));
    }

    // Streamed ones, whose turn comes while training or evaluate runs.
    void imagesThatCannotBeReadMeanwhileCountForNothing() {
        LockstepProgram program;
        const auto folder = imageFolder(program, 60, 16);
        QStringList few = training(folder);
        few << "--set"
            << "dataset.keep=stream"
            << "max_bad_share=0.1";
        const auto whole = program.run(few);
        QVERIFY2(whole.status == 0, qPrintable(whole.err));
        QVERIFY(QFile::remove(folder + "/a/12.jpg"));  // a link of the others
        put(folder + "/a/12.jpg", {0xff, 0xd8, 1, 2});
        const auto told = program.run(few + QStringList{"--json"});
        QVERIFY2(told.status == 0, qPrintable(told.err));
        const auto message = messageIn(told, "run.sample-skipped");
        QCOMPARE(message["args"].toArray().at(0).toString(), QString("1"));
        QVERIFY(message["field"].toString().endsWith("a/12.jpg"));
        const auto mixed = program.run(few + QStringList{"augmentation.mixup=0.4", "--json"});
        QVERIFY2(mixed.status == 0, qPrintable(mixed.err));
        QVERIFY(messageIn(mixed, "run.sample-skipped")["field"].toString().endsWith("a/12.jpg"));
        const auto evaluated = program.run({"evaluate", "2", "--split", "all", "--json"});
        QVERIFY2(evaluated.status == 0, qPrintable(evaluated.err));
        QVERIFY2(evaluated.out.contains("dataset.left-out") && evaluated.out.contains("a/12.jpg"),
                 qPrintable(evaluated.out));

        const auto stopped = program.run(few + QStringList{"on_bad_sample=stop"});
        QVERIFY(stopped.status != 0);
        QVERIFY2(stopped.err.contains("12.jpg") && !stopped.err.contains("image."), qPrintable(stopped.err));
        const auto tooMany = program.run(few + QStringList{"max_bad_share=0.001"});
        QVERIFY(tooMany.status != 0);
        QVERIFY2(tooMany.err.contains("1 of 60 samples cannot be read"), qPrintable(tooMany.err));
        QVERIFY(QFile::resize(folder + "/a/0.jpg", 200));  // and all that are links to it
        const auto none = program.run(few);
        QVERIFY(none.status != 0);
        QVERIFY2(none.err.contains(" of 60 samples cannot be read"), qPrintable(none.err));
    }

    void readingIsToldAndEndsWithASignal_data() {
        QTest::addColumn<int>("signal");
        QTest::newRow("Ctrl+C") << SIGINT;
        QTest::newRow("kill") << SIGTERM;
    }
    void readingIsToldAndEndsWithASignal() {
        QFETCH(int, signal);
        LockstepProgram program;
        const auto folder = imageFolder(program, 6000, 1500);
        const auto running = program.start(training(folder));
        QByteArray out;
        QTRY_VERIFY_WITH_TIMEOUT((running->waitForReadyRead(100), out += running->readAllStandardOutput(),
                                  out.contains("reading the data: ") && out.contains(" of 6 000")),
                                 30000);
        QVERIFY2(out.contains("samples/s"), out);
        QElapsedTimer clock;
        clock.start();
        ::kill(static_cast<pid_t>(running->processId()), signal);
        const auto ended = LockstepProgram::finish(*running);
        QVERIFY2(clock.elapsed() < 3000, qPrintable(QString::number(clock.elapsed())));
        QCOMPARE(ended.status, 4);
        QVERIFY2(ended.err.contains("was called off"), qPrintable(ended.err));
        QVERIFY(!holdsFiles(program.home() + "/cache"));
        for (const auto& trial : program.run({"trials", "--json"}).last()["trials"].toArray())
            QCOMPARE(trial.toObject()["state"].toString(), QString("cancelled"));
    }

    // Refused by the header of its images, before they are decoded.
    void aModelThatDoesNotFitIsRefusedAtOnce() {
        LockstepProgram program;
        const auto folder = imageFolder(program, 6000, 1500);
        QElapsedTimer clock;
        clock.start();
        const auto refused = program.run(training(folder) + QStringList{"--model", "vit", "--set", "dataset.size=30"});
        QVERIFY2(refused.status == 2 && refused.err.contains("30 pixels"), qPrintable(refused.err));
        QVERIFY2(clock.elapsed() < 8000, qPrintable(QString::number(clock.elapsed())));
        QVERIFY(!holdsFiles(program.home() + "/cache"));
        QVERIFY(program.run({"trials"}).out.contains("No trials"));
    }

    void namesFromOutsideAreNotObeyed() {
        LockstepProgram program;
        const QString title = "evil\x1b]0;pwned\x07\nsecond \u202erow";
        QCOMPARE(program.run(shortRun() + QStringList{"--title", title}).status, 0);
        for (const QStringList& command : {QStringList{"trials"}, QStringList{"show", "1"}}) {
            const auto told = program.run(command).out;
            for (const QChar obeyed : {QChar(0x1b), QChar(7), QChar(0x202e)}) QVERIFY(!told.contains(obeyed));
            QVERIFY2(told.contains("evil\\x1b]0;pwned\\x07\\nsecond \\u202erow"), qPrintable(told));
        }
        QCOMPARE(program.run({"trials"}).out.count('\n'), 2);
        QCOMPARE(program.run({"trials", "--json"}).last()["trials"].toArray().at(0).toObject()["title"].toString(),
                 title);
        QCOMPARE(program.trial(1)["spec"].toObject()["title"].toString(), title);

        const QStringList hostile{"no\x1b[2Jsuch\nmodel"};
        for (const QStringList& command :
             {QStringList{"models"} + hostile, QStringList{"inspect"} + hostile, QStringList{"show"} + hostile, hostile,
              QStringList{"train", "--dataset"} + hostile, QStringList{"trials", "--limit"} + hostile}) {
            const auto refused = program.run(command);
            QVERIFY(refused.status != 0);
            QVERIFY2(!(refused.out + refused.err).contains(QChar(0x1b)), qPrintable(command.join(' ')));
        }
    }

    // Class names are names of folders.
    void classesAreNamedInATable() {
        LockstepProgram program;
        const auto folder = imageFolder(program, 40, 16);
        QDir().rename(folder + "/b", folder + "/b\n\x1b[31mred");
        const auto told = program.run({"inspect", folder});
        QCOMPARE(told.status, 0);
        QVERIFY2(told.out.contains("b\\n\\x1b[31mred") && !told.out.contains(QChar(0x1b)), qPrintable(told.out));
    }
};

QTEST_APPLESS_MAIN(TestOwnData)
#include "tst_own_data.moc"
