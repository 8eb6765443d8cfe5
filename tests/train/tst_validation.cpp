#include <QtTest>
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "engine/train/asked_data.h"
#include "engine/train/checkpoint_keeper.h"
#include "engine/train/evaluate.h"
#include "engine/train/open_data.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kTrain = 60, kTest = 37;
constexpr int kEpochs = 8;

// Its accuracy goes up and down, so that the best epoch is not the last.
TrialSpec restlessSpec(double share) {
    TrialSpec spec = smallSpec("mlp", "reference:2");
    spec.epochs = kEpochs;
    spec.learningRate = 1.5;
    spec.seed = 3;
    spec.schedule = {"constant", {}};
    spec.validationShare = share;
    return spec;
}

DatasetSplits dataFor(const TrialSpec& spec) {
    DatasetSplits data = patterns(kTrain, kTest);
    data.fingerprint = fingerprintOf(data);
    divideAsAsked(spec, data);
    return data;
}

RunRequest requestIn(const fs::path& folder, const TrialSpec& spec) {
    RunRequest request{.spec = spec, .data = dataFor(spec), .options = {}, .onEvent = {}};
    request.options.checkpointFolder = folder;
    return request;
}

std::vector<EvalDone> evaluationsOf(const Run& run, Split split) {
    std::vector<EvalDone> all = run.recorder.all<EvalDone>();
    std::erase_if(all, [split](const EvalDone& each) { return each.split != split; });
    return all;
}

Checkpoint readFrom(const fs::path& folder, const std::string& role) {
    auto read = readCheckpoint(folder / checkpointName(role));
    if (!read.ok()) qFatal("%s", read.problems().front().code.c_str());
    return std::move(read).value();
}

MetricSums judged(const Checkpoint& checkpoint, AskedSplit split) {
    const auto data = asAsked(dataFor(checkpoint.spec), split, *checkpoint.trainedOn).value();
    return evaluate({resolved(checkpoint.spec), checkpoint, *checkpoint.trainedOn, data}).metrics;
}

struct Folder {
    fs::path path() const { return folder.path().toStdString(); }
    QTemporaryDir folder;
};

}  // namespace

class TestValidation : public QObject {
    Q_OBJECT
private slots:
    // Each epoch is judged by samples that are held out, the best of them by the test samples, once.
    void validationChoosesAndTheTestComesLast() {
        const Folder folder;
        const Run out = run(requestIn(folder.path(), restlessSpec(0.3)));
        QCOMPARE(out.result.outcome, RunResult::Outcome::Finished);
        const RunStarted started = out.recorder.all<RunStarted>().front();
        QCOMPARE(started.trainSamples, std::int64_t{42});
        QCOMPARE(started.validationSamples, std::int64_t{18});
        QCOMPARE(started.testSamples, kTest);
        QCOMPARE(started.stepsPerEpoch, std::int64_t{6});

        const auto validations = evaluationsOf(out, Split::Validation), tests = evaluationsOf(out, Split::Test);
        QCOMPARE(validations.size(), std::size_t{kEpochs});
        QCOMPARE(tests.size(), std::size_t{1});
        const auto best = std::ranges::max_element(validations, {}, &EvalDone::accuracy);
        QVERIFY(best->best && best->epoch < kEpochs);  // or the test proves nothing
        for (const EvalDone& each : validations) QCOMPARE(each.samples, std::int64_t{18});
        QCOMPARE(tests.front().samples, kTest);
        QCOMPARE(tests.front().epoch, best->epoch);
        QCOMPARE(tests.front().step, best->step);
        QVERIFY(std::isnan(tests.front().trainLoss) && !tests.front().best);

        const Checkpoint chosen = readFrom(folder.path(), "best");
        QCOMPARE(*chosen.score, (CheckpointScore{"validation_accuracy", best->accuracy}));
        QCOMPARE(judged(chosen, AskedSplit::Validation).accuracy(), best->accuracy);
        QCOMPARE(judged(chosen, AskedSplit::Test).accuracy(), tests.front().accuracy);
        QCOMPARE(judged(chosen, AskedSplit::Test).meanLoss(), tests.front().loss);
        QCOMPARE(out.result.finished.testAccuracy, tests.front().accuracy);
        QCOMPARE(out.result.finished.testLoss, tests.front().loss);
        QCOMPARE(out.result.finished.bestAccuracy, best->accuracy);
        QVERIFY(out.recorder.order().find("eval_done eval_counts run_finished") != std::string::npos);
        const EvalCounts counts = out.recorder.all<EvalCounts>().back();
        QVERIFY(counts.split == Split::Test && counts.epoch == best->epoch);
        QCOMPARE(ConfusionMatrix::from(counts).value().total(), kTest);
    }

    // What is known of the training samples is known of those alone that train.
    void allSplitsAreNormalisedByWhatTrains() {
        const Folder folder;
        (void)run(requestIn(folder.path(), restlessSpec(0.3)));
        const DatasetInfo trained = *readFrom(folder.path(), "last").trainedOn;
        const DatasetSplits data = dataFor(restlessSpec(0.3));
        QVERIFY(trained.mean == data.train->info().mean && trained.mean == data.validation->info().mean);
        QVERIFY(trained.mean != dataFor(restlessSpec(0.5)).train->info().mean);
    }

    void withoutABestOneTheLastIsTested_data() {
        QTest::addColumn<bool>("writes");
        QTest::newRow("keep_checkpoints last") << true;
        QTest::newRow("no folder, no snapshots") << false;
    }
    void withoutABestOneTheLastIsTested() {
        QFETCH(bool, writes);
        const Folder folder;
        TrialSpec spec = restlessSpec(0.3);
        spec.keepCheckpoints = "last";
        spec.checkEvery = 0;
        const Run out = run(requestIn(writes ? folder.path() : fs::path(), spec));
        const auto tests = evaluationsOf(out, Split::Test);
        QCOMPARE(tests.size(), std::size_t{1});
        QCOMPARE(tests.front().epoch, std::int64_t{kEpochs});
        if (writes)
            QCOMPARE(judged(readFrom(folder.path(), "last"), AskedSplit::Test).accuracy(), tests.front().accuracy);
    }

    // Stopped, it is not tested; what goes on ends as if it had not been stopped.
    void aStoppedRunIsTestedWhenItEnds() {
        const Folder whole, parts;
        const Run unbroken = run(requestIn(whole.path(), restlessSpec(0.3)));
        RunRequest first = requestIn(parts.path(), restlessSpec(0.3));
        first.onEvent = [](const TrainEvent& event, RunControl& control) {
            const auto* step = std::get_if<StepDone>(&event);
            if (step && step->step == 21) control.stop();
        };
        const Run stopped = run(std::move(first));
        QCOMPARE(stopped.result.outcome, RunResult::Outcome::Stopped);
        QVERIFY(evaluationsOf(stopped, Split::Test).empty() && std::isnan(stopped.result.finished.testAccuracy));
        RunRequest second = requestIn(parts.path(), restlessSpec(0.3));
        second.options.resumeFrom = readFrom(parts.path(), "last");
        const Run rest = run(std::move(second));
        QCOMPARE(rest.result.outcome, RunResult::Outcome::Finished);
        QCOMPARE(rest.result.finished.testLoss, unbroken.result.finished.testLoss);
        QCOMPARE(rest.result.finished.bestAccuracy, unbroken.result.finished.bestAccuracy);
    }

    // Which samples are held out does not depend on the trial's seed, nor on anything else that trials differ by.
    void allTrialsHoldOutTheSame() {
        TrialSpec spec = restlessSpec(0.3);
        const auto fingerprint = *dataFor(spec).validation->fingerprint();
        spec.seed = 77;
        spec.batch = 4;
        QCOMPARE(*dataFor(spec).validation->fingerprint(), fingerprint);
        spec.validationSeed = 2;
        QVERIFY(*dataFor(spec).validation->fingerprint() != fingerprint);
    }

    // An old trial, or one that holds nothing out: the test samples choose, and there is one evaluation an epoch.
    void withoutAShareNothingChanges() {
        const Folder folder;
        const Run out = run(requestIn(folder.path(), restlessSpec(0)));
        QVERIFY(evaluationsOf(out, Split::Validation).empty());
        QCOMPARE(evaluationsOf(out, Split::Test).size(), std::size_t{kEpochs});
        QCOMPARE(readFrom(folder.path(), "best").score->metric, std::string("test_accuracy"));
        QCOMPARE(out.recorder.all<RunStarted>().front().validationSamples, std::int64_t{0});
    }

    // A dataset's own validation split is used by new trials; one that began without it goes on without it.
    void aDatasetsOwnSplitIsForNewTrials() {
        DatasetSplits own = patterns(kTrain, kTest);
        own.validation = std::make_shared<PatternDataset>(9, ImageShape{1, 12, 12}, 4, 3);
        own.fingerprint = fingerprintOf(own);
        QCOMPARE(own.fingerprint->validation.samples, std::int64_t{9});
        const TrialSpec spec = restlessSpec(0);
        const ResolvedSpec settled = resolved(spec);
        Checkpoint before;
        before.data = own.fingerprint;
        DatasetSplits same = own;
        QVERIFY(compareData(before, settled, ChangedData::Refuse, same).empty() && same.validation);
        before.data->validation.content += 1;
        const auto problems = compareData(before, settled, ChangedData::Refuse, same);
        QCOMPARE(problems.size(), std::size_t{1});
        QVERIFY(problems[0].code == "data.other-content" && problems[0].args[0] == "validation");
        before.data->validation = {};
        QVERIFY(compareData(before, settled, ChangedData::Refuse, same).empty() && !same.validation);

        DatasetSplits shared = own;
        divideAsAsked(restlessSpec(0.3), shared);
        QCOMPARE(shared.validation->info().count, std::int64_t{18});
        QCOMPARE(shared.remarks.back().code, std::string("data.own-validation-unused"));
    }

    void whatIsAskedMayBeHeldOut() {
        const DatasetSplits divided = dataFor(restlessSpec(0.3)), whole = dataFor(restlessSpec(0));
        const DatasetInfo& trained = divided.train->info();
        const auto countOf = [&](const DatasetSplits& data, AskedSplit split) {
            return asAsked(data, split, trained).value()->info().count;
        };
        QCOMPARE(countOf(divided, AskedSplit::Train), std::int64_t{42});
        QCOMPARE(countOf(divided, AskedSplit::Validation), std::int64_t{18});
        QCOMPARE(countOf(divided, AskedSplit::Test), kTest);
        QCOMPARE(countOf(divided, AskedSplit::All), kTrain + kTest);
        QCOMPARE(asAsked(whole, AskedSplit::Validation, trained).problems().front().code,
                 std::string("evaluate.no-validation"));
    }
};

QTEST_GUILESS_MAIN(TestValidation)
#include "tst_validation.moc"
