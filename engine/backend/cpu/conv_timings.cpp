#include "engine/backend/cpu/conv_timings.h"

#include <algorithm>
#include <chrono>
#include <mutex>

#include <malloc.h>

#include "engine/backend/cpu/cpu_device.h"
#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/lay_out.h"

namespace lockstep::cpu {

namespace {

using onednn::Pass;

constexpr double kClearlyFaster = 0.9;
constexpr int kRuns = 5;
constexpr double kEnough = 0.1;                           // seconds, after which two runs will do
constexpr std::int64_t kWhole = 32;                       // samples, of which some algorithms need multiples
constexpr std::int64_t kMultiplications = 4'000'000'000;  // by the direct algorithm

// The pass alone, of images as they lie in memory.
Graph graphOf(const ConvPass& conv, DType images) {
    Graph graph;
    const auto tensor = [=](const Shape& shape) { return TensorType{shape, images}; };
    const auto input = [&](const char* name, const Shape& shape) { return graph.addInput(name, tensor(shape)); };
    const auto append = [&](const OpDef& op, std::vector<ValueId> inputs, Attrs attrs) {
        return graph.append(op, std::move(inputs), std::move(attrs), "conv").front();
    };
    if (conv.pass == Pass::BackwardWeights) {
        const Attrs attrs = Attrs::of(Conv2dBackwardAttrs{conv.attrs, conv.w});
        graph.addOutput("dw", append(kConv2dBackwardWeights, {input("x", conv.x), input("dy", conv.y)}, attrs));
        return graph;
    }
    const ValueId w = graph.addParameter("w", tensor(conv.w), {}, true);
    if (conv.pass == Pass::Forward) {
        graph.addOutput("y", append(kConv2d, {input("x", conv.x), w}, Attrs::of(conv.attrs)));
    } else {
        const Attrs attrs = Attrs::of(Conv2dBackwardAttrs{conv.attrs, conv.x});
        graph.addOutput("dx", append(kConv2dBackwardData, {input("dy", conv.y), w}, attrs));
    }
    return graph;
}

// The memory of a node's values, and what its kernel works in.
class Bench {
public:
    Bench(CpuDevice& device, const Graph& graph, const Node& node)
        : m_device(device), m_kernel(device.prepare(graph, node)) {
        for (const ValueId id : node.inputs) m_inputs.push_back(place(graph.value(id).bytes()));
        for (const ValueId id : node.outputs) m_outputs.push_back(place(graph.value(id).bytes()));
        m_workspace = place(std::max<std::size_t>(64, m_kernel->workspaceBytes()));
    }

    double seconds() {
        using Clock = std::chrono::steady_clock;
        double best = 0, sum = 0;
        for (int run = 0; run < 2 || (run < kRuns && sum < kEnough); ++run) {
            const auto begin = Clock::now();
            m_kernel->run({m_inputs, m_outputs, m_workspace, &m_scalars, &m_device.stream(Lane::Compute)});
            const double taken = std::chrono::duration<double>(Clock::now() - begin).count();
            best = run == 0 ? taken : std::min(best, taken);
            sum += taken;
        }
        return best;
    }

private:
    std::byte* place(std::size_t bytes) {
        m_buffers.push_back(m_device.allocate(bytes));
        std::fill_n(reinterpret_cast<float*>(m_buffers.back().data()), bytes / sizeof(float), 0.01f);
        return m_buffers.back().data();
    }

    CpuDevice& m_device;
    std::unique_ptr<Kernel> m_kernel;
    std::vector<Buffer> m_buffers;
    std::vector<std::byte*> m_inputs, m_outputs;
    std::byte* m_workspace = nullptr;
    StepScalars m_scalars;
};

// As a part of its seconds, what counts of a reorder beside the pass that is made. Operands of bf16 are read by two
// passes, which share them; weights that stay as they are, are turned once. Where images lie in memory as bf16, those
// of floats are turned for this pass alone; what brings a batch into their order would not be there.
double shareOf(const Graph& graph, const Node& reorder, const Node& made, DType images, bool keepsWeights) {
    const Value &from = graph.value(reorder.inputs[0]), &to = graph.value(reorder.outputs[0]);
    const bool isOfWeights = from.role == ValueRole::Parameter;
    if (isOfWeights && keepsWeights) return 0;
    const bool isShared = images == DType::F32 || isOfWeights;
    if (isShared) return to.type.dtype == DType::BF16 ? 0.5 : 0;
    const bool isRead = std::ranges::count(made.inputs, reorder.outputs[0]) > 0 && to.type.dtype == DType::F32;
    const bool isMade = std::ranges::count(made.outputs, reorder.inputs[0]) > 0 && from.type.dtype == DType::F32;
    return isRead || (isMade && made.op != &kConv2dBackwardWeights) ? 1 : 0;
}

bool areHalves(DType operands) { return operands == DType::BF16 && onednn::bf16Units() != onednn::Bf16Units::None; }

// With pairs a batch of few channels stays of floats.
DType imagesOf(const ConvPass& conv, DType operands) {
    const bool areTiles = onednn::bf16Units() == onednn::Bf16Units::Tiles;
    return areHalves(operands) && (areTiles || suitsBlocks(conv.x)) ? DType::BF16 : DType::F32;
}

// What a pass takes, with its part of what brings its operands into place.
double secondsOf(CpuDevice& device, const ConvPass& conv, ConvAlgorithm algorithm, const ConvTimings::Run& in) {
    const LowerOptions options{.threads = device.choice().threads,
                               .precision = in.operands == DType::BF16 ? Precision::Bf16 : Precision::Fp32};
    const DType images = imagesOf(conv, in.operands);
    const Graph graph = layOut(graphOf(conv, images), options, [=](const ConvPass&) { return algorithm; });
    const Node& made = *std::ranges::find_if(
        graph.nodes(), [](const Node& node) { return node.op != &kReorder && node.scope == "conv"; });
    double seconds = Bench(device, graph, made).seconds();
    for (const Node& node : graph.nodes()) {
        const double share = node.op == &kReorder ? shareOf(graph, node, made, images, in.keepsWeights) : 0;
        if (share > 0) seconds += share * Bench(device, graph, node).seconds();
    }
    return seconds;
}

ConvAlgorithm fastest(const ConvPass& conv, std::span<const ConvAlgorithm> tried, const ConvTimings::Run& in) {
    CpuDevice device({.backend = "cpu", .threads = in.threads, .id = "cpu:0"});
    ConvAlgorithm best = tried.front();
    double least = secondsOf(device, conv, best, in);
    for (const ConvAlgorithm each : tried.subspan(1)) {
        const double seconds = secondsOf(device, conv, each, in);
        if (seconds >= kClearlyFaster * least) continue;
        best = each;
        least = seconds;
    }
    malloc_trim(0);  // or what was tried out would count beside the run's own memory
    return best;
}

// What may be chosen, that of the rule first.
std::vector<ConvAlgorithm> candidates(const ConvPass& conv, DType operands) {
    std::vector<ConvAlgorithm> all{chooseByRule(conv)};
    if (all.front() == ConvAlgorithm::Winograd) all.push_back(ConvAlgorithm::Direct);
    if (!areHalves(operands)) return all;
    const bool areTiles = onednn::bf16Units() == onednn::Bf16Units::Tiles;
    const bool isFirst = areTiles || all.front() == ConvAlgorithm::Direct;
    all.insert(isFirst ? all.begin() : all.end(), ConvAlgorithm::DirectBf16);
    for (const ConvAlgorithm each : kOfTiles) {
        if (areTiles && suits(each, conv)) all.push_back(each);
    }
    return all;
}

// The same of no more samples than tell: what is tried out takes a fraction of a second and some hundred megabytes,
// whatever the batch.
ConvPass ofFewSamples(const ConvPass& conv) {
    const std::int64_t samples = conv.x[0], perSample = conv.w.count() * conv.y[2] * conv.y[3];
    const auto of = [&](std::int64_t few) {
        return ConvPass{conv.pass, conv.attrs, conv.x.withDim(0, few), conv.w, conv.y.withDim(0, few)};
    };
    std::int64_t few = std::clamp(kMultiplications / perSample, std::int64_t{1}, samples);
    if (few < samples && few > kWhole) few -= few % kWhole;
    const ConvAlgorithm rule = chooseByRule(conv);
    while (few < samples && chooseByRule(of(few)) != rule) few = std::min(2 * few, samples);
    return of(few);
}

const char* nameOf(Pass pass) {
    return pass == Pass::Forward ? "forward" : pass == Pass::BackwardData ? "backward-data" : "backward-weights";
}

}  // namespace

std::string describe(const ConvPass& conv, int threads) {
    const auto& [top, left] = conv.attrs.padding;
    return std::string(nameOf(conv.pass)) + " x=" + conv.x.text() + " w=" + conv.w.text() + " y=" + conv.y.text() +
           " padding=" + std::to_string(top) + "," + std::to_string(left) + " threads=" + std::to_string(threads);
}

ConvTimings::ConvTimings(std::filesystem::path folder, const std::string& processor)
    : m_caches(std::move(folder)),
      m_kind(processor + ", oneDNN " + onednn::version() + " " + std::to_string(onednn::instructionSet()) +
             ", Lockstep " LOCKSTEP_VERSION) {}

ConvAlgorithm ConvTimings::choose(const ConvPass& conv, const Run& in) {
    if (in.how == AlgorithmChoice::ForAnyBatch && areHalves(in.operands)) return ConvAlgorithm::DirectBf16;
    const std::vector<ConvAlgorithm> all = candidates(conv, in.operands);
    if (all.size() == 1 || isByRule(in.how)) return all.front();
    const ConvPass tried = ofFewSamples(conv);
    std::string shape = describe(tried, in.threads);
    if (areHalves(in.operands)) shape += in.keepsWeights ? " bf16, weights stay" : " bf16";
    PlanCache& cache = m_caches.of(m_kind);
    auto found = cache.find(shape);
    if (!found && in.how == AlgorithmChoice::Timed) {
        const std::lock_guard lock(cache.timing());
        found = cache.find(shape);
        if (!found) cache.add(shape, *(found = text(fastest(tried, all, in))));
    }
    const auto chosen = std::ranges::find_if(all, [&](ConvAlgorithm each) { return found == text(each); });
    return chosen == all.end() ? all.front() : *chosen;
}

}  // namespace lockstep::cpu
