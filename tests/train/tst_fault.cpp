#include <sys/resource.h>

#include <QtTest>
#include <chrono>
#include <csignal>
#include <limits>
#include <new>

#include "engine/core/error.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

using Clock = std::chrono::steady_clock;

std::int64_t programSteps(const TrialSpec& spec, const DatasetSplits& data) {
    const RunPlan plan = planRun(resolved(spec), data.train->info(), data.test->info());
    return static_cast<std::int64_t>(plan.ranks.front().training->steps.size());
}

}  // namespace

class TstFault : public QObject {
    Q_OBJECT

private:
    static RunFailed expectFailure(const Run& out) {
        if (out.result.outcome != RunResult::Outcome::Failed) qFatal("the run did not fail");
        const auto failures = out.recorder.all<RunFailed>();
        if (failures.size() != 1 || !std::holds_alternative<RunFailed>(out.recorder.events.back()))
            qFatal("not exactly one failure at the end: %s", out.recorder.order().c_str());
        return failures.front();
    }

private slots:
    void anExceptionInAnyRankEndsAll_data() {
        QTest::addColumn<QString>("backend");
        QTest::newRow("null") << "null";
        QTest::newRow("reference") << "reference";
        if (hasCpuBackend()) QTest::newRow("cpu") << "cpu";
    }

    void anExceptionInAnyRankEndsAll() {
        QFETCH(QString, backend);
        TrialSpec spec = smallSpec("mlp", (backend + ":4").toStdString());
        spec.onLostDevice = "stop";
        const DatasetSplits data = patterns(34, 9);
        const std::int64_t steps = programSteps(spec, data);
        for (int culprit = 0; culprit < 4; ++culprit) {
            for (std::int64_t at = 0; at < steps; at += backend == "null" ? 1 : 7) {
                std::atomic<Clock::rep> thrown{0};
                RunRequest request{.spec = spec, .data = data, .options = {}, .onEvent = {}};
                request.options.beforeStep = [&](int rank, std::int64_t step, std::size_t programStep) {
                    if (rank != culprit || step != 3 || programStep != static_cast<std::size_t>(at)) return;
                    thrown = Clock::now().time_since_epoch().count();
                    throw EngineError(EngineError::Kind::Device, "dense hidden1", "the card fell off the bus");
                };
                const RunFailed failure = expectFailure(run(std::move(request)));
                const auto took = Clock::now().time_since_epoch() - Clock::duration(thrown.load());
                QVERIFY(took < std::chrono::seconds(1));
                QCOMPARE(failure.rank, culprit);
                QCOMPARE(failure.kind, std::string("device"));
                QCOMPARE(failure.where, std::string("dense hidden1"));
                QCOMPARE(failure.what, std::string("the card fell off the bus"));
                QCOMPARE(failure.step, 3);
            }
        }
    }

    void theFirstOfTwoFailuresIsReported() {
        RunRequest request{.spec = smallSpec("mlp", "null:3"), .data = patterns(34, 9), .options = {}, .onEvent = {}};
        request.options.beforeStep = [](int rank, std::int64_t step, std::size_t programStep) {
            if (programStep == 0 && step == (rank == 2 ? 1 : 2))
                throw EngineError(EngineError::Kind::Internal, "", "rank " + std::to_string(rank));
        };
        QCOMPARE(expectFailure(run(std::move(request))).what, std::string("rank 2"));
    }

    void outOfMemoryHasItsKind() {
        RunRequest request{.spec = smallSpec("mlp", "null:2"), .data = patterns(34, 9), .options = {}, .onEvent = {}};
        request.options.beforeStep = [](int rank, std::int64_t, std::size_t) {
            if (rank == 1) throw std::bad_alloc();
        };
        const RunFailed failure = expectFailure(run(std::move(request)));
        QCOMPARE(failure.kind, std::string("out-of-memory"));
        QCOMPARE(failure.rank, 1);
    }

    void anUnreadableSampleEndsTheRun() {
        auto train = std::make_shared<PatternDataset>(40, ImageShape{1, 12, 12}, 4, 1);
        train->beforeRead = [](std::int64_t index) {
            if (index == 17) throw EngineError(EngineError::Kind::Io, "/data/17.png", "cannot read /data/17.png");
        };
        const RunFailed failure = expectFailure(run({.spec = smallSpec("mlp", "reference:3"),
                                                     .data = {train, patterns(1, 9).test},
                                                     .options = {},
                                                     .onEvent = {}}));
        QCOMPARE(failure.kind, std::string("io"));
        QCOMPARE(failure.where, std::string("/data/17.png"));
        QVERIFY(failure.rank >= 0);
    }

    void problemsOfPlanningAreFailuresToo() {
        const Run out = run({.spec = smallSpec("mlp", "null:2"), .data = patterns(5, 9), .options = {}, .onEvent = {}});
        const RunFailed failure = expectFailure(out);
        QCOMPARE(failure.kind, std::string("spec.batch-too-large"));
        QCOMPARE(failure.where, std::string("batch"));
        QCOMPARE(failure.rank, -1);
        QVERIFY(problemIn(failure) == (Problem{"batch", "spec.batch-too-large", {"8", "patterns", "5"}}));
    }

    // A sample that a person can repair, found by a reader in the middle of a run: its arguments arrive one by one.
    void aProblemOfARankArrivesWhole() {
        const Problem problem{"/data/17.png", "png.damaged", {"a, b", "", "c"}};
        auto train = std::make_shared<PatternDataset>(40, ImageShape{1, 12, 12}, 4, 1);
        train->beforeRead = [&](std::int64_t index) {
            if (index == 17) throw ProblemError(problem);
        };
        const RunFailed failure = expectFailure(run({.spec = smallSpec("mlp", "reference:3"),
                                                     .data = {train, patterns(1, 9).test},
                                                     .options = {},
                                                     .onEvent = {}}));
        QVERIFY(problemIn(failure) == problem);
        QVERIFY(failure.rank >= 0);
    }

    // The weights go bad, alike on all ranks: the gradients are not finite, so no rank may apply the update.
    void nonFiniteGradientsSkipTheUpdateEverywhere() {
        QTemporaryDir folder;
        std::mutex mutex;
        std::map<int, std::map<std::string, HostTensor>> before;
        RunRequest request{
            .spec = smallSpec("mlp", "reference:3"), .data = patterns(34, 9), .options = {}, .onEvent = {}};
        request.options.checkpointFolder = folder.path().toStdString();
        std::int64_t reached = 0;
        request.options.afterStep = [&](int, std::int64_t step, Replica& replica) {
            const std::lock_guard lock(mutex);
            reached = std::max(reached, step);
            if (step != 7) return;
            HostTensor weights = replica.read("head/weight");
            weights.as<double>()[3] = std::numeric_limits<double>::quiet_NaN();
            replica.write("head/weight", weights);
        };
        const Run out = run(std::move(request));
        const RunFailed failure = expectFailure(out);
        QCOMPARE(failure.kind, std::string("non-finite"));
        QCOMPARE(failure.rank, -1);
        QCOMPARE(failure.step, 7);
        QCOMPARE(failure.where, std::string("loss"));
        QVERIFY(QString::fromStdString(failure.what).contains("update 8"));
        QVERIFY(QString::fromStdString(failure.what).contains("with learning rate 0."));
        QCOMPARE(reached, 7);
        const auto kept = readCheckpoint(std::filesystem::path(folder.path().toStdString()) / "last.safetensors");
        QVERIFY(kept.ok());
        QCOMPARE(kept.value().step, 5);
    }

    // The same on all ranks, as above, but the policy is to go on: one warning, no update, no step, never "best".
    void nonFiniteUpdatesCanBeSkipped() {
        TrialSpec spec = smallSpec("mlp", "reference:3");
        spec.onNonFinite = "skip";
        const DatasetSplits data = patterns(34, 9);
        spec.learningRate = 1000;
        spec.optimizer.params = {{"weight_decay", 10.0}};  // grows a ten-thousandfold each update
        spec.epochs = 200;
        const Run out = run({.spec = spec, .data = data, .options = {}, .onEvent = {}});
        const RunFailed failure = expectFailure(out);  // ten in a row are enough
        QCOMPARE(failure.kind, std::string("non-finite"));
        const auto warnings = out.recorder.all<Message>();
        QCOMPARE(warnings.size(), std::size_t{9});
        for (const Message& each : warnings) QCOMPARE(each.text.code, std::string("run.update-skipped"));
        for (const EvalDone& each : out.recorder.all<EvalDone>()) QVERIFY(!each.best || std::isfinite(each.loss));
    }

    // Weights that are not numbers (alike on all ranks) after an epoch's last update: its evaluation is nobody's best.
    void whatIsNotANumberIsNeverBest() {
        RunRequest request{
            .spec = smallSpec("mlp", "reference:2"), .data = patterns(34, 9), .options = {}, .onEvent = {}};
        request.options.afterStep = [](int, std::int64_t step, Replica& replica) {
            if (step != 5) return;
            HostTensor weights = replica.read("head/weight");
            std::ranges::fill(weights.as<double>(), std::numeric_limits<double>::quiet_NaN());
            replica.write("head/weight", weights);
        };
        const Run out = run(std::move(request));
        const auto evaluations = out.recorder.all<EvalDone>();
        QVERIFY(!evaluations.empty() && !std::isfinite(evaluations.front().loss));
        for (const EvalDone& each : evaluations) QVERIFY(!each.best);
    }

    // Decay times rate is far above 2, so weights grow a ten-thousandfold each update.
    void anOverflowingRateIsNonFinite() {
        TrialSpec spec = smallSpec("mlp", "reference:2");
        spec.learningRate = 1000;
        spec.optimizer.params = {{"weight_decay", 10.0}};
        spec.epochs = 200;
        const RunFailed failure =
            expectFailure(run({.spec = spec, .data = patterns(34, 9), .options = {}, .onEvent = {}}));
        QCOMPARE(failure.kind, std::string("non-finite"));
        QVERIFY(failure.step > 0);
    }

    void aFullOrMissingDiskIsNamed() {
        RunRequest request{.spec = smallSpec("mlp", "null:2"), .data = patterns(34, 9), .options = {}, .onEvent = {}};
        request.options.checkpointFolder = "/proc/nowhere";
        const RunFailed failure = expectFailure(run(std::move(request)));
        QCOMPARE(failure.kind, std::string("io"));
        QVERIFY(QString::fromStdString(failure.what).contains("/proc/nowhere"));
    }

    // Of the second epoch, whose write is short and then fails: files may not grow any more. The first one's stays.
    void aCheckpointWithoutRoomEndsTheRun() {
        QTemporaryDir folder;
        const auto file = std::filesystem::path(folder.path().toStdString()) / "last.safetensors";
        std::signal(SIGXFSZ, SIG_IGN);
        rlimit before{};
        getrlimit(RLIMIT_FSIZE, &before);
        RunRequest request{
            .spec = smallSpec("mlp", "reference:2"), .data = patterns(34, 9), .options = {}, .onEvent = {}};
        request.options.checkpointFolder = folder.path().toStdString();
        request.options.afterStep = [&](int, std::int64_t step, Replica&) {
            const rlimit small{1000, before.rlim_max};
            if (step == 7) setrlimit(RLIMIT_FSIZE, &small);
        };
        const Run out = run(std::move(request));
        setrlimit(RLIMIT_FSIZE, &before);
        const RunFailed failure = expectFailure(out);
        QCOMPARE(failure.kind, std::string("io"));
        QVERIFY2(QString::fromStdString(failure.what).contains("File too large"), failure.what.c_str());
        QVERIFY(QString::fromStdString(failure.where).startsWith(folder.path()));
        const auto kept = readCheckpoint(file);
        QVERIFY(kept.ok());
        QCOMPARE(kept.value().step, 5);
        for (const auto& entry : std::filesystem::directory_iterator(file.parent_path()))
            QCOMPARE(entry.path().extension(), std::filesystem::path(".safetensors"));
    }
};

QTEST_APPLESS_MAIN(TstFault)
#include "tst_fault.moc"
