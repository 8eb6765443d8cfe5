#include <QtTest>
#include <fstream>

#include "engine/core/durable_file.h"
#include "engine/session/adopt_runs.h"
#include "tests/session/session_fixture.h"

using namespace lockstep;
using namespace lockstep::test;
namespace fs = std::filesystem;

class tst_AdoptedRuns : public QObject {
    Q_OBJECT
private slots:
    void aLostHistoryIsMadeAgainFromItsFolders();
    void aFolderWithoutItsLogIsImported();
    void whatIsNoRunIsNotImported();
    void anEmptiedHistoryIsNotTakenForANewOne();
};

// As for a damaged history: moved away, and on with a new one.
void tst_AdoptedRuns::aLostHistoryIsMadeAgainFromItsFolders() {
    const Home home;
    RunControl control;
    control.stopAfterEpoch();
    auto spec = smallSpec(3);
    spec.title = "of before";
    QVERIFY(home.run({.trial = home.accept(spec), .control = &control}).ok());
    RunControl again;
    again.stopAfterEpoch();
    QVERIFY(home.resume(1, &again).ok());
    const auto row = *home.query()->find(1);
    const auto losses = home.query()->series(1, "test_loss");
    const auto last = home.places.run(1) / "checkpoints" / "last.safetensors";
    const auto written = fs::last_write_time(last);
    const auto known = home.query()->known(1);
    QVERIFY(!classesOf(known).empty() && known.fingerprint);
    fs::rename(home.places.history(), home.places.data / "damaged.sqlite");

    QVERIFY(home.run(smallSpec(1)).ok());
    QCOMPARE(home.query()->list({}).front().id, std::int64_t{2});
    QVERIFY(fs::last_write_time(last) == written);
    QCOMPARE(orphanedRuns(*home.query(), home.places), std::vector<std::int64_t>{1});
    QVERIFY(!adoptRun(*home.store(), home.places, 1));
    QVERIFY(orphanedRuns(*home.query(), home.places).empty());
    const auto back = *home.query()->find(1);
    QCOMPARE(back.title, row.title);
    QCOMPARE(back.state, std::string("stopped"));
    QCOMPARE(back.attempts, row.attempts);
    QCOMPARE(back.step, row.step);
    QCOMPARE(back.epoch, row.epoch);
    QCOMPARE(*back.bestAccuracy, *row.bestAccuracy);
    QCOMPARE(*back.lowestTestLoss, *row.lowestTestLoss);
    QVERIFY(back.createdAt.substr(0, 10) == row.createdAt.substr(0, 10) && !back.finishedAt.empty());
    QCOMPARE(home.query()->spec(1).value(), spec);
    QVERIFY(home.query()->known(1) == known);
    QCOMPARE(home.query()->series(1, "test_loss").size(), losses.size());
    const auto resumed = home.resume(1);
    QVERIFY2(resumed.ok(), codeOf(resumed).c_str());
    QCOMPARE(resumed.value().run.outcome, RunResult::Outcome::Finished);
    QCOMPARE(home.query()->find(1)->attempts, 3);
    QCOMPARE(codeOf(Result<int>(*adoptRun(*home.store(), home.places, 1))), std::string("history.refused"));
}

void tst_AdoptedRuns::aFolderWithoutItsLogIsImported() {
    const Home home;
    QVERIFY(home.run(smallSpec(2)).ok());
    fs::remove(home.places.history());
    fs::remove(home.places.run(1) / "run.log");
    fs::remove(home.places.run(1) / "spec.json");
    QVERIFY(!adoptRun(*home.store(), home.places, 1));
    const auto row = *home.query()->find(1);
    QCOMPARE(row.state, std::string("finished"));
    QCOMPARE(row.step, std::int64_t{8});
    QCOMPARE(row.epoch, std::int64_t{2});
    QVERIFY(row.bestAccuracy.has_value() && row.lowestTestLoss.has_value());
}

void tst_AdoptedRuns::whatIsNoRunIsNotImported() {
    const Home home;
    QVERIFY(preparePlaces(home.places).ok());
    const auto store = home.store();
    fs::create_directories(home.places.run(1));
    fs::create_directories(home.places.run(2) / "checkpoints");
    std::ofstream(home.places.run(2) / "checkpoints" / "last.safetensors") << "none";
    fs::create_directories(home.places.run(3));
    replaceFile(home.places.run(3) / "spec.json", toJson(smallSpec(1)));
    const auto held = Lease::tryAcquire(home.places.lease(3));
    QCOMPARE(orphanedRuns(*home.query(), home.places), (std::vector<std::int64_t>{2, 3}));
    QCOMPARE(adoptRun(*store, home.places, 1)->code, std::string("run.nothing-to-import"));
    QCOMPARE(adoptRun(*store, home.places, 2)->code, std::string("checkpoint.not-safetensors"));
    QCOMPARE(adoptRun(*store, home.places, 3)->code, std::string("run.busy"));
    QVERIFY(home.query()->list({}).empty());
}

void tst_AdoptedRuns::anEmptiedHistoryIsNotTakenForANewOne() {
    const Home home;
    QVERIFY(preparePlaces(home.places).ok());
    std::ofstream(home.places.history()).flush();
    QVERIFY(preparePlaces(home.places).ok());  // nothing is lost
    fs::create_directory(home.places.run(1));
    QCOMPARE(codeOf(preparePlaces(home.places)), std::string("history.emptied"));
    QCOMPARE(codeOf(home.resume(1)), std::string("history.emptied"));
    fs::remove(home.places.history());
    QVERIFY(preparePlaces(home.places).ok());
}

QTEST_APPLESS_MAIN(tst_AdoptedRuns)
#include "tst_adopted_runs.moc"
