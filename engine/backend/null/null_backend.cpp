#include "engine/backend/null/null_backend.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include "engine/backend/host_memory.h"
#include "engine/core/error.h"

namespace lockstep {

namespace {

class IdleKernel final : public Kernel {
public:
    explicit IdleKernel(std::chrono::microseconds delay = {}) : m_delay(delay) {}
    void run(const KernelCall&) override {
        if (m_delay.count() > 0) std::this_thread::sleep_for(m_delay);
    }

private:
    std::chrono::microseconds m_delay;
};

template <class T>
class FillKernel final : public Kernel {
public:
    FillKernel(std::size_t count, double value) : m_count(count), m_value(static_cast<T>(value)) {}
    void run(const KernelCall& call) override { std::fill_n(reinterpret_cast<T*>(call.outputs[0]), m_count, m_value); }

private:
    std::size_t m_count;
    T m_value;
};

// Carries sample counts from pass to pass.
class AddKernel final : public Kernel {
public:
    explicit AddKernel(std::size_t count) : m_count(count) {}
    void run(const KernelCall& call) override {
        const auto* from = reinterpret_cast<const double*>(call.inputs[0]);
        auto* to = reinterpret_cast<double*>(call.outputs[0]);
        for (std::size_t i = 0; i < m_count; ++i) to[i] += from[i];
    }

private:
    std::size_t m_count;
};

class NullDevice final : public Device {
public:
    NullDevice(DeviceChoice choice, std::chrono::microseconds kernelDelay)
        : m_choice(std::move(choice)), m_kernelDelay(kernelDelay) {}

    const DeviceChoice& choice() const override { return m_choice; }
    bool isHostMemory() const override { return true; }
    Buffer allocate(std::size_t bytes) override { return allocateHost(bytes); }
    Stream& stream(Lane lane) override { return m_streams[static_cast<std::size_t>(lane)]; }

    std::unique_ptr<Kernel> prepare(const Graph&, const Node&) override {
        return std::make_unique<IdleKernel>(m_kernelDelay);
    }
    std::unique_ptr<Kernel> prepareFill(DType dtype, std::size_t count, double value) override {
        switch (dtype) {
            case DType::F32: return std::make_unique<FillKernel<float>>(count, value);
            case DType::F64: return std::make_unique<FillKernel<double>>(count, value);
            case DType::I32: return std::make_unique<FillKernel<std::int32_t>>(count, value);
            case DType::I64: return std::make_unique<FillKernel<std::int64_t>>(count, value);
            case DType::U8: return std::make_unique<FillKernel<std::uint8_t>>(count, value);
            case DType::F16:
            case DType::BF16:
                if (value == 0) return std::make_unique<FillKernel<std::uint16_t>>(count, 0);
                break;
        }
        throw EngineError(EngineError::Kind::Internal, m_choice.id,
                          "no fill of " + std::string(text(dtype)) + " with anything but zero");
    }
    std::unique_ptr<Kernel> prepareScale(DType, std::size_t, double) override { return idle(); }
    std::unique_ptr<Kernel> prepareAdd(DType dtype, std::size_t count) override {
        if (dtype == DType::F64) return std::make_unique<AddKernel>(count);
        return idle();
    }
    std::unique_ptr<Kernel> prepareSquareSum(DType, std::size_t) override { return idle(); }
    std::unique_ptr<Kernel> prepareGate(const UpdateRule&, std::size_t) override { return idle(); }
    std::unique_ptr<Kernel> prepareUpdate(const UpdateRule&, DType, std::size_t,
                                          std::span<const UpdateSegment>) override {
        return idle();
    }
    std::unique_ptr<Kernel> prepareAverage(double, DType, std::size_t) override { return idle(); }
    std::unique_ptr<Kernel> prepareNarrow(DType, std::size_t) override { return idle(); }
    std::unique_ptr<Kernel> prepareCommit(DType, std::size_t) override { return idle(); }

    HostTensor readLogical(const Value& value, const std::byte* at) override {
        HostTensor tensor(value.type);
        std::memcpy(tensor.data(), at, tensor.bytes());
        return tensor;
    }
    void writeLogical(const Value& value, const HostTensor& tensor, std::byte* at) override {
        if (tensor.type() != value.type) {
            throw EngineError(EngineError::Kind::Internal, value.name, "a tensor of another type was written");
        }
        std::memcpy(at, tensor.data(), tensor.bytes());
    }

private:
    static std::unique_ptr<Kernel> idle() { return std::make_unique<IdleKernel>(); }

    DeviceChoice m_choice;
    std::chrono::microseconds m_kernelDelay;
    std::array<HostStream, 3> m_streams;
};

class NullBackend final : public Backend {
public:
    explicit NullBackend(std::chrono::microseconds kernelDelay) : m_kernelDelay(kernelDelay) {}

    std::string_view name() const override { return "null"; }
    std::vector<DeviceInfo> devices() const override {
        return {{.id = "null",
                 .name = "Null device (computes nothing)",
                 .backend = "null",
                 .memoryBytes = 0,
                 .cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()))}};
    }
    bool offers(Precision) const override { return true; }
    Graph lower(const Graph& graph, const LowerOptions&) const override { return graph; }
    std::unique_ptr<Device> open(const DeviceChoice& choice) const override {
        return std::make_unique<NullDevice>(choice, m_kernelDelay);
    }

private:
    std::chrono::microseconds m_kernelDelay;
};

}  // namespace

std::unique_ptr<Backend> makeNullBackend(std::chrono::microseconds kernelDelay) {
    return std::make_unique<NullBackend>(kernelDelay);
}

}  // namespace lockstep
