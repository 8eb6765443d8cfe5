#include "tests/plan/program_checks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>

namespace lockstep {

namespace {

constexpr std::size_t kBlock = 64;

bool overlap(const Slot& a, const Slot& b) {
    return a.arena == b.arena && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

std::string at(const Program& program, std::size_t step) {
    return "step " + std::to_string(step) + " (" + program.steps[step].name + "): ";
}

std::string slotComplaint(const Program& program, const Slot& slot) {
    if (slot.bytes == 0) return "an empty slot";
    if (slot.offset + slot.bytes > program.arenaBytes[static_cast<std::size_t>(slot.arena)]) {
        return "a slot outside of the arena of " + std::string(text(slot.arena));
    }
    // A pass begins anywhere in the batch; scalars and their partial sums are doubles side by side.
    const bool packed = slot.arena == Arena::Io || slot.bytes == sizeof(double) || slot.arena == Arena::Scalars;
    const bool unaligned = !packed && slot.offset % kBlock != 0;
    return unaligned ? "an unaligned slot in the arena of " + std::string(text(slot.arena)) : std::string();
}

// For each value the one that its bytes belong to: views are followed back.
std::vector<ValueId> owners(const Graph& graph) {
    std::vector<ValueId> owner;
    for (std::size_t i = 0; i < graph.values().size(); ++i) {
        const auto producer = graph.values()[i].producer;
        const bool view = producer && graph.node(*producer).op->isView;
        owner.push_back(view ? owner[index(graph.node(*producer).inputs[0])] : static_cast<ValueId>(i));
    }
    return owner;
}

// Of one pass.
class Simulation {
public:
    Simulation(const Program& program, std::size_t pass)
        : m_program(program),
          m_pass(pass),
          m_graph(*program.passes[pass].graph),
          m_owners(owners(m_graph)),
          m_blocks((program.arenaBytes[static_cast<std::size_t>(Arena::Activations)] + kBlock - 1) / kBlock, -1) {}

    std::string run() {
        if (auto found = run(true); !found.empty()) return found;
        return run(false);
    }

private:
    // Constants are made in the first pass, for all.
    std::string run(bool withConstants) {
        for (std::size_t i = 0; i < m_program.steps.size(); ++i) {
            const Step& step = m_program.steps[i];
            if (step.constant ? !withConstants : static_cast<std::size_t>(step.pass) != m_pass) continue;
            const std::string found = step.node ? kernel(step, m_graph.node(*step.node)) : flat(step);
            if (!found.empty()) return at(m_program, i) + found;
        }
        return keptOutputs();
    }

    std::string kernel(const Step& step, const Node& node) {
        if (step.inputs.size() != node.inputs.size() || step.outputs.size() != node.outputs.size()) {
            return "slots do not follow the node's values";
        }
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            const ValueId input = node.inputs[i];
            if (!holds(step.inputs[i], input)) return "reads " + m_graph.value(input).name + " in vain";
        }
        if (clashes(step, node)) return "writes over what it reads or writes itself";
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            const Slot& slot = step.outputs[i];
            if (slot.bytes != m_graph.value(node.outputs[i]).bytes()) return "an output slot of the wrong size";
            write(slot, node.outputs[i]);
        }
        return {};
    }

    // Scales read one activation or pinned value, all-reduces add to one in its place; the other flat steps keep away
    // from activations.
    std::string flat(const Step& step) {
        const bool reduces = step.kind == Step::Kind::AllReduce;
        for (const Slot& slot : step.inputs) {
            if (slot.arena != Arena::Activations) continue;
            if (step.kind != Step::Kind::Scale && !reduces) return "touches activations";
            if (m_blocks[slot.offset / kBlock] < 0) return "reads what nobody wrote";
        }
        for (const Slot& slot : step.outputs) {
            if (slot.arena == Arena::Activations && !reduces) return "writes to activations";
        }
        return {};
    }

    bool clashes(const Step& step, const Node& node) const {
        for (std::size_t o = 0; o < step.outputs.size(); ++o) {
            for (std::size_t other = 0; other < o; ++other) {
                if (overlap(step.outputs[o], step.outputs[other])) return true;
            }
            for (std::size_t i = 0; i < step.inputs.size(); ++i) {
                const bool inplace =
                    o == 0 && static_cast<int>(i) == node.op->inplaceInput && step.inputs[i] == step.outputs[o];
                if (overlap(step.outputs[o], step.inputs[i]) && !inplace) return true;
            }
        }
        return false;
    }

    bool holds(const Slot& slot, ValueId value) const {
        const ValueId owner = m_owners[index(value)];
        if (slot.bytes != m_graph.value(value).bytes()) return false;
        if (m_graph.value(owner).role != ValueRole::Intermediate) return isBound(slot, m_graph.value(owner));
        if (slot.arena != Arena::Activations) {
            const auto found = m_pinned.find(owner);
            return found != m_pinned.end() && found->second == slot;
        }
        for (std::size_t block = slot.offset / kBlock; block * kBlock < slot.offset + slot.bytes; ++block) {
            if (m_blocks[block] != static_cast<std::int64_t>(index(owner))) return false;
        }
        return true;
    }

    bool isBound(const Slot& slot, const Value& value) const {
        if (value.role == ValueRole::Input) return slot.arena == Arena::Io;
        const StorageEntry* entry = m_program.storage->find(value.name);
        if (!entry) return false;
        if (value.role == ValueRole::Buffer) return slot == Slot{Arena::Buffers, entry->offset, entry->bytes};
        const bool averaged = m_program.kind == Program::Kind::Evaluation && m_program.storage->averages &&
                              value.role == ValueRole::Parameter;
        if (!averaged) return slot == Slot{Arena::Parameters, entry->offset, entry->bytes};
        return slot == Slot{Arena::Averages, m_program.storage->averagesRead() + entry->offset, entry->bytes};
    }

    void write(const Slot& slot, ValueId value) {
        if (slot.arena != Arena::Activations) {
            m_pinned[value] = slot;
            return;
        }
        for (std::size_t block = slot.offset / kBlock; block * kBlock < slot.offset + slot.bytes; ++block) {
            m_blocks[block] = static_cast<std::int64_t>(index(value));
        }
    }

    std::string keptOutputs() const {
        for (const Graph::Output& output : m_graph.outputs()) {
            const ValueId owner = m_owners[index(output.value)];
            const auto blocks = std::ranges::count(m_blocks, static_cast<std::int64_t>(index(owner)));
            const bool whole = static_cast<std::size_t>(blocks) * kBlock >= m_graph.value(output.value).bytes();
            if (!whole && !m_pinned.contains(owner)) return "output " + output.name + " is gone at the end of the step";
        }
        return {};
    }

    const Program& m_program;
    const std::size_t m_pass;
    const Graph& m_graph;
    std::vector<ValueId> m_owners;
    std::vector<std::int64_t> m_blocks;  // of the activations: which value stands there
    std::map<ValueId, Slot> m_pinned;    // values outside of the activations
};

bool conflict(const Step& a, const Step& b) {
    const auto meets = [](const std::vector<Slot>& writes, const std::vector<Slot>& others) {
        return std::ranges::any_of(writes, [&](const Slot& write) {
            return std::ranges::any_of(others, [&](const Slot& other) { return overlap(write, other); });
        });
    };
    return meets(a.outputs, b.outputs) || meets(a.outputs, b.inputs) || meets(a.inputs, b.outputs);
}

// By step and lane: the last step of that lane that is certainly complete before the step begins.
std::vector<std::array<int, 3>> completedBefore(const Program& program) {
    std::vector<std::array<int, 3>> known;
    std::array<int, 3> previous{-1, -1, -1};
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        const auto lane = static_cast<std::size_t>(program.steps[i].lane);
        std::array<int, 3> clock{-1, -1, -1};
        const auto learn = [&](int step) {
            if (step < 0) return;
            const auto before = static_cast<std::size_t>(step);
            for (std::size_t l = 0; l < 3; ++l) clock[l] = std::max(clock[l], known[before][l]);
            const auto its = static_cast<std::size_t>(program.steps[before].lane);
            clock[its] = std::max(clock[its], step);
        };
        learn(previous[lane]);
        for (const int step : program.steps[i].after) learn(step);
        known.push_back(clock);
        previous[lane] = static_cast<int>(i);
    }
    return known;
}

std::string bucketComplaint(const StoragePlan& storage) {
    std::size_t offset = 0, parameter = 0;
    for (const Bucket& bucket : storage.buckets) {
        if (bucket.offset != offset || bucket.firstParameter != parameter) return "buckets leave a gap or overlap";
        for (std::size_t i = 0; i < bucket.parameterCount; ++i, ++parameter) {
            const StorageEntry& entry = storage.parameters[parameter];
            const bool inside = entry.offset >= offset && entry.offset + entry.bytes <= offset + bucket.bytes;
            if (!inside) return entry.name + " lies across a bucket's bounds";
        }
        offset += bucket.bytes;
    }
    if (offset != storage.parameterBytes || parameter != storage.parameters.size()) return "buckets miss parameters";
    return {};
}

std::vector<const Step*> stepsOf(const Program& program, Step::Kind kind, int bucket) {
    std::vector<const Step*> found;
    for (const Step& step : program.steps) {
        if (step.kind == kind && step.bucket == bucket) found.push_back(&step);
    }
    return found;
}

std::string gateComplaint(const Program& program, const std::vector<Slot>& squareSums) {
    const auto gates = stepsOf(program, Step::Kind::Gate, -1);
    if (gates.size() != 1) return "there is not exactly one gate";
    std::vector<Slot> expected;
    for (const char* name : {"loss_sum", "weight", "samples"}) {
        expected.push_back({Arena::Scalars, program.scalars.offsetOf(name), 8});
    }
    expected.insert(expected.end(), squareSums.begin(), squareSums.end());
    if (gates[0]->inputs != expected) return "the gate reads something else than loss, weight, samples and square sums";
    const std::vector<Slot> gate{{Arena::Scalars, program.scalars.gateOffset, sizeof(UpdateGate)}};
    return gates[0]->outputs == gate ? std::string() : "the gate lies elsewhere";
}

// The slice of a bucket where elements are f32 while its own are halves, else at the same place as in the gradients.
Slot keptSlice(const StoragePlan& storage, Arena arena, const Slot& slice, std::size_t state = 0) {
    const std::size_t factor = storage.dtype == DType::BF16 || storage.dtype == DType::F16 ? 2 : 1;
    return {arena, factor * (state * storage.parameterBytes + slice.offset), factor * slice.bytes};
}

std::string averageComplaint(const Program& program, int bucket, const Slot& slice, const Slot& gate) {
    const StoragePlan& storage = *program.storage;
    const auto averages = stepsOf(program, Step::Kind::Average, bucket);
    const std::string name = "bucket " + std::to_string(bucket) + ": ";
    if (averages.size() != (storage.averages ? 1u : 0u)) return name + "not averaged as often as it should be";
    if (averages.empty()) return {};
    const bool masters = storage.dtype != DType::F32 && storage.dtype != DType::F64;
    const std::vector<Slot> inputs{keptSlice(storage, masters ? Arena::Masters : Arena::Parameters, slice), gate};
    std::vector<Slot> outputs{keptSlice(storage, Arena::Averages, slice)};
    if (masters) outputs.push_back({Arena::Averages, 2 * storage.parameterBytes + slice.offset, slice.bytes});
    const bool right = averages[0]->inputs == inputs && averages[0]->outputs == outputs;
    const bool later = averages[0] > stepsOf(program, Step::Kind::Update, bucket)[0];
    if (!later) return name + "averaged before it is updated";
    return right ? std::string() : name + "the average has other slots than device.h says";
}

std::string updateComplaint(const Program& program, int bucket, bool reduces) {
    const StoragePlan& storage = *program.storage;
    const Bucket& bounds = storage.buckets[static_cast<std::size_t>(bucket)];
    const Slot slice{Arena::Gradients, bounds.offset, bounds.bytes};
    const std::string name = "bucket " + std::to_string(bucket) + ": ";
    const auto reductions = stepsOf(program, Step::Kind::AllReduce, bucket);
    const auto updates = stepsOf(program, Step::Kind::Update, bucket);
    if (reductions.size() != (reduces ? 1u : 0u)) return name + "not reduced exactly once";
    for (const Step* step : reductions) {
        const bool whole = step->inputs == std::vector{slice} && step->count * sizeOf(storage.dtype) == slice.bytes;
        if (!whole) return name + "the reduction is of another slice";
    }
    if (updates.size() != 1) return name + "not updated exactly once";
    const Slot gate{Arena::Scalars, program.scalars.gateOffset, sizeof(UpdateGate)};
    std::vector<Slot> outputs{{Arena::Parameters, slice.offset, slice.bytes}};
    if (storage.dtype != DType::F32 && storage.dtype != DType::F64)
        outputs.push_back(keptSlice(storage, Arena::Masters, slice));
    for (std::size_t s = 0; s < static_cast<std::size_t>(storage.stateCount); ++s) {
        outputs.push_back(keptSlice(storage, Arena::OptimizerState, slice, s));
    }
    const bool right = updates[0]->inputs == std::vector{slice, gate} && updates[0]->outputs == outputs;
    if (!right) return name + "the update has other slots than device.h says";
    return averageComplaint(program, bucket, slice, gate);
}

std::string gradientComplaint(const Program& program) {
    for (const StorageEntry& entry : program.storage->parameters) {
        const Slot slot{Arena::Gradients, entry.offset, entry.bytes};
        std::size_t covered = 0;
        for (const Step& step : program.steps) {
            if (step.kind == Step::Kind::AllReduce || step.kind == Step::Kind::Add) continue;
            for (const Slot& output : step.outputs) {
                if (overlap(output, slot)) covered += std::min(output.bytes, slot.bytes);
            }
        }
        const bool once = covered == slot.bytes * program.passes.size();
        if (!once) return "the gradient of " + entry.name + " is not written exactly once in each pass";
    }
    return {};
}

}  // namespace

std::string complaintAboutSlots(const Program& program) {
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        const Step& step = program.steps[i];
        for (const auto* slots : {&step.inputs, &step.outputs}) {
            for (const Slot& slot : *slots) {
                if (const auto found = slotComplaint(program, slot); !found.empty()) return at(program, i) + found;
            }
        }
        for (const int after : step.after) {
            const bool earlier = after >= 0 && after < static_cast<int>(i);
            if (!earlier) return at(program, i) + "waits for a step that is not earlier";
            const bool sameLane = program.steps[static_cast<std::size_t>(after)].lane == step.lane;
            if (sameLane) return at(program, i) + "waits for its own lane";
        }
    }
    return {};
}

std::string complaintAboutValues(const Program& program) {
    for (std::size_t pass = 0; pass < program.passes.size(); ++pass) {
        if (!program.passes[pass].graph) continue;
        if (auto found = Simulation(program, pass).run(); !found.empty()) return found;
    }
    return {};
}

namespace {

// A sum over passes, written out: "((0 1) 2)". Built like Knuth's binary counter, but from above.
std::string treeOver(std::size_t first, std::size_t count) {
    if (count == 1) return std::to_string(first);
    const std::size_t left = std::bit_floor(count - 1);
    return '(' + treeOver(first, left) + ' ' + treeOver(first + left, count - left) + ')';
}

// What stands at `slice` when it is reduced or, without a reduction, at the end of the passes.
std::string sumAt(const Program& program, const Slot& slice) {
    std::map<std::size_t, std::string> partials;
    std::string sum;
    for (const Step& step : program.steps) {
        const auto covers = [&](const std::vector<Slot>& slots) {
            return slots.size() == 1 && overlap(slots[0], slice);
        };
        if (step.kind == Step::Kind::AllReduce && covers(step.outputs)) return sum;
        if (step.kind == Step::Kind::Add && covers(step.outputs)) {
            sum = '(' + partials[step.inputs[0].offset] + ' ' + sum + ')';
        } else if (step.kind == Step::Kind::Scale && step.outputs[0].arena == Arena::Partials && covers(step.inputs)) {
            partials[step.outputs[0].offset] = sum;
        } else if (std::ranges::any_of(step.outputs, [&](const Slot& slot) { return overlap(slot, slice); })) {
            sum = std::to_string(step.pass);
        }
    }
    return sum;
}

}  // namespace

std::string complaintAboutPasses(const Program& program) {
    const std::string expected = treeOver(0, program.passes.size());
    std::vector<Slot> slices{{Arena::Scalars, 0, program.scalars.sumBytes()}};
    if (program.kind == Program::Kind::Training) {
        if (program.storage->stagedBytes > 0) slices.push_back({Arena::Staging, 0, program.storage->stagedBytes});
        for (const Bucket& bucket : program.storage->buckets) {
            slices.push_back({Arena::Gradients, bucket.offset, bucket.bytes});
        }
    }
    for (const Slot& slice : slices) {
        const std::string found = sumAt(program, slice);
        const std::string where = std::string(text(slice.arena)) + '+' + std::to_string(slice.offset);
        if (found != expected) return where + ": passes are summed as " + found + " instead of " + expected;
    }
    return {};
}

std::string complaintAboutOrder(const Program& program) {
    const auto known = completedBefore(program);
    for (std::size_t later = 0; later < program.steps.size(); ++later) {
        for (std::size_t earlier = 0; earlier < later; ++earlier) {
            const Step& a = program.steps[earlier];
            const Step& b = program.steps[later];
            const bool ordered = known[later][static_cast<std::size_t>(a.lane)] >= static_cast<int>(earlier);
            if (!ordered && conflict(a, b)) return at(program, later) + "does not wait for " + a.name;
        }
    }
    return {};
}

std::string complaintAboutUpdates(const Program& program, bool reduces) {
    if (auto found = bucketComplaint(*program.storage); !found.empty()) return found;
    if (auto found = gradientComplaint(program); !found.empty()) return found;
    std::vector<Slot> squareSums;
    for (int bucket = 0; bucket < static_cast<int>(program.storage->buckets.size()); ++bucket) {
        if (auto found = updateComplaint(program, bucket, reduces); !found.empty()) return found;
        const auto sums = stepsOf(program, Step::Kind::SquareSum, bucket);
        if (sums.size() != 1) return "not exactly one square sum for bucket " + std::to_string(bucket);
        squareSums.push_back(sums[0]->outputs[0]);
    }
    return gateComplaint(program, squareSums);
}

std::string complaint(const Program& program, bool reduces) {
    if (auto found = complaintAboutSlots(program); !found.empty()) return found;
    if (auto found = complaintAboutValues(program); !found.empty()) return found;
    if (auto found = complaintAboutOrder(program); !found.empty()) return found;
    if (auto found = complaintAboutPasses(program); !found.empty()) return found;
    return program.kind == Program::Kind::Training ? complaintAboutUpdates(program, reduces) : std::string();
}

}  // namespace lockstep
