#include "engine/plan/storage.h"

#include <algorithm>

#include "engine/core/error.h"
#include "engine/plan/align.h"

namespace lockstep {

namespace {

[[noreturn]] void fail(const std::string& where, const std::string& what) {
    throw EngineError(EngineError::Kind::Internal, where, what);
}

// The last node that reads or writes each value's memory: from there on a gradient is ready to be reduced.
std::vector<std::size_t> lastTouches(const Graph& graph, const std::vector<ValueId>& roots) {
    std::vector<std::size_t> last(graph.values().size(), 0);
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const Node& node = graph.nodes()[i];
        if (node.op->isView) continue;
        for (const ValueId id : node.inputs) last[index(roots[index(id)])] = i;
        for (const ValueId id : node.outputs) last[index(roots[index(id)])] = i;
    }
    return last;
}

std::vector<ValueId> parametersByReadiness(const Graph& graph) {
    const std::vector<ValueId> roots = viewRoots(graph);
    const std::vector<std::size_t> last = lastTouches(graph, roots);
    std::vector<ValueId> parameters = graph.withRole(ValueRole::Parameter);
    std::ranges::stable_sort(parameters, {}, [&](ValueId parameter) {
        const auto gradient = graph.gradientOf(parameter);
        return gradient ? last[index(roots[index(*gradient)])] : 0;
    });
    return parameters;
}

// Adds entries behind `bytes`, which then is where they end.
void layOut(std::vector<StorageEntry>& entries, const Graph& graph, std::span<const ValueId> values,
            std::size_t& bytes) {
    for (const ValueId id : values) {
        const Value& value = graph.value(id);
        entries.push_back({value.name, value, bytes, value.bytes()});
        bytes = alignUp(bytes + value.bytes());
    }
}

void layOutBuffers(StoragePlan& plan, const Graph& graph) {
    std::vector<ValueId> buffers = graph.withRole(ValueRole::Buffer);
    const auto isAssigned = [&](ValueId id) {
        return std::ranges::count(graph.assignments(), id, &Graph::Assignment::buffer) > 0;
    };
    const auto others = std::ranges::stable_partition(buffers, isAssigned);
    layOut(plan.buffers, graph, {buffers.begin(), others.begin()}, plan.bufferBytes);
    plan.stagedBytes = plan.bufferBytes;
    layOut(plan.buffers, graph, others, plan.bufferBytes);
}

std::vector<Bucket> makeBuckets(std::span<const StorageEntry> parameters, std::size_t bucketBytes) {
    std::vector<Bucket> buckets;
    bool open = false;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (!open) buckets.push_back({.offset = parameters[i].offset, .firstParameter = i});
        Bucket& bucket = buckets.back();
        bucket.bytes = alignUp(parameters[i].offset + parameters[i].bytes) - bucket.offset;
        ++bucket.parameterCount;
        open = bucket.bytes < (buckets.size() == 1 ? bucketBytes / 4 : bucketBytes);
    }
    return buckets;
}

void verifyEntry(const StorageEntry& entry, const Value& value) {
    const std::string stored = entry.value.layoutText(), here = value.layoutText();
    if (entry.value.type == value.type && entry.bytes == value.bytes() && stored == here) return;
    fail(value.name, "stored as " + entry.value.type.text() + ' ' + stored + ", but this program has " +
                         value.type.text() + ' ' + here);
}

}  // namespace

std::vector<ValueId> viewRoots(const Graph& graph) {
    std::vector<ValueId> roots(graph.values().size());
    for (std::size_t i = 0; i < roots.size(); ++i) roots[i] = static_cast<ValueId>(i);
    for (const Node& node : graph.nodes()) {
        if (!node.op->isView) continue;
        const Value& from = graph.value(node.inputs[0]);
        const Value& to = graph.value(node.outputs[0]);
        if (from.bytes() != to.bytes()) fail(node.scope, "a view of " + from.name + " has another size");
        roots[index(node.outputs[0])] = roots[index(node.inputs[0])];
    }
    return roots;
}

StoragePlan planStorage(const Graph& lowered, DType dtype, const UpdateRule* rule, std::size_t bucketBytes) {
    StoragePlan plan;
    plan.dtype = dtype;
    plan.stateCount = rule ? rule->stateCount() : 0;
    plan.averages = rule && rule->averages();
    layOut(plan.parameters, lowered, parametersByReadiness(lowered), plan.parameterBytes);
    std::size_t end = plan.parameterBytes;
    layOut(plan.frozen, lowered, lowered.withRole(ValueRole::Frozen), end);
    plan.frozenBytes = end - plan.parameterBytes;
    layOutBuffers(plan, lowered);
    plan.buckets = makeBuckets(plan.parameters, bucketBytes);
    return plan;
}

ParameterLayouts layoutsOf(const StoragePlan& storage) {
    ParameterLayouts layouts;
    for (const auto* entries : {&storage.parameters, &storage.frozen, &storage.buffers}) {
        for (const StorageEntry& entry : *entries) layouts[entry.name] = entry.value.layout;
    }
    return layouts;
}

void verifyStorage(const StoragePlan& storage, const Graph& lowered, bool all) {
    std::size_t seen = 0;
    for (const Value& value : lowered.values()) {
        if (value.role == ValueRole::Input || value.role == ValueRole::Intermediate) continue;
        const StorageEntry* entry = storage.find(value.name);
        if (!entry || entry->value.role != value.role) fail(value.name, "has no place in the storage of this run");
        verifyEntry(*entry, value);
        ++seen;
    }
    if (all && seen != storage.parameters.size() + storage.frozen.size() + storage.buffers.size()) {
        fail("storage", "the storage of this run has parameters or buffers that this program lacks");
    }
}

}  // namespace lockstep
