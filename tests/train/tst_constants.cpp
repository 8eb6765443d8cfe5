#include <QtTest>

#include <algorithm>

#include "engine/collective/host_group.h"
#include "engine/train/made_batch.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

constexpr std::size_t kTraining = 0, kEvaluation = 1, kShorter = 2;

// One replica of a network whose evaluation makes norms part of convolutions.
class Model {
public:
    Model() : m_spec(resolved(spec())) {
        const auto data = patterns(40, 11, {3, 12, 12});  // batches of 8: the last of the evaluation has 3
        m_plan = planRun(m_spec, data.train->info(), data.test->info());
        const auto& rank = m_plan.ranks.front();
        m_device = m_spec.backend->open(m_spec.devices.front());
        m_group = makeHostGroup(1);
        replica = std::make_unique<Replica>(*m_device, *m_group[0],
                                            std::vector{rank.training, rank.evaluation, rank.lastEvaluation}, nullptr);
        replica->initialize(1);
        replica->beforeStep = [this](std::size_t, std::size_t) { ++m_steps; };
        m_batch = madeBatch(m_plan.batch, {0, 8}, 4);
    }

    double lossOf(std::size_t program) {
        m_steps = 0;
        replica->run(program, m_batch.data(), {.learningRate = 0.1});
        return replica->scalar(program, "loss_sum");
    }
    // As if nothing had been run.
    double lossAnew(std::size_t program) {
        Model other;
        for (const auto& [name, tensor] : allTensors(*replica)) other.replica->write(name, tensor);
        return other.lossOf(program);
    }
    int steps() const { return m_steps; }  // of the last run

    std::unique_ptr<Replica> replica;

private:
    static TrialSpec spec() {
        TrialSpec spec = smallSpec("fashion-cnn", "cpu:1x1");
        spec.model.params = {{"width", std::int64_t{16}}};
        return spec;
    }

    ResolvedSpec m_spec;
    RunPlan m_plan;
    std::unique_ptr<Device> m_device;
    std::vector<std::unique_ptr<Collective>> m_group;
    HostTensor m_batch;
    int m_steps = 0;
};

}  // namespace

// What an evaluation makes of parameters alone is made once, and again as soon as they may have changed.
class TstConstants : public QObject {
    Q_OBJECT

private slots:
    void theyAreMadeOnce() {
        Model model;
        const double loss = model.lossOf(kEvaluation);
        const int all = model.steps();
        QCOMPARE(model.lossOf(kEvaluation), loss);
        QVERIFY(model.steps() < all);
    }

    void theyFollowWhatIsWritten() {
        Model model;
        const double before = model.lossOf(kEvaluation);
        for (const std::string& name : model.replica->tensorNames()) {
            if (!name.ends_with("running_var")) continue;
            HostTensor tensor = model.replica->read(name);
            for (float& value : tensor.as<float>()) value *= 2;
            model.replica->write(name, tensor);
        }
        const double after = model.lossOf(kEvaluation);
        QVERIFY(after != before);
        QCOMPARE(after, model.lossAnew(kEvaluation));
    }

    void theyFollowTraining() {
        Model model;
        const double before = model.lossOf(kEvaluation);
        model.lossOf(kTraining);
        const double after = model.lossOf(kEvaluation);
        QVERIFY(after != before);
        QCOMPARE(after, model.lossAnew(kEvaluation));
    }

    void otherProgramsHaveTheirOwn() {
        Model model;
        const double loss = model.lossOf(kEvaluation), last = model.lossOf(kShorter);
        QCOMPARE(last, model.lossAnew(kShorter));
        QCOMPARE(model.lossOf(kEvaluation), loss);
        QCOMPARE(model.lossOf(kShorter), last);
    }

    void theyFollowAnInitialisation() {
        Model model, other;
        model.lossOf(kEvaluation);
        model.replica->initialize(2);
        other.replica->initialize(2);
        QCOMPARE(model.lossOf(kEvaluation), other.lossOf(kEvaluation));
    }
};

QTEST_APPLESS_MAIN(TstConstants)
#include "tst_constants.moc"
