#include <QtTest>

#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

DatasetInfo info(std::int64_t count, int classes = 4) { return PatternDataset(count, {1, 12, 12}, classes, 1).info(); }

std::string codeOf(const std::function<void()>& act) {
    try {
        act();
    } catch (const ProblemError& error) {
        return error.problem().code;
    }
    return "";
}

}  // namespace

class TstPlanRun : public QObject {
    Q_OBJECT

private slots:
    void aGoodSpecHasNoProblems() { QVERIFY(validate(smallSpec("mlp", "reference:2"), testEnvironment()).empty()); }

    void everyProblemHasItsField_data() {
        QTest::addColumn<QString>("field");
        QTest::addColumn<QString>("code");
        QTest::addColumn<std::function<void(TrialSpec&)>>("spoil");
        const auto row = [](const char* name, const char* field, const char* code,
                            std::function<void(TrialSpec&)> spoil) {
            QTest::newRow(name) << QString(field) << QString(code) << spoil;
        };
        row("model", "model", "spec.unknown-model", [](TrialSpec& s) { s.model.id = "mlpp"; });
        row("model setting", "model.width", "spec.out-of-range",
            [](TrialSpec& s) { s.model.params["width"] = std::int64_t{0}; });
        row("dataset", "dataset", "spec.unknown-dataset", [](TrialSpec& s) { s.dataset.id = "imagenet"; });
        row("path", "dataset.path", "spec.no-data-path", [](TrialSpec& s) { s.dataset.id = "filed"; });
        row("optimizer", "optimizer", "spec.unknown-optimizer", [](TrialSpec& s) { s.optimizer.id = "adam"; });
        row("optimizer setting", "optimizer.momentmu", "spec.unknown-key",
            [](TrialSpec& s) { s.optimizer.params["momentmu"] = 0.9; });
        row("schedule", "schedule", "spec.unknown-schedule", [](TrialSpec& s) { s.schedule.id = "linear"; });
        row("schedule setting", "schedule.warmup", "spec.out-of-range",
            [](TrialSpec& s) { s.schedule.params["warmup"] = -1.0; });
        row("augmentation", "augmentation.rotate", "spec.unknown-key",
            [](TrialSpec& s) { s.augmentation["rotate"] = true; });
        row("augmented text", "augmentation", "spec.augmentation-of-text", [](TrialSpec& s) {
            s.model = {"gpt", {}};
            s.augmentation["mixup"] = 0.2;
        });
        row("no batch", "batch", "spec.out-of-range", [](TrialSpec& s) { s.batch = 0; });
        row("small batch", "batch", "spec.batch-too-small", [](TrialSpec& s) { s.batch = 1; });
        row("epochs", "epochs", "spec.out-of-range", [](TrialSpec& s) { s.epochs = 0; });
        row("rate", "learning_rate", "spec.out-of-range", [](TrialSpec& s) { s.learningRate = -0.1; });
        row("rate not a number", "learning_rate", "spec.out-of-range", [](TrialSpec& s) { s.learningRate = NAN; });
        row("smoothing", "label_smoothing", "spec.out-of-range", [](TrialSpec& s) { s.labelSmoothing = 1; });
        row("averages that never move", "average_decay", "spec.out-of-range", [](TrialSpec& s) { s.averageDecay = 1; });
        row("negative average", "average_decay", "spec.out-of-range", [](TrialSpec& s) { s.averageDecay = -0.1; });
        row("average not a number", "average_decay", "spec.out-of-range", [](TrialSpec& s) { s.averageDecay = NAN; });
        row("mode", "mode", "spec.not-a-choice", [](TrialSpec& s) { s.mode = "slow"; });
        row("recompute", "recompute", "spec.not-a-choice", [](TrialSpec& s) { s.recompute = "all"; });
        row("precision", "precision", "spec.not-a-choice", [](TrialSpec& s) { s.precision = "fp8"; });
        row("accumulation", "accumulation", "spec.out-of-range", [](TrialSpec& s) { s.accumulation = 0; });
        row("too many passes", "batch", "spec.batch-below-accumulation", [](TrialSpec& s) { s.accumulation = 5; });
        row("passes of shards", "accumulation", "spec.accumulation-of-shards", [](TrialSpec& s) {
            s.mode = "reproducible";
            s.accumulation = 2;
        });
        const auto reproducible = [&](const char* name, const char* field, const char* code, std::int64_t batch,
                                      std::int64_t shards, const char* devices) {
            row(name, field, code, [=](TrialSpec& s) {
                s.mode = "reproducible";
                s.batch = batch;
                s.shards = shards;
                s.devices = devices;
            });
        };
        reproducible("no shards", "shards", "spec.out-of-range", 8, 0, "reference:2");
        reproducible("six shards", "shards", "spec.shards-not-a-power", 8, 6, "reference:2");
        reproducible("three devices", "devices", "spec.shards-undivided", 8, 8, "reference:3");
        reproducible("more devices than shards", "devices", "spec.shards-undivided", 8, 2, "reference:4");
        reproducible("batch below shards", "batch", "spec.batch-below-shards", 7, 8, "reference:2");
        row("synchronised shards", "batch_norm", "spec.synchronised-shards", [](TrialSpec& s) {
            s.mode = "reproducible";
            s.shards = 2;
            s.batchNorm = "synchronised";
        });
        row("shares of shards", "shares", "spec.shares-of-shards", [](TrialSpec& s) {
            s.mode = "reproducible";
            s.shards = 2;
            s.shares = "2,1";
        });
        row("shares", "shares", "spec.shares-syntax", [](TrialSpec& s) { s.shares = "2,x"; });
        row("no share", "shares", "spec.shares-syntax", [](TrialSpec& s) { s.shares = "2,0"; });
        row("too few shares", "shares", "spec.shares-count", [](TrialSpec& s) { s.shares = "2"; });
        row("rule", "learning_rate_rule", "spec.not-a-choice", [](TrialSpec& s) { s.learningRateRule = "cubic"; });
        row("batch norm", "batch_norm", "spec.not-a-choice", [](TrialSpec& s) { s.batchNorm = "global"; });
        row("checkpoint minutes", "checkpoint_minutes", "spec.out-of-range",
            [](TrialSpec& s) { s.checkpointMinutes = -1; });
        for (const char* kept :
             {"", "best", "best:", "best:0", "best:-1", "best:03", "best:3x", "best:1000001", "worst:2"})
            row(qPrintable(QString("kept: %1").arg(kept)), "keep_checkpoints", "spec.keep-checkpoints",
                [kept](TrialSpec& s) { s.keepCheckpoints = kept; });
        row("check", "check_every", "spec.out-of-range", [](TrialSpec& s) { s.checkEvery = -1; });
        row("timeout", "timeout", "spec.out-of-range", [](TrialSpec& s) { s.timeout = 0; });
        row("link", "link_bandwidth", "spec.out-of-range", [](TrialSpec& s) { s.linkBandwidth = -1; });
        row("shard threads", "shard_threads", "spec.out-of-range", [](TrialSpec& s) { s.shardThreads = 0; });
        row("bucket", "bucket_bytes", "spec.out-of-range", [](TrialSpec& s) { s.bucketBytes = 1; });
        row("loader limit", "loader_limit", "spec.loader-limit", [](TrialSpec& s) { s.loaderLimit = 1e-9; });
        row("loader", "loader_threads", "spec.out-of-range", [](TrialSpec& s) { s.loaderThreads = -1; });
        row("devices", "devices", "devices.syntax", [](TrialSpec& s) { s.devices = "reference:x"; });
    }

    void everyProblemHasItsField() {
        QFETCH(QString, field);
        QFETCH(QString, code);
        QFETCH(std::function<void(TrialSpec&)>, spoil);
        TrialSpec spec = smallSpec("mlp", "reference:2");
        spoil(spec);
        const auto problems = validate(spec, testEnvironment());
        QCOMPARE(problems.size(), std::size_t{1});
        QCOMPARE(QString::fromStdString(problems[0].field), field);
        QCOMPARE(QString::fromStdString(problems[0].code), code);
    }

    void shardsHaveTheSameKernelThreadsEverywhere() {
        TrialSpec spec = smallSpec("mlp", "reference:2");
        spec.mode = "reproducible";
        spec.shardThreads = 3;
        for (const char* devices : {"reference:1", "reference:2", "reference:4"}) {
            spec.devices = devices;
            for (const DeviceChoice& device : resolved(spec).devices) QCOMPARE(device.threads, 3);
        }
    }

    void problemsAreReportedTogether() {
        TrialSpec spec = smallSpec("none", "reference:2");
        spec.epochs = -3;
        spec.schedule.id = "none";
        const auto problems = validate(spec, testEnvironment());
        QCOMPARE(problems.size(), std::size_t{3});
        QVERIFY(problems[0].args[1].find("lenet5") != std::string::npos);
    }

    void dataThatCannotBeTrainedOn() {
        const ResolvedSpec spec = resolved(smallSpec("mlp", "reference:2"));
        QCOMPARE(codeOf([&] { planRun(spec, info(7), info(7)); }), std::string("spec.batch-too-large"));
        QCOMPARE(codeOf([&] { planRun(spec, info(20, 1), info(7, 1)); }), std::string("data.too-few-classes"));
        QCOMPARE(codeOf([&] { planRun(spec, info(20), info(7, 5)); }), std::string("data.splits-differ"));
        QCOMPARE(codeOf([&] { planRun(spec, info(20), info(0)); }), std::string("data.empty-split"));
    }

    void programsHaveExactShapesAndAreShared() {
        const RunPlan plan = planRun(resolved(smallSpec("mlp", "reference:3")), info(18), info(4));
        QCOMPARE(plan.stepsPerEpoch, 3);
        QCOMPARE(plan.totalSteps, 6);
        std::vector<std::int64_t> full, last;
        for (const RankPrograms& rank : plan.ranks) {
            full.push_back(rank.training->localBatch);
            last.push_back(rank.lastTraining->localBatch);
        }
        QCOMPARE(full, (std::vector<std::int64_t>{3, 3, 2}));
        QCOMPARE(last, (std::vector<std::int64_t>{1, 1, 0}));
        QVERIFY(plan.ranks[0].training == plan.ranks[1].training);
        QVERIFY(plan.ranks[0].lastTraining == plan.ranks[1].lastTraining);
        QCOMPARE(plan.ranks[0].evaluation->localBatch, 2);
        for (const RankPrograms& rank : plan.ranks)
            QVERIFY(rank.lastTraining->storage == plan.ranks[0].training->storage);
        QCOMPARE(plan.batch.capacity(), 3);
        QCOMPARE(plan.parameters, 144 * 16 + 16 + 16 * 4 + 4);
        QVERIFY(plan.bytesPerDevice > static_cast<std::size_t>(plan.parameters) * sizeof(double) * 3);
    }
};

QTEST_APPLESS_MAIN(TstPlanRun)
#include "tst_plan_run.moc"
