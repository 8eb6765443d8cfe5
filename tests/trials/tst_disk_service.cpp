#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "engine/history/queue_store.h"
#include "engine/spec/kept_checkpoints.h"
#include "engine/trials/disk_service.h"

using namespace lockstep;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kDay = 86'400;

struct DiskHome {
    void write(const fs::path& file, std::size_t bytes = 100'000) const {
        fs::create_directories(file.parent_path());
        std::ofstream(file) << std::string(bytes, 'x');
    }
    // A checkpoint whose header says how many updates it goes on from, written so many seconds ago.
    void writeCheckpoint(std::int64_t trial, std::string_view role, std::int64_t step, int ago) const {
        const std::string header = "{\"__metadata__\":{\"position\":\"{\\\"step\\\":" + std::to_string(step) + "}\"}}";
        const std::uint64_t length = header.size();
        const fs::path file = places.run(trial) / "checkpoints" / checkpointName(role);
        fs::create_directories(file.parent_path());
        std::ofstream out(file, std::ios::binary);
        out.write(reinterpret_cast<const char*>(&length), sizeof length) << header;
        out.close();
        fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::seconds(ago));
    }
    // As if nothing in the run folder had changed for a day.
    void age(std::int64_t trial) const {
        const auto then = fs::file_time_type::clock::now() - std::chrono::hours(24);
        for (const auto& each : fs::recursive_directory_iterator(places.run(trial)))
            fs::last_write_time(each.path(), then);
        fs::last_write_time(places.run(trial), then);
    }
    // With a spec, a log, a timeline and checkpoints of these roles.
    std::int64_t add(RunState state, const std::vector<std::string>& roles) {
        const auto trial = trials.create({});
        const fs::path run = places.run(trial);
        write(run / "spec.json", 500);
        write(run / "run.log", 9'000);
        write(run / "trace" / "1-1.trace", 40'000);
        for (const auto& role : roles) write(run / "checkpoints" / checkpointName(role));
        if (state != RunState::Queued) trials.store().setState(trial, state);
        return trial;
    }
    // Evaluations of one attempt, an epoch each.
    void evaluate(std::int64_t trial, const std::vector<double>& accuracies) {
        const auto attempt = trials.store().beginAttempt(trial, 0);
        const auto sink = trials.store().sinkFor(trial, attempt);
        for (std::size_t i = 0; i < accuracies.size(); ++i) {
            EvalDone done;
            done.epoch = static_cast<std::int64_t>(i) + 1;
            done.step = 10 * done.epoch;
            done.loss = 1;
            done.accuracy = accuracies[i];
            sink->post(done.epoch, done);
        }
        trials.store().setState(trial, RunState::Finished);
        trials.store().flush();
    }
    std::vector<std::string> roles(std::int64_t trial) const {
        std::vector<std::string> found;
        for (const auto& each : checkpointsIn(places.run(trial) / "checkpoints")) found.push_back(each.role);
        return found;
    }
    FreePlan plan(const FreeRequest& request, std::time_t later = 0) {
        return planFreeing(disk.weigh(), request, std::time(nullptr) + later);
    }

    static Places prepared(const fs::path& base) {
        const auto places = preparePlaces({base, base / "cache", base / "sockets", base / "config"});
        if (!places.ok()) qFatal("no home");
        return places.value();
    }

    QTemporaryDir folder;
    Places places = prepared(folder.path().toStdString());
    TrialService trials{places};
    DiskService disk{trials};
};

using Roles = std::vector<std::string>;

FreeRequest keeping(const char* text) {
    FreeRequest request;
    request.keep = parseStays(text).value();
    return request;
}

std::vector<std::int64_t> trialsOf(const FreePlan& plan) {
    std::vector<std::int64_t> trials;
    for (const FreeItem& each : plan.items) trials.push_back(each.trial);
    std::ranges::sort(trials);
    return trials;
}

}  // namespace

class TestDiskService : public QObject {
    Q_OBJECT
private slots:
    void wordsOfChoices() {
        QCOMPARE(parseStays("none").value(), (StaysKept{false, 0}));
        QCOMPARE(parseStays("last").value(), (StaysKept{true, 0}));
        QCOMPARE(parseStays("best:4").value(), (StaysKept{true, 4}));
        QCOMPARE(parseStays("all").problems().front().code, std::string("disk.keep"));
        QCOMPARE(parseTrialRanges("3,5,7-9").value(), (std::vector<TrialRange>{{3, 3}, {5, 5}, {7, 9}}));
        for (const char* wrong : {"", ",", "3,", "9-7", "0", "-3", "a", "1-", "1--2", "1.5"})
            QCOMPARE(parseTrialRanges(wrong).ok(), false);
        QCOMPARE(parseAge("30d").value(), 30 * kDay);
        QCOMPARE(parseAge("12h").value(), kDay / 2);
        QCOMPARE(parseAge("4w").value(), 28 * kDay);
        for (const char* wrong : {"", "d", "30", "-1d", "0d", "1.5d", "30 d", "999999999999w"})
            QCOMPARE(parseAge(wrong).ok(), false);
    }

    // Against `du`, part by part.
    void itWeighsWhatIsThere() {
        DiskHome home;
        const auto light = home.add(RunState::Finished, {"last"});
        const auto heavy = home.add(RunState::Stopped, {"last", "best", "epoch-3"});
        home.write(home.places.run(77) / "checkpoints/last.safetensors");
        home.write(home.places.run(78) / "leftover", 10);
        home.write(home.places.cache / "abc-train-3x32.decoded");
        home.write(home.places.cache / "cpu.plans", 10);
        home.write(home.places.cache / "somebody-elses", 10);
        const DiskWeight weight = home.disk.weigh();
        QCOMPARE(weight.trials.size(), std::size_t{2});
        QCOMPARE(weight.trials.front().run.trial, heavy);
        QCOMPARE(weight.trials.back().run.trial, light);
        QCOMPARE(weight.orphans.size(), std::size_t{2});
        QVERIFY(weight.orphans.front().holdsTrial && !weight.orphans.back().holdsTrial);
        QCOMPARE(weight.datasets.size() + weight.plans.size(), std::size_t{2});
        QVERIFY(weight.available > 0 && weight.capacity > weight.available && weight.database > 0);
        for (const TrialWeight& each : weight.trials) {
            const auto du = [&](const char* part) {
                QProcess process;
                process.start("du", {"-s", "--block-size=1",
                                     QString::fromStdString((home.places.run(each.run.trial) / part).string())});
                process.waitForFinished();
                return process.readAllStandardOutput().split('\t').front().toULongLong();
            };
            const std::uint64_t folder = 4096;  // of "checkpoints" and "trace" themselves, counted with the others
            QVERIFY(each.run.checkpoints + folder >= du("checkpoints") && each.run.checkpoints <= du("checkpoints"));
            QVERIFY(each.run.traces + folder >= du("trace") && each.run.traces <= du("trace"));
            QCOMPARE(each.run.logs, static_cast<std::uint64_t>(du("run.log")));
            QCOMPARE(each.run.total(), bytesOnDisk(each.run.files));
        }
    }

    void anAbsentHistoryWeighsNothing() {
        DiskHome home;
        const DiskWeight weight = home.disk.weigh();
        QVERIFY(weight.trials.empty() && weight.orphans.empty());
        QCOMPARE(weight.total(), std::uint64_t{0});
    }

    void theBestEpochsAreThoseOfTheHistory() {
        DiskHome home;
        const auto trial = home.add(RunState::Finished, {"last", "epoch-1", "epoch-2", "epoch-3", "epoch-4"});
        home.evaluate(trial, {0.5, 0.9, 0.7, 0.9});
        QCOMPARE(home.trials.query().bestEpochs(trial), (std::vector<std::int64_t>{2, 4, 3, 1}));
        home.disk.free(home.plan(keeping("best:3")));
        QCOMPARE(home.roles(trial), (Roles{"last", "epoch-2", "epoch-3", "epoch-4"}));
        home.disk.free(home.plan(keeping("best:1")));
        QCOMPARE(home.roles(trial), (Roles{"last", "epoch-2"}));
        home.disk.free(home.plan(keeping("last")));
        QCOMPARE(home.roles(trial), (Roles{"last"}));
        home.disk.free(home.plan(keeping("none")));
        QCOMPARE(home.roles(trial), Roles{});
        QVERIFY(checkpointsFreedAt(home.places.run(trial) / "checkpoints").has_value());
        QCOMPARE(home.trials.row(trial).state, std::string("finished"));
        QVERIFY(home.plan(keeping("none")).items.empty());
    }

    void theUsualBestStaysAsTheBest() {
        DiskHome home;
        const auto trial = home.add(RunState::Finished, {"last", "best"});
        QVERIFY(home.plan(keeping("best:1")).items.empty());
        home.disk.free(home.plan(keeping("last")));
        QCOMPARE(home.roles(trial), (Roles{"last"}));
    }

    // Killed before its first last: what it goes on from is its best.
    void theNewestStaysWhateverItsName() {
        DiskHome home;
        const auto trial = home.add(RunState::Crashed, {"best"});
        QVERIFY(home.plan(keeping("last")).items.empty());
        home.disk.free(home.plan(keeping("none")));
        QCOMPARE(home.roles(trial), Roles{});
    }

    // What a resume goes on from: the furthest of what was written last.
    void theNewestIsTheOneThatGoesFurthest_data() {
        QTest::addColumn<int>("lastStep");
        QTest::addColumn<int>("epochsAge");
        QTest::addColumn<QString>("stays");
        QTest::newRow("killed between the two") << 70 << 10 << "epoch-8";
        QTest::newRow("as far") << 80 << 10 << "last";
        QTest::newRow("last goes further") << 85 << 10 << "last";
        QTest::newRow("of an attempt before") << 70 << 90 << "last";
    }
    void theNewestIsTheOneThatGoesFurthest() {
        QFETCH(int, lastStep);
        QFETCH(int, epochsAge);
        QFETCH(QString, stays);
        DiskHome home;
        const auto trial = home.add(RunState::Crashed, {"last", "epoch-7", "epoch-8"});
        home.writeCheckpoint(trial, "last", lastStep, 50);
        home.writeCheckpoint(trial, "epoch-7", 70, 60);
        home.writeCheckpoint(trial, "epoch-8", 80, epochsAge);
        home.disk.free(home.plan(keeping("last")));
        QCOMPARE(home.roles(trial), (Roles{stays.toStdString()}));
    }

    void whatAKilledRunWasWritingGoesToo() {
        DiskHome home;
        const auto trial = home.add(RunState::Crashed, {"last"});
        const fs::path folder = home.places.run(trial) / "checkpoints";
        home.write(folder / ".last.safetensors.tmp-123");
        home.write(folder / "notes.txt", 10);
        home.disk.free(home.plan(keeping("last")));
        QVERIFY(!fs::exists(folder / ".last.safetensors.tmp-123") && fs::exists(folder / "notes.txt"));
        QVERIFY(!checkpointsFreedAt(folder));  // no checkpoint was
    }

    void neverOfOneThatHasNotEnded() {
        DiskHome home;
        const auto queued = home.add(RunState::Queued, {"last"});
        const auto running = home.add(RunState::Running, {"last"}), paused = home.add(RunState::Paused, {"last"});
        const auto crashed = home.add(RunState::Running, {"last"}), resumed = home.add(RunState::Finished, {"last"});
        const auto hold = [&](std::int64_t trial) { return std::move(*Lease::tryAcquire(home.places.lease(trial))); };
        const Lease one = hold(running), two = hold(paused), three = hold(resumed);
        const auto plan = home.plan(keeping("none"));
        QCOMPARE(trialsOf(plan), (std::vector<std::int64_t>{crashed}));
        QCOMPARE(plan.spared, (std::vector<std::int64_t>{queued, running, paused, resumed}));
    }

    // The lease counts at the moment of removal, not when it was planned.
    void oneThatBeginsToRunMeanwhileIsSpared() {
        DiskHome home;
        const auto trial = home.add(RunState::Stopped, {"last", "best"}), other = home.add(RunState::Stopped, {"last"});
        const auto plan = home.plan(keeping("none"));
        QCOMPARE(trialsOf(plan), (std::vector<std::int64_t>{trial, other}));
        const auto lease = Lease::tryAcquire(home.places.lease(trial));
        home.trials.store().setState(other, RunState::Queued);
        const Freed freed = home.disk.free(plan);
        QCOMPARE(freed.spared, (std::vector<std::int64_t>{trial, other}));
        QVERIFY(freed.trials.empty() && freed.bytes == 0);
        QCOMPARE(home.roles(trial), (Roles{"last", "best"}));
        QCOMPARE(home.roles(other), (Roles{"last"}));
    }

    // It ran, and ended, in between: what it wrote is not what was shown.
    void whatWasWrittenMeanwhileStays() {
        DiskHome home;
        const auto trial = home.add(RunState::Stopped, {"last", "best"});
        const auto plan = home.plan(keeping("none"));
        const fs::path folder = home.places.run(trial) / "checkpoints";
        home.write(folder / "new", 200'000);
        fs::rename(folder / "new", folder / "last.safetensors");
        home.disk.free(plan);
        QCOMPARE(home.roles(trial), (Roles{"last"}));
    }

    // What a sweep may let go on keeps what it goes on from, unless a person knows what that costs.
    void whatPausesAtARungKeepsItsNewest() {
        DiskHome home;
        QueueStore queue(home.trials.store());
        const auto sweep = queue.createGroup({.title = "a sweep", .specJson = "{}"});
        std::vector<std::int64_t> trials;
        for (std::int64_t cell = 0; cell < 3; ++cell) {
            const auto trial = queue.createTrial({}, home.places.runs(), {}, GroupPlace{sweep, cell, 0},
                                                 std::optional<std::int64_t>(2));
            queue.remove(trial);
            home.evaluate(trial, {0.5, 0.75});
            home.trials.store().setState(trial, RunState::Stopped);
            home.writeCheckpoint(trial, "last", 20, 0);
            home.writeCheckpoint(trial, "best", 20, 10);
            trials.push_back(trial);
        }
        const auto other = home.add(RunState::Stopped, {"last", "best"});
        queue.letGoOn({sweep, 2, 0}, {}, 0);  // it waits in the queue
        const auto plan = home.plan(keeping("none"));
        QCOMPARE(plan.spared, (std::vector<std::int64_t>{trials[2]}));
        QCOMPARE(plan.atRungs.size(), std::size_t{1});
        QCOMPARE(plan.atRungs[0].sweep, sweep);
        QCOMPARE(plan.atRungs[0].trials, (std::vector<std::int64_t>{trials[0], trials[1]}));
        QCOMPARE(plan.atRungs[0].epochs, std::int64_t{4});
        home.disk.free(plan);
        QCOMPARE(home.roles(trials[0]), Roles{"last"});
        QCOMPARE(home.roles(trials[2]), (Roles{"last", "best"}));
        QVERIFY(home.roles(other).empty());
        QVERIFY(home.plan(keeping("last")).atRungs.empty());  // it costs nothing

        FreeRequest all = keeping("none");
        all.atRungs = true;
        const auto asked = home.plan(all);
        QCOMPARE(asked.atRungs.size(), std::size_t{1});
        queue.letGoOn({sweep, 1, 0}, {}, 0);  // meanwhile
        QCOMPARE(home.disk.free(asked).spared, (std::vector<std::int64_t>{trials[1]}));
        QVERIFY(home.roles(trials[0]).empty());
        QCOMPARE(home.roles(trials[1]), Roles{"last"});

        queue.remove(trials[1]);
        queue.setGroupState(sweep, GroupState::Finished);
        QVERIFY(home.plan(keeping("none")).atRungs.empty());
    }

    void choicesNarrow() {
        DiskHome home;
        for (int i = 0; i < 5; ++i) home.add(RunState::Finished, {"last", "best"});
        FreeRequest some = keeping("last");
        some.trials = parseTrialRanges("2,4-9").value();
        QCOMPARE(trialsOf(home.plan(some)), (std::vector<std::int64_t>{2, 4, 5}));
        FreeRequest old = keeping("last");
        old.olderThan = 30 * kDay;
        QVERIFY(home.plan(old, 30 * kDay - 60).items.empty());
        QCOMPARE(trialsOf(home.plan(old, 30 * kDay + 60)).size(), std::size_t{5});
        FreeRequest traces;
        traces.traces = true;
        traces.trials = {{3, 3}};
        const auto plan = home.plan(traces);
        QVERIFY(plan.bytes >= 40'000 && plan.bytes < 60'000);
        QCOMPARE(home.disk.free(plan).bytes, plan.bytes);
        QVERIFY(!fs::exists(home.places.run(3) / "trace/1-1.trace") && fs::exists(home.places.run(3) / "run.log"));
        QVERIFY(!checkpointsFreedAt(home.places.run(3) / "checkpoints"));
    }

    void cachesAreMadeAgainAndTheRestIsSomebodyElses() {
        DiskHome home;
        home.add(RunState::Finished, {});
        const std::vector<std::string> made{"abc-train-3x32.decoded", "abc-train-3x256.def.pictures",
                                            "abc.picture-index", "cpu.plans"};
        for (const std::string& name : made) home.write(home.places.cache / name);
        home.write(home.places.cache / "kept");
        FreeRequest request;
        request.caches = true;
        const auto plan = home.plan(request);
        QCOMPARE(home.disk.free(plan).bytes, plan.bytes);
        QVERIFY(plan.bytes >= 400'000);
        QVERIFY(fs::exists(home.places.cache / "kept"));
        for (const std::string& name : made) QVERIFY2(!fs::exists(home.places.cache / name), name.c_str());
    }

    void orphansGoWhenTheyAreNotYoung() {
        DiskHome home;
        home.add(RunState::Finished, {"last"});
        home.write(home.places.run(9) / "checkpoints/last.safetensors");
        fs::create_directories(home.places.runs() / "mine");
        FreeRequest request;
        request.orphans = true;
        QVERIFY(home.plan(request).items.empty());  // just made: perhaps a trial that is being made, or copied here
        home.age(9);
        const auto plan = home.plan(request);
        QCOMPARE(trialsOf(plan), (std::vector<std::int64_t>{9}));
        QVERIFY(home.disk.free(plan).bytes >= 100'000);
        QVERIFY(!fs::exists(home.places.run(9)) && fs::exists(home.places.run(1)));
        QVERIFY(fs::exists(home.places.runs() / "mine"));
    }

    // It is looked at once more before it goes.
    void anOrphanThatChangesMeanwhileStays() {
        DiskHome home;
        home.add(RunState::Finished, {"last"});
        for (const int orphan : {7, 8, 9}) home.write(home.places.run(orphan) / "spec.json", 10);
        for (const int orphan : {7, 8}) home.age(orphan);
        FreeRequest request;
        request.orphans = true;
        const auto plan = home.plan(request, 3600);  // by then 9 will be old enough, too
        QCOMPARE(trialsOf(plan), (std::vector<std::int64_t>{7, 8, 9}));
        home.write(home.places.run(8) / "copied-here", 10);
        home.age(8);
        auto spared = home.disk.free(plan).spared;
        std::ranges::sort(spared);
        QCOMPARE(spared, (std::vector<std::int64_t>{8, 9}));
        QVERIFY(!fs::exists(home.places.run(7)) && fs::exists(home.places.run(8) / "copied-here"));
        QVERIFY(fs::exists(home.places.run(9) / "spec.json"));
    }

    void anOrphanThatGetsItsRowMeanwhileStays() {
        DiskHome home;
        home.add(RunState::Finished, {"last"});
        home.write(home.places.run(2) / "spec.json", 10);
        home.age(2);
        FreeRequest request;
        request.orphans = true;
        const auto plan = home.plan(request);
        QCOMPARE(trialsOf(plan), (std::vector<std::int64_t>{2}));
        AdoptedTrial adopted;
        adopted.id = 2;
        adopted.createdAt = adopted.finishedAt = "2026-11-20T12:49:57.471Z";
        home.trials.store().adoptTrial(adopted, home.places.run(2));
        QCOMPARE(home.disk.free(plan).spared, (std::vector<std::int64_t>{2}));
        QVERIFY(fs::exists(home.places.run(2) / "spec.json"));
    }

    // All trials are orphans of a history that was moved away.
    void aLostHistoryCostsNoTrials() {
        DiskHome home;
        home.add(RunState::Finished, {"last"});
        home.trials.close();
        fs::remove(home.places.history());
        FreeRequest request;
        request.orphans = true;
        const auto plan = home.plan(request, 3600);
        QVERIFY(plan.items.empty());
        QCOMPARE(plan.refused->code, std::string("disk.orphans-of-a-lost-history"));
    }

    void nothingOutsideIsTouchedThroughLinks() {
        DiskHome home;
        QTemporaryDir elsewhere;
        const fs::path away = elsewhere.path().toStdString();
        home.write(away / "checkpoints/last.safetensors");
        home.write(away / "last.safetensors");
        const auto inside = home.add(RunState::Finished, {}), itself = home.add(RunState::Finished, {});
        fs::create_symlink(away, home.places.run(inside) / "checkpoints");
        fs::remove_all(home.places.run(itself));
        fs::create_symlink(away, home.places.run(itself));
        fs::create_symlink(away, home.places.run(50));
        FreeRequest request = keeping("none");
        request.traces = request.orphans = true;
        request.caches = true;
        fs::create_symlink(away / "last.safetensors", home.places.cache / "a.decoded");
        const DiskWeight weight = home.disk.weigh();
        QVERIFY(weight.orphans.empty());
        for (const TrialWeight& each : weight.trials) QCOMPARE(each.run.checkpoints, std::uint64_t{0});
        home.disk.free(home.plan(request, 3600));
        QVERIFY(fs::exists(away / "checkpoints/last.safetensors") && fs::exists(away / "last.safetensors"));
        QVERIFY(fs::is_symlink(home.places.run(itself)) && !fs::exists(home.places.cache / "a.decoded"));
        // planned when it was a folder, and a link by now
        const auto trial = home.add(RunState::Finished, {"last"});
        const auto plan = home.plan(keeping("none"));
        fs::remove_all(home.places.run(trial) / "checkpoints");
        fs::create_symlink(away, home.places.run(trial) / "checkpoints");
        home.disk.free(plan);
        QVERIFY(fs::exists(away / "last.safetensors") && !fs::exists(away / kFreedMark));
    }
};

QTEST_APPLESS_MAIN(TestDiskService)
#include "tst_disk_service.moc"
