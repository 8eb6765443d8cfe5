#include <rapidcheck.h>

#include <QtTest>

#include <atomic>

#include "engine/core/error.h"
#include "tests/train/norm_world.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;

Q_DECLARE_METATYPE(Shares)

namespace {

const Backend& backendNamed(const char* name) { return *testEnvironment().backend(name); }

// The largest difference after any step: of parameters, statistics and momenta, of gradients, of the loss.
double differenceFromOne(const NormWorld& world) {
    const NormWorld::Result one = world.onOneDevice().run(), many = world.run();
    double worst = 0;
    for (std::size_t step = 0; step < one.losses.size(); ++step) {
        worst = std::max({worst, relativeDifference(one.tensors[step], many.tensors[step]),
                          relativeDifference(one.gradients[step], many.gradients[step]),
                          std::abs(one.losses[step] - many.losses[step]) / one.losses[step]});
    }
    for (const auto& hashes : many.hashes) {
        if (std::ranges::count(hashes, hashes.front()) != std::ssize(hashes))
            throw std::runtime_error("replicas differ");
    }
    return worst;
}

void shareRows() {
    QTest::addColumn<Shares>("shares");
    QTest::newRow("halves") << Shares{{4}, {4}};
    QTest::newRow("unequal") << Shares{{5}, {2}, {1}};
    QTest::newRow("a rank without samples") << Shares{{4}, {0}, {3}};
    QTest::newRow("most ranks without samples") << Shares{{0}, {0}, {2}, {0}};
    QTest::newRow("single samples") << Shares{{1}, {1}, {1}, {1}};
    QTest::newRow("sixteen and one") << Shares{{16}, {1}};
    QTest::newRow("accumulated") << Shares{{3, 2}, {2, 2}};
    QTest::newRow("accumulated, empty passes") << Shares{{3, 2, 1}, {2, 1, 0}, {1, 0, 0}};
    QTest::newRow("accumulated, empty rank") << Shares{{3, 3, 2}, {0, 0, 0}, {2, 2, 0}};
    QTest::newRow("a pass that nobody has") << Shares{{2, 1, 0}, {2, 0, 0}};
}

Run trained(const TrialSpec& spec, std::int64_t samples) {
    Run out = run({.spec = spec, .data = patterns(samples, 7), .options = {}, .onEvent = {}, .hashes = true});
    if (out.result.outcome != RunResult::Outcome::Finished) qWarning("%s", out.result.failed.what.c_str());
    return out;
}

TrialSpec synchronised(const std::string& devices) {
    TrialSpec spec = smallSpec("fashion-cnn", devices);
    spec.batchNorm = "synchronised";
    return spec;
}

}  // namespace

class TstSyncNorm : public QObject {
    Q_OBJECT

private slots:
    void devicesEqualOne_data() { shareRows(); }
    void devicesEqualOne() {
        QFETCH(Shares, shares);
        const double difference =
            differenceFromOne({.backend = &backendNamed("reference"), .model = smallNormModel(), .shares = shares});
        QVERIFY2(difference <= 1e-12, qPrintable(QString::number(difference)));
    }

    void flatActivations() {
        const auto difference = [](const char* backend, int steps) {
            return differenceFromOne({.backend = &backendNamed(backend),
                                      .model = flatNormModel(),
                                      .shares = {{21, 17}, {0, 0}, {5, 4}},
                                      .steps = steps});
        };
        QVERIFY(difference("reference", 3) <= 1e-12);
        if (hasCpuBackend()) QVERIFY(difference("cpu", 1) <= 1e-5);
    }

    void devicesEqualOneOnTheCpu_data() { shareRows(); }
    void devicesEqualOneOnTheCpu() {
        if (!hasCpuBackend()) QSKIP("this build has no CPU backend");
        QFETCH(Shares, shares);
        const double difference = differenceFromOne(
            {.backend = &backendNamed("cpu"), .model = smallNormModel(), .shares = shares, .steps = 1});
        QVERIFY2(difference <= 1e-5, qPrintable(QString::number(difference)));
    }

    void localNormsDoNot_data() {
        QTest::addColumn<Shares>("shares");
        QTest::newRow("halves") << Shares{{4}, {4}};
        QTest::newRow("unequal") << Shares{{5}, {2}, {1}};
        QTest::newRow("accumulated") << Shares{{3, 2}, {2, 2}};
    }
    void localNormsDoNot() {
        QFETCH(Shares, shares);
        const double difference = differenceFromOne({.backend = &backendNamed("reference"),
                                                     .model = smallNormModel(),
                                                     .shares = shares,
                                                     .synchronises = false,
                                                     .steps = 1});
        QVERIFY2(difference > 1e-2, qPrintable(QString::number(difference)));
    }

    void anyDivisionEqualsOneDevice() {
        QVERIFY(rc::check("the same passes, divided otherwise", [] {
            const auto world = *rc::gen::inRange<std::size_t>(1, 5), passes = *rc::gen::inRange<std::size_t>(1, 4);
            const auto samples = rc::gen::inRange<std::int64_t>(0, 5);
            Shares shares;
            for (std::size_t rank = 0; rank < world; ++rank) {
                auto counts = *rc::gen::container<std::vector<std::int64_t>>(passes, samples);
                // As a partition gives them: the larger passes first.
                std::ranges::sort(counts, std::greater<>());
                shares.push_back(counts);
            }
            shares[0][0] += 2;
            const double difference = differenceFromOne(
                {.backend = &backendNamed("reference"), .model = smallNormModel(), .shares = shares, .steps = 2});
            RC_ASSERT(difference <= 1e-12);
        }));
    }

    void aResidualNetworkEqualsOneDevice() {
        if (!hasCpuBackend()) QSKIP("this build has no CPU backend");
        const double difference = differenceFromOne({.backend = &backendNamed("cpu"),
                                                     .model = *findModel(builtinModels(), "resnet18-cifar"),
                                                     .shares = {{3, 2}, {3, 0}},
                                                     .steps = 1});
        QVERIFY2(difference <= 1e-5, qPrintable(QString::number(difference)));
    }

    void runsEqualOneDevice_data() {
        QTest::addColumn<int>("devices");
        QTest::addColumn<int>("samples");
        QTest::addColumn<QString>("shares");
        for (const int devices : {2, 3, 4}) {
            QTest::addRow("%d devices, short last batch", devices) << devices << 21 << "";
            QTest::addRow("%d devices, ranks without samples", devices) << devices << 17 << "";
        }
        QTest::newRow("unequal shares") << 3 << 21 << "3,1,2";
        QTest::newRow("a share that is often empty") << 2 << 18 << "20,1";
    }

    void runsEqualOneDevice() {
        QFETCH(int, devices);
        QFETCH(int, samples);
        QFETCH(QString, shares);
        const Run one = trained(synchronised("reference:1"), samples);
        TrialSpec spec = synchronised("reference:" + std::to_string(devices));
        spec.shares = shares.toStdString();
        const Run many = trained(spec, samples);
        QCOMPARE(many.result.outcome, RunResult::Outcome::Finished);
        const double difference = relativeDifference(one.tensors, many.tensors);
        QVERIFY2(difference <= 1e-12, qPrintable(QString::number(difference)));
        const auto steps = one.recorder.all<StepDone>(), others = many.recorder.all<StepDone>();
        QCOMPARE(others.size(), steps.size());
        for (std::size_t i = 0; i < steps.size(); ++i) {
            QVERIFY(std::abs(others[i].loss - steps[i].loss) <= 1e-12 * steps[i].loss);
            QVERIFY(std::abs(others[i].gradientNorm - steps[i].gradientNorm) <= 1e-11 * steps[i].gradientNorm);
        }
        for (const auto& [step, hashes] : many.hashes)
            for (const std::uint64_t hash : hashes) QCOMPARE(hash, hashes.front());
        const EvalDone test = one.recorder.all<EvalDone>().back(), other = many.recorder.all<EvalDone>().back();
        QCOMPARE(other.accuracy, test.accuracy);
        QVERIFY(std::abs(other.loss - test.loss) <= 1e-12 * test.loss);
    }

    void aRunGoesOnWithAnotherNumberOfDevices() {
        QTemporaryDir folder;
        const Run unbroken = trained(synchronised("reference:1"), 21);
        RunRequest request{.spec = synchronised("reference:2"), .data = patterns(21, 7), .options = {}, .onEvent = {}};
        request.options.checkpointFolder = folder.path().toStdString();
        request.onEvent = [](const TrainEvent& event, RunControl& control) {
            const auto* step = std::get_if<StepDone>(&event);
            if (step && step->step == 2) control.stop();
        };
        run(std::move(request));
        for (const int devices : {1, 3}) {
            auto checkpoint = readCheckpoint(folder.path().toStdString() + "/last.safetensors");
            QVERIFY(checkpoint.ok());
            QVERIFY(checkpoint.value().step < 6);
            RunRequest rest{.spec = synchronised("reference:" + std::to_string(devices)),
                            .data = patterns(21, 7),
                            .options = {},
                            .onEvent = {}};
            rest.options.resumeFrom = std::move(checkpoint).value();
            const double difference = relativeDifference(unbroken.tensors, run(std::move(rest)).tensors);
            QVERIFY2(difference <= 1e-12, qPrintable(QString::number(difference)));
        }
    }

    void whatNormsAreOverIsRecorded() {
        const DatasetSplits data = patterns(21, 7);
        const auto recorded = [&](const TrialSpec& spec) {
            return planRun(resolved(spec), data.train->info(), data.test->info()).batchNorm;
        };
        TrialSpec spec = synchronised("reference:2");
        QCOMPARE(recorded(spec), std::string("synchronised"));
        spec.devices = "reference:1";
        QCOMPARE(recorded(spec), std::string("synchronised"));
        spec.model = smallSpec("mlp", "reference:2").model;
        QCOMPARE(recorded(spec), std::string());
        spec = smallSpec("fashion-cnn", "reference:2");
        QCOMPARE(recorded(spec), std::string("local"));
        spec.mode = "reproducible";
        QCOMPARE(recorded(spec), std::string("per shard"));
    }

    // At a synchronisation point the others wait inside a pass.
    void aFailureAtAnyPointEndsAll() {
        TrialSpec spec = synchronised("null:3");
        spec.onLostDevice = "stop";
        const DatasetSplits data = patterns(17, 7);
        const RunPlan plan = planRun(resolved(spec), data.train->info(), data.test->info());
        QVERIFY(plan.ranks[2].lastTraining->passes.front().graph == nullptr);
        for (int culprit = 0; culprit < 3; ++culprit) {
            for (const bool last : {false, true}) {
                const RankPrograms& programs = plan.ranks[static_cast<std::size_t>(culprit)];
                const std::size_t steps = (last ? programs.lastTraining : programs.training)->steps.size();
                for (std::size_t at = 0; at < steps; at += 3) {
                    std::atomic<std::int64_t> thrown{0};
                    RunRequest request{.spec = spec, .data = data, .options = {}, .onEvent = {}};
                    request.options.beforeStep = [&](int rank, std::int64_t step, std::size_t programStep) {
                        if (rank != culprit || step != (last ? 2 : 1) || programStep != at) return;
                        thrown = traceNow();
                        throw EngineError(EngineError::Kind::Device, "batch norm", "the card fell off the bus");
                    };
                    const Run out = run(std::move(request));
                    QCOMPARE(out.result.outcome, RunResult::Outcome::Failed);
                    QVERIFY(traceNow() - thrown.load() < 1'000'000'000);
                    QCOMPARE(out.result.failed.rank, culprit);
                    QCOMPARE(out.result.failed.what, std::string("the card fell off the bus"));
                }
            }
        }
    }
};

QTEST_APPLESS_MAIN(TstSyncNorm)
#include "tst_sync_norm.moc"
