#include <QtTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/collective/host_group.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;
namespace fs = std::filesystem;

namespace {

using Tensors = std::map<std::string, HostTensor>;

constexpr double kDecay = 0.4;  // more than (1 + t) / (10 + t) up to update 4, less from update 6 on

TrialSpec averagingSpec(const std::string& model, const std::string& devices) {
    TrialSpec spec = smallSpec(model, devices);
    spec.averageDecay = kDecay;
    return spec;
}

Run trained(const TrialSpec& spec, std::int64_t samples = 29) {
    Run out = run({.spec = spec, .data = patterns(samples, 7), .options = {}, .onEvent = {}, .hashes = true});
    if (out.result.outcome != RunResult::Outcome::Finished) qWarning("%s", out.result.failed.what.c_str());
    return out;
}

bool isAverage(const std::string& name) { return name.starts_with(Replica::kAverage); }
std::string averageOf(const std::string& name) { return std::string(Replica::kAverage) + name; }

Tensors without(Tensors tensors, std::string_view prefix) {
    std::erase_if(tensors, [&](const auto& each) { return each.first.starts_with(prefix); });
    return tensors;
}

Checkpoint lastOf(const fs::path& folder) {
    auto read = readCheckpoint(folder / "last.safetensors");
    if (!read.ok()) qFatal("%s", read.problems().front().code.c_str());
    return std::move(read).value();
}

// How a run that ended with these tensors is evaluated.
RunFinished evaluated(const TrialSpec& spec, Checkpoint end, Tensors tensors) {
    end.tensors = std::move(tensors);
    RunRequest request{.spec = spec, .data = patterns(29, 7), .options = {}, .onEvent = {}};
    request.options.resumeFrom = std::move(end);
    const Run out = run(std::move(request));
    if (out.result.outcome != RunResult::Outcome::Finished) qWarning("%s", out.result.failed.what.c_str());
    return out.result.finished;
}

}  // namespace

class TstAverages : public QObject {
    Q_OBJECT

private:
    // A finished run with averages: its spec and its last checkpoint.
    static Checkpoint finishedRun(const TrialSpec& spec) {
        QTemporaryDir folder;
        RunRequest request{.spec = spec, .data = patterns(29, 7), .options = {}, .onEvent = {}};
        request.options.checkpointFolder = folder.path().toStdString();
        run(std::move(request));
        return lastOf(folder.path().toStdString());
    }

private slots:
    void averagesFollowTheWeights_data() {
        QTest::addColumn<QString>("devices");
        QTest::addColumn<double>("tolerance");
        QTest::newRow("reference") << "reference:1" << 1e-13;
        if (hasCpuBackend()) QTest::newRow("cpu") << "cpu:1x1" << 2e-6;
    }

    // Against a plain loop over what the weights were after each update.
    void averagesFollowTheWeights() {
        QFETCH(QString, devices);
        QFETCH(double, tolerance);
        std::vector<Tensors> history;
        RunRequest request{.spec = averagingSpec("fashion-cnn", devices.toStdString()),
                           .data = patterns(29, 7),
                           .options = {},
                           .onEvent = {}};
        request.options.afterStep = [&](int, std::int64_t, Replica& replica) {
            history.push_back(allTensors(replica));
        };
        // The initial weights: those of a run that learns nothing.
        TrialSpec still = request.spec;
        still.learningRate = 0;
        const Tensors initial = trained(still).tensors;
        run(std::move(request));
        QCOMPARE(history.size(), std::size_t{8});
        for (const auto& [name, last] : without(history.back(), "momentum.")) {
            if (isAverage(name) || name.find("running") != name.npos) continue;
            const auto value = [&](const Tensors& tensors, std::size_t i) {
                const HostTensor& tensor = tensors.at(name);
                return tensor.type().dtype == DType::F64 ? tensor.as<double>()[i] : tensor.as<float>()[i];
            };
            for (std::size_t i = 0; i < static_cast<std::size_t>(last.type().shape.count()); ++i) {
                double average = value(initial, i);
                for (std::size_t t = 1; t <= history.size(); ++t) {
                    const auto number = static_cast<double>(t);
                    const double decay = std::min(kDecay, (1 + number) / (10 + number));
                    average = decay * average + (1 - decay) * value(history[t - 1], i);
                }
                const HostTensor& actual = history.back().at(averageOf(name));
                const double held = actual.type().dtype == DType::F64 ? actual.as<double>()[i] : actual.as<float>()[i];
                QVERIFY2(std::abs(held - average) <= tolerance, name.c_str());
                QVERIFY(std::isfinite(held));
            }
        }
    }

    void trainingIsTheSameWithAverages() {
        const TrialSpec averaging = averagingSpec("mlp", "reference:2");
        TrialSpec plain = averaging;
        plain.averageDecay = 0;
        const Run with = trained(averaging), none = trained(plain);
        QVERIFY(sameBits(without(with.tensors, Replica::kAverage), none.tensors));
        QCOMPARE(without(none.tensors, Replica::kAverage).size(), none.tensors.size());
        QCOMPARE(with.recorder.all<StepDone>().back().loss, none.recorder.all<StepDone>().back().loss);
        QVERIFY(with.recorder.all<EvalDone>().front().loss != none.recorder.all<EvalDone>().front().loss);
    }

    void manyDevicesEqualOne() {
        const Run one = trained(averagingSpec("lenet5", "reference:1"), 21);
        const Run many = trained(averagingSpec("lenet5", "reference:3"), 21);
        const double difference = relativeDifference(one.tensors, many.tensors);
        QVERIFY2(difference <= 1e-12, qPrintable(QString::number(difference)));
        QVERIFY(std::ranges::any_of(one.tensors, [](const auto& each) { return isAverage(each.first); }));
        const double alone = one.recorder.all<EvalDone>().back().loss;
        const double together = many.recorder.all<EvalDone>().back().loss;
        QVERIFY(std::abs(alone - together) <= 1e-12 * alone);
    }

    void shardsGiveTheSameBits() {
        TrialSpec spec = averagingSpec("fashion-cnn", "reference:1");
        spec.mode = "reproducible";
        spec.shards = 4;
        const Run one = trained(spec);
        QVERIFY(std::ranges::any_of(one.tensors, [](const auto& each) { return isAverage(each.first); }));
        spec.devices = "reference:4";
        QVERIFY(sameBits(trained(spec).tensors, one.tensors));
    }

    // The hash is over the averages, too; a step of some ranks has no samples.
    void replicasAreBitwiseEqual_data() {
        QTest::addColumn<QString>("devices");
        QTest::newRow("reference") << "reference:3";
        if (hasCpuBackend()) QTest::newRow("cpu") << "cpu:3x1";
    }
    void replicasAreBitwiseEqual() {
        QFETCH(QString, devices);
        TrialSpec spec = averagingSpec("fashion-cnn", devices.toStdString());
        for (const int samples : {21, 18}) {
            const Run out = trained(spec, samples);
            QCOMPARE(out.hashes.size(), std::size_t{6});
            for (const auto& [step, hashes] : out.hashes) {
                QCOMPARE(hashes.size(), std::size_t{3});
                for (const std::uint64_t hash : hashes) QCOMPARE(hash, hashes.front());
            }
        }
        spec.averageDecay = 0.1;  // nothing but the averages differs
        QVERIFY(trained(spec, 18).hashes != trained(averagingSpec("fashion-cnn", devices.toStdString()), 18).hashes);
    }

    // The averages alone decide how good a run is: known weights there, and nonsense in the place of the parameters.
    void evaluationUsesTheAverages_data() {
        QTest::addColumn<QString>("devices");
        QTest::newRow("reference") << "reference:2";
        if (hasCpuBackend()) QTest::newRow("cpu") << "cpu:2x1";
    }
    void evaluationUsesTheAverages() {
        QFETCH(QString, devices);
        const TrialSpec averaging = averagingSpec("fashion-cnn", devices.toStdString());
        TrialSpec plain = averaging;
        plain.averageDecay = 0;
        const Checkpoint end = finishedRun(averaging);
        const Tensors known = without(end.tensors, Replica::kAverage);
        Tensors swapped = end.tensors;
        for (auto& [name, tensor] : swapped) {
            if (!isAverage(name)) continue;
            const std::string parameter = name.substr(Replica::kAverage.size());
            tensor = known.at(parameter);
            HostTensor& nonsense = swapped.at(parameter);
            std::fill_n(nonsense.data(), nonsense.bytes(), std::byte{0});
        }
        const RunFinished expected = evaluated(plain, end, known), actual = evaluated(averaging, end, swapped);
        QCOMPARE(actual.testLoss, expected.testLoss);
        QCOMPARE(actual.testAccuracy, expected.testAccuracy);
        QVERIFY(evaluated(averaging, end, end.tensors).testLoss != expected.testLoss);
        Tensors doubled = swapped;  // running statistics are used as they are
        for (auto& [name, tensor] : doubled) {
            if (name.ends_with("running_var")) std::fill_n(tensor.data(), tensor.bytes(), std::byte{1});
        }
        QVERIFY(evaluated(averaging, end, doubled).testLoss != expected.testLoss);
    }

    // Of a run that did not average until now.
    void averagesBeginAsTheCheckpointsWeights() {
        TrialSpec plain = smallSpec("mlp", "reference:2");
        const Checkpoint end = finishedRun(plain);
        TrialSpec averaging = plain;
        averaging.averageDecay = kDecay;
        QCOMPARE(evaluated(averaging, end, end.tensors).testLoss, evaluated(plain, end, end.tensors).testLoss);
        RunRequest longer{.spec = averaging, .data = patterns(29, 7), .options = {}, .onEvent = {}};
        longer.spec.epochs = 3;
        longer.spec.learningRate = 0;
        longer.options.resumeFrom = end;
        const Run still = run(std::move(longer));
        QVERIFY(!still.tensors.empty());
        for (const auto& [name, tensor] : still.tensors) {
            if (!isAverage(name)) continue;
            const HostTensor& parameter = end.tensors.at(name.substr(Replica::kAverage.size()));
            QVERIFY2(std::memcmp(tensor.data(), parameter.data(), tensor.bytes()) == 0, name.c_str());
        }
    }

    // A skipped update leaves them, as it leaves the weights.
    void aSkippedUpdateLeavesTheAverages() {
        const TrialSpec spec = averagingSpec("mlp", "reference:1");
        const ResolvedSpec plain = resolved(spec);
        const DatasetSplits data = patterns(29, 7);
        const RunPlan plan = planRun(plain, data.train->info(), data.test->info());
        const auto group = makeHostGroup(1);
        const auto device = plain.backend->open(plain.devices[0]);
        Replica replica(*device, *group[0], {plan.ranks[0].training}, nullptr);
        replica.initialize(1);
        std::vector<std::byte> batch(plan.batch.bytes());
        const auto step = [&](std::int64_t number) { replica.run(0, batch.data(), {1, 0, number, 0.1}); };
        step(0);
        const Tensors before = allTensors(replica);
        HostTensor bias = before.at("head/bias");
        bias.as<double>()[0] = std::numeric_limits<double>::infinity();
        replica.write("head/bias", bias);
        step(1);
        QVERIFY(replica.gate(0).skip != 0);
        Tensors after = allTensors(replica);
        QVERIFY(!sameBits(after, before));
        after.at("head/bias") = before.at("head/bias");
        QVERIFY(sameBits(after, before));
    }

    void averagesBeginAsTheInitialWeights() {
        const ResolvedSpec spec = resolved(averagingSpec("fashion-cnn", "reference:1"));
        const DatasetSplits data = patterns(29, 7);
        const RunPlan plan = planRun(spec, data.train->info(), data.test->info());
        const auto group = makeHostGroup(1);
        const auto device = spec.backend->open(spec.devices[0]);
        Replica replica(*device, *group[0], {plan.ranks[0].training, plan.ranks[0].evaluation}, nullptr);
        replica.initialize(1);
        const StoragePlan& storage = *plan.ranks[0].training->storage;
        QCOMPARE(replica.tensorNames().size(), 3 * storage.parameters.size() + storage.buffers.size());
        for (const StorageEntry& entry : storage.parameters) {
            const HostTensor parameter = replica.read(entry.name), average = replica.read(averageOf(entry.name));
            QVERIFY(average.type() == parameter.type());
            QVERIFY(std::memcmp(average.data(), parameter.data(), average.bytes()) == 0);
        }
    }
};

QTEST_APPLESS_MAIN(TstAverages)
#include "tst_averages.moc"
