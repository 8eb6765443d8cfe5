#include <QtTest>

#include <cmath>
#include <cstring>
#include <optional>

#include "engine/backend/null/null_backend.h"
#include "engine/collective/host_group.h"
#include "engine/core/error.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

constexpr float kStep = 0.25f;  // what each update takes from every weight

std::uint16_t rounded(float x) {  // to bf16, towards zero
    std::uint32_t bits = 0;
    std::memcpy(&bits, &x, sizeof bits);
    return static_cast<std::uint16_t>(bits >> 16);
}

class Loop final : public Kernel {
public:
    Loop(std::size_t count, std::function<void(const KernelCall&, std::size_t)> element)
        : m_count(count), m_element(std::move(element)) {}
    void run(const KernelCall& call) override {
        for (std::size_t i = 0; i < m_count; ++i) m_element(call, i);
    }

private:
    std::size_t m_count;
    std::function<void(const KernelCall&, std::size_t)> m_element;
};

float& single(std::byte* at, std::size_t i) { return reinterpret_cast<float*>(at)[i]; }
std::uint16_t& half(std::byte* at, std::size_t i) { return reinterpret_cast<std::uint16_t*>(at)[i]; }

void require(bool holds, const char* what) {
    if (!holds) throw EngineError(EngineError::Kind::Internal, "masters", what);
}

// Takes a step from the masters, if what kernels read was the masters until now.
std::unique_ptr<Kernel> checkedUpdate(std::size_t count) {
    return std::make_unique<Loop>(count, [](const KernelCall& call, std::size_t i) {
        float& master = single(call.outputs[1], i);
        std::uint16_t& parameter = half(call.outputs[0], i);
        require(parameter == rounded(master), "a parameter is not its master");
        master -= kStep;
        parameter = rounded(master);
    });
}

// Goes half the way from the average to the master.
std::unique_ptr<Kernel> checkedAverage(std::size_t count) {
    return std::make_unique<Loop>(count, [](const KernelCall& call, std::size_t i) {
        float& average = single(call.outputs[0], i);
        std::uint16_t& read = half(call.outputs[1], i);
        require(read == rounded(average), "what evaluation reads is not the average");
        average += (single(call.inputs[0], i) - average) / 2;
        read = rounded(average);
    });
}

// A null device that narrows and updates.
class HalfDevice final : public Device {
public:
    explicit HalfDevice(std::unique_ptr<Device> device) : m_device(std::move(device)) {}

    const DeviceChoice& choice() const override { return m_device->choice(); }
    bool isHostMemory() const override { return true; }
    Buffer allocate(std::size_t bytes) override { return m_device->allocate(bytes); }
    Stream& stream(Lane lane) override { return m_device->stream(lane); }
    std::unique_ptr<Kernel> prepare(const Graph& graph, const Node& node) override {
        return m_device->prepare(graph, node);
    }
    std::unique_ptr<Kernel> prepareFill(DType dtype, std::size_t count, double value) override {
        return m_device->prepareFill(dtype, count, value);
    }
    std::unique_ptr<Kernel> prepareScale(DType dtype, std::size_t count, double factor) override {
        return m_device->prepareScale(dtype, count, factor);
    }
    std::unique_ptr<Kernel> prepareAdd(DType dtype, std::size_t count) override {
        return m_device->prepareAdd(dtype, count);
    }
    std::unique_ptr<Kernel> prepareSquareSum(DType dtype, std::size_t count) override {
        return m_device->prepareSquareSum(dtype, count);
    }
    std::unique_ptr<Kernel> prepareGate(const UpdateRule& rule, std::size_t squareSums) override {
        return m_device->prepareGate(rule, squareSums);
    }
    std::unique_ptr<Kernel> prepareUpdate(const UpdateRule&, DType dtype, std::size_t count,
                                          std::span<const UpdateSegment>) override {
        require(dtype == DType::BF16, "an update of another type");
        return checkedUpdate(count);
    }
    std::unique_ptr<Kernel> prepareAverage(double, DType dtype, std::size_t count) override {
        require(dtype == DType::BF16, "averages of another type");
        return checkedAverage(count);
    }
    std::unique_ptr<Kernel> prepareNarrow(DType, std::size_t count) override {
        return std::make_unique<Loop>(count, [](const KernelCall& call, std::size_t i) {
            half(call.outputs[0], i) = rounded(single(call.inputs[0], i));
        });
    }
    std::unique_ptr<Kernel> prepareCommit(DType dtype, std::size_t count) override {
        return m_device->prepareCommit(dtype, count);
    }
    HostTensor readLogical(const Value& value, const std::byte* at) override {
        return m_device->readLogical(value, at);
    }
    void writeLogical(const Value& value, const HostTensor& tensor, std::byte* at) override {
        m_device->writeLogical(value, tensor, at);
    }

private:
    std::unique_ptr<Device> m_device;
};

class HalfBackend final : public Backend {
public:
    std::string_view name() const override { return "null"; }
    std::vector<DeviceInfo> devices() const override { return m_null->devices(); }
    DType computeType(Precision) const override { return DType::BF16; }
    Graph lower(const Graph& graph, const LowerOptions&) const override { return graph; }
    std::unique_ptr<Device> open(const DeviceChoice& choice) const override {
        return std::make_unique<HalfDevice>(m_null->open(choice));
    }

private:
    std::unique_ptr<Backend> m_null = makeNullBackend();
};

ResolvedSpec halfSpec() {
    static const HalfBackend backend;
    TrialSpec spec = smallSpec("fashion-cnn", "null:1");
    spec.averageDecay = 0.9;
    ResolvedSpec out = resolved(spec);
    out.backend = &backend;
    return out;
}

Checkpoint trained(const std::optional<Checkpoint>& from, std::int64_t epochs) {
    QTemporaryDir folder;
    ResolvedSpec spec = halfSpec();
    spec.spec.epochs = epochs;
    RunOptions options;
    options.checkpointFolder = folder.path().toStdString();
    options.resumeFrom = from;
    RunControl control;
    const RunResult result = runTrial(spec, patterns(29, 7), options, control, {});
    if (result.outcome != RunResult::Outcome::Finished) qFatal("%s", result.failed.what.c_str());
    return readCheckpoint(options.checkpointFolder / "last.safetensors").value();
}

}  // namespace

// A run whose kernels compute in bf16, as far as it goes without such kernels.
class TstMasters : public QObject {
    Q_OBJECT

private:
    const DatasetSplits m_data = patterns(29, 7);

private slots:
    void logicalTensorsAreTheMasters() {
        const ResolvedSpec spec = halfSpec();
        const RunPlan plan = planRun(spec, m_data.train->info(), m_data.test->info());
        const auto group = makeHostGroup(1);
        const auto device = spec.backend->open(spec.devices[0]);
        Replica replica(*device, *group[0], {plan.ranks[0].training, plan.ranks[0].evaluation}, nullptr);
        replica.initialize(1);
        for (const std::string& name : replica.tensorNames()) QCOMPARE(replica.read(name).type().dtype, DType::F32);
        HostTensor bias = replica.read("head/bias");
        bias.as<float>()[0] = 1 + 1e-6f;  // which bf16 does not have
        replica.write("head/bias", bias);
        QCOMPARE(replica.read("head/bias").as<float>()[0], 1 + 1e-6f);
        QCOMPARE(replica.readGradient("head/bias").type().dtype, DType::BF16);
        const HostTensor narrow({bias.type().shape, DType::BF16});
        QVERIFY_THROWS_EXCEPTION(ProblemError, replica.write("head/bias", narrow));
    }

    // Each update finds its masters' values in the parameters, also the first, and the first after a resume.
    void updatesGoToTheMasters() {
        const Checkpoint one = trained({}, 1), two = trained(one, 2), both = trained({}, 2);
        QVERIFY(sameBits(two.tensors, both.tensors));
        for (const auto& [name, tensor] : one.tensors) QCOMPARE(tensor.type().dtype, DType::F32);
        const auto first = [](const Checkpoint& checkpoint, const char* name) {
            return checkpoint.tensors.at(name).as<float>()[0];
        };
        const auto updates = static_cast<float>(two.step - one.step);
        QCOMPARE(updates, 4.0f);
        const float expected = first(one, "head/bias") - kStep * updates;
        QVERIFY(std::abs(first(two, "head/bias") - expected) < 1e-6f);
        QVERIFY(first(two, "average.head/bias") > first(two, "head/bias"));
    }

    void severalRanksNeedAnotherGroup() {
        const auto group = makeHostGroup(1);
        std::uint16_t value = 0;
        QVERIFY_THROWS_EXCEPTION(EngineError, group[0]->allReduce(&value, 1, DType::BF16));
    }
};

QTEST_APPLESS_MAIN(TstMasters)
#include "tst_masters.moc"
