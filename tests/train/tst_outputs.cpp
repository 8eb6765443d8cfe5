#include <QtTest>

#include <cmath>
#include <set>

#include "engine/collective/host_group.h"
#include "engine/data/loader.h"
#include "engine/train/made_batch.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

constexpr int kTokens = 6, kClasses = 11;

// An evaluation of gpt on made sequences, which can be changed between runs.
class Evaluation {
public:
    Evaluation(const std::string& devices, std::int64_t batch) : m_spec(specOf(devices, batch)) {
        const ModelInput input{.batch = batch, .classes = kClasses, .tokens = kTokens};
        const DatasetInfo info = infoOf(ModelTask::NextTokens, input, batch);
        m_plan = planRun(m_spec, info, info);
        m_program = m_plan.ranks.front().evaluation;
        m_device = m_spec.backend->open(m_spec.devices.front());
        m_group = makeHostGroup(1);
        m_replica = std::make_unique<Replica>(*m_device, *m_group[0], std::vector{m_program}, nullptr);
        m_replica->initialize(1);
        m_batch = madeBatch(m_plan.batch, {0, batch}, kClasses);
    }

    std::int32_t* field(const char* name, std::size_t sample) {
        const auto at = static_cast<std::size_t>(m_plan.batch.find(name));
        return reinterpret_cast<std::int32_t*>(m_plan.batch.place(m_batch.data(), at, sample).data());
    }
    HostTensor logits() {
        m_replica->run(0, m_batch.data(), {});
        return m_replica->readOutput(*m_program, "logits");
    }
    double scalar(const char* name) const { return m_replica->scalar(0, name); }

private:
    static ResolvedSpec specOf(const std::string& devices, std::int64_t batch) {
        TrialSpec spec = smallSpec("gpt", devices);
        spec.batch = batch;
        return resolved(spec);
    }

    ResolvedSpec m_spec;
    RunPlan m_plan;
    std::shared_ptr<const Program> m_program;
    std::unique_ptr<Device> m_device;
    std::vector<std::unique_ptr<Collective>> m_group;
    std::unique_ptr<Replica> m_replica;
    HostTensor m_batch;
};

double at(const HostTensor& tensor, std::size_t i) {
    return tensor.type().dtype == DType::F64 ? tensor.as<double>()[i] : static_cast<double>(tensor.as<float>()[i]);
}

}  // namespace

// What an evaluation leaves besides its sums, and the sequences that are made where there is no data.
class TstOutputs : public QObject {
    Q_OBJECT

private slots:
    void logitsAreThoseOfTheLoss_data() {
        QTest::addColumn<QString>("devices");
        QTest::newRow("reference") << "reference:1";
        if (hasCpuBackend()) QTest::newRow("cpu") << "cpu:1x1";
    }

    void logitsAreThoseOfTheLoss() {
        QFETCH(QString, devices);
        Evaluation evaluation(devices.toStdString(), 3);
        const HostTensor logits = evaluation.logits();
        QVERIFY(logits.type().shape == Shape({3, kTokens, kClasses}));
        double loss = 0, weight = 0;
        for (std::size_t row = 0; row < 3 * kTokens; ++row) {
            const std::int32_t target = evaluation.field("targets", row / kTokens)[row % kTokens];
            if (target < 0) continue;
            double sum = 0;
            for (std::size_t c = 0; c < kClasses; ++c) sum += std::exp(at(logits, row * kClasses + c));
            loss += std::log(sum) - at(logits, row * kClasses + static_cast<std::size_t>(target));
            ++weight;
        }
        QCOMPARE(evaluation.scalar("weight"), weight);
        QVERIFY(std::abs(evaluation.scalar("loss_sum") - loss) < 1e-5 * loss);
    }

    // What a language model says of a token depends on that token and those before it, whatever comes later.
    void laterTokensChangeNothingBeforeThem() {
        Evaluation evaluation("reference:1", 2);
        const HostTensor before = evaluation.logits();
        for (std::size_t changed = 0; changed < kTokens; ++changed) {
            std::int32_t& token = evaluation.field("tokens", 1)[changed];
            token = (token + 1) % kClasses;
            const HostTensor after = evaluation.logits();
            for (std::size_t t = 0; t < kTokens; ++t) {
                bool same = true;
                for (std::size_t c = 0; c < kClasses; ++c) {
                    const std::size_t i = (kTokens + t) * kClasses + c;
                    same = same && at(after, i) == at(before, i);
                    QCOMPARE(at(after, i - kTokens * kClasses), at(before, i - kTokens * kClasses));
                }
                QCOMPARE(same, t < changed);
            }
            token = (token + kClasses - 1) % kClasses;
        }
    }

    // The first tokens are the sample's number, and are no targets; all others are the next token's.
    void madeSequencesCanBeToldApart() {
        Evaluation evaluation("reference:1", 30);
        for (std::size_t sample = 0; sample < 30; ++sample) {
            const std::int32_t *tokens = evaluation.field("tokens", sample),
                               *targets = evaluation.field("targets", sample);
            QCOMPARE(static_cast<std::size_t>(tokens[0] + kClasses * tokens[1] + kClasses * kClasses * tokens[2]),
                     sample);
            for (int t = 0; t < kTokens; ++t) {
                const bool counts = t >= 2 && t + 1 < kTokens;
                QCOMPARE(targets[t], counts ? tokens[t + 1] : -1);
                QVERIFY(tokens[t] >= 0 && tokens[t] < kClasses);
            }
        }
    }

    void madeTextsAreOfUnequalLength() {
        const ModelInput input{.batch = 20, .classes = 3, .tokens = 5};
        const BatchLayout layout = batchLayout(infoOf(ModelTask::TextClasses, input, 20), 20);
        HostTensor batch = madeBatch(layout, {7, 13}, 3);
        std::set<std::int32_t> lengths;
        for (std::size_t i = 0; i < 13; ++i) {
            const auto value = [&](const char* name) {
                const auto field = static_cast<std::size_t>(layout.find(name));
                return *reinterpret_cast<const std::int32_t*>(layout.place(batch.data(), field, i).data());
            };
            QCOMPARE(value("label"), static_cast<std::int32_t>((7 + i) % 3));
            QVERIFY(value("length") >= 1 && value("length") <= 5);
            lengths.insert(value("length"));
        }
        QVERIFY(lengths.size() > 1);
    }
};

QTEST_APPLESS_MAIN(TstOutputs)
#include "tst_outputs.moc"
