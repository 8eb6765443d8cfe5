#include <QtTest>

#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "engine/backend/cuda/cuda_backend.h"
#include "engine/collective/host_group.h"
#include "engine/core/error.h"
#include "engine/train/loss_scale.h"
#include "engine/train/made_batch.h"
#include "tests/gpu/host/cuda_runtime.h"
#include "tests/gpu/host/fake_nccl.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

const Environment& environment() {
    static const Environment made = [] {
        Environment environment = makeTestEnvironment();
        environment.add(std::make_unique<cuda::CudaBackend>(4, cuda::LibraryFiles{.nccl = LOCKSTEP_FAKE_NCCL}));
        return environment;
    }();
    return made;
}

Run runOn(TrialSpec spec, const std::string& devices, RunOptions options = {}) {
    spec.devices = devices;
    const DatasetSplits data = dataFor(spec.model.id, 21, 10);
    return run({.spec = spec,
                .data = data,
                .options = std::move(options),
                .onEvent = {},
                .hashes = true,
                .environment = &environment()});
}

Run trained(const TrialSpec& spec, const std::string& devices) {
    Run out = runOn(spec, devices);
    if (out.result.outcome != RunResult::Outcome::Finished) qWarning("%s", out.result.failed.what.c_str());
    return out;
}

template <class Function>
Function* ofFakeNccl(const char* name) {
    void* const library = dlopen(LOCKSTEP_FAKE_NCCL, RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<Function*>(dlsym(library, name));
}

// Another dataset's samples, decoded in memory.
class InMemory final : public Dataset {
public:
    explicit InMemory(const Dataset& from) : m_info(from.info()), m_fields(m_info.fields.size()) {
        m_info.inMemory = true;
        for (std::int64_t i = 0; i < m_info.count; ++i) {
            std::vector<std::span<std::byte>> room;
            std::vector<std::vector<std::byte>> sample;
            for (const Field& field : m_info.fields) room.emplace_back(sample.emplace_back(field.type.bytes()));
            from.read(i, room);
            for (std::size_t f = 0; f < sample.size(); ++f)
                m_fields[f].insert(m_fields[f].end(), sample[f].begin(), sample[f].end());
        }
    }
    const DatasetInfo& info() const override { return m_info; }
    const std::byte* resident(std::int64_t index, std::size_t field) const override {
        return m_fields[field].data() + static_cast<std::size_t>(index) * m_info.fields[field].type.bytes();
    }
    void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override {
        for (std::size_t f = 0; f < into.size(); ++f)
            if (!into[f].empty()) std::copy_n(resident(index, f), into[f].size(), into[f].data());
    }

private:
    DatasetInfo m_info;
    std::vector<std::vector<std::byte>> m_fields;
};

double secondsOf(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

// Whole runs on cards that the host stands in for: the module's device, streams and groups under the trainer.
class TestCudaTraining : public QObject {
    Q_OBJECT
private slots:
    void trainsAsTheReferenceDoes_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("optimizer");
        for (const char* model : {"mlp", "lenet5", "vit", "gpt", "text-encoder"})
            for (const char* optimizer : {"sgd", "lars", "muon"})
                QTest::addRow("%s %s", model, optimizer) << model << optimizer;
    }
    void trainsAsTheReferenceDoes() {
        QFETCH(QString, model);
        QFETCH(QString, optimizer);
        TrialSpec spec = smallSpec(model.toStdString(), "reference:1");
        spec.optimizer = {optimizer.toStdString(), {{"weight_decay", 0.01}}};
        spec.learningRate = 0.02;
        const Run expected = trained(spec, "reference:1");
        QCOMPARE(expected.result.outcome, RunResult::Outcome::Finished);
        const auto steps = expected.recorder.all<StepDone>();
        for (const char* devices : {"cuda:0", "cuda:0,0", "cuda:0,0,0,0", "cuda:0,1", "cuda:0,1,2,3"}) {
            const Run actual = trained(spec, devices);
            QCOMPARE(actual.result.outcome, RunResult::Outcome::Finished);
            const auto others = actual.recorder.all<StepDone>();
            QCOMPARE(others.size(), steps.size());
            for (std::size_t i = 0; i < steps.size(); ++i)
                QVERIFY2(std::abs(others[i].loss - steps[i].loss) <= 1e-5 * steps[i].loss, devices);
            for (const auto& [step, hashes] : actual.hashes) {
                for (const std::uint64_t hash : hashes) QCOMPARE(hash, hashes.front());
            }
        }
    }

    // Images that the card makes of pixels in the batch, or of a dataset that it keeps, are those that the host makes.
    void cardsMakeTheImages_data() {
        QTest::addColumn<double>("mixup");
        QTest::addColumn<QString>("mode");
        QTest::addColumn<QString>("precision");
        for (const double mixup : {0.0, 0.3})
            for (const char* mode : {"fast", "reproducible"})
                for (const char* precision : {"fp32", "bf16"})
                    QTest::addRow("mixup %g, %s, %s", mixup, mode, precision) << mixup << mode << precision;
    }
    void cardsMakeTheImages() {
        QFETCH(double, mixup);
        QFETCH(QString, mode);
        QFETCH(QString, precision);
        const bool rounds = precision != "fp32";
        TrialSpec spec = smallSpec("lenet5", "reference:1");
        spec.mode = mode.toStdString();
        spec.shards = 4;
        spec.augmentation = {{"crop_padding", std::int64_t{2}},
                             {"flip", true},
                             {"cutout", std::int64_t{3}},
                             {"mixup", mixup},
                             {"cutmix", mixup},
                             {"jitter_brightness", 0.4},
                             {"jitter_contrast", 0.4}};
        const DatasetSplits files = dataFor(spec.model.id, 21, 10);
        const DatasetSplits memory{std::make_shared<InMemory>(*files.train), std::make_shared<InMemory>(*files.test)};
        const auto trainedOn = [&](const DatasetSplits& data, const char* devices) {
            spec.devices = devices;
            return run({.spec = spec, .data = data, .options = {}, .onEvent = {}, .environment = &environment()});
        };
        const Run expected = trainedOn(files, "reference:1");
        spec.precision = precision.toStdString();
        QCOMPARE(expected.result.outcome, RunResult::Outcome::Finished);
        for (const char* devices : {"cuda:0", "cuda:0,0"}) {
            const Run sent = trainedOn(files, devices), kept = trainedOn(memory, devices);
            QCOMPARE(sent.result.outcome, RunResult::Outcome::Finished);
            QCOMPARE(kept.result.outcome, RunResult::Outcome::Finished);
            QVERIFY(sameBits(sent.tensors, kept.tensors));
            const auto losses = expected.recorder.all<StepDone>(), others = sent.recorder.all<StepDone>();
            QCOMPARE(others.size(), losses.size());
            for (std::size_t i = 0; i < losses.size(); ++i)
                QVERIFY2(std::abs(others[i].loss - losses[i].loss) <= (rounds ? 3e-2 : 1e-5) * losses[i].loss, devices);
            QCOMPARE(kept.result.finished.testAccuracy, sent.result.finished.testAccuracy);
            if (!rounds) QCOMPARE(sent.result.finished.testAccuracy, expected.result.finished.testAccuracy);
        }
        spec.devices = "cuda:0";
        const ResolvedSpec there = resolved(spec, environment());
        const RunPlan sends = planRun(there, files.train->info(), files.test->info());
        const RunPlan keeps = planRun(there, memory.train->info(), memory.test->info());
        QCOMPARE(sends.keptImages, std::int64_t{0});
        QCOMPARE(keeps.keptImages, std::int64_t{31});
        QCOMPARE(keeps.memory[0].dataset, std::size_t{31 * 144});
        QVERIFY(keeps.memory[0].batches < sends.memory[0].batches);
    }

    // The next batch travels while a step runs: what happens to its slot once it is there does not count.
    void batchesTravelBesideTheStepBefore() {
        TrialSpec spec = smallSpec("lenet5", "cuda:0");
        spec.batch = 8;
        const ResolvedSpec there = resolved(spec, environment());
        const DatasetSplits data = dataFor(spec.model.id, 21, 10);
        const RunPlan plan = planRun(there, data.train->info(), data.test->info());
        const std::array batches{madeBatch(plan.batch, {0, 8}, 4), madeBatch(plan.batch, {8, 8}, 4)};
        const auto lossesOf = [&](bool ahead) {
            const auto device = there.backend->open(there.devices.front());
            const auto group = makeHostGroup(1);
            Replica replica(*device, *group[0], std::vector{plan.ranks.front().training}, nullptr);
            replica.initialize(1);
            std::array<Buffer, 2> staged;
            for (Buffer& slot : staged) slot = device->allocateStaging(plan.batch.bytes());
            std::vector<double> losses;
            for (std::size_t step = 0; step < 5; ++step) {
                Buffer &own = staged[step % 2], &next = staged[(step + 1) % 2];
                if (!ahead || step == 0) std::ranges::copy(batches[step % 2].as<std::byte>(), own.data());
                std::ranges::copy(batches[(step + 1) % 2].as<std::byte>(), next.data());
                replica.run(0, own.data(), {1, 0, static_cast<std::int64_t>(step), 0.05}, 0,
                            ahead ? next.data() : nullptr);
                device->stream(Lane::Copy).synchronize();
                if (ahead) std::fill_n(next.data(), plan.batch.bytes(), std::byte{0});
                losses.push_back(replica.scalar(0, "loss_sum"));
            }
            return losses;
        };
        QCOMPARE(lossesOf(true), lossesOf(false));
    }

    void reproducibleRunsHaveTheSameBitsOnAnyNumberOfRanks_data() {
        QTest::addColumn<QString>("model");
        for (const char* model : {"fashion-cnn", "gpt"}) QTest::newRow(model) << model;
    }
    void reproducibleRunsHaveTheSameBitsOnAnyNumberOfRanks() {
        QFETCH(QString, model);
        TrialSpec spec = smallSpec(model.toStdString(), "cuda:0");
        spec.mode = "reproducible";
        spec.shards = 4;
        const Run one = trained(spec, "cuda:0");
        QCOMPARE(one.result.outcome, RunResult::Outcome::Finished);
        for (const char* devices : {"cuda:0,0", "cuda:0,0,0,0"}) {
            const Run many = trained(spec, devices);
            QCOMPARE(many.result.outcome, RunResult::Outcome::Finished);
            QVERIFY2(sameBits(one.tensors, many.tensors), devices);
        }
    }

    void errorsOfNcclEndAllRanks_data() {
        QTest::addColumn<int>("fault");
        QTest::addColumn<int>("rank");
        QTest::addColumn<quint64>("operation");
        for (const FakeNcclFault fault : {kFailsAtStart, kFailsOnCard})
            for (const int rank : {0, 2})
                for (const quint64 operation :
                     {0u, 3u, fault == kFailsAtStart ? 4u : 9u})  // from the third step on: replayed
                    QTest::addRow("%s, rank %d, operation %d", fault == kFailsAtStart ? "at start" : "on the card",
                                  rank, static_cast<int>(operation))
                        << static_cast<int>(fault) << rank << operation;
    }
    void errorsOfNcclEndAllRanks() {
        QFETCH(int, fault);
        QFETCH(int, rank);
        QFETCH(quint64, operation);
        const auto setFault = ofFakeNccl<FakeNcclSetFault>("fakeNcclSetFault");
        setFault(static_cast<FakeNcclFault>(fault), rank, operation);
        TrialSpec spec = smallSpec("lenet5", "cuda:0");
        spec.onLostDevice = "stop";
        Run failed;
        const double seconds = secondsOf([&] { failed = runOn(spec, "cuda:0,1,2"); });
        setFault(kNoFault, -1, 0);
        QCOMPARE(failed.result.outcome, RunResult::Outcome::Failed);
        const RunFailed& why = failed.result.failed;
        QCOMPARE(why.rank, rank);
        QVERIFY2(why.where.starts_with("NCCL"), why.where.c_str());
        QVERIFY2(why.what.ends_with("as the test wanted"), why.what.c_str());
        QVERIFY2(seconds < 2, qPrintable(QString::number(seconds)));
        QCOMPARE(ofFakeNccl<FakeNcclCount>("fakeNcclCommunicators")(), quint64{0});
    }

    void aRankThatDoesNotComeIsNamed_data() {
        QTest::addColumn<QString>("devices");
        QTest::newRow("a card each") << "cuda:0,1,2";
        QTest::newRow("one card") << "cuda:0,0,0";
    }
    void aRankThatDoesNotComeIsNamed() {
        QFETCH(QString, devices);
        TrialSpec spec = smallSpec("lenet5", "cuda:0");
        spec.onLostDevice = "stop";
        spec.timeout = 0.5;
        std::atomic<bool> late = false;
        RunOptions options;
        options.beforeStep = [&](int rank, std::int64_t step, std::size_t programStep) {
            if (rank == 1 && step == 2 && programStep == 5 && !late.exchange(true))
                std::this_thread::sleep_for(std::chrono::milliseconds(1500));
        };
        const Run failed = runOn(spec, devices.toStdString(), options);
        QCOMPARE(failed.result.outcome, RunResult::Outcome::Failed);
        QCOMPARE(failed.result.failed.rank, 1);
        QVERIFY2(failed.result.failed.what.starts_with("rank 1 did not come to it within 0.5 s"),
                 failed.result.failed.what.c_str());
        QCOMPARE(ofFakeNccl<FakeNcclCount>("fakeNcclCommunicators")(), quint64{0});
    }

    void withoutNcclTheRemedyIsNamed() {
        Environment without = makeTestEnvironment();
        without.add(std::make_unique<cuda::CudaBackend>(2, cuda::LibraryFiles{.nccl = "/nowhere/libnccl.so.2"}));
        TrialSpec spec = smallSpec("mlp", "cuda:0,1");
        const DatasetSplits data = dataFor("mlp", 21, 10);
        try {
            const Run failed = run({.spec = spec, .data = data, .options = {}, .onEvent = {}, .environment = &without});
            QCOMPARE(failed.result.outcome, RunResult::Outcome::Failed);
            QVERIFY2(failed.result.failed.what.find("packaging/setup --cuda") != std::string::npos,
                     failed.result.failed.what.c_str());
        } catch (const EngineError& error) {
            QVERIFY2(std::string(error.what()).find("packaging/setup --cuda") != std::string::npos, error.what());
        }
    }

    // What a kernel's bad access leaves behind: nothing works on that card any more until its process ends. A run on
    // that card alone ends; where there are others it goes on without it. After a sticky error the process can use no
    // card: the run ends, though others of its cards seem to work.
    void aBrokenCardIsLeft_data() {
        QTest::addColumn<QString>("devices");
        QTest::addColumn<int>("card");
        QTest::addColumn<int>("status");
        QTest::addColumn<QString>("words");
        QTest::addColumn<QString>("endsAs");  // empty: the run goes on
        const auto row = [](const char* name, const char* devices, int card, bool sticky, const char* endsAs) {
            QTest::newRow(name) << devices << card
                                << int(sticky ? cudaErrorIllegalAddress : cudaErrorDevicesUnavailable)
                                << (sticky ? "an illegal memory access" : "busy or unavailable") << endsAs;
        };
        row("the only one", "cuda:0", 0, false, "device");
        row("all ranks on it", "cuda:0,0,0", 0, false, "device");
        row("one of two", "cuda:0,1", 1, false, "");
        row("the first of three", "cuda:0,1,2", 0, false, "");
        row("the only one, sticky", "cuda:0", 0, true, "corrupted-context");
        row("all ranks on it, sticky", "cuda:0,0,0", 0, true, "corrupted-context");
        row("one of two, sticky", "cuda:0,1", 1, true, "corrupted-context");
        row("the first of three, sticky", "cuda:0,1,2", 0, true, "corrupted-context");
    }
    void aBrokenCardIsLeft() {
        QFETCH(QString, devices);
        QFETCH(int, card);
        QFETCH(int, status);
        QFETCH(QString, words);
        QFETCH(QString, endsAs);
        RunOptions options;
        std::atomic<bool> done = false;
        options.afterStep = [&](int, std::int64_t step, Replica&) {
            if (step >= 3 && !done.exchange(true)) host_cuda::breakCard(card, cudaError_t(status));
        };
        Run out;
        const double seconds =
            secondsOf([&] { out = runOn(smallSpec("mlp", "cuda:0"), devices.toStdString(), options); });
        host_cuda::mendCards();
        QVERIFY(seconds < 20);
        QVERIFY(done);
        const auto changes = out.recorder.all<WorldChanged>();
        if (endsAs.isEmpty()) {
            QCOMPARE(out.result.outcome, RunResult::Outcome::Finished);
            QCOMPARE(changes.size(), std::size_t{1});
            QCOMPARE(changes[0].rank, card);
            QVERIFY2(changes[0].what.find(words.toStdString()) != std::string::npos, changes[0].what.c_str());
        } else {
            QCOMPARE(out.result.outcome, RunResult::Outcome::Failed);
            QCOMPARE(out.result.failed.kind, endsAs.toStdString());
            QVERIFY2(out.result.failed.what.find(words.toStdString()) != std::string::npos,
                     out.result.failed.what.c_str());
            if (endsAs == "corrupted-context") QVERIFY(changes.empty());
        }
    }

    // The first run of a program settles what there is to settle; then graphs are replayed, and nothing is allocated.
    void nothingIsAllocatedOnCardsAfterTheFirstStep() {
        std::map<std::int64_t, std::size_t> allocations, launches;
        RunOptions options;
        options.afterStep = [&](int, std::int64_t step, Replica&) {
            allocations[step] = host_cuda::allocations();
            launches[step] = host_cuda::graphLaunches();
        };
        const Run done = runOn(smallSpec("fashion-cnn", "cuda:0"), "cuda:0", options);
        QCOMPARE(done.result.outcome, RunResult::Outcome::Finished);
        QCOMPARE(allocations.rbegin()->second, allocations.begin()->second);
        QVERIFY(launches.rbegin()->second > launches.at(2));
    }

    // Forward, backward, all-reduces, update and sums are one graph for each card; passes before the last are each
    // rank's.
    void aStepIsOneGraph_data() {
        QTest::addColumn<QString>("devices");
        QTest::addColumn<int>("passes");
        QTest::addColumn<int>("graphs");
        QTest::newRow("one") << "cuda:0" << 1 << 1;
        QTest::newRow("three, by NCCL") << "cuda:0,1,2" << 1 << 3;
        QTest::newRow("three ranks of one card") << "cuda:0,0,0" << 1 << 1;
        QTest::newRow("three ranks of one card, a pass before it") << "cuda:0,0,0" << 2 << 3 + 1;
    }
    void aStepIsOneGraph() {
        QFETCH(QString, devices);
        QFETCH(int, passes);
        QFETCH(int, graphs);
        std::mutex mutex;
        std::map<std::int64_t, std::size_t> launches;
        RunOptions options;
        options.afterStep = [&](int, std::int64_t step, Replica&) {
            const std::lock_guard lock(mutex);
            launches.try_emplace(step, host_cuda::graphLaunches());  // the first to be done: all have launched theirs
        };
        TrialSpec spec = smallSpec("lenet5", devices.toStdString());
        spec.batch = 7;           // 21 samples: no step is short
        spec.bucketBytes = 4096;  // several all-reduces
        spec.accumulation = passes;
        spec.epochs = 2;
        const Run done = runOn(spec, devices.toStdString(), options);
        QCOMPARE(done.result.outcome, RunResult::Outcome::Finished);
        QCOMPARE(launches.at(3) - launches.at(2), static_cast<std::size_t>(graphs));
    }

    void halvesTrainNextToFloats_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("precision");
        for (const char* model : {"mlp", "fashion-cnn", "vit"})
            for (const char* precision : {"tf32", "bf16", "fp16"})
                QTest::addRow("%s %s", model, precision) << model << precision;
    }
    void halvesTrainNextToFloats() {
        QFETCH(QString, model);
        QFETCH(QString, precision);
        TrialSpec spec = smallSpec(model.toStdString(), "cuda:0,0");
        const auto expected = trained(spec, "cuda:0,0").recorder.all<StepDone>();
        spec.precision = precision.toStdString();
        const Run actual = trained(spec, "cuda:0,0");
        QCOMPARE(actual.result.outcome, RunResult::Outcome::Finished);
        const auto steps = actual.recorder.all<StepDone>();
        QCOMPARE(steps.size(), expected.size());
        for (std::size_t i = 0; i < steps.size(); ++i)
            QVERIFY2(std::abs(steps[i].loss - expected[i].loss) <= 0.03 * expected[i].loss,
                     qPrintable(QString("step %1: %2, not %3").arg(i).arg(steps[i].loss).arg(expected[i].loss)));
    }

    // A loss scale that is far too large: updates are skipped until it fits, each is an event, and the run goes on.
    void fp16LooksForItsLossScale() {
        const QTemporaryDir folder;
        TrialSpec spec = smallSpec("fashion-cnn", "cuda:0,0");
        spec.precision = "fp16";
        spec.epochs = 1;
        RunOptions options;
        options.checkpointFolder = folder.path().toStdString();
        QCOMPARE(runOn(spec, "cuda:0,0", options).result.outcome, RunResult::Outcome::Finished);
        const auto file = options.checkpointFolder / "last.safetensors";
        options.resumeFrom = readCheckpoint(file).value();
        QCOMPARE(options.resumeFrom->lossScale, LossScale(Precision::Fp16, spec.batch).value());
        options.resumeFrom->lossScale = LossScale::kMost;
        spec.epochs = 8;
        const Run resumed = runOn(spec, "cuda:0,0", options);
        QCOMPARE(resumed.result.outcome, RunResult::Outcome::Finished);
        const auto warnings = resumed.recorder.all<Message>();
        QVERIFY(!warnings.empty());
        for (const Message& each : warnings) QCOMPARE(each.text.code, std::string("run.loss-scale-lowered"));
        const auto steps = resumed.recorder.all<StepDone>();
        QVERIFY(!steps.empty() && std::isfinite(steps.back().gradientNorm));
        const Checkpoint last = readCheckpoint(file).value();
        QCOMPARE(last.lossScale * std::exp2(static_cast<double>(warnings.size())), LossScale::kMost);
        QVERIFY(last.lossScaleUpdates > 0);
    }

    void fp16ResumesWithTheSameBits() {
        const QTemporaryDir folder;
        TrialSpec spec = smallSpec("lenet5", "cuda:0");
        spec.precision = "fp16";
        spec.epochs = 2;
        spec.schedule = {"constant", {}};
        RunOptions options;
        options.checkpointFolder = folder.path().toStdString();
        TrialSpec first = spec;
        first.epochs = 1;
        runOn(first, "cuda:0", options);
        options.resumeFrom = readCheckpoint(options.checkpointFolder / "last.safetensors").value();
        const Run again = runOn(spec, "cuda:0", options);
        QVERIFY(sameBits(trained(spec, "cuda:0").tensors, again.tensors));
    }
};

QTEST_APPLESS_MAIN(TestCudaTraining)
#include "tst_cuda_training.moc"
