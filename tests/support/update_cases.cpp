#include "tests/support/update_cases.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "engine/core/random.h"

namespace lockstep::test {

namespace {

std::vector<double> normals(std::size_t count, std::uint64_t stream) {
    const CounterRng rng(99, stream, 0, 0);
    std::vector<double> values;
    for (std::uint32_t i = 0; i < count; ++i) values.push_back(static_cast<float>(rng.normal(i)));
    return values;
}

UpdateCase randomCase(const std::string& name, const UpdateRule& rule, std::size_t count, int steps) {
    UpdateCase one{.name = name, .rule = rule};
    const std::size_t split = count / 3;
    one.segments = {{0, split, true}, {split, count - split, false}};
    one.weights = normals(count, 1);
    for (int step = 0; step < steps; ++step)
        one.gradients.push_back(normals(count, 2 + static_cast<std::uint64_t>(step)));
    return one;
}

// Memory of a device with elements of its compute type, written and read as doubles.
class DeviceMemory {
public:
    DeviceMemory(Device& device, DType dtype, std::size_t count)
        : m_device(device), m_dtype(dtype), m_count(count), m_buffer(device.allocate(count * sizeOf(dtype))) {}

    std::byte* data() const { return m_buffer.data(); }

    void write(std::span<const double> values) {
        const HostTensor tensor = converted(tensorOf({static_cast<std::int64_t>(values.size())}, values), m_dtype);
        m_device.stream(Lane::Compute).copyToDevice(data(), tensor.data(), tensor.bytes());
        m_device.stream(Lane::Compute).synchronize();
    }

    std::vector<double> read() const {
        HostTensor tensor({{static_cast<std::int64_t>(m_count)}, m_dtype});
        m_device.stream(Lane::Compute).copyToHost(tensor.data(), data(), tensor.bytes());
        m_device.stream(Lane::Compute).synchronize();
        const HostTensor doubles = converted(tensor, DType::F64);
        return {doubles.as<double>().begin(), doubles.as<double>().end()};
    }

private:
    Device& m_device;
    DType m_dtype;
    std::size_t m_count;
    Buffer m_buffer;
};

// The flat kernels of one bucket, in the order of a step.
class Updater {
public:
    Updater(const Backend& backend, const UpdateCase& c)
        : m_device(backend.open({std::string(backend.name()), 0, 1, false, std::string(backend.name()) + ":0"})),
          m_dtype(backend.computeType(Precision::Fp32)),
          m_count(c.weights.size()),
          m_weights(memory(m_count)),
          m_gradient(memory(m_count)),
          m_buffer(memory(m_count)),
          m_scalars(*m_device, DType::F64, 4),
          m_gate(*m_device, DType::F64, sizeof(UpdateGate) / sizeof(double)),
          m_squareSum(m_device->prepareSquareSum(m_dtype, m_count)),
          m_decide(m_device->prepareGate(c.rule, 1)),
          m_update(m_device->prepareUpdate(c.rule, m_dtype, m_count, c.segments)),
          m_commit(m_device->prepareCommit(m_dtype, m_count)) {
        m_weights.write(c.weights);
        if (c.rule.averageDecay > 0) {
            m_average = m_device->prepareAverage(c.rule.averageDecay, m_dtype, m_count);
            m_averages.emplace(memory(m_count)).write(c.weights);
        }
        for (int i = 0; i < c.rule.stateCount(); ++i) m_states.push_back(memory(m_count));
        for (std::size_t i = 0; i < c.states.size(); ++i) m_states[i].write(c.states[i]);
        launch(*m_device->prepareFill(m_dtype, m_count, 9), {}, {m_buffer.data()}, {});
    }

    void step(const UpdateCase& c, std::size_t number) {
        StepScalars scalars;
        scalars.step = static_cast<std::int64_t>(number);
        scalars.learningRate = c.learningRate;
        m_gradient.write(c.gradients[number]);
        m_scalars.write(std::array{c.lossSum, c.weight, c.samples, 0.0});
        const auto scalar = [&](std::size_t i) { return m_scalars.data() + i * sizeof(double); };
        launch(*m_squareSum, {m_gradient.data()}, {scalar(3)}, scalars);
        launch(*m_decide, {scalar(0), scalar(1), scalar(2), scalar(3)}, {m_gate.data()}, scalars);
        std::vector<std::byte*> updated{m_weights.data()};
        for (const DeviceMemory& state : m_states) updated.push_back(state.data());
        launch(*m_update, {m_gradient.data(), m_gate.data()}, updated, scalars);
        if (m_average) launch(*m_average, {m_weights.data(), m_gate.data()}, {m_averages->data()}, scalars);
        launch(*m_commit, {m_gradient.data(), m_gate.data()}, {m_buffer.data()}, scalars);
    }

    UpdateResult result() const {
        UpdateResult result{m_weights.read(), {}, {}, m_buffer.read(), {}};
        if (m_averages) result.averages = m_averages->read();
        for (const DeviceMemory& state : m_states) result.states.push_back(state.read());
        const std::vector<double> gate = m_gate.read();
        std::memcpy(static_cast<void*>(&result.gate), gate.data(), sizeof(UpdateGate));
        return result;
    }

private:
    DeviceMemory memory(std::size_t count) { return {*m_device, m_dtype, count}; }

    void launch(Kernel& kernel, const std::vector<std::byte*>& inputs, const std::vector<std::byte*>& outputs,
                const StepScalars& scalars) {
        const Buffer workspace = m_device->allocate(kernel.workspaceBytes());
        Stream& stream = m_device->stream(Lane::Compute);
        m_device->beginStep(scalars);
        kernel.run({inputs, outputs, workspace.data(), &scalars, &stream});
        stream.synchronize();
    }

    std::unique_ptr<Device> m_device;
    DType m_dtype;
    std::size_t m_count;
    DeviceMemory m_weights, m_gradient, m_buffer, m_scalars, m_gate;
    std::vector<DeviceMemory> m_states;
    std::optional<DeviceMemory> m_averages;
    std::unique_ptr<Kernel> m_squareSum, m_decide, m_update, m_commit, m_average;
};

UpdateRule sgd(double momentum, bool nesterov = false, double decay = 0, double clip = 0) {
    UpdateRule rule;
    rule.momentum = momentum;
    rule.nesterov = nesterov;
    rule.weightDecay = decay;
    rule.clipNorm = clip;
    return rule;
}

UpdateRule lars(double momentum, double decay, double clip = 0) {
    UpdateRule rule = sgd(momentum, false, decay, clip);
    rule.kind = UpdateRule::Kind::Lars;
    rule.trust = 0.05;
    return rule;
}

UpdateRule muon(bool nesterov, double decay, double clip = 0) {
    UpdateRule rule = sgd(0.95, nesterov, decay, clip);
    rule.kind = UpdateRule::Kind::Muon;
    rule.adamShare = 0.25;
    return rule;
}

Value parameter(const std::string& name, const Shape& shape) {
    return {.name = name, .type = {shape, DType::F32}, .role = ValueRole::Parameter};
}

// Of two parameters: the one that is to be looked at, then a vector that does not decay.
UpdateCase wholeCase(const std::string& name, const UpdateRule& rule, const Value& first, int steps) {
    static const Value bias = parameter("bias", {19});
    const auto count = static_cast<std::size_t>(first.type.shape.count());
    UpdateCase one = randomCase(name, rule, count + 19, steps);
    one.segments = {{0, count, true, &first}, {count, 19, false, &bias}};
    return one;
}

UpdateRule adamW(double decay) {
    UpdateRule rule;
    rule.kind = UpdateRule::Kind::AdamW;
    rule.weightDecay = decay;
    return rule;
}

}  // namespace

const std::vector<UpdateCase>& updateCases() {
    static const std::vector<UpdateCase> all = [] {
        std::vector<UpdateCase> cases{
            randomCase("sgd", sgd(0), 37, 3),
            randomCase("sgd-momentum-decay", sgd(0.9, false, 0.01), 37, 4),
            randomCase("sgd-nesterov", sgd(0.75, true, 0.05), 16, 4),
            randomCase("sgd-clipped", sgd(0.9, false, 0.01, 0.5), 1003, 2),
            randomCase("sgd-not-clipped", sgd(0, false, 0, 1e3), 5, 2),
            randomCase("adamw", adamW(0), 37, 5),
            randomCase("adamw-decay", adamW(0.1), 129, 3),
            randomCase("one-element", adamW(0.1), 1, 2),
        };
        static const Value wide = parameter("dense1/weight", {13, 50}), tall = parameter("dense2/weight", {67, 9}),
                           filters = parameter("conv1/weight", {6, 5, 3, 3}), head = parameter("head/weight", {10, 31}),
                           large = parameter("dense3/weight", {130, 150}), flat = parameter("dense4/weight", {40, 130}),
                           square = parameter("dense5/weight", {96, 96});
        cases.push_back(wholeCase("lars", lars(0, 0), wide, 3));
        cases.push_back(wholeCase("lars-momentum-decay", lars(0.9, 0.01), large, 4));
        cases.push_back(wholeCase("lars-clipped", lars(0.9, 0.01, 0.5), tall, 3));
        cases.push_back(wholeCase("lars-from-zero", lars(0.9, 0.01), wide, 2));
        cases.back().weights.assign(cases.back().weights.size(), 0);
        cases.push_back(wholeCase("muon-wide", muon(true, 0), wide, 4));
        cases.push_back(wholeCase("muon-tall-decay", muon(false, 0.1), tall, 3));
        cases.push_back(wholeCase("muon-filters-clipped", muon(true, 0.1, 0.5), filters, 3));
        cases.push_back(wholeCase("muon-head", muon(true, 0.1), head, 3));
        cases.push_back(wholeCase("muon-large", muon(true, 0.1), large, 2));
        cases.push_back(wholeCase("muon-square", muon(true, 0.1), square, 2));
        cases.push_back(wholeCase("muon-without-gradient", muon(true, 0.1), wide, 1));
        cases.back().gradients[0].assign(cases.back().weights.size(), 0);
        cases.push_back(wholeCase("muon-nearly-of-rank-one", muon(false, 0), flat, 1));
        cases.back().tolerance = 2e-5;  // its small singular values are rounded, squared
        for (std::size_t i = 0; i < 40 * 130; ++i) {
            double& g = cases.back().gradients[0][i];
            g = static_cast<float>(1e-2 * g + std::sin(i / 130) * std::cos(i % 130));
        }
        cases.push_back(wholeCase("muon-skipped", muon(true, 0.1), wide, 2));
        cases.back().gradients[0][7] = std::numeric_limits<double>::infinity();
        cases.push_back(randomCase("averaged", sgd(0.9), 1003, 5));
        cases.back().rule.averageDecay = 0.25;  // less than (1 + t) / (10 + t) from t = 2 on
        cases.push_back(randomCase("averaged-warming-up", adamW(0.1), 37, 4));
        cases.back().rule.averageDecay = 0.999;
        cases.push_back(randomCase("averaged-skipped", sgd(0.9), 20, 4));
        cases.back().rule.averageDecay = 0.5;
        cases.back().gradients[1][3] = std::numeric_limits<double>::quiet_NaN();
        cases.push_back(randomCase("infinite-gradient", sgd(0.9), 8, 2));
        cases.back().gradients[1][5] = std::numeric_limits<double>::infinity();
        cases.push_back(randomCase("nan-loss", adamW(0.1), 8, 1));
        cases.back().lossSum = std::numeric_limits<double>::quiet_NaN();
        return cases;
    }();
    return all;
}

UpdateResult runUpdate(const Backend& backend, const UpdateCase& updateCase) {
    Updater updater(backend, updateCase);
    for (std::size_t step = 0; step < updateCase.gradients.size(); ++step) updater.step(updateCase, step);
    return updater.result();
}

}  // namespace lockstep::test
