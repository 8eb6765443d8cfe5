#include <QtTest>

#include <mutex>
#include <random>

#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

constexpr std::int64_t kEvery = 4;
constexpr std::int64_t kSteps = 12;

struct Flip {
    int rank = 0;
    std::int64_t step = 0;
    Arena arena = Arena::Parameters;
    std::size_t byte = 0;
    int bit = 0;
};

TrialSpec checkedSpec(const char* model, const char* backend, int devices) {
    TrialSpec spec = smallSpec(model, std::string(backend) + ":" + std::to_string(devices));
    spec.batch = 8;
    spec.epochs = 1;
    spec.checkEvery = kEvery;
    spec.onLostDevice = "stop";
    spec.averageDecay = 0.9;
    return spec;
}

// Flips after the update of that number, once.
Run runWith(const TrialSpec& spec, const std::function<Flip(Replica&)>& choose, Flip& flip) {
    RunRequest request{.spec = spec, .data = patterns(8 * kSteps, 8, {1, 8, 8}), .options = {}, .onEvent = {}};
    std::atomic<bool> done = false;
    const int culprit = flip.rank;
    const std::int64_t at = flip.step;
    request.options.afterStep = [&](int rank, std::int64_t step, Replica& replica) {
        if (rank != culprit || step != at || done.exchange(true)) return;
        flip = choose(replica);
        replica.stored(flip.arena)[flip.byte] ^= static_cast<std::byte>(1 << flip.bit);
    };
    return run(std::move(request));
}

}  // namespace

class TstReplicaCheck : public QObject {
    Q_OBJECT

private slots:
    void everyFlippedBitIsFound_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("backend");
        QTest::addColumn<QString>("optimizer");
        QTest::addColumn<int>("flips");
        const auto row = [](const char* name, const char* model, const char* backend, const char* optimizer,
                            int flips) { QTest::newRow(name) << model << backend << optimizer << flips; };
        row("mlp", "mlp", "reference", "sgd", 600);
        row("batch norm", "fashion-cnn", "reference", "sgd", 100);
        if (!hasCpuBackend()) return;
        row("cpu", "fashion-cnn", "cpu", "sgd", 200);
        row("cpu, adamw", "fashion-cnn", "cpu", "adamw", 60);
        row("cpu, muon", "mlp", "cpu", "muon", 60);
    }

    // In a random place of what rests between updates, on a random rank of two to four, after a random update.
    void everyFlippedBitIsFound() {
        QFETCH(QString, model);
        QFETCH(QString, backend);
        QFETCH(QString, optimizer);
        QFETCH(int, flips);
        std::mt19937_64 random(7);
        const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
        const Arena arenas[] = {Arena::Parameters, Arena::OptimizerState, Arena::Averages, Arena::Buffers};
        for (int i = 0; i < flips; ++i) {
            TrialSpec spec = checkedSpec(model.toUtf8(), backend.toUtf8(), 2 + static_cast<int>(below(3)));
            spec.optimizer.id = optimizer.toStdString();
            if (model == "fashion-cnn") spec.model.params["width"] = std::int64_t{4};
            Flip flip{.rank = static_cast<int>(below(2)),
                      .step = 1 + static_cast<std::int64_t>(below(kSteps - kEvery))};
            const auto choose = [&](Replica& replica) {
                Flip chosen = flip;
                do chosen.arena = arenas[below(std::size(arenas))];
                while (replica.stored(chosen.arena).empty());
                chosen.byte = below(replica.stored(chosen.arena).size());
                chosen.bit = static_cast<int>(below(8));
                return chosen;
            };
            const Run out = runWith(spec, choose, flip);
            const auto say = [&] {
                return QString("flip %1: rank %2, update %3, arena %4, byte %5, bit %6: %7")
                    .arg(i)
                    .arg(flip.rank)
                    .arg(flip.step)
                    .arg(QString::fromStdString(std::string(text(flip.arena))))
                    .arg(flip.byte)
                    .arg(flip.bit)
                    .arg(QString::fromStdString(out.result.failed.what));
            };
            QVERIFY2(out.result.outcome == RunResult::Outcome::Failed, qPrintable(say()));
            QVERIFY2(out.result.failed.rank == flip.rank, qPrintable(say()));
            QCOMPARE(out.result.failed.kind, std::string("device"));
            QVERIFY2(out.result.failed.step - flip.step <= kEvery, qPrintable(say()));
        }
    }

    // What a faulty kernel computes is at rest when it is written: only the others can tell.
    void aReplicaThatComputedWrongIsOutvoted() {
        for (const int culprit : {0, 1, 2}) {
            RunRequest request{.spec = checkedSpec("mlp", "reference", 3),
                               .data = patterns(8 * kSteps, 8, {1, 8, 8}),
                               .options = {},
                               .onEvent = {}};
            request.options.afterStep = [&](int rank, std::int64_t step, Replica& replica) {
                if (rank != culprit || step != 5) return;
                HostTensor weights = replica.read("head/weight");
                weights.as<double>()[2] += 1e-9;
                replica.write("head/weight", weights);
            };
            const Run out = run(std::move(request));
            QCOMPARE(out.result.outcome, RunResult::Outcome::Failed);
            QCOMPARE(out.result.failed.rank, culprit);
            QCOMPARE(out.result.failed.step, 8);
        }
    }

    // Back to the snapshot with the same devices: the bits of a run to which nothing happened.
    void theRunGoesBackToItsSnapshot() {
        TrialSpec spec = checkedSpec("mlp", "reference", 3);
        spec.onLostDevice = "continue";
        RunRequest plain{.spec = spec, .data = patterns(8 * kSteps, 8, {1, 8, 8}), .options = {}, .onEvent = {}};
        const Run unbroken = run(std::move(plain));
        Flip flip{.rank = 1, .step = 6};
        const Run out = runWith(
            spec,
            [&](const Replica&) {
                return Flip{1, 6, Arena::Parameters, 40, 3};
            },
            flip);
        QCOMPARE(out.result.outcome, RunResult::Outcome::Finished);
        QVERIFY(sameBits(out.tensors, unbroken.tensors));
        const auto changes = out.recorder.all<WorldChanged>();
        QCOMPARE(changes.size(), std::size_t{1});
        QCOMPARE(changes[0].reason, std::string("diverged"));
        QCOMPARE(changes[0].rank, 1);
        QCOMPARE(changes[0].step, 4);
        QCOMPARE(changes[0].devices.size(), std::size_t{3});
    }

    // A device that goes wrong again at once is taken for lost.
    void aDeviceThatKeepsGoingWrongIsLeftBehind() {
        TrialSpec spec = checkedSpec("mlp", "reference", 3);
        spec.onLostDevice = "continue";
        RunRequest request{.spec = spec, .data = patterns(8 * kSteps, 8, {1, 8, 8}), .options = {}, .onEvent = {}};
        std::atomic<int> times = 0;
        request.options.afterStep = [&](int rank, std::int64_t step, Replica& replica) {
            if (rank == 1 && step == 6 && ++times <= 2) replica.stored(Arena::Parameters)[8] ^= std::byte{1};
        };
        const Run out = run(std::move(request));
        QCOMPARE(out.result.outcome, RunResult::Outcome::Finished);
        const auto changes = out.recorder.all<WorldChanged>();
        QCOMPARE(changes.size(), std::size_t{2});
        QCOMPARE(changes[1].reason, std::string("lost-device"));
        QCOMPARE(changes[1].devices, (std::vector<std::string>{"reference:0", "reference:2"}));
    }

    void noCheckpointOfReplicasThatDiffer() {
        for (const bool stops : {false, true}) {
            QTemporaryDir folder;
            TrialSpec spec = checkedSpec("mlp", "reference", 2);
            spec.checkEvery = 0;
            RunRequest request{.spec = spec, .data = patterns(8 * kSteps, 8, {1, 8, 8}), .options = {}, .onEvent = {}};
            request.options.checkpointFolder = folder.path().toStdString();
            request.options.afterStep = [&](int rank, std::int64_t step, Replica& replica) {
                if (rank == 1 && step == (stops ? 5 : kSteps)) replica.stored(Arena::Parameters)[8] ^= std::byte{1};
            };
            request.onEvent = [&](const TrainEvent& event, RunControl& control) {
                const auto* done = std::get_if<StepDone>(&event);
                if (stops && done && done->step == 4) control.stop();
            };
            const Run out = run(std::move(request));
            QCOMPARE(out.result.outcome, RunResult::Outcome::Failed);
            QVERIFY(out.recorder.all<CheckpointWritten>().empty());
            QVERIFY(QDir(folder.path()).isEmpty());
        }
    }
};

QTEST_GUILESS_MAIN(TstReplicaCheck)
#include "tst_replica_check.moc"
