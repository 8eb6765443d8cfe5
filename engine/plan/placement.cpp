#include "engine/plan/placement.h"

#include <algorithm>

#include "engine/core/error.h"
#include "engine/plan/align.h"
#include "engine/plan/storage.h"

namespace lockstep {

namespace {

std::vector<bool> usedValues(const Graph& graph) {
    std::vector<bool> used(graph.values().size());
    for (const Node& node : graph.nodes()) {
        for (const ValueId id : node.inputs) used[index(id)] = true;
    }
    return used;
}

Slot fieldSlot(const Value& input, const BatchLayout& batch) {
    const int field = batch.find(input.name);
    if (field < 0) throw ProblemError({"dataset", "data.missing-field", {input.name, text(batch.fields())}});
    const auto at = static_cast<std::size_t>(field);
    const TensorType& carried = batch.fields()[at].type;
    const std::int64_t samples = input.type.shape[0];
    if (carried.dtype != input.type.dtype ||
        batch.sampleBytes(at) * static_cast<std::size_t>(samples) != input.bytes()) {
        throw ProblemError(
            {"dataset", "data.field-type", {input.name, carried.text(), input.type.text(), std::to_string(samples)}});
    }
    if (samples > batch.capacity()) {
        throw EngineError(EngineError::Kind::Internal, input.name,
                          "the batch has room for " + std::to_string(batch.capacity()) +
                              " samples, but the program reads " + std::to_string(samples));
    }
    return {Arena::Io, batch.offset(at), input.bytes()};
}

Slot storedSlot(Arena arena, const Value& value, const StoragePlan& storage) {
    const StorageEntry* entry = storage.find(value.name);
    if (!entry) throw EngineError(EngineError::Kind::Internal, value.name, "has no place in the storage");
    const std::size_t base = arena == Arena::Averages ? storage.averagesRead() : 0;
    return {arena, base + entry->offset, entry->bytes};
}

class Placer {
public:
    explicit Placer(const Graph& graph) : m_graph(graph) {
        m_placement.roots = viewRoots(graph);
        m_placement.slots.resize(graph.values().size());
    }

    void pinInputs(const BatchLayout& batch) {
        const std::vector<bool> used = usedValues(m_graph);
        for (const ValueId id : m_graph.withRole(ValueRole::Input)) {
            const Value& input = m_graph.value(id);
            const bool isKept = input.name == kKeptImages;
            if (used[index(id)])
                m_placement.slots[index(id)] =
                    isKept ? Slot{Arena::Dataset, 0, input.bytes()} : fieldSlot(input, batch);
        }
    }

    void pinStored(const StoragePlan& storage, Arena parameters) {
        for (const ValueId id : m_graph.withRole(ValueRole::Parameter)) {
            m_placement.slots[index(id)] = storedSlot(parameters, m_graph.value(id), storage);
        }
        for (const ValueId id : m_graph.withRole(ValueRole::Frozen)) {
            m_placement.slots[index(id)] = storedSlot(Arena::Parameters, m_graph.value(id), storage);
        }
        for (const ValueId id : m_graph.withRole(ValueRole::Buffer)) {
            m_placement.slots[index(id)] = storedSlot(Arena::Buffers, m_graph.value(id), storage);
        }
        for (const ValueId id : m_graph.withRole(ValueRole::Parameter)) {
            const auto gradient = m_graph.gradientOf(id);
            if (!gradient) continue;
            const Value& parameter = m_graph.value(id);
            send(*gradient, storedSlot(Arena::Gradients, parameter, storage), "gradient " + parameter.name);
        }
    }

    void pinScalars(const ScalarSlots& scalars) {
        for (const Graph::Output& output : m_graph.outputs()) {
            if (!isScalar(m_graph.value(output.value))) continue;
            send(output.value, {Arena::Scalars, scalars.offsetOf(output.name), sizeof(double)}, output.name);
        }
    }

    void pinOutputs() {
        std::size_t end = 0;
        for (const Graph::Output& output : m_graph.outputs()) {
            if (isScalar(m_graph.value(output.value))) continue;
            const Slot slot{Arena::Outputs, end, m_graph.value(output.value).bytes()};
            send(output.value, slot, output.name);
            m_placement.outputs.emplace(output.name, slot);
            end += alignUp(slot.bytes);
        }
    }

    Placement take() { return std::move(m_placement); }

private:
    // Written in place where it can be, copied where its memory is already spoken for.
    void send(ValueId value, const Slot& slot, const std::string& name) {
        std::optional<Slot>& place = m_placement.slots[index(m_placement.root(value))];
        if (m_graph.value(value).bytes() != slot.bytes) {
            throw EngineError(EngineError::Kind::Internal, name, "does not fit the place it is made for");
        }
        if (place) m_placement.copies.push_back({value, slot, name});
        else place = slot;
    }

    const Graph& m_graph;
    Placement m_placement;
};

}  // namespace

bool isScalar(const Value& value) { return value.type.dtype == DType::F64 && value.type.shape.count() == 1; }

ScalarSlots nameScalars(const Graph& graph, std::size_t buckets, bool training) {
    ScalarSlots scalars;
    scalars.names = {"loss_sum", "weight"};
    for (const std::string& name : scalars.names) {
        const auto value = graph.output(name);
        if (!value || !isScalar(graph.value(*value))) {
            throw EngineError(EngineError::Kind::Internal, name, "the graph has no such scalar output");
        }
    }
    if (training) scalars.names.push_back("samples");
    for (const Graph::Output& output : graph.outputs()) {
        if (!isScalar(graph.value(output.value)) || std::ranges::count(scalars.names, output.name)) continue;
        scalars.names.push_back(output.name);
    }
    if (training) scalars.names.push_back("control");
    scalars.gateOffset = alignUp((scalars.names.size() + buckets) * sizeof(double));
    return scalars;
}

Placement placeValues(const Graph& graph, Program::Kind kind, const StoragePlan& storage, const BatchLayout& batch,
                      const ScalarSlots& scalars) {
    const bool averaged = kind == Program::Kind::Evaluation && storage.averages;
    Placer placer(graph);
    placer.pinInputs(batch);
    placer.pinStored(storage, averaged ? Arena::Averages : Arena::Parameters);
    placer.pinScalars(scalars);
    if (kind == Program::Kind::Evaluation) placer.pinOutputs();
    return placer.take();
}

}  // namespace lockstep
