#include <QtTest>

#include <cmath>
#include <future>
#include <numeric>

#include "engine/core/error.h"
#include "engine/data/sample.h"
#include "engine/train/asked_data.h"
#include "engine/train/evaluate.h"
#include "engine/train/trained_on.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

constexpr std::int64_t kTrain = 48, kTest = 37;  // the last batch is short, and shares are uneven

struct Trained {
    Trained(const TrialSpec& spec, const DatasetSplits& data) {
        RunRequest request;
        request.spec = spec;
        request.data = data;
        request.options.checkpointFolder = folder.path().toStdString();
        run = lockstep::run(std::move(request));
        if (run.result.outcome != RunResult::Outcome::Finished) qFatal("the run did not finish");
    }
    Checkpoint checkpoint() const {
        return readCheckpoint((folder.path() + "/last.safetensors").toStdString()).value();
    }
    EvalDone last() const { return run.recorder.all<EvalDone>().back(); }

    QTemporaryDir folder;
    Run run;
};

TrialSpec specOf(const std::string& model, const std::string& devices) {
    TrialSpec spec = smallSpec(model, devices);
    spec.batch = 12;
    spec.epochs = 2;
    return spec;
}

EvaluateResult evaluated(const Checkpoint& checkpoint, const std::string& devices, const DatasetSplits& data,
                         AskedSplit split = AskedSplit::Test) {
    const ResolvedSpec on = resolved(specToEvaluate(checkpoint.spec, devices));
    const auto asked = asAsked(data, split, *checkpoint.trainedOn).value();
    return evaluate({on, checkpoint, *checkpoint.trainedOn, asked, on.model->task != ModelTask::NextTokens});
}

std::int64_t correctIn(const EvalCounts& counts) { return ConfusionMatrix::from(counts).value().correct(); }

std::string codeOf(const Result<std::shared_ptr<const Dataset>>& data) {
    return data.ok() ? std::string() : data.problems().front().code;
}

// Samples of another source of data: its classes have other places, or other names.
class Renamed final : public Dataset {
public:
    Renamed(std::shared_ptr<const Dataset> data, std::vector<std::string> classes, std::vector<std::int32_t> labels)
        : m_data(std::move(data)), m_info(m_data->info()), m_labels(std::move(labels)) {
        m_info.classes = std::move(classes);
        m_info.inMemory = false;
    }
    const DatasetInfo& info() const override { return m_info; }
    void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override {
        m_data->read(index, into);
        auto* label = reinterpret_cast<std::int32_t*>(into[1].data());
        *label = m_labels[static_cast<std::size_t>(*label)];
    }

private:
    std::shared_ptr<const Dataset> m_data;
    DatasetInfo m_info;
    std::vector<std::int32_t> m_labels;
};

}  // namespace

class TstEvaluate : public QObject {
    Q_OBJECT

private slots:
    void theFiguresAreThoseOfTraining_data() {
        QTest::addColumn<QString>("model");
        for (const char* model : {"mlp", "lenet5", "gpt", "text-encoder"}) QTest::newRow(model) << model;
        if (!hasCpuBackend()) return;  // plain loops would take minutes
        for (const char* model : {"resnet18-cifar", "vit"}) QTest::newRow(model) << model;
    }
    // On the trial's devices bit by bit; on others the shares and so the order of sums are others.
    void theFiguresAreThoseOfTraining() {
        QFETCH(QString, model);
        const std::string kind = hasCpuBackend() ? "cpu" : "reference";
        const DatasetSplits data = dataFor(model.toStdString(), kTrain, kTest);
        const Trained trained(specOf(model.toStdString(), kind + ":2x1"), data);
        const Checkpoint checkpoint = trained.checkpoint();
        const EvalDone said = trained.last();
        const EvaluateResult same = evaluated(checkpoint, "", data);
        QCOMPARE(same.metrics.meanLoss(), said.loss);
        QCOMPARE(same.metrics.accuracy(), said.accuracy);
        for (const int devices : {1, 2, 3}) {
            const auto result = evaluated(checkpoint, kind + ":" + std::to_string(devices) + "x1", data);
            QCOMPARE(static_cast<std::int64_t>(result.metrics.samples), kTest);
            QCOMPARE(result.metrics.accuracy(), said.accuracy);
            QVERIFY2(std::abs(result.metrics.meanLoss() - said.loss) < 1e-5 * said.loss,
                     qPrintable(QString("%1 instead of %2").arg(result.metrics.meanLoss()).arg(said.loss)));
            if (result.counts.classes > 0)
                QCOMPARE(result.counts.cells, trained.run.recorder.all<EvalCounts>().back().cells);
        }
    }

    // A running trial says after each evaluation what it took samples for.
    void answersAreCountedAfterEachEpoch() {
        const DatasetSplits data = patterns(kTrain, kTest);
        for (const char* devices : {"reference:1", "reference:3"}) {
            const Trained trained(specOf("mlp", devices), data);
            const auto counts = trained.run.recorder.all<EvalCounts>();
            const auto evaluations = trained.run.recorder.all<EvalDone>();
            QCOMPARE(counts.size(), evaluations.size());
            for (std::size_t i = 0; i < counts.size(); ++i) {
                QCOMPARE(counts[i].epoch, evaluations[i].epoch);
                QCOMPARE(counts[i].step, evaluations[i].step);
                const auto matrix = ConfusionMatrix::from(counts[i]).value();
                QCOMPARE(matrix.total(), kTest);
                QVERIFY(std::abs(static_cast<double>(matrix.correct()) / kTest - evaluations[i].accuracy) < 1e-12);
                const auto& bins = counts[i].binSamples;
                QCOMPARE(std::accumulate(bins.begin(), bins.end(), std::int64_t{0}), kTest);
            }
        }
    }

    // A reproducible run's shards, and the passes of an accumulated one, are looked at one by one.
    void everyPassIsLookedAt_data() {
        QTest::addColumn<QString>("mode");
        QTest::newRow("shards") << "reproducible";
        QTest::newRow("accumulation") << "fast";
    }
    void everyPassIsLookedAt() {
        QFETCH(QString, mode);
        TrialSpec spec = specOf("mlp", "reference:2");
        spec.mode = mode.toStdString();
        spec.shards = 4;
        spec.accumulation = spec.reproducible() ? 1 : 3;
        const Trained trained(spec, patterns(kTrain, kTest));
        const EvalCounts counts = trained.run.recorder.all<EvalCounts>().back();
        QCOMPARE(ConfusionMatrix::from(counts).value().total(), kTest);
        QVERIFY(std::abs(static_cast<double>(correctIn(counts)) / kTest - trained.last().accuracy) < 1e-12);
    }

    void aLanguageHasNoClassesToTellApart() {
        const Trained trained(specOf("gpt", "reference:1"), dataFor("gpt", kTrain, kTest));
        QVERIFY(trained.run.recorder.all<EvalCounts>().empty());
        QCOMPARE(evaluated(trained.checkpoint(), "", dataFor("gpt", kTrain, kTest)).counts.classes, std::int64_t{0});
    }

    void answersAreKeptInTheOrderOfTheSamples() {
        const DatasetSplits data = patterns(kTrain, kTest);
        const Trained trained(specOf("mlp", "reference:1"), data);
        const Checkpoint checkpoint = trained.checkpoint();
        const auto one = evaluated(checkpoint, "reference:1", data).answers;
        QCOMPARE(one.size(), static_cast<std::size_t>(kTest));
        std::int64_t right = 0;
        for (std::size_t i = 0; i < one.size(); ++i) {
            QCOMPARE(one[i].label, static_cast<std::int32_t>(i % 4));
            const auto& [classes, probabilities] = one[i].answer;
            right += classes[0] == one[i].label ? 1 : 0;
            QCOMPARE(classes[4], -1);  // there are four
            QVERIFY(std::ranges::is_sorted(probabilities, std::ranges::greater()));
            QVERIFY(std::abs(std::accumulate(probabilities.begin(), probabilities.end(), 0.0) - 1) < 1e-5);
        }
        QVERIFY(std::abs(static_cast<double>(right) / kTest - trained.last().accuracy) < 1e-12);
        for (const char* devices : {"reference:2", "reference:3", "reference:5"}) {
            const auto many = evaluated(checkpoint, devices, data).answers;
            QCOMPARE(many.size(), one.size());
            for (std::size_t i = 0; i < one.size(); ++i) QVERIFY(many[i].answer.classes == one[i].answer.classes);
        }
    }

    void otherSplitsAreOtherSamples() {
        const DatasetSplits data = patterns(kTrain, kTest);
        const Checkpoint checkpoint = Trained(specOf("mlp", "reference:1"), data).checkpoint();
        const auto count = [&](AskedSplit split) { return evaluated(checkpoint, "reference:2", data, split).metrics; };
        const MetricSums test = count(AskedSplit::Test), train = count(AskedSplit::Train), all = count(AskedSplit::All);
        QCOMPARE(static_cast<std::int64_t>(train.samples), kTrain);
        QCOMPARE(static_cast<std::int64_t>(all.samples), kTrain + kTest);
        QCOMPARE(all.correct1, train.correct1 + test.correct1);
        QVERIFY(std::abs(all.loss - train.loss - test.loss) < 1e-9 * all.loss);
    }

    // The same samples, whose classes another source lists in another order or numbers.
    void classesAreFoundByTheirNames() {
        const DatasetSplits data = patterns(kTrain, kTest);
        const Checkpoint checkpoint = Trained(specOf("mlp", "reference:1"), data).checkpoint();
        const auto names = data.test->info().classes;
        const auto said = evaluated(checkpoint, "reference:1", data);
        const auto same = [&](std::vector<std::string> classes, std::vector<std::int32_t> labels) {
            const auto other = std::make_shared<Renamed>(data.test, std::move(classes), std::move(labels));
            return evaluated(checkpoint, "reference:1", {other, other}).counts == said.counts;
        };
        QVERIFY(same({names[3], names[2], names[1], names[0]}, {3, 2, 1, 0}));
        QVERIFY(same({"0", "1", "2", "3"}, {0, 1, 2, 3}));
        QVERIFY(same({"0", "2", "1", "3"}, {0, 2, 1, 3}));
    }

    // Class folders are sorted as texts: "0", "1", "10", "2"… Numbers are names to such a model, and the names count.
    void numbersAreNamesWhereTheModelKnowsThem() {
        std::vector<std::string> counted;
        for (int i = 0; i < 12; ++i) counted.push_back(std::to_string(i));
        std::vector<std::string> sorted = counted;
        std::ranges::sort(sorted);
        std::vector<std::int32_t> asTheyAre(12);
        std::iota(asTheyAre.begin(), asTheyAre.end(), 0);
        const DatasetSplits data = patterns(24, 24, {1, 12, 12}, 12);
        const auto labels = [&](const std::vector<std::string>& asked, const std::vector<std::string>& known) {
            DatasetInfo trained = data.train->info();
            trained.classes = known;
            const auto other = std::make_shared<Renamed>(data.test, asked, asTheyAre);
            const auto read = asAsked({other, other}, AskedSplit::Test, trained).value();
            std::vector<std::string> names;
            for (std::int64_t i = 0; i < 12; ++i)
                names.push_back(known[static_cast<std::size_t>(Sample(*read).read(i).label())]);
            return names;
        };
        QCOMPARE(labels(counted, sorted), counted);
        QCOMPARE(labels(sorted, counted), sorted);
        std::vector<std::string> words;
        for (const std::string& each : counted) words.push_back("kind " + each);
        QCOMPARE(labels(sorted, words)[2], std::string("kind 10"));
    }

    // A model that a card trained in tf32, asked elsewhere.
    void aPrecisionThatADeviceLacksIsPassedOver() {
        const DatasetSplits data = patterns(kTrain, kTest);
        Checkpoint checkpoint = Trained(specOf("mlp", "reference:1"), data).checkpoint();
        const auto said = evaluated(checkpoint, "reference:1", data);
        checkpoint.spec.precision = "tf32";
        QVERIFY(!resolve(specToEvaluate(checkpoint.spec, "reference:1"), testEnvironment()).ok());
        const auto on = resolveToEvaluate(checkpoint.spec, {"reference:1"}, testEnvironment());
        QVERIFY(on.ok());
        QCOMPARE(on.value().spec.precision, std::string("fp32"));
        QVERIFY((otherPrecision(checkpoint.spec, on.value()) ==
                 Problem{"--devices", "evaluate.other-precision", {"fp32", "tf32", "reference:1"}}));
        const auto asked = asAsked(data, AskedSplit::Test, *checkpoint.trainedOn).value();
        const auto same = evaluate({on.value(), checkpoint, *checkpoint.trainedOn, asked});
        QCOMPARE(same.metrics.meanLoss(), said.metrics.meanLoss());
        const auto offered = resolveToEvaluate(checkpoint.spec, {"null:1"}, testEnvironment());
        QCOMPARE(offered.value().spec.precision, std::string("tf32"));
        QVERIFY(!otherPrecision(checkpoint.spec, offered.value()));
        QVERIFY(!resolveToEvaluate(checkpoint.spec, {"no:1"}, testEnvironment()).ok());
        // One that is asked for is had, or refused.
        const auto asked32 = resolveToEvaluate(checkpoint.spec, {"null:1", "fp32"}, testEnvironment());
        QCOMPARE(asked32.value().spec.precision, std::string("fp32"));
        const auto refused = resolveToEvaluate(checkpoint.spec, {"reference:1", "tf32"}, testEnvironment());
        QVERIFY(!refused.ok() && refused.problems().front().code == "spec.no-such-precision");
    }

    void dataThatNeverComeAreNamed() {
        const DatasetSplits data = patterns(kTrain, kTest);
        Checkpoint checkpoint = Trained(specOf("mlp", "reference:1"), data).checkpoint();
        checkpoint.spec.timeout = 2;
        const ResolvedSpec on = resolved(specToEvaluate(checkpoint.spec, "reference:2"));
        std::promise<void> freed;
        const auto stuck = std::make_shared<PatternDataset>(kTest, ImageShape{1, 12, 12}, 4, 1);
        stuck->beforeRead = [gate = freed.get_future().share()](std::int64_t index) {
            if (index == 20) gate.wait();
        };
        std::string where;
        try {
            evaluate(
                {on, checkpoint, *checkpoint.trainedOn, stuck, false, {}, [&](const AbortCause& cause, const auto&) {
                     where = cause.where;
                     freed.set_value();
                 }});
            QFAIL("it was evaluated");
        } catch (const EngineError& error) {
            QCOMPARE(error.kind(), EngineError::Kind::Io);
            QVERIFY2(QString(error.what()).contains("did not come within"), error.what());
        }
        QCOMPARE(where, std::string("data"));
    }

    void dataThatDoNotFitAreRefused() {
        const DatasetSplits data = patterns(kTrain, kTest);
        const DatasetInfo trained = data.train->info();
        const auto split = AskedSplit::Test;
        QCOMPARE(codeOf(asAsked(patterns(8, 8, {1, 12, 10}), split, trained)), std::string("evaluate.other-fields"));
        QCOMPARE(codeOf(asAsked(patterns(8, 8, {3, 12, 12}), split, trained)), std::string("evaluate.other-fields"));
        const auto other = std::make_shared<Renamed>(data.test, std::vector<std::string>{"cat", trained.classes[1]},
                                                     std::vector<std::int32_t>{0, 1, 1, 1});
        const auto refused = asAsked({other, other}, split, trained, "/photos");
        QCOMPARE(codeOf(refused), std::string("evaluate.other-classes"));
        QCOMPARE(refused.problems().front().args[1], std::string("cat"));
        QCOMPARE(refused.problems().front().field, std::string("/photos"));
        const auto larger = asAsked(patterns(8, 8, {1, 12, 10}), split, trained, "/photos");
        QCOMPARE(larger.problems().front().field, std::string("/photos"));
    }

    void checkpointsSayWhatTheModelReads() {
        const DatasetSplits data = patterns(kTrain, kTest);
        const Checkpoint checkpoint = Trained(specOf("mlp", "reference:1"), data).checkpoint();
        QVERIFY(checkpoint.trainedOn);
        const DatasetInfo &kept = *checkpoint.trainedOn, &given = data.train->info();
        QVERIFY(kept.fields == given.fields && kept.classes == given.classes);
        QVERIFY(kept.mean == given.mean && kept.deviation == given.deviation);
        constexpr const char* kOdd[] = {
            "",
            "[]",
            "{}",
            R"({"fields":7})",
            R"({"classes":["a"],"fields":[{"name":"image"}]})",
            R"({"classes":["a"],"fields":[{"name":"image","type":"u8","shape":[1,0,4]}]})",
            R"({"classes":["a"],"fields":[{"name":"image","type":"u8","shape":[1,4,4]}]})",
            R"({"classes":["a"],"fields":[{"name":"image","type":"u8","shape":[16]}],"mean":[0]})",
            R"({"classes":["a"],"fields":[{"name":"image","type":"f32","shape":[1,4,4]}],"mean":[0],"deviation":[1]})",
            R"({"classes":["a"],"fields":[{"name":"tokens","type":"i32","shape":[4]},{"name":"label","type":"u8","shape":[1]}]})",
            R"({"classes":["a"],"fields":[{"name":"tokens","type":"i32","shape":[4]},{"name":"tokens","type":"i32","shape":[4]}]})",
            R"({"classes":["a"],"fields":[{"name":"tokens","type":"i32","shape":[1000000,1000000]}]})",
            R"({"classes":["a"],"fields":[{"name":"tokens","type":"i32","shape":[]}]})",
            R"({"classes":[],"fields":[{"name":"tokens","type":"i32","shape":[4]}]})"};
        for (const char* odd : kOdd) QVERIFY2(!trainedOnFrom(odd), odd);
    }

    void aCheckpointOfAnotherModelIsNamed() {
        const DatasetSplits data = patterns(kTrain, kTest);
        Checkpoint checkpoint = Trained(specOf("mlp", "reference:1"), data).checkpoint();
        checkpoint.tensors.erase(checkpoint.tensors.begin());
        try {
            evaluated(checkpoint, "reference:2", data);
            QFAIL("it was evaluated");
        } catch (const ProblemError& error) {
            QCOMPARE(error.problem().code, std::string("checkpoint.mismatch"));
        }
    }

    void equalLogitsAreTheFirstClass() {
        const std::vector<float> logits{1, 3, 3, 2, 3, 0};
        const Answer answer = *answerOf(logits);
        QVERIFY(answer.classes == (std::array<std::int32_t, 5>{1, 2, 4, 3, 0}));
        const float nan = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
        QVERIFY(!answerOf(std::vector<float>{1, nan}));
        QVERIFY(!answerOf(std::vector<float>{1, infinite}));
        QCOMPARE(answerOf(std::vector<float>{1, -infinite})->probabilities[0], 1.0f);
    }
};

QTEST_APPLESS_MAIN(TstEvaluate)
#include "tst_evaluate.moc"
