#include "engine/train/prove_break.h"

#include <algorithm>
#include <functional>

namespace lockstep {

namespace {

int worldOf(const ResolvedSpec& resolved) { return static_cast<int>(resolved.devices.size()); }

// What `step` writes, times `factor`, on the compute lane.
Step scaled(const Step& step, const Slot& slice, double factor) {
    Step scale;
    scale.kind = Step::Kind::Scale;
    scale.pass = step.pass;
    scale.bucket = step.bucket;
    scale.value = factor;
    scale.count = step.count;
    scale.dtype = step.dtype;
    scale.inputs = scale.outputs = {slice};
    scale.name = "break " + step.name;
    return scale;
}

// `before` says by which factor what a step reads first is to be multiplied before it; 1: let it be.
std::shared_ptr<const Program> rescaled(const Program& program, const std::function<double(const Step&)>& before) {
    auto out = std::make_shared<Program>(program);
    out->steps.clear();
    std::vector<int> places;  // by step of before
    for (const Step& step : program.steps) {
        Step own = step;
        for (int& other : own.after) other = places[static_cast<std::size_t>(other)];
        if (const double factor = before(step); factor != 1) {
            Step scale = scaled(step, step.inputs.front(), factor);
            scale.after = own.after;
            if (own.lane != scale.lane) own.after = {static_cast<int>(out->steps.size())};
            out->steps.push_back(std::move(scale));
        }
        places.push_back(static_cast<int>(out->steps.size()));
        out->steps.push_back(std::move(own));
    }
    return out;
}

// Once the sums are there, and before anything is made of them.
std::shared_ptr<const Program> undivided(const Program& program, int world) {
    return rescaled(program, [world](const Step& step) { return step.kind == Step::Kind::SquareSum ? world : 1.0; });
}

// The update divides by the whole batch: a device's sum x batch / (world x own) makes it the mean of the means.
std::shared_ptr<const Program> averaged(const Program& program, std::int64_t batch, std::int64_t own, int world) {
    const double factor = own > 0 ? static_cast<double>(batch) / static_cast<double>(world * own) : 1;
    return rescaled(program, [factor](const Step& step) {
        return step.kind == Step::Kind::AllReduce && step.bucket >= 0 ? factor : 1;
    });
}

}  // namespace

std::string_view text(ProofBreak how) {
    switch (how) {
        case ProofBreak::LocalNorm: return "local-norm";
        case ProofBreak::NoDivide: return "no-divide";
        case ProofBreak::AverageOfAverages: return "average-of-averages";
        case ProofBreak::DoubleCount: return "double-count";
    }
    return "?";
}

std::optional<ProofBreak> proofBreakFrom(std::string_view name) {
    const auto found = std::ranges::find(kProofBreaks, name, [](ProofBreak how) { return text(how); });
    return found == kProofBreaks.end() ? std::nullopt : std::optional(*found);
}

Problem explain(ProofBreak how, const ResolvedSpec& resolved) {
    const std::vector<std::string> devices{std::to_string(resolved.devices.size())};
    switch (how) {
        case ProofBreak::LocalNorm: return {"break", "prove.broken-norm", devices};
        case ProofBreak::NoDivide: return {"break", "prove.broken-divide", devices};
        case ProofBreak::AverageOfAverages: return {"break", "prove.broken-average", devices};
        case ProofBreak::DoubleCount: return {"break", "prove.broken-count", devices};
    }
    return {};
}

std::int64_t batchShowing(ProofBreak how, const ResolvedSpec& resolved) {
    const std::int64_t batch = resolved.spec.batch;
    if (how != ProofBreak::AverageOfAverages) return batch;
    const Partition partition = partitionOf(resolved);
    for (int rank = 1; rank < partition.world(); ++rank) {
        if (partition.share(batch, rank).count != partition.share(batch, 0).count) return batch;
    }
    return batch + 1;
}

ResolvedSpec brokenSpec(ProofBreak how, ResolvedSpec resolved) {
    if (how != ProofBreak::LocalNorm) return resolved;
    resolved.spec.mode = "fast";
    resolved.spec.batchNorm = "local";
    return resolved;
}

RunPlan brokenPlan(ProofBreak how, RunPlan plan, const ResolvedSpec& resolved, std::int64_t lastBatch) {
    const int world = worldOf(resolved);
    const Partition partition = partitionOf(resolved);
    const auto change = [&](std::shared_ptr<const Program>& program, int rank, std::int64_t batch) {
        if (how == ProofBreak::NoDivide) program = undivided(*program, world);
        if (how == ProofBreak::AverageOfAverages)
            program = averaged(*program, batch, partition.share(batch, rank).count, world);
    };
    for (int rank = 0; rank < world; ++rank) {
        RankPrograms& programs = plan.ranks[static_cast<std::size_t>(rank)];
        change(programs.training, rank, resolved.spec.batch);
        change(programs.lastTraining, rank, lastBatch);
    }
    return plan;
}

void countTwice(const BatchLayout& layout, const LoadedBatch& from, const LoadedBatch& to) {
    const auto samples = static_cast<std::size_t>((std::min(from.count, to.count) + 1) / 2);
    for (std::size_t field = 0; field < layout.fields().size(); ++field) {
        const std::size_t offset = layout.offset(field);
        std::copy_n(from.data + offset, samples * layout.sampleBytes(field), to.data + offset);
    }
}

}  // namespace lockstep
