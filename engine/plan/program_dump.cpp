#include <algorithm>
#include <sstream>
#include <utility>

#include "engine/graph/graph_builder.h"
#include "engine/plan/float_products.h"
#include "engine/plan/recompute.h"
#include "engine/plan/text_table.h"

namespace lockstep {

namespace {

std::string_view mark(Arena arena) {
    switch (arena) {
        case Arena::Io: return "io";
        case Arena::Parameters: return "param";
        case Arena::Masters: return "master";
        case Arena::Averages: return "average";
        case Arena::Gradients: return "grad";
        case Arena::OptimizerState: return "state";
        case Arena::Buffers: return "buffer";
        case Arena::Staging: return "staged";
        case Arena::Activations: return "act";
        case Arena::Scalars: return "scalar";
        case Arena::Partials: return "partial";
        case Arena::Dataset: return "data";
        case Arena::Outputs: return "output";
    }
    return "?";
}

std::string_view text(Lane lane) {
    switch (lane) {
        case Lane::Compute: return "compute";
        case Lane::Copy: return "copy";
        case Lane::Collective: return "collective";
    }
    return "?";
}

std::string slotsText(const std::vector<Slot>& slots) {
    std::string out;
    for (const Slot& slot : slots) {
        if (!out.empty()) out += ' ';
        out += std::string(mark(slot.arena)) + '+' + std::to_string(slot.offset);
    }
    return out;
}

std::string afterText(const Step& step) {
    std::string out = step.constant ? "constant" : "";
    for (const int other : step.after) out += (out.empty() ? "after " : " ") + std::to_string(other);
    return out;
}

// "row-major -> nChw16c" where a node changes it, the layout where it keeps one, nothing for row-major throughout.
std::string layoutsText(const Graph& graph, const Node& node) {
    const std::string from = node.inputs.empty() ? "row-major" : graph.value(node.inputs[0]).layoutText();
    const std::string to = graph.value(node.outputs[0]).layoutText();
    if (from != to) return from + " -> " + to;
    return to == "row-major" ? std::string() : to;
}

// "4 of 16 16 15 15 samples"
std::string passesText(const std::vector<Pass>& passes) {
    std::string sizes;
    for (const Pass& pass : passes) sizes += std::to_string(pass.samples) + ' ';
    return std::to_string(passes.size()) + " of " + sizes + "samples";
}

// "8 segments, 61 kernels once more"; empty where nothing runs again.
std::string recomputeText(const Graph& graph) {
    std::size_t segments = 0, kernels = 0;
    bool isCopy = false;
    for (const Node& node : graph.nodes()) {
        if (node.op->isView) continue;
        const bool wasCopy = std::exchange(isCopy, isWithin(node.scope, kRecomputeScope));
        if (isCopy) ++kernels;
        if (isCopy && !wasCopy) ++segments;
    }
    if (kernels == 0) return {};
    return std::to_string(segments) + " segments, " + std::to_string(kernels) + " kernels once more";
}

// "bf16; fp32 in 14 of 62 convolutions and products, 21 % of all multiplications"; the same in each pass.
std::string precisionText(const Program& program) {
    std::string out(lockstep::text(program.precision));
    const FloatProducts floats = floatProducts(program);
    if (floats.ofFloats == 0) return out;
    return out + "; fp32 in " + floats.countText() + " convolutions and products" +
           (program.passes.size() > 1 ? " of each pass, " : ", ") + floats.shareText() + " of all multiplications";
}

void printHeader(std::ostream& out, const Program& program) {
    const bool training = program.kind == Program::Kind::Training;
    const StoragePlan& storage = *program.storage;
    out << "program      " << (training ? "training" : "evaluation") << '\n'
        << "backend      " << program.backend << ", threads " << program.threads << '\n'
        << "precision    " << precisionText(program) << '\n'
        << "local batch  " << program.localBatch << '\n';
    if (program.passes.size() > 1) out << "passes       " << passesText(program.passes) << '\n';
    const Graph* graph = program.passes.front().graph.get();
    const std::string recomputed = graph ? recomputeText(*graph) : std::string();
    if (!recomputed.empty()) out << "recompute    " << recomputed << '\n';
    if (training) out << "update       " << describe(program.update) << '\n';
    out << "storage      " << lockstep::text(storage.dtype) << ", " << storage.parameters.size() << " parameters, "
        << (storage.frozen.empty() ? "" : std::to_string(storage.frozen.size()) + " frozen, ") << storage.buffers.size()
        << " buffers, " << storage.stateCount << " states";
    if (storage.hasMasters()) out << ", " << lockstep::text(storage.keptType()) << " masters";
    out << (storage.averages ? ", averages\n" : "\n");
}

void printArenas(std::ostream& out, const Program& program) {
    TextTable table({"arena", "bytes"});
    for (std::size_t i = 0; i < kArenaCount; ++i) {
        const auto arena = static_cast<Arena>(i);
        if (arena >= Arena::Dataset && program.arenaBytes[i] == 0) continue;  // of few devices, of evaluations
        table.add({std::string(lockstep::text(arena)), std::to_string(program.arenaBytes[i])});
        if (arena != Arena::Activations) continue;
        table.add({"  without reuse", std::to_string(program.activationBytesWithoutReuse)});
    }
    table.print(out << '\n');
}

void printScalars(std::ostream& out, const Program& program) {
    TextTable table({"scalar", "offset"});
    for (const std::string& name : program.scalars.names) {
        table.add({name, std::to_string(program.scalars.offsetOf(name))});
    }
    if (program.kind == Program::Kind::Training) table.add({"gate", std::to_string(program.scalars.gateOffset)});
    table.print(out << '\n');
}

void printBuckets(std::ostream& out, const StoragePlan& storage) {
    TextTable table({"bucket", "offset", "bytes", "parameters"});
    for (std::size_t i = 0; i < storage.buckets.size(); ++i) {
        const Bucket& bucket = storage.buckets[i];
        table.add({std::to_string(i), std::to_string(bucket.offset), std::to_string(bucket.bytes),
                   std::to_string(bucket.parameterCount)});
    }
    table.print(out << '\n');
}

void printEntries(std::ostream& out, const char* word, const std::vector<StorageEntry>& entries) {
    if (entries.empty()) return;
    TextTable table({word, "type", "layout", "offset", "bytes"});
    for (const StorageEntry& entry : entries) {
        table.add({entry.name, entry.value.type.text(), entry.value.layoutText(), std::to_string(entry.offset),
                   std::to_string(entry.bytes)});
    }
    table.print(out << '\n');
}

std::vector<std::string> stepRow(const Program& program, std::size_t at) {
    const Step& step = program.steps[at];
    std::string algorithm, layouts;
    if (step.node) {
        const Graph& graph = *program.graphOf(step);
        const Node& node = graph.node(*step.node);
        algorithm = node.algorithm + (multipliesFloats(program, node) ? ", fp32" : "");
        layouts = layoutsText(graph, node);
    }
    return {std::to_string(at),     std::string(text(step.lane)),    step.name,      algorithm, layouts,
            slotsText(step.inputs), "-> " + slotsText(step.outputs), afterText(step)};
}

void printSteps(std::ostream& out, const Program& program) {
    TextTable table({"step", "lane", "name", "algorithm", "layout", "inputs", "-> outputs"});
    for (std::size_t i = 0; i < program.steps.size(); ++i) table.add(stepRow(program, i));
    table.print(out << '\n');
}

}  // namespace

std::string dump(const Program& program) {
    std::ostringstream out;
    printHeader(out, program);
    printArenas(out, program);
    printScalars(out, program);
    if (program.kind == Program::Kind::Training) printBuckets(out, *program.storage);
    printEntries(out, "parameter", program.storage->parameters);
    printEntries(out, "frozen", program.storage->frozen);
    printEntries(out, "buffer", program.storage->buffers);
    printSteps(out, program);
    return out.str();
}

}  // namespace lockstep
