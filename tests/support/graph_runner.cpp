#include "tests/support/graph_runner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "engine/backend/cuda/real.h"
#include "engine/core/half.h"

namespace lockstep::test {

namespace {

constexpr std::size_t kGuardBytes = 64;
constexpr std::byte kPoison{0xff};  // floats of these bytes are NaN, indices far out of range

// One run of a lowered graph: its device, and memory for each value.
class Run {
public:
    Run(const Backend& backend, const Graph& graph, const RunOptions& options)
        : m_graph(graph),
          m_options(options),
          m_device(backend.open(
              {std::string(backend.name()), 0, options.threads, false, std::string(backend.name()) + ":0"})),
          m_memory(graph.values().size()),
          m_at(graph.values().size()) {}

    void write(const Tensors& given) {
        for (std::size_t i = 0; i < m_graph.values().size(); ++i) {
            const Value& value = m_graph.values()[i];
            if (value.role == ValueRole::Intermediate) continue;
            const auto found = given.find(value.name);
            if (found == given.end()) throw std::runtime_error("no tensor given for " + value.name);
            allocate(i);
            m_device->writeLogical(value, converted(found->second, value.type.dtype), m_at[i]);
        }
    }

    void execute() {
        for (const Node& node : m_graph.nodes()) {
            if (node.op->isView) m_at[index(node.outputs[0])] = m_at[index(node.inputs[0])];
            else execute(node);
        }
        m_device->stream(Lane::Compute).synchronize();
        checkGuards();
    }

    HostTensor read(ValueId value) const { return m_device->readLogical(m_graph.value(value), m_at[index(value)]); }

private:
    void execute(const Node& node) {
        std::vector<std::byte*> inputs, outputs;
        for (const ValueId value : node.inputs) inputs.push_back(m_at[index(value)]);
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            const ValueId value = node.outputs[i];
            if (i == 0 && takesOver(node)) m_at[index(value)] = inputs[static_cast<std::size_t>(node.op->inplaceInput)];
            else allocate(index(value));
            outputs.push_back(m_at[index(value)]);
        }
        const auto kernel = m_device->prepare(m_graph, node);
        const Buffer workspace = m_device->allocate(kernel->workspaceBytes());
        Stream& stream = m_device->stream(Lane::Compute);
        m_device->beginStep(m_options.scalars);
        kernel->run({inputs, outputs, workspace.data(), &m_options.scalars, &stream});
        stream.synchronize();
    }

    bool takesOver(const Node& node) const {
        const auto taken = static_cast<std::size_t>(node.op->inplaceInput);  // -1: none, past the end
        if (!m_options.inplace || taken >= node.inputs.size()) return false;
        const ValueId from = node.inputs[taken], to = node.outputs[0];
        const auto reads = [&](const Node& reader) { return std::ranges::count(reader.inputs, from) > 0; };
        const bool isOnlyUse = std::ranges::count_if(m_graph.nodes(), reads) == 1 &&
                               std::ranges::count(node.inputs, from) == 1 && !isKept(from);
        const bool ownsMemory = m_memory[index(from)].data() != nullptr;
        return isOnlyUse && ownsMemory && m_graph.value(from).bytes() == m_graph.value(to).bytes();
    }

    // Read after the run.
    bool isKept(ValueId value) const {
        const auto is = [&](const auto& kept) { return kept.value == value; };
        const auto isGradient = [&](ValueId parameter) { return m_graph.gradientOf(parameter) == value; };
        return std::ranges::any_of(m_graph.outputs(), is) || std::ranges::any_of(m_graph.assignments(), is) ||
               std::ranges::any_of(m_graph.withRole(ValueRole::Parameter), isGradient);
    }

    void allocate(std::size_t value) {
        const std::size_t bytes = m_graph.values()[value].bytes() + kGuardBytes;
        m_memory[value] = m_device->allocate(bytes);
        m_at[value] = m_memory[value].data();
        const std::vector<std::byte> poison(bytes, kPoison);
        m_device->stream(Lane::Compute).copyToDevice(m_at[value], poison.data(), bytes);
    }

    void checkGuards() const {
        for (std::size_t i = 0; i < m_memory.size(); ++i) {
            if (m_memory[i].data() == nullptr) continue;
            std::vector<std::byte> guard(kGuardBytes);
            const std::byte* end = m_memory[i].data() + m_graph.values()[i].bytes();
            m_device->stream(Lane::Compute).copyToHost(guard.data(), end, kGuardBytes);
            m_device->stream(Lane::Compute).synchronize();
            if (std::ranges::count(guard, kPoison) != kGuardBytes)
                throw std::runtime_error("a kernel wrote past the end of " + m_graph.values()[i].name);
        }
    }

    const Graph& m_graph;
    const RunOptions& m_options;
    std::unique_ptr<Device> m_device;
    std::vector<Buffer> m_memory;
    std::vector<std::byte*> m_at;  // where each value lies; a view lies where its input does
};

template <class From, class To>
void convertElements(const HostTensor& from, HostTensor& to) {
    std::ranges::transform(from.as<From>(), to.as<To>().begin(), [](From x) { return static_cast<To>(x); });
}

template <class From>
void convertFrom(const HostTensor& from, HostTensor& to) {
    switch (to.type().dtype) {
        case DType::F32: return convertElements<From, float>(from, to);
        case DType::F64: return convertElements<From, double>(from, to);
        case DType::I32: return convertElements<From, std::int32_t>(from, to);
        case DType::I64: return convertElements<From, std::int64_t>(from, to);
        case DType::U8: return convertElements<From, std::uint8_t>(from, to);
        case DType::F16:
        case DType::BF16: break;  // narrowed() does these
    }
}

template <class Half>
HostTensor narrowed(const HostTensor& tensor, DType to) {
    const HostTensor floats = converted(tensor, DType::F32);
    HostTensor result({tensor.type().shape, to});
    auto* const out = reinterpret_cast<Half*>(result.data());
    std::ranges::transform(floats.as<float>(), out, [](float x) { return Half(x); });
    return result;
}

}  // namespace

HostTensor converted(const HostTensor& tensor, DType to) {
    if (to == tensor.type().dtype) return tensor;
    if (to == DType::F16) return narrowed<cuda::Half>(tensor, to);
    if (to == DType::BF16) return narrowed<cuda::BFloat16>(tensor, to);
    HostTensor result({tensor.type().shape, to});
    switch (tensor.type().dtype) {
        case DType::F32: convertFrom<float>(tensor, result); break;
        case DType::F64: convertFrom<double>(tensor, result); break;
        case DType::I32: convertFrom<std::int32_t>(tensor, result); break;
        case DType::I64: convertFrom<std::int64_t>(tensor, result); break;
        case DType::U8: convertFrom<std::uint8_t>(tensor, result); break;
        case DType::F16:
        case DType::BF16: return converted(widened(tensor), to);
    }
    return result;
}

HostTensor tensorOf(Shape shape, std::span<const double> values) {
    HostTensor tensor({shape, DType::F64});
    if (static_cast<std::size_t>(shape.count()) != values.size())
        throw std::runtime_error("a tensor of " + shape.text() + " was given " + std::to_string(values.size()) +
                                 " values");
    std::ranges::copy(values, tensor.as<double>().begin());
    return tensor;
}

double largestMagnitude(const HostTensor& tensor) {
    const HostTensor doubles = converted(tensor, DType::F64);
    double largest = 0;
    for (const double x : doubles.as<double>())
        if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
    return largest;
}

double relativeError(const HostTensor& a, const HostTensor& b, double floor) {
    if (!(a.type().shape == b.type().shape)) return std::numeric_limits<double>::infinity();
    const HostTensor x = converted(a, DType::F64), y = converted(b, DType::F64);
    double difference = 0;
    for (std::size_t i = 0; i < x.as<double>().size(); ++i) {
        const double u = x.as<double>()[i], v = y.as<double>()[i];
        if (u == v || (std::isnan(u) && std::isnan(v))) continue;
        if (!std::isfinite(u) || !std::isfinite(v)) return std::numeric_limits<double>::infinity();
        difference = std::max(difference, std::abs(u - v));
    }
    const double scale = std::max(largestMagnitude(b), floor);
    return scale > 0 ? difference / scale : difference;
}

RunResult runGraph(const Backend& backend, const Graph& graph, const Tensors& given, const RunOptions& options) {
    LowerOptions lowering;
    lowering.threads = options.threads;
    lowering.precision = options.precision;
    RunResult result;
    result.lowered = backend.lower(graph, lowering);
    const Graph& lowered = result.lowered;
    Run run(backend, lowered, options);
    run.write(given);
    run.execute();
    for (const Graph::Output& output : lowered.outputs()) result.outputs.emplace(output.name, run.read(output.value));
    for (const ValueId parameter : lowered.withRole(ValueRole::Parameter))
        if (const auto gradient = lowered.gradientOf(parameter))
            result.gradients.emplace(lowered.value(parameter).name, run.read(*gradient));
    for (const Graph::Assignment& assignment : lowered.assignments())
        result.buffers.emplace(lowered.value(assignment.buffer).name, run.read(assignment.value));
    return result;
}

}  // namespace lockstep::test
