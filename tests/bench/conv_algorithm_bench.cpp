// The convolutions of models, each with the algorithm that the CPU's lowering gives it by rule (conv_request.h) and
// with oneDNN's direct one, pass by pass: whether the rule chooses well on this machine. Runs time themselves:
// conv_timings.h.
//   lockstep_conv_algorithm_bench [THREADS [MODEL:BATCH…]]         BATCH is a device's
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "engine/backend/cpu/cpu_backend.h"
#include "engine/backend/device.h"
#include "engine/model/registry.h"
#include "engine/ops/conv2d.h"

namespace {

using namespace lockstep;

const std::vector<std::string> kTable{"resnet18-cifar:64", "vgg19-bn-cifar:64", "small-cnn:64", "resnet164:32",
                                      "resnet50:8",        "wideresnet-16:64",  "vgg16:4",      "fashion-cnn:64"};

struct Convolution {
    Conv2dAttrs attrs;
    Shape x, w, y;
    std::string name() const { return x.text() + " * " + w.text(); }
};

// Each shape once; strided, dilated and grouped ones have one algorithm only.
std::vector<Convolution> convolutionsOf(const std::string& model, std::int64_t batch) {
    const ModelEntry* entry = findModel(builtinModels(), model);
    if (!entry) {
        std::fprintf(stderr, "there is no model %s\n", model.c_str());
        std::exit(1);
    }
    ModelInput input = entry->usual;
    input.batch = batch;
    const Graph graph = buildForward(*entry, ParamValues(entry->params), input, true).value();
    std::vector<Convolution> found;
    std::set<std::string> names;
    for (const Node& node : graph.nodes()) {
        if (node.op != &kConv2d) continue;
        const auto shape = [&](ValueId id) { return graph.typeOf(id).shape; };
        const Convolution conv{node.attrs.as<Conv2dAttrs>(), shape(node.inputs[0]), shape(node.inputs[1]),
                               shape(node.outputs[0])};
        const bool isPlain = conv.attrs.groups == 1 && conv.attrs.stride == std::array{1, 1};
        if (isPlain && conv.x[1] % 16 == 0 && names.insert(conv.name()).second) found.push_back(conv);
    }
    return found;
}

Graph passesOf(const Convolution& conv) {
    Graph graph;
    const ValueId x = graph.addInput("x", {conv.x, DType::F32}), dy = graph.addInput("dy", {conv.y, DType::F32});
    const ValueId w = graph.addParameter("w", {conv.w, DType::F32}, {}, true);
    graph.addOutput("y", graph.append(kConv2d, {x, w}, Attrs::of(conv.attrs), "conv")[0]);
    graph.addOutput("dx", graph.append(kConv2dBackwardData, {dy, w}, Attrs::of(Conv2dBackwardAttrs{conv.attrs, conv.x}),
                                       "conv")[0]);
    const ValueId dw =
        graph.append(kConv2dBackwardWeights, {x, dy}, Attrs::of(Conv2dBackwardAttrs{conv.attrs, conv.w}), "conv")[0];
    graph.setGradient(w, dw);
    return graph;
}

// Milliseconds, the best of several runs.
double timeOf(Device& device, const Graph& graph, const Node& node) {
    const auto kernel = device.prepare(graph, node);
    std::vector<Buffer> buffers;
    std::vector<std::byte*> inputs, outputs;
    const auto place = [&](ValueId id) {
        buffers.push_back(device.allocate(graph.value(id).bytes()));
        std::byte* at = buffers.back().data();
        std::fill_n(reinterpret_cast<float*>(at), graph.value(id).bytes() / sizeof(float), 0.01f);
        return at;
    };
    for (const ValueId id : node.inputs) inputs.push_back(place(id));
    for (const ValueId id : node.outputs) outputs.push_back(place(id));
    const Buffer workspace = device.allocate(std::max<std::size_t>(64, kernel->workspaceBytes()));
    const StepScalars scalars;
    double best = 1e9;
    for (int run = 0; run < 7; ++run) {
        const auto begin = std::chrono::steady_clock::now();
        kernel->run({inputs, outputs, workspace.data(), &scalars, &device.stream(Lane::Compute)});
        best =
            std::min(best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
    }
    return best;
}

struct Sums {
    double chosen = 0, direct = 0, best = 0;
};

void compare(Device& device, const Backend& backend, const Convolution& conv, int threads, Sums& sums) {
    const Graph graph = backend.lower(passesOf(conv), {.threads = threads});
    for (const Node& node : graph.nodes()) {
        const bool isData = node.op == &kConv2dBackwardData;
        if (!isData && node.op != &kConv2d && node.op != &kConv2dBackwardWeights) continue;
        Node direct = node;
        if (!node.algorithm.starts_with("direct")) direct.algorithm = isData ? "direct+pack" : "direct";
        const double chosen = timeOf(device, graph, node), other = timeOf(device, graph, direct);
        sums.chosen += chosen;
        sums.direct += other;
        sums.best += std::min(chosen, other);
        std::printf("%-36s %-24s %-12s %8.3f ms   direct %8.3f ms   %5.2f\n", conv.name().c_str(),
                    std::string(node.op->name).c_str(), node.algorithm.c_str(), chosen, other, other / chosen);
    }
}

}  // namespace

int main(int count, char** arguments) {
    const int threads = count > 1 ? std::max(1, std::atoi(arguments[1])) : 1;
    std::vector<std::string> models(arguments + std::min(count, 2), arguments + count);
    if (models.empty()) models = kTable;
    const auto backend = makeCpuBackend();
    const auto device = backend->open({"cpu", 0, threads, false, "cpu:0"});
    Sums sums;
    for (const std::string& each : models) {
        const std::size_t colon = each.find(':');
        std::printf("%s\n", each.c_str());
        const std::int64_t batch = colon == std::string::npos ? 64 : std::atoi(each.c_str() + colon + 1);
        for (const Convolution& conv : convolutionsOf(each.substr(0, colon), batch))
            compare(*device, *backend, conv, threads, sums);
    }
    std::printf("all: chosen by rule %.1f ms, direct %.1f ms, the better of both each time %.1f ms\n", sums.chosen,
                sums.direct, sums.best);
}
