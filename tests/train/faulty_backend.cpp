#include "tests/train/faulty_backend.h"

#include "engine/collective/collective.h"

namespace lockstep {

namespace {

class FaultyDevice final : public Device {
public:
    FaultyDevice(std::unique_ptr<Device> inner, const BeforeDeviceCall& before)
        : m_inner(std::move(inner)), m_before(before) {}

    const DeviceChoice& choice() const override { return m_inner->choice(); }
    bool isHostMemory() const override { return m_inner->isHostMemory(); }
    Buffer allocate(std::size_t bytes) override { return ask("allocate").allocate(bytes); }
    Stream& stream(Lane lane) override { return m_inner->stream(lane); }
    std::unique_ptr<Kernel> prepare(const Graph& graph, const Node& node) override {
        return ask("prepare").prepare(graph, node);
    }
    std::unique_ptr<Kernel> prepareFill(DType dtype, std::size_t count, double value) override {
        return ask("prepare fill").prepareFill(dtype, count, value);
    }
    std::unique_ptr<Kernel> prepareScale(DType dtype, std::size_t count, double factor) override {
        return ask("prepare scale").prepareScale(dtype, count, factor);
    }
    std::unique_ptr<Kernel> prepareAdd(DType dtype, std::size_t count) override {
        return ask("prepare add").prepareAdd(dtype, count);
    }
    std::unique_ptr<Kernel> prepareSquareSum(DType dtype, std::size_t count) override {
        return ask("prepare square sum").prepareSquareSum(dtype, count);
    }
    std::unique_ptr<Kernel> prepareGate(const UpdateRule& rule, std::size_t squareSums) override {
        return ask("prepare gate").prepareGate(rule, squareSums);
    }
    std::unique_ptr<Kernel> prepareUpdate(const UpdateRule& rule, DType dtype, std::size_t count,
                                          std::span<const UpdateSegment> segments) override {
        return ask("prepare update").prepareUpdate(rule, dtype, count, segments);
    }
    std::unique_ptr<Kernel> prepareAverage(double decay, DType dtype, std::size_t count) override {
        return ask("prepare average").prepareAverage(decay, dtype, count);
    }
    std::unique_ptr<Kernel> prepareNarrow(DType dtype, std::size_t count) override {
        return ask("prepare narrow").prepareNarrow(dtype, count);
    }
    std::unique_ptr<Kernel> prepareCommit(DType dtype, std::size_t count) override {
        return ask("prepare commit").prepareCommit(dtype, count);
    }
    HostTensor readLogical(const Value& value, const std::byte* at) override {
        return ask("read").readLogical(value, at);
    }
    void writeLogical(const Value& value, const HostTensor& tensor, std::byte* at) override {
        ask("write").writeLogical(value, tensor, at);
    }

private:
    Device& ask(const char* call) {
        m_before(choice().index, m_calls++, call);
        return *m_inner;
    }

    std::unique_ptr<Device> m_inner;
    const BeforeDeviceCall& m_before;
    int m_calls = 0;
};

class FaultyBackend final : public Backend {
public:
    FaultyBackend(const Backend& inner, BeforeDeviceCall before) : m_inner(inner), m_before(std::move(before)) {}

    std::string_view name() const override { return m_inner.name(); }
    std::vector<DeviceInfo> devices() const override { return m_inner.devices(); }
    DType computeType(Precision precision) const override { return m_inner.computeType(precision); }
    bool offers(Precision precision) const override { return m_inner.offers(precision); }
    Graph lower(const Graph& graph, const LowerOptions& options) const override {
        return m_inner.lower(graph, options);
    }
    std::unique_ptr<Device> open(const DeviceChoice& choice) const override {
        return std::make_unique<FaultyDevice>(m_inner.open(choice), m_before);
    }

private:
    const Backend& m_inner;
    BeforeDeviceCall m_before;
};

}  // namespace

std::unique_ptr<Backend> makeFaultyBackend(const Backend& inner, BeforeDeviceCall before) {
    return std::make_unique<FaultyBackend>(inner, std::move(before));
}

}  // namespace lockstep
