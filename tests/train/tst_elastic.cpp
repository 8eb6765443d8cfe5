#include <QtTest>

#include <thread>

#include "engine/core/error.h"
#include "engine/train/load_meter.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

TrialSpec reproducibleSpec(const char* model, int devices) {
    TrialSpec spec = smallSpec(model, "reference:" + std::to_string(devices));
    spec.mode = "reproducible";
    spec.batch = 16;
    spec.epochs = 2;
    spec.checkEvery = 2;
    spec.augmentation = {{"cutout", std::int64_t{3}}, {"flip", true}};
    return spec;
}

RunRequest requestFor(const TrialSpec& spec) {
    RunRequest request{.spec = spec, .data = patterns(57, 13), .options = {}, .onEvent = {}};
    request.options.scale = [spec](int devices) {
        TrialSpec other = spec;
        other.devices = "reference:" + std::to_string(devices);
        return resolve(other, testEnvironment());
    };
    return request;
}

// Each step once, in order, up to the last: what the history keeps after each rewinding.
std::vector<StepDone> keptSteps(const Run& run) {
    std::vector<StepDone> kept;
    for (const TrainEvent& event : run.recorder.events) {
        if (const auto* done = std::get_if<StepDone>(&event)) kept.push_back(*done);
        const auto* changed = std::get_if<WorldChanged>(&event);
        while (changed && !kept.empty() && kept.back().step > changed->step) kept.pop_back();
    }
    return kept;
}

void expectSameCourse(const Run& changed, const Run& unbroken) {
    QCOMPARE(changed.result.outcome, RunResult::Outcome::Finished);
    QVERIFY(sameBits(changed.tensors, unbroken.tensors));
    const auto steps = keptSteps(changed), expected = keptSteps(unbroken);
    QCOMPARE(steps.size(), expected.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
        QCOMPARE(steps[i].step, expected[i].step);
        QCOMPARE(steps[i].loss, expected[i].loss);
    }
    QCOMPARE(changed.recorder.all<EvalDone>().back().loss, unbroken.recorder.all<EvalDone>().back().loss);
}

// Two ranks, a millisecond an update, of which the one waits a share for the other.
struct Straggling {
    LoadMeter meter{{8, 8}};
    std::vector<int> named;

    void update(int rank, double share) {
        std::vector<RankLoad> loads(2, {0.001, 0, 0});
        loads[static_cast<std::size_t>(1 - rank)] = {0.001 * (1 - share), 0.001 * share, 0};
        meter.add(loads);
        if (const auto found = meter.straggler(1)) named.push_back(found->rank);
    }
    void updates(int count, int rank, double share) {
        for (int i = 0; i < count; ++i) update(rank, share);
    }
};

}  // namespace

// Runs whose devices come and go.
class TstElastic : public QObject {
    Q_OBJECT

private slots:
    void aLostDeviceIsLeftBehind_data() {
        QTest::addColumn<QString>("model");
        QTest::newRow("mlp") << "mlp";
        QTest::newRow("batch norm") << "fashion-cnn";
    }

    // 4 devices, then 2 (three cannot share eight shards): the bits of a run that lost none.
    void aLostDeviceIsLeftBehind() {
        QFETCH(QString, model);
        const TrialSpec spec = reproducibleSpec(model.toUtf8(), 4);
        const Run unbroken = run(requestFor(spec));
        for (int culprit = 0; culprit < 4; culprit += model == "mlp" ? 1 : 3) {
            for (const std::int64_t at : {0, 1, 2, 3, 4, 7}) {
                std::atomic<bool> done = false;
                RunRequest request = requestFor(spec);
                request.options.beforeStep = [&](int rank, std::int64_t step, std::size_t programStep) {
                    if (rank != culprit || step != at || programStep != 5 || done.exchange(true)) return;
                    throw EngineError(EngineError::Kind::Device, "dense hidden1", "the card fell off the bus");
                };
                const Run out = run(std::move(request));
                expectSameCourse(out, unbroken);
                const auto changes = out.recorder.all<WorldChanged>();
                QCOMPARE(changes.size(), std::size_t{1});
                QCOMPARE(changes[0].reason, std::string("lost-device"));
                QCOMPARE(changes[0].rank, culprit);
                QCOMPARE(changes[0].reached, at);
                QVERIFY2(changes[0].step <= at && changes[0].step > at - spec.checkEvery,
                         qPrintable(QString("from %1 at %2").arg(changes[0].step).arg(at)));
                QCOMPARE(changes[0].devices.size(), std::size_t{2});
                const auto started = out.recorder.all<RunStarted>();
                QCOMPARE(started.size(), std::size_t{2});
                QCOMPARE(started[1].attempt, 2);
                QCOMPARE(started[1].firstStep, changes[0].step);
                QCOMPARE(started[1].devices.size(), std::size_t{2});
            }
        }
    }

    void oneDeviceAfterTheOther() {
        const TrialSpec spec = reproducibleSpec("mlp", 8);
        std::atomic<int> lost = 0;
        RunRequest request = requestFor(spec);
        request.options.beforeStep = [&](int rank, std::int64_t step, std::size_t programStep) {
            const int already = lost;
            if (rank == 0 && programStep == 3 && step == 2 * already + 1 && already < 3 &&
                lost.exchange(already + 1) == already)
                throw EngineError(EngineError::Kind::Device, "", "gone");
        };
        const Run out = run(std::move(request));
        expectSameCourse(out, run(requestFor(spec)));
        QCOMPARE(out.recorder.all<WorldChanged>().size(), std::size_t{3});
        QCOMPARE(out.recorder.all<RunStarted>().back().devices.size(), std::size_t{1});
    }

    void whereItMustNotGoOnItFails() {
        const auto loses = [](int devices, auto change) {
            TrialSpec spec = reproducibleSpec("mlp", devices);
            change(spec);
            RunRequest request = requestFor(spec);
            request.options.beforeStep = [](int rank, std::int64_t step, std::size_t) {
                if (rank == 0 && step == 3) throw EngineError(EngineError::Kind::Device, "", "gone");
            };
            return run(std::move(request));
        };
        const auto nothing = [](TrialSpec&) {};
        for (const Run& out : {loses(1, nothing), loses(2, [](TrialSpec& s) { s.onLostDevice = "stop"; }),
                               loses(2, [](TrialSpec& s) { s.checkEvery = 0; })}) {
            QCOMPARE(out.result.outcome, RunResult::Outcome::Failed);
            QCOMPARE(out.result.failed.kind, std::string("device"));
            QCOMPARE(out.recorder.all<WorldChanged>().size(), std::size_t{0});
        }
    }

    void devicesComeAndGoOnRequest_data() {
        QTest::addColumn<int>("from");
        QTest::addColumn<int>("to");
        for (const auto& [from, to] : {std::pair(1, 4), {2, 8}, {8, 1}, {4, 2}})
            QTest::addRow("%d to %d", from, to) << from << to;
    }

    void devicesComeAndGoOnRequest() {
        QFETCH(int, from);
        QFETCH(int, to);
        const TrialSpec spec = reproducibleSpec("mlp", from);
        const Run unbroken = run(requestFor(spec));
        for (const std::int64_t at : {1, 2, 3, 4, 6}) {
            RunRequest request = requestFor(spec);
            request.onEvent = [&](const TrainEvent& event, RunControl& control) {
                const auto* done = std::get_if<StepDone>(&event);
                if (done && done->step == at) control.scaleTo(to);
            };
            const Run out = run(std::move(request));
            expectSameCourse(out, unbroken);
            const auto changes = out.recorder.all<WorldChanged>();
            QCOMPARE(changes.size(), std::size_t{1});
            QCOMPARE(changes[0].reason, std::string("scaled"));
            QCOMPARE(changes[0].step, changes[0].reached);  // nothing is done again
            QCOMPARE(changes[0].devices.size(), static_cast<std::size_t>(to));
        }
    }

    void aRefusedScaleIsSaid() {
        RunRequest request = requestFor(reproducibleSpec("mlp", 2));
        request.onEvent = [](const TrainEvent& event, RunControl& control) {
            const auto* done = std::get_if<StepDone>(&event);
            if (done && done->step == 2) control.scaleTo(3);
        };
        const Run out = run(std::move(request));
        QCOMPARE(out.result.outcome, RunResult::Outcome::Finished);
        const auto messages = out.recorder.all<Message>();
        QCOMPARE(messages.size(), std::size_t{1});
        QCOMPARE(messages[0].text.code, std::string("spec.shards-undivided"));
    }

    // A slow device gets less of each batch, and the network is the same.
    void sharesAreBalanced() {
        TrialSpec spec = smallSpec("mlp", "reference:2");
        spec.batch = 12;
        spec.epochs = 10;
        spec.shares = "balanced";
        const auto slow = [](int rank, std::int64_t, std::size_t programStep) {
            if (rank == 1 && programStep == 3) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        };
        RunRequest request = requestFor(spec);
        request.options.beforeStep = slow;
        const Run out = run(std::move(request));
        QCOMPARE(out.result.outcome, RunResult::Outcome::Finished);
        const auto started = out.recorder.all<RunStarted>();
        QVERIFY(started.size() >= 2);
        QCOMPARE(started[0].shares, (std::vector<std::int64_t>{6, 6}));
        QVERIFY(started[1].shares[0] > 6 && started[1].shares[0] + started[1].shares[1] == 12);
        QCOMPARE(out.recorder.all<WorldChanged>()[0].reason, std::string("balanced"));
        spec.devices = "reference:1";
        spec.shares = "";
        const double difference = relativeDifference(run(requestFor(spec)).tensors, out.tensors);
        QVERIFY2(difference <= 1e-10, qPrintable(QString::number(difference)));
    }

    void sharesByHandChangeNothing_data() {
        QTest::addColumn<QString>("shares");
        QTest::addColumn<int>("accumulation");
        for (const char* shares : {"2,1", "1,5", "3,2,1", "1,100", "0.1,0.1,0.8", "7,1,1,1"}) {
            for (const int accumulation : {1, 3})
                QTest::addRow("%s in %d", shares, accumulation) << shares << accumulation;
        }
    }

    // Also where a device gets nothing, in a full batch or in the short last one.
    void sharesByHandChangeNothing() {
        QFETCH(QString, shares);
        QFETCH(int, accumulation);
        TrialSpec spec = smallSpec("lenet5", "reference:1");
        spec.batch = 15;
        spec.epochs = 2;
        const Run one = run(requestFor(spec));
        spec.devices = "reference:" + std::to_string(shares.count(',') + 1);
        spec.shares = shares.toStdString();
        spec.accumulation = accumulation;
        RunRequest request = requestFor(spec);
        request.hashes = true;
        const Run many = run(std::move(request));
        QCOMPARE(many.result.outcome, RunResult::Outcome::Finished);
        const double difference = relativeDifference(one.tensors, many.tensors);
        QVERIFY2(difference <= 1e-12, qPrintable(QString::number(difference)));
        for (const auto& [step, hashes] : many.hashes) {
            for (const std::uint64_t hash : hashes) QCOMPARE(hash, hashes.front());
        }
        const auto steps = one.recorder.all<StepDone>(), others = many.recorder.all<StepDone>();
        for (std::size_t i = 0; i < steps.size(); ++i) QCOMPARE(others[i].accuracy, steps[i].accuracy);
        QCOMPARE(many.recorder.all<EvalDone>().back().accuracy, one.recorder.all<EvalDone>().back().accuracy);
    }

    void stragglersAreNamed_data() {
        QTest::addColumn<std::vector<RankLoad>>("loads");
        QTest::addColumn<int>("rank");
        QTest::addColumn<QString>("cause");
        QTest::addColumn<double>("seconds");
        const auto row = [](const char* name, std::vector<RankLoad> loads, int rank, const char* cause,
                            double seconds) { QTest::newRow(name) << std::move(loads) << rank << cause << seconds; };
        row("even", {{1, 0.1, 0}, {1, 0.1, 0}, {1, 0.1, 0}}, -1, "", 0);
        row("hardly", {{1, 0.1, 0}, {1.05, 0.05, 0}}, -1, "", 0);
        row("compute", {{1, 0.6, 0}, {1.5, 0.1, 0}, {1.1, 0.5, 0}}, 1, "compute", 0.4);
        row("data", {{1, 0.1, 0.5}, {1, 0.6, 0}, {1, 0.6, 0}}, 0, "data", 0.5);
        row("collective", {{1, 0.1, 0}, {1, 0.1, 0}, {1, 0.6, 0}}, 2, "collective", 0.5);
    }

    void stragglersAreNamed() {
        QFETCH(std::vector<RankLoad>, loads);
        QFETCH(int, rank);
        QFETCH(QString, cause);
        QFETCH(double, seconds);
        LoadMeter meter(std::vector<std::int64_t>(loads.size(), 8));
        for (int look = 1; look <= 12; ++look) {
            for (int step = 0; step < 50; ++step) {
                QVERIFY(!meter.straggler(step));
                meter.add(loads);
            }
            const auto found = meter.straggler(50);
            QCOMPARE(found.has_value(), rank >= 0 && look == 3);  // it lasts, and the same is not told again
            if (!found) continue;
            QCOMPARE(found->rank, rank);
            QCOMPARE(QString::fromStdString(found->cause), cause);
            QVERIFY(std::abs(found->seconds - seconds) < 1e-9);
            QVERIFY(std::abs(found->share - seconds / 1.6) < 1e-9);
        }
    }

    // One millisecond an update: ranks that change places every tenth of a second, or twice a second, cost nothing that
    // anybody could mend.
    void chanceIsNoStraggler() {
        for (const int swapped : {100, 500, 3000}) {
            Straggling run;
            for (int update = 0; update < 60'000; ++update) run.update(update / swapped % 2, 0.4);
            QVERIFY2(run.named.empty(), qPrintable(QString("every %1 updates: %2").arg(swapped).arg(run.named.size())));
            QVERIFY(run.meter.heldUp().empty());
        }
    }

    // Some seconds of it are told of once; a minute later it is told of again if it has cost as much again.
    void aStragglerIsToldOfWhereItLasts() {
        Straggling run;
        run.updates(5'000, 1, 0.3);
        QVERIFY(run.named.empty());
        run.updates(5'000, 1, 0.3);
        QCOMPARE(run.named, std::vector<int>{1});
        run.updates(20'000, 1, 0.07);  // no more than it takes to stay one
        QCOMPARE(run.named.size(), std::size_t{1});
        run.updates(20'000, 1, 0);
        run.updates(10'000, 0, 0.3);
        QCOMPARE(run.named, (std::vector<int>{1, 0}));
        const auto told = run.meter.heldUp();
        QVERIFY2(std::abs(told[0] - 3) < 0.7 && std::abs(told[1] - 4.4) < 0.7,
                 qPrintable(QString("%1 %2").arg(told[0]).arg(told[1])));
    }

    // An hour of comings and goings is a handful of messages.
    void whatComesAndGoesIsToldOfWhenItsCostDoubles() {
        Straggling run;
        for (int minute = 0; minute < 60; ++minute) {
            run.updates(30'000, 1, 0.3);
            run.updates(30'000, 1, 0);
        }
        QVERIFY2(run.named.size() >= 4 && run.named.size() <= 8, qPrintable(QString::number(run.named.size())));
        QVERIFY(std::abs(run.meter.heldUp()[1] - 60 * 9) < 60);
    }

    void aStragglerIsAnEvent() {
        TrialSpec spec = smallSpec("mlp", "reference:3");
        spec.epochs = 40;
        RunRequest request = requestFor(spec);
        request.options.beforeStep = [](int rank, std::int64_t, std::size_t programStep) {
            if (rank == 2 && programStep == 3) std::this_thread::sleep_for(std::chrono::milliseconds(40));
        };
        const auto out = run(std::move(request));
        const auto found = out.recorder.all<StragglerFound>();
        QCOMPARE(found.size(), std::size_t{1});
        QCOMPARE(found[0].rank, 2);
        QCOMPARE(found[0].cause, std::string("compute"));
        QVERIFY(found[0].seconds > 0.01 && found[0].share > 0.1 && found[0].share < 1);
        QCOMPARE(out.result.finished.heldUp.size(), std::size_t{3});
        QVERIFY(out.result.finished.heldUp[2] > 5 && out.result.finished.heldUp[0] == 0);
    }

    void sharesFollowTheRates() {
        LoadMeter meter({60, 40}, true);
        for (int step = 0; step < 20; ++step) {
            QVERIFY(!meter.wantsBalance() && meter.balancedShares().empty());
            meter.add(std::vector<RankLoad>{{3, 0, 0}, {1, 2, 0}});
        }
        QCOMPARE(meter.balancedShares(), (std::vector<double>{0.5, 1}));
        QVERIFY(meter.wantsBalance());
        LoadMeter even({64, 64}, true);
        for (int step = 0; step < 20; ++step) even.add(std::vector<RankLoad>{{1, 0.04, 0}, {1.04, 0, 0}});
        QVERIFY(!even.wantsBalance());
    }
};

QTEST_GUILESS_MAIN(TstElastic)
#include "tst_elastic.moc"
