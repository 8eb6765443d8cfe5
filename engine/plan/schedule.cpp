#include "engine/plan/schedule.h"

#include <algorithm>
#include <map>
#include <optional>

#include "engine/plan/flat_steps.h"

namespace lockstep {

namespace {

bool overlap(const Slot& a, const Slot& b) {
    return a.arena == b.arena && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

bool anyOverlap(const std::vector<Slot>& slots, const Slot& slice) {
    return std::ranges::any_of(slots, [&](const Slot& slot) { return overlap(slot, slice); });
}

class Scheduler {
public:
    explicit Scheduler(const ScheduleInput& input) : m_in(input), m_flat(input.storage, input.scalars) {
        for (const ValueCopy& copy : input.placement.copies) addFollower(copy.from, scaleOf(copy));
        for (const Graph::Assignment& each : input.graph.assignments()) addFollower(each.value, stage(each));
    }

    std::vector<DraftStep> training() {
        copyInputs();
        fillSamples();
        kernels();
        if (m_in.reduces) insertReductions();
        decide();
        waitForCopies();
        return std::move(m_drafts);
    }

    std::vector<DraftStep> evaluation() {
        copyInputs();
        kernels();
        waitForCopies();
        return std::move(m_drafts);
    }

private:
    void add(Step step) { m_drafts.push_back({.step = std::move(step), .reads = {}, .writes = {}}); }

    // A follower runs right after the kernel that makes what it reads.
    void addFollower(ValueId value, Step step) {
        const auto producer = m_in.graph.value(m_in.placement.root(value)).producer;
        m_followers[producer].push_back({.step = std::move(step), .reads = {value}, .writes = {}});
    }

    Step scaleOf(const ValueCopy& copy) const {
        return m_flat.scale(copy.to, m_in.graph.typeOf(copy.from).dtype, 1, "copy " + copy.name);
    }

    Step stage(const Graph::Assignment& assignment) const {
        const StorageEntry& entry = *m_in.storage.find(m_in.graph.value(assignment.buffer).name);
        return m_flat.scale({Arena::Staging, entry.offset, entry.bytes}, m_in.storage.dtype,
                            static_cast<double>(m_in.localBatch), "stage " + entry.name);
    }

    void copyInputs() {
        if (!m_in.copiesInputs) return;
        for (const ValueId id : m_in.graph.withRole(ValueRole::Input)) {
            if (const auto& slot = m_in.placement.pinned(id)) add(m_flat.copyIn(*slot, m_in.graph.value(id).name));
        }
    }

    void fillSamples() {
        const Slot slot{Arena::Scalars, m_in.scalars.offsetOf("samples"), sizeof(double)};
        add(m_flat.fill(slot, DType::F64, static_cast<double>(m_in.localBatch), "samples"));
    }

    void kernels() {
        follow(std::nullopt);
        for (std::size_t i = 0; i < m_in.graph.nodes().size(); ++i) {
            const Node& node = m_in.graph.nodes()[i];
            const auto id = static_cast<NodeId>(i);
            if (node.op->isView) continue;
            Step step;
            step.node = id;
            step.name = std::string(node.op->name) + ' ' + node.scope;
            m_drafts.push_back({.step = std::move(step), .reads = node.inputs, .writes = node.outputs});
            follow(id);
        }
    }

    void follow(std::optional<NodeId> node) {
        const auto found = m_followers.find(node);
        if (found != m_followers.end()) m_drafts.insert(m_drafts.end(), found->second.begin(), found->second.end());
    }

    bool touches(const DraftStep& draft, const Slot& slice) const {
        const auto pinnedThere = [&](ValueId id) {
            const auto& slot = m_in.placement.pinned(id);
            return slot && overlap(*slot, slice);
        };
        return anyOverlap(draft.step.inputs, slice) || anyOverlap(draft.step.outputs, slice) ||
               std::ranges::any_of(draft.reads, pinnedThere) || std::ranges::any_of(draft.writes, pinnedThere);
    }

    std::size_t lastTouch(const Slot& slice) const {
        for (std::size_t i = m_drafts.size(); i-- > 0;) {
            if (touches(m_drafts[i], slice)) return i;
        }
        return m_drafts.size() - 1;
    }

    void insertReductions() {
        std::multimap<std::size_t, Step> ready;
        std::size_t earliest = 0;
        for (Step& step : m_flat.reductions()) {
            earliest = std::max(earliest, lastTouch(step.outputs[0]));
            ready.emplace(earliest, std::move(step));
        }
        std::vector<DraftStep> kernelsOnly = std::move(m_drafts);
        m_drafts.clear();
        for (std::size_t i = 0; i < kernelsOnly.size(); ++i) {
            m_drafts.push_back(std::move(kernelsOnly[i]));
            const int toucher = static_cast<int>(m_drafts.size()) - 1;
            for (auto [at, end] = ready.equal_range(i); at != end; ++at) {
                at->second.after = {toucher};
                add(std::move(at->second));
            }
        }
    }

    // Square sums, the gate, updates and commits, each waiting for the reductions of what it reads.
    void decide() {
        const int buckets = static_cast<int>(m_in.storage.buckets.size());
        for (int b = 0; b < buckets; ++b) addAfter(m_flat.squareSum(b), m_flat.gradients(b));
        addAfter(m_flat.gate(), m_flat.reducedScalars());
        for (int b = 0; b < buckets; ++b) add(m_flat.update(b));
        for (Step& step : m_flat.commits(assignedBuffers())) addAfter(std::move(step), m_flat.staged());
    }

    void addAfter(Step step, const Slot& slice) {
        for (std::size_t i = 0; i < m_drafts.size(); ++i) {
            const Step& earlier = m_drafts[i].step;
            const bool reduces = earlier.kind == Step::Kind::AllReduce && earlier.outputs[0] == slice;
            if (reduces) step.after = {static_cast<int>(i)};
        }
        add(std::move(step));
    }

    std::vector<bool> assignedBuffers() const {
        const std::vector<StorageEntry>& buffers = m_in.storage.buffers;
        std::vector<bool> assigned(buffers.size());
        for (const Graph::Assignment& each : m_in.graph.assignments()) {
            const StorageEntry* entry = m_in.storage.find(m_in.graph.value(each.buffer).name);
            assigned[static_cast<std::size_t>(entry - buffers.data())] = true;
        }
        return assigned;
    }

    // The first reader waits for the copy; the compute lane runs in order, so later readers come after it.
    void waitForCopies() {
        for (std::size_t copy = 0; copy < m_drafts.size() && m_drafts[copy].step.kind == Step::Kind::CopyIn; ++copy) {
            const Slot slot = m_drafts[copy].step.outputs[0];
            const auto reader = std::ranges::find_if(m_drafts, [&](const DraftStep& draft) {
                return draft.step.lane == Lane::Compute && touches(draft, slot);
            });
            if (reader != m_drafts.end()) reader->step.after.push_back(static_cast<int>(copy));
        }
    }

    ScheduleInput m_in;
    FlatSteps m_flat;
    std::map<std::optional<NodeId>, std::vector<DraftStep>> m_followers;
    std::vector<DraftStep> m_drafts;
};

bool isAfterKernels(const Step& step) {
    switch (step.kind) {
        case Step::Kind::AllReduce:
        case Step::Kind::SquareSum:
        case Step::Kind::Gate:
        case Step::Kind::Update:
        case Step::Kind::Commit: return true;
        default: return false;
    }
}

// Zeros for all that ranks share but "control", which the replica writes before the step.
std::vector<Step> zeroFills(const Program& nominal) {
    const StoragePlan& storage = *nominal.storage;
    const FlatSteps flat(storage, nominal.scalars);
    Slot sums = flat.reducedScalars();
    sums.bytes = nominal.scalars.offsetOf("control");
    std::vector<Step> steps{flat.fill(sums, DType::F64, 0, "scalars")};
    if (storage.bufferBytes > 0) steps.push_back(flat.fill(flat.staged(), storage.dtype, 0, "statistics"));
    steps.push_back(flat.fill({Arena::Gradients, 0, storage.parameterBytes}, storage.dtype, 0, "gradients"));
    return steps;
}

}  // namespace

std::vector<DraftStep> scheduleTraining(const ScheduleInput& input) { return Scheduler(input).training(); }

std::vector<DraftStep> scheduleEvaluation(const ScheduleInput& input) { return Scheduler(input).evaluation(); }

std::vector<Step> scheduleEmptyTraining(const Program& nominal) {
    std::vector<Step> steps = zeroFills(nominal);
    const int fills = static_cast<int>(steps.size());
    std::vector<int> moved(nominal.steps.size(), fills - 1);       // a kernel's place is taken by the last fill
    for (std::size_t i = 0; i < nominal.steps.size(); ++i) {
        if (!isAfterKernels(nominal.steps[i])) continue;
        Step step = nominal.steps[i];
        for (int& index : step.after) index = moved[static_cast<std::size_t>(index)];
        moved[i] = static_cast<int>(steps.size());
        steps.push_back(std::move(step));
    }
    return steps;
}

}  // namespace lockstep
