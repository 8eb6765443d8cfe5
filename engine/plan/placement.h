#pragma once
#include <map>
#include <optional>
#include <vector>

#include "engine/data/batch_layout.h"
#include "engine/graph/graph.h"
#include "engine/plan/program.h"

namespace lockstep {

// A value that must also stand somewhere else than where it lies: two parameters share one gradient, say.
struct ValueCopy {
    ValueId from;
    Slot to;
    std::string name;
};

// Where the values of a lowered graph lie. A view lies where its root lies; a pinned root has its slot outside the
// activations for the whole step; the other roots are activations, placed later.
struct Placement {
    std::vector<ValueId> roots;              // by value
    std::vector<std::optional<Slot>> slots;  // by value, of roots; empty: an activation
    std::vector<ValueCopy> copies;
    std::map<std::string, Slot, std::less<>> outputs;  // of an evaluation, by name

    ValueId root(ValueId value) const { return roots[index(value)]; }
    const std::optional<Slot>& pinned(ValueId value) const { return slots[index(root(value))]; }
};

// "loss_sum" and "weight" first, then (in training) "samples", the other scalar outputs, and (in training) "control".
ScalarSlots nameScalars(const Graph& graph, std::size_t buckets, bool training);
bool isScalar(const Value& value);  // f64[1]: a sum or a count

// Pins inputs to the fields of the batch or, that named kKeptImages, to what the device keeps; parameters (in
// evaluation their averages, if the storage has any) and buffers to the storage, gradients to their parameters' places
// and scalar outputs to the scalars; in evaluation the other outputs to Arena::Outputs, one behind the other as if the
// pass were the first. Throws EngineError(Internal) when the batch does not carry an input.
Placement placeValues(const Graph& graph, Program::Kind kind, const StoragePlan& storage, const BatchLayout& batch,
                      const ScalarSlots& scalars);

}  // namespace lockstep
