#include <QtTest>

#include "engine/train/prove.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

// Short last batches: 20 samples are 8, 8 and 4. One device has the same batch norms as several.
TrialSpec exactSpec(const std::string& model, const std::string& devices) {
    TrialSpec spec = smallSpec(model, devices);
    spec.epochs = 3;
    spec.batchNorm = "synchronised";
    spec.augmentation = {{"flip", true}, {"crop_padding", std::int64_t{2}}};
    return spec;
}

Proof proofOf(const TrialSpec& spec, std::optional<ProofBreak> how = {}, std::int64_t updates = 6) {
    const ResolvedSpec all = resolved(spec);
    const DatasetSplits data = patterns(20, 8);
    return prove({all, data, updates, how, {}});
}

std::string codeOf(const TrialSpec& spec, std::optional<ProofBreak> how = {}) {
    try {
        proofOf(spec, how);
    } catch (const ProblemError& error) {
        return error.problem().code;
    }
    return "";
}

QByteArray told(const Proof& proof) {
    const auto worst = proof.worst();
    return QByteArray::fromStdString(worst.tensor.name) + " off by " + QByteArray::number(worst.tensor.value) +
           ", update " + QByteArray::number(qlonglong(worst.update));
}

// Convolutions of whole channel blocks, which are of bf16 in part.
TrialSpec inBf16(TrialSpec spec) {
    spec.precision = "bf16";
    if (spec.model.id == "fashion-cnn") spec.model.params = {{"width", std::int64_t{16}}};
    return spec;
}

std::vector<std::string> backends() {
    return hasCpuBackend() ? std::vector<std::string>{"reference", "cpu"} : std::vector<std::string>{"reference"};
}

void addRow(const std::string& name, const TrialSpec& spec) {
    QTest::newRow((spec.devices + " " + spec.model.id + " " + name).c_str()) << spec;
}

}  // namespace

Q_DECLARE_METATYPE(lockstep::TrialSpec)
Q_DECLARE_METATYPE(lockstep::ProofBreak)

class TstProve : public QObject {
    Q_OBJECT

private slots:
    void devicesThatTrainAsOneAreEqual_data() {
        QTest::addColumn<TrialSpec>("spec");
        for (const std::string& backend : backends()) {
            for (const char* model : {"mlp", "lenet5", "fashion-cnn"}) {
                addRow("", exactSpec(model, backend + ":2"));
                TrialSpec uneven = exactSpec(model, backend + ":2");
                uneven.shares = "3,1";
                addRow("3,1", uneven);
            }
            addRow("", exactSpec("fashion-cnn", backend + ":3"));
            TrialSpec passes = exactSpec("lenet5", backend + ":2");
            passes.accumulation = 3;
            addRow("3 passes", passes);
            TrialSpec adaptive = exactSpec("mlp", backend + ":4");
            adaptive.optimizer = {"adamw", {{"clip_norm", 0.1}}};
            adaptive.averageDecay = 0.9;
            addRow("adamw", adaptive);
        }
        for (const char* model : {"mlp", "fashion-cnn", "vit"}) {
            if (hasCpuBackend()) addRow("bf16", inBf16(exactSpec(model, "cpu:2")));
        }
    }
    void devicesThatTrainAsOneAreEqual() {
        QFETCH(TrialSpec, spec);
        const Proof proof = proofOf(spec);
        QVERIFY2(proof.equal(), told(proof));
        QVERIFY(!proof.tolerance.bitwise);
        QCOMPARE(proof.tolerance.roundsProducts(), spec.precision == "bf16");
        QCOMPARE(proof.tolerance.relative, spec.devices.starts_with("cpu") ? 1e-5 : 1e-12);
        QCOMPARE(proof.updates.size(), std::size_t{6});
        std::vector<std::int64_t> samples;
        for (const UpdateProof& update : proof.updates) samples.push_back(update.samples);
        QCOMPARE(samples, (std::vector<std::int64_t>{8, 8, 4, 8, 8, 4}));
        QCOMPARE(proof.updates.back().epoch, 2);
        QVERIFY(!proof.updates.back().judged.gradients.empty());
        QCOMPARE(proof.updates.back().judged.statistics.empty(), spec.model.id != "fashion-cnn");
    }

    void reproducibleDevicesHaveTheSameBits_data() {
        QTest::addColumn<TrialSpec>("spec");
        for (const std::string& backend : backends()) {
            for (const char* devices : {":2", ":4"}) {
                TrialSpec spec = exactSpec("fashion-cnn", backend + devices);
                spec.mode = "reproducible";
                spec.batchNorm = "local";
                spec.model.params["dropout"] = 0.3;
                addRow("reproducible", spec);
            }
        }
    }
    void reproducibleDevicesHaveTheSameBits() {
        QFETCH(TrialSpec, spec);
        const Proof proof = proofOf(spec);
        QVERIFY2(proof.equal(), told(proof));
        QVERIFY(proof.tolerance.bitwise);
        for (const UpdateProof& update : proof.updates) {
            QVERIFY(update.judged.sameBits() && update.drifting.sameBits());
            QCOMPARE(update.drifting.distance, 0.0);
        }
        QVERIFY(!proofOf(spec, ProofBreak::AverageOfAverages).equal());  // the short batches are uneven
    }

    void everyBreakIsFoundAndTheDriftGrows_data() {
        QTest::addColumn<TrialSpec>("spec");
        QTest::addColumn<ProofBreak>("how");
        for (const std::string& backend : backends()) {
            for (const ProofBreak how : kProofBreaks) {
                for (const char* devices : {":2", ":3"}) {
                    TrialSpec spec = exactSpec("fashion-cnn", backend + devices);
                    spec.batch = batchShowing(how, resolved(spec));
                    const std::string name = spec.devices + " " + std::string(text(how));
                    QTest::newRow(name.c_str()) << spec << how;
                    if (backend == "cpu") QTest::newRow((name + " bf16").c_str()) << inBf16(spec) << how;
                }
            }
        }
    }
    void everyBreakIsFoundAndTheDriftGrows() {
        QFETCH(TrialSpec, spec);
        QFETCH(ProofBreak, how);
        QVERIFY2(proofOf(spec).equal(), told(proofOf(spec)));
        const Proof proof = proofOf(spec, how);
        QVERIFY(!proof.equal());
        QVERIFY(proof.cause->code.starts_with("prove.broken-"));
        QVERIFY(!proof.updates.front().equal);
        QVERIFY2(proof.worst().tensor.value > 1e-3, told(proof));
        const double first = proof.updates.front().drifting.distance, last = proof.updates.back().drifting.distance;
        QVERIFY2(first > 0 && last > first, qPrintable(QString("%1 then %2").arg(first).arg(last)));
    }

    // The judged side starts anew each time, so it differs by the factor and no more.
    void aMissingDivideIsAFactor() {
        const Proof proof = proofOf(exactSpec("lenet5", "reference:3"), ProofBreak::NoDivide);
        for (const UpdateProof& update : proof.updates) {
            for (const TensorDifference& each : update.judged.gradients) QVERIFY(std::abs(each.value - 2) < 1e-9);
        }
    }

    void evenAveragesAreRightAndTheBatchSaysSo() {
        const TrialSpec spec = exactSpec("lenet5", "reference:2");
        QVERIFY(proofOf(spec, ProofBreak::AverageOfAverages).equal());
        QCOMPARE(batchShowing(ProofBreak::AverageOfAverages, resolved(spec)), 9);
        QCOMPARE(batchShowing(ProofBreak::NoDivide, resolved(spec)), 8);
        TrialSpec uneven = spec;
        uneven.shares = "3,1";
        QCOMPARE(batchShowing(ProofBreak::AverageOfAverages, resolved(uneven)), 8);
        QVERIFY(!proofOf(uneven, ProofBreak::AverageOfAverages).equal());
    }

    void differencesThatAreNatural_data() {
        QTest::addColumn<TrialSpec>("spec");
        QTest::addColumn<QString>("code");
        TrialSpec local = exactSpec("fashion-cnn", "reference:2");
        local.batchNorm = "local";
        QTest::newRow("local norm") << local << "prove.local-norm";
        TrialSpec passes = exactSpec("fashion-cnn", "reference:2");
        passes.accumulation = 2;
        QTest::newRow("norm of passes") << passes << "prove.norm-of-passes";
    }
    void differencesThatAreNatural() {
        QFETCH(TrialSpec, spec);
        QFETCH(QString, code);
        const Proof proof = proofOf(spec);
        QVERIFY(!proof.equal());
        QCOMPARE(QString::fromStdString(proof.cause->code), code);
        QVERIFY(proof.worst().tensor.value > 1e-3 && !proof.worst().tensor.name.empty());
    }

    void whatCannotBeProvenIsAProblem() {
        QCOMPARE(codeOf(exactSpec("mlp", "reference:1")), std::string("prove.one-device"));
        QCOMPARE(codeOf(exactSpec("mlp", "reference:2"), ProofBreak::LocalNorm), std::string("prove.no-norm"));
        TrialSpec large = exactSpec("mlp", "reference:2");
        large.batch = 21;
        QCOMPARE(codeOf(large), std::string("spec.batch-too-large"));
    }

    void aRunIsProvenToItsEndAndNoFurther() {
        QCOMPARE(proofOf(exactSpec("mlp", "reference:2"), {}, 1000).updates.size(), std::size_t{9});
    }

    void aSampleThatCannotBeReadEndsTheProof() {
        const ResolvedSpec all = resolved(exactSpec("mlp", "reference:2"));
        DatasetSplits data = patterns(20, 8);
        auto broken = std::make_shared<PatternDataset>(20, ImageShape{1, 12, 12}, 4, 1);
        broken->beforeRead = [](std::int64_t index) {
            if (index == 13) throw ProblemError({"13.png", "image.damaged", {"13.png"}});
        };
        data.train = broken;
        QVERIFY_EXCEPTION_THROWN(prove({all, data, 6, {}, {}}), ProblemError);
    }
};

QTEST_APPLESS_MAIN(TstProve)
#include "tst_prove.moc"
