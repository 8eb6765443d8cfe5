#include <QTemporaryDir>
#include <QtTest>
#include <memory>

#include "tests/ui/queue/made_queue.h"
#include "ui/history/history_service.h"
#include "ui/history/queue_feed.h"

using namespace lockstep;
using namespace lockstep::ui;
using test::MadeQueue;

namespace {

struct Bench {
    Bench() {
        const std::filesystem::path base = folder.path().toStdString();
        places = {base, base / "cache", base / "sockets", base / "config"};
        if (!preparePlaces(places).ok()) qFatal("no home");
    }
    void open() {
        history = std::make_unique<HistoryService>(places);
        feed = std::make_unique<QueueFeed>(history.get(), program);
        QObject::connect(feed.get(), &QueueFeed::queueRead, feed.get(), [this](const auto& queue) {
            latest = queue;
            ++reads;
        });
        feed->setWatching(true);
    }
    std::vector<std::int64_t> trials() const {
        std::vector<std::int64_t> all;
        for (const QueueRow& each : latest->rows) all.push_back(each.line.entry.trial);
        return all;
    }
    // What becomes of a change: a problem's code; empty: it was made.
    std::string codeOf(const QueueFeed::Change& what) {
        std::optional<std::string> code;
        feed->change(what, [&](const std::optional<Problem>& problem) { code = problem ? problem->code : ""; });
        return QTest::qWaitFor([&] { return code.has_value(); }) ? *code : "no answer";
    }

    // A program in the place of the engine's.
    QString script(const QByteArray& line) const {
        QFile file(folder.filePath("engine"));
        if (!file.open(QIODevice::WriteOnly)) qFatal("no script");
        file.write("#!/bin/sh\n" + line + '\n');
        file.setPermissions(QFile::ReadOwner | QFile::ExeOwner | QFile::WriteOwner);
        return file.fileName();
    }

    QTemporaryDir folder;
    Places places;
    QString program = "/bin/true";
    std::unique_ptr<HistoryService> history;
    std::unique_ptr<QueueFeed> feed;
    std::shared_ptr<const QueueSnapshot> latest;
    int reads = 0;
};

using Order = std::vector<std::int64_t>;

}  // namespace

// What the window knows of the queue, and how it changes it.
class TestQueueFeed : public QObject {
    Q_OBJECT
private slots:
    void anAbsentHistoryIsAnEmptyQueue() {
        Bench bench;
        bench.open();
        QTRY_VERIFY(bench.latest);
        QVERIFY(bench.latest->rows.empty() && bench.latest->sweeps.empty() && !bench.latest->isKept);
        QVERIFY(!std::filesystem::exists(bench.places.history()));
        QCOMPARE(bench.codeOf([](QueueService& queue) { queue.addTrial({}); }), std::string());  // makes one
        QTRY_COMPARE(bench.latest->rows.size(), std::size_t{1});
    }

    void whatOthersWriteIsRead() {
        Bench bench;
        MadeQueue made(bench.places);
        bench.open();
        QTRY_VERIFY(bench.latest);
        const auto waits = made.wait("waits");
        QTRY_COMPARE(bench.trials(), Order{waits});
        const auto runs = made.run("runs", 3);
        QTRY_COMPARE(bench.trials(), (Order{runs, waits}));  // what runs comes first
        QTRY_VERIFY(bench.latest->rows[0].line.isRunning);
        QTRY_COMPARE(bench.latest->rows[0].steps, std::int64_t{1000});
        QTRY_COMPARE(bench.latest->rows[0].line.row.epoch, std::int64_t{3});
        made.queue().setHeld(waits, true);
        QTRY_VERIFY(bench.latest->rows[1].line.reason == WaitReason::Held);
        QVERIFY(!bench.latest->isKept);
        made.keep();
        made.queue().setHeld(waits, false);
        QTRY_VERIFY(bench.latest->isKept);
    }

    void sweepsHaveTheirResults() {
        Bench bench;
        MadeQueue made(bench.places);
        const auto group = made.sweep("how wide", 3);
        made.finish("one", 0.91, GroupPlace{group, 0, 0});
        made.finish("other", 0.85, GroupPlace{group, 1, 0});
        made.run("third", 2, GroupPlace{group, 2, 0});
        bench.open();
        QTRY_VERIFY(bench.latest);
        const SweepRow& sweep = bench.latest->sweeps.at(0);
        QVERIFY(sweep.isReadable && !sweep.problem);
        QCOMPARE(sweep.result.finished, std::int64_t{2});
        QCOMPARE(sweep.result.running, std::int64_t{1});
        QCOMPARE(sweep.result.planned, std::int64_t{12});
        QCOMPARE(*sweep.result.best, std::size_t{0});
        QCOMPARE(sweep.result.cells[0].mean, 0.91);
        QVERIFY(sweep.bytesOfTrial && *sweep.bytesOfTrial > 0);
    }

    // One that this version cannot read stands beside the others.
    void aSweepThatCannotBeReadIsSaid() {
        Bench bench;
        MadeQueue made(bench.places);
        TrialGroup strange;
        strange.title = "of a newer version";
        strange.specJson = "{\"version\": 99}";
        made.queue().createGroup(strange);
        made.sweep("sound", 0);
        bench.open();
        QTRY_VERIFY(bench.latest);
        QCOMPARE(bench.latest->sweeps.size(), std::size_t{2});
        QVERIFY(bench.latest->sweeps[0].isReadable);  // the newest first
        QVERIFY(!bench.latest->sweeps[1].isReadable && bench.latest->sweeps[1].problem);
        QCOMPARE(bench.latest->sweeps[1].result.group.title, std::string("of a newer version"));
    }

    void aChangeIsMadeOrRefused() {
        Bench bench;
        MadeQueue made(bench.places);
        const auto first = made.wait("first"), second = made.wait("second");
        bench.open();
        QTRY_VERIFY(bench.latest);
        QCOMPARE(bench.codeOf([&](QueueService& queue) { queue.moveBefore(second, first); }), std::string());
        QTRY_COMPARE(bench.trials(), (Order{second, first}));
        QCOMPARE(bench.codeOf([](QueueService& queue) { queue.setHeld(99, true); }), std::string("queue.not-queued"));
        QCOMPARE(bench.codeOf([&](QueueService& queue) { queue.cancel(first); }), std::string());
        QTRY_COMPARE(bench.trials(), Order{second});
    }

    // By the window, whatever page is in front: a keeper was killed, or the machine started anew.
    void whatWaitsGetsItsKeeper() {
        Bench bench;
        bench.program = bench.script("touch \"$0.$1.$2\"");
        MadeQueue made(bench.places);
        const auto trial = made.wait("waits", {.held = true});
        bench.open();
        bench.feed->setWatching(false);
        QTest::qWait(300);
        QVERIFY(!QFile::exists(bench.program + ".queue.keep"));  // it waits for a person
        made.queue().setHeld(trial, false);
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(bench.program + ".queue.keep"), 10'000);
    }

    void aQueueThatIsKeptIsLeftAlone() {
        Bench bench;
        bench.program = bench.script("touch \"$0.$1.$2\"");
        MadeQueue made(bench.places);
        made.keep();
        made.wait("waits");
        bench.open();
        QTRY_VERIFY(bench.latest);
        QTest::qWait(300);
        QVERIFY(!QFile::exists(bench.program + ".queue.keep"));
    }

    // Nobody looks, nothing is read.
    void aFeedThatNobodyWatchesRests() {
        Bench bench;
        MadeQueue made(bench.places);
        bench.open();
        QTRY_VERIFY(bench.latest);
        bench.feed->setWatching(false);
        QTest::qWait(100);
        const int before = bench.reads;
        made.wait("waits");
        QTest::qWait(1200);
        QCOMPARE(bench.reads, before);
        bench.feed->setWatching(true);
        QTRY_COMPARE(bench.latest->rows.size(), std::size_t{1});
    }
};

QTEST_GUILESS_MAIN(TestQueueFeed)
#include "tst_queue_feed.moc"
