#include "engine/plan/schedule.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

#include "engine/core/error.h"
#include "engine/ops/all_reduce.h"
#include "engine/plan/flat_steps.h"

namespace lockstep {

namespace {

bool overlap(const Slot& a, const Slot& b) {
    return a.arena == b.arena && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

bool touches(const Step& step, const Slot& slice) {
    const auto overlapping = [&](const Slot& slot) { return overlap(slot, slice); };
    return std::ranges::any_of(step.inputs, overlapping) || std::ranges::any_of(step.outputs, overlapping);
}

// The all-reduce of a value that kernels make and read, unlike those of what a step yields.
bool isOfValue(const Step& step) {
    return step.kind == Step::Kind::AllReduce && step.outputs[0].arena == Arena::Activations;
}

// By sum: the last step that touches it or one of those before it, so that their order stays.
std::vector<std::size_t> readiness(std::span<const FlatSteps::Sum> sums, std::span<const Step> steps) {
    std::vector<std::size_t> ready;
    std::size_t earliest = 0;
    for (const FlatSteps::Sum& sum : sums) {
        for (std::size_t at = steps.size(); at-- > earliest;) {
            if (touches(steps[at], sum.slice)) earliest = at;
        }
        ready.push_back(earliest);
    }
    return ready;
}

class PassScheduler {
public:
    explicit PassScheduler(const PassInput& input) : m_in(input), m_flat(input.kind, input.storage, input.scalars) {
        for (const ValueCopy& copy : input.placement.copies) addFollower(copy.from, scaleOf(copy));
        for (const Graph::Assignment& each : input.graph.assignments()) addFollower(each.value, stage(each));
    }

    std::vector<DraftStep> run() {
        if (m_in.copiesInputs) copyInputs();
        if (m_in.kind == Program::Kind::Training) fillSamples();
        kernels();
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
        return m_flat.scale({Arena::Staging, entry.offset, entry.bytes}, m_in.storage.keptType(),
                            static_cast<double>(m_in.samples), "stage " + entry.name);
    }

    void copyInputs() {
        for (const ValueId id : m_in.graph.withRole(ValueRole::Input)) {
            const auto& slot = m_in.placement.pinned(id);
            if (slot && slot->arena == Arena::Io) add(m_flat.copyIn(*slot, m_in.graph.value(id).name));
        }
    }

    void fillSamples() {
        const Slot slot{Arena::Scalars, m_in.scalars.offsetOf("samples"), sizeof(double)};
        add(m_flat.fill(slot, DType::F64, static_cast<double>(m_in.samples), "samples"));
    }

    void kernels() {
        follow(std::nullopt);
        const std::vector<bool> constant = m_in.hasConstants ? constantNodes() : std::vector<bool>(nodes().size());
        for (std::size_t i = 0; i < nodes().size(); ++i) {
            if (constant[i]) kernel(i, true);
        }
        for (std::size_t i = 0; i < nodes().size(); ++i) {
            if (!constant[i]) kernel(i, false);
        }
    }

    std::span<const Node> nodes() const { return m_in.graph.nodes(); }

    // What is pinned elsewhere than in the activations is somebody else's to read.
    std::vector<bool> constantNodes() const {
        std::vector<bool> values(m_in.graph.values().size());
        for (const ValueRole role : {ValueRole::Parameter, ValueRole::Frozen, ValueRole::Buffer}) {
            for (const ValueId id : m_in.graph.withRole(role)) values[index(id)] = true;
        }
        const auto isConstant = [&](ValueId id) { return values[index(id)]; };
        const auto isPinned = [&](ValueId id) { return m_in.placement.pinned(id).has_value(); };
        std::vector<bool> constant;
        for (const Node& node : nodes()) {
            const bool reads = !node.inputs.empty() && std::ranges::all_of(node.inputs, isConstant);
            const bool keeps = node.op->isView || std::ranges::none_of(node.outputs, isPinned);
            constant.push_back(reads && keeps && node.op != &kAllReduce);
            for (const ValueId output : node.outputs) values[index(output)] = constant.back();
        }
        return constant;
    }

    void kernel(std::size_t at, bool constant) {
        const Node& node = nodes()[at];
        const auto id = static_cast<NodeId>(at);
        if (node.op == &kAllReduce) reduce(node);
        if (node.op->isView) return;
        Step step;
        step.node = id;
        step.name = std::string(node.op->name) + ' ' + node.scope;
        step.constant = constant;
        m_drafts.push_back({.step = std::move(step), .reads = node.inputs, .writes = node.outputs});
        follow(id);
    }

    void reduce(const Node& node) {
        const Value& own = m_in.graph.value(node.inputs[0]);
        const Node& producer = m_in.graph.node(own.producer.value());
        const std::string name = std::string(producer.op->name) + ' ' + producer.scope;
        const auto reads = [&](const Node& other) { return std::ranges::count(other.inputs, node.inputs[0]) > 0; };
        if (std::ranges::count_if(m_in.graph.nodes(), reads) > 1)
            throw EngineError(EngineError::Kind::Internal, name,
                              "is reduced in place, and read by another node as well");
        const auto elements = static_cast<std::size_t>(own.type.shape.count());
        m_drafts.push_back({m_flat.reduceValue(elements, name), node.inputs, node.outputs});
    }

    void follow(std::optional<NodeId> node) {
        const auto found = m_followers.find(node);
        if (found != m_followers.end()) m_drafts.insert(m_drafts.end(), found->second.begin(), found->second.end());
    }

    const PassInput& m_in;
    FlatSteps m_flat;
    std::map<std::optional<NodeId>, std::vector<DraftStep>> m_followers;
    std::vector<DraftStep> m_drafts;
};

class StepScheduler {
public:
    StepScheduler(const StepInput& input, std::size_t passes)
        : m_in(input), m_flat(input.kind, input.storage, input.scalars), m_sums(m_flat.sums()), m_passes(passes) {}

    std::vector<Step> run(std::vector<std::vector<Step>>& passes) {
        for (std::size_t pass = 0; pass < m_passes; ++pass) addPass(pass, passes[pass]);
        if (m_in.kind == Program::Kind::Training) conclude();
        waitForOtherLanes();
        return std::move(m_steps);
    }

private:
    void addPass(std::size_t pass, std::vector<Step>& steps) {
        const std::vector<std::size_t> ready = readiness(m_sums, steps);
        for (std::size_t at = 0; at < steps.size(); ++at) {
            if (isOfValue(steps[at])) addReduction(std::move(steps[at]), pass);
            else add(std::move(steps[at]), pass);
            for (std::size_t sum = 0; sum < m_sums.size(); ++sum) {
                if (ready[sum] == at) combine(m_sums[sum], pass);
            }
        }
    }

    void addReduction(Step step, std::size_t pass) {
        if (!m_in.reduces) return;
        step.after = {lastToucher(step.outputs[0])};
        add(std::move(step), pass);
    }

    // A pass's yield meets those of earlier passes like a carry runs through a binary counter: two subtrees of equal
    // size become one of the next level. The last pass takes whatever is left.
    void combine(const FlatSteps::Sum& sum, std::size_t pass) {
        const bool last = pass + 1 == m_passes;
        const int kept = std::countr_one(pass), levels = static_cast<int>(std::bit_width(pass));
        for (int level = 0; level < levels; ++level) {
            const bool joins = last ? (pass >> level) & 1 : level < kept;
            if (joins) add(m_flat.addPartial(sum, level), pass);
        }
        if (!last) return add(m_flat.keepPartial(sum, kept), pass);
        if (m_in.kind == Program::Kind::Training) addReduction(m_flat.reduce(sum), pass);
    }

    int lastToucher(const Slot& slice) const {
        std::size_t at = m_steps.size() - 1;
        while (at > 0 && (m_steps[at].lane == Lane::Collective || !touches(m_steps[at], slice))) --at;
        return static_cast<int>(at);
    }

    // Square sums, the gate, updates and commits, each waiting for the reductions of what it reads.
    void conclude() {
        const int buckets = static_cast<int>(m_in.storage.buckets.size());
        for (int b = 0; b < buckets; ++b) addAfter(m_flat.squareSum(b), m_flat.gradients(b));
        addAfter(m_flat.gate(), m_flat.reducedScalars());
        for (int b = 0; b < buckets; ++b) {
            addLast(m_flat.update(b));
            if (m_in.storage.averages) addLast(m_flat.average(b));
        }
        for (Step& step : m_flat.commits(m_in.assigned)) addAfter(std::move(step), m_flat.staged());
    }

    void addAfter(Step step, const Slot& slice) {
        for (std::size_t i = 0; i < m_steps.size(); ++i) {
            const Step& earlier = m_steps[i];
            const bool reduces = earlier.kind == Step::Kind::AllReduce && earlier.outputs[0] == slice;
            if (reduces) step.after = {static_cast<int>(i)};
        }
        addLast(std::move(step));
    }

    void addLast(Step step) { add(std::move(step), m_passes - 1); }

    void add(Step step, std::size_t pass) {
        step.pass = static_cast<int>(pass);
        m_steps.push_back(std::move(step));
    }

    // The first to touch what a copy or an all-reduce of a value writes waits for it; the compute lane runs in order,
    // so later ones come after it.
    void waitForOtherLanes() {
        for (auto step = m_steps.begin(); step != m_steps.end(); ++step) {
            if (step->kind != Step::Kind::CopyIn && !isOfValue(*step)) continue;
            const auto user = std::find_if(step + 1, m_steps.end(), [&](const Step& later) {
                return later.lane == Lane::Compute && touches(later, step->outputs[0]);
            });
            if (user != m_steps.end()) user->after.push_back(static_cast<int>(step - m_steps.begin()));
        }
    }

    const StepInput& m_in;
    FlatSteps m_flat;
    std::vector<FlatSteps::Sum> m_sums;
    std::size_t m_passes;
    std::vector<Step> m_steps;
};

}  // namespace

std::vector<DraftStep> schedulePass(const PassInput& input) { return PassScheduler(input).run(); }

std::vector<Step> scheduleEmptyPass(Program::Kind kind, const StoragePlan& storage, const ScalarSlots& scalars,
                                    std::span<const Step> like) {
    const FlatSteps flat(kind, storage, scalars);
    const std::vector<FlatSteps::Sum> sums = flat.sums();
    const std::vector<std::size_t> ready = readiness(sums, like);
    std::vector<Step> steps;
    for (std::size_t at = 0; at < like.size(); ++at) {
        if (isOfValue(like[at])) {
            Step reduction = like[at];
            const Slot slot{Arena::Activations, 0, reduction.outputs[0].bytes};
            reduction.inputs = reduction.outputs = {slot};
            reduction.pass = 0;
            reduction.after.clear();
            steps.push_back(flat.fill(slot, reduction.dtype, 0, "sums of no samples"));
            steps.push_back(std::move(reduction));
        }
        for (std::size_t sum = 0; sum < sums.size(); ++sum) {
            if (ready[sum] == at) steps.push_back(flat.zero(sums[sum]));
        }
    }
    return steps;
}

std::vector<Step> scheduleStep(const StepInput& input, std::vector<std::vector<Step>> passes) {
    return StepScheduler(input, passes.size()).run(passes);
}

}  // namespace lockstep
