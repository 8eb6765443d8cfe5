#include <QtTest>
#include <numeric>

#include "engine/core/error.h"
#include "engine/train/find_batch.h"
#include "engine/train/memory_need.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

// Plans as `inner` does, for devices with so much memory free each; a device that is opened has none after all.
class TightBackend final : public Backend {
public:
    TightBackend(const Backend& inner, bool isHost, std::vector<std::size_t> freeBytes)
        : m_inner(inner), m_isHost(isHost), m_freeBytes(std::move(freeBytes)) {}

    std::string_view name() const override { return m_inner.name(); }
    bool hostMemory() const override { return m_isHost; }
    bool offers(Precision precision) const override { return m_inner.offers(precision); }
    DType computeType(Precision precision) const override { return m_inner.computeType(precision); }
    std::vector<DeviceInfo> devices() const override {
        std::vector<DeviceInfo> infos;
        for (const std::size_t bytes : m_freeBytes) {
            infos.push_back(m_inner.devices().front());
            infos.back().id = "card:" + std::to_string(infos.size() - 1);
            infos.back().facts.freeBytes = bytes;
        }
        return infos;
    }
    Graph lower(const Graph& graph, const LowerOptions& options) const override {
        return m_inner.lower(graph, options);
    }
    std::unique_ptr<Device> open(const DeviceChoice& choice) const override {
        throw EngineError(EngineError::Kind::OutOfMemory, choice.id, "no memory");
    }

private:
    const Backend& m_inner;
    bool m_isHost;
    std::vector<std::size_t> m_freeBytes;
};

TrialSpec specFor(const char* model) {
    TrialSpec spec = smallSpec(model, hasCpuBackend() ? "cpu:2x1" : "reference:2");
    spec.batch = 64;
    return spec;
}

const DatasetSplits& data() {
    static const DatasetSplits splits = patterns(200, 64, {3, 32, 32}, 10);
    return splits;
}

RunPlan planOf(const ResolvedSpec& resolved) { return planRun(resolved, data().train->info(), data().test->info()); }

std::size_t total(const RunPlan& plan) {
    return std::accumulate(plan.memory.begin(), plan.memory.end(), std::size_t{0},
                           [](std::size_t sum, const MemoryUse& use) { return sum + use.total(); });
}

std::optional<Problem> objection(ResolvedSpec resolved, const RunPlan& plan, bool isHost,
                                 std::vector<std::size_t> freeBytes) {
    const TightBackend backend(*resolved.backend, isHost, std::move(freeBytes));
    resolved.backend = &backend;
    return shortOfMemory(resolved, plan, data().train->info(), data().test->info());
}

}  // namespace

class TestMemoryNeed : public QObject {
    Q_OBJECT

private slots:
    void whatFitsIsTaken() {
        const ResolvedSpec spec = resolved(specFor("lenet5"));
        const RunPlan plan = planOf(spec);
        QCOMPARE(plan.memory.size(), std::size_t{2});
        QVERIFY(plan.memory[0].weights > static_cast<std::size_t>(plan.parameters) * 3 * sizeof(float));
        QCOMPARE(std::max(plan.memory[0].total(), plan.memory[1].total()), plan.bytesPerDevice);
        QVERIFY(!objection(spec, plan, true, {total(plan)}));
        QVERIFY(objection(spec, plan, true, {total(plan) - 1}));
        QVERIFY(!objection(spec, plan, true, {0}));  // nobody knows
        QVERIFY(!shortOfMemory(spec, plan, data().train->info(),
                               data().test->info()));  // the machine that the test runs on
    }

    // The batch that is offered does fit.
    void theBatchOnOfferFits_data() {
        QTest::addColumn<double>("share");
        QTest::addColumn<QString>("model");
        for (const QString model : {"lenet5", "resnet18-cifar"})
            for (const double share : {0.9, 0.5}) QTest::addRow("%s %g", qPrintable(model), share) << share << model;
    }
    void theBatchOnOfferFits() {
        QFETCH(double, share);
        QFETCH(QString, model);
        TrialSpec spec = specFor(model.toUtf8());
        const RunPlan plan = planOf(resolved(spec));
        const std::size_t weights = plan.memory[0].weights + plan.memory[1].weights;
        const auto growing = static_cast<double>(total(plan) - weights);
        const std::size_t freeBytes = weights + static_cast<std::size_t>(share * growing);
        const auto problem = objection(resolved(spec), plan, true, {freeBytes});
        QVERIFY(problem && problem->code == "run.memory" && problem->field == "batch" && problem->args.size() == 6);
        QCOMPARE(problem->args[0], std::string("this machine"));
        spec.batch = std::stoll(problem->args[4]);
        QVERIFY(spec.batch >= 32 * share && spec.batch < 64);
        const auto smaller = objection(resolved(spec), planOf(resolved(spec)), true, {freeBytes});
        QVERIFY2(!smaller, smaller ? (smaller->args[1] + " of " + smaller->args[2]).c_str() : "");
    }

    // And the next one does not.
    void theLargestBatchFits() {
        ResolvedSpec spec = resolved(specFor("lenet5"));
        const TightBackend backend(*spec.backend, true, {total(planOf(spec))});
        spec.backend = &backend;
        const std::int64_t largest = largestBatch(spec, data().train->info(), data().test->info());
        QVERIFY2(largest >= 64 && largest < 72, qPrintable(QString::number(largest)));
        spec.spec.batch = largest;
        QVERIFY(fitsMemory(spec, planOf(spec)));
        spec.spec.batch = largest + leastBatch(spec);
        QVERIFY(!fitsMemory(spec, planOf(spec)));
    }

    void noBatchHelpsWhereTheWeightsAreTooLarge() {
        const ResolvedSpec spec = resolved(specFor("resnet18-cifar"));
        const RunPlan plan = planOf(spec);
        const auto problem = objection(spec, plan, true, {plan.memory[0].weights});
        QVERIFY(problem && problem->code == "run.memory-at-any-batch" && problem->field == "model");
    }

    // Each card has its own; ranks on one card share it, and the driver takes some.
    void cardsAreCountedOneByOne() {
        constexpr std::size_t kPlenty = std::size_t{64} << 30, kLibraries = std::size_t{600} << 20;
        ResolvedSpec spec = resolved(specFor("lenet5"));
        const RunPlan plan = planOf(spec);
        spec.devices[0].id = "card:0";
        spec.devices[1].id = "card:1";
        QVERIFY(!objection(spec, plan, false, {kPlenty, plan.memory[1].total() + kLibraries}));
        const auto second = objection(spec, plan, false, {kPlenty, plan.memory[1].total() + kLibraries - 1});
        QVERIFY(second && second->args[0] == "card:1");
        QVERIFY(!objection(spec, plan, false,
                           {plan.memory[0].total() + kLibraries, kPlenty, 1}));  // nobody is on the third
        spec.devices[1].id = "card:0";
        QVERIFY(!objection(spec, plan, false, {total(plan) + kLibraries, 1}));
        QVERIFY(objection(spec, plan, false, {total(plan) + kLibraries - 1, kPlenty}));
    }

    void aRunThatDoesNotFitOpensNoDevice() {
        ResolvedSpec spec = resolved(specFor("lenet5"));
        const TightBackend backend(*spec.backend, true, {planOf(spec).memory[0].weights * 2 + 1000});
        spec.backend = &backend;
        RunControl control;
        Recorder recorder;
        const RunResult result = runTrial(spec, data(), {}, control, {&recorder});
        QCOMPARE(result.outcome, RunResult::Outcome::Failed);
        QVERIFY2(result.failed.kind.starts_with("run.memory"), result.failed.kind.c_str());
        QVERIFY(recorder.all<RunStarted>().empty());
    }

    // Where the memory is gone at run time all the same, the failure says what takes how much.
    void whatTookTheMemoryIsSaid() {
        ResolvedSpec spec = resolved(specFor("lenet5"));
        const TightBackend backend(*spec.backend, true, {0});
        spec.backend = &backend;
        RunControl control;
        Recorder recorder;
        const RunResult result = runTrial(spec, data(), {}, control, {&recorder});
        QCOMPARE(result.failed.kind, std::string("out-of-memory"));
        const auto& what = result.failed.what;
        QVERIFY2(what.starts_with("no memory; ") && what.find("MiB for activations") != what.npos &&
                     what.find("with batch 32") != what.npos,
                 what.c_str());
    }
};

QTEST_APPLESS_MAIN(TestMemoryNeed)
#include "tst_memory_need.moc"
