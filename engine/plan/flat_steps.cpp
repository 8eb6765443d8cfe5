#include "engine/plan/flat_steps.h"

#include <bit>

#include "engine/plan/align.h"

namespace lockstep {

namespace {

Step flatStep(Step::Kind kind, const Slot& slice, DType dtype, std::string name) {
    Step step;
    step.kind = kind;
    step.count = slice.bytes / sizeOf(dtype);
    step.dtype = dtype;
    step.name = std::move(name);
    return step;
}

}  // namespace

Step FlatSteps::copyIn(const Slot& field, const std::string& name) const {
    Step step = flatStep(Step::Kind::CopyIn, field, DType::U8, "copy-in " + name);
    step.lane = Lane::Copy;
    step.inputs = {field};
    step.outputs = {field};
    return step;
}

Step FlatSteps::fill(const Slot& slot, DType dtype, double value, const std::string& name) const {
    Step step = flatStep(Step::Kind::Fill, slot, dtype, "fill " + name);
    step.value = value;
    step.outputs = {slot};
    return step;
}

Step FlatSteps::scale(const Slot& to, DType dtype, double factor, const std::string& name) const {
    Step step = flatStep(Step::Kind::Scale, to, dtype, name);
    step.value = factor;
    step.outputs = {to};
    return step;
}

std::vector<FlatSteps::Sum> FlatSteps::sums() const {
    const Sum scalars{{Arena::Scalars, 0, m_scalars.sumBytes()}, reducedScalars(), DType::F64, -1, "scalars"};
    if (!m_training) return {scalars};
    std::vector<Sum> sums;
    if (m_storage.stagedBytes > 0) sums.push_back({staged(), staged(), m_storage.keptType(), -1, "statistics"});
    sums.push_back(scalars);
    for (int b = 0; b < static_cast<int>(m_storage.buckets.size()); ++b) {
        sums.push_back({gradients(b), gradients(b), m_storage.dtype, b, std::to_string(b)});
    }
    return sums;
}

Step FlatSteps::reduce(const Sum& sum) const {
    Step step = flatStep(Step::Kind::AllReduce, sum.reduced, sum.dtype, "all-reduce " + sum.name);
    step.lane = Lane::Collective;
    step.bucket = sum.bucket;
    step.inputs = {sum.reduced};
    step.outputs = {sum.reduced};
    return step;
}

Step FlatSteps::reduceValue(std::size_t count, const std::string& name) const {
    Step step = flatStep(Step::Kind::AllReduce, {Arena::Activations, 0, count * sizeof(double)}, DType::F64,
                         "all-reduce " + name);
    step.lane = Lane::Collective;
    return step;
}

Step FlatSteps::zero(const Sum& sum) const {
    return fill(sum.slice, sum.dtype, 0, sum.bucket < 0 ? sum.name : "gradients " + sum.name);
}

Step FlatSteps::addPartial(const Sum& sum, int level) const {
    Step step = flatStep(Step::Kind::Add, sum.slice, sum.dtype, "add passes " + sum.name);
    step.bucket = sum.bucket;
    step.inputs = {partial(sum, level)};
    step.outputs = {sum.slice};
    return step;
}

Step FlatSteps::keepPartial(const Sum& sum, int level) const {
    Step step = scale(partial(sum, level), sum.dtype, 1, "keep pass " + sum.name);
    step.bucket = sum.bucket;
    step.inputs = {sum.slice};
    return step;
}

std::size_t FlatSteps::partialBytes(std::size_t passes) const {
    return static_cast<std::size_t>(std::bit_width(passes - 1)) * levelBytes();
}

// A level holds scalars, gradients and statistics, one behind the other.
std::size_t FlatSteps::levelBytes() const {
    const std::size_t scalars = alignUp(m_scalars.sumBytes());
    return m_training ? scalars + m_storage.parameterBytes + m_storage.stagedBytes : scalars;
}

Slot FlatSteps::partial(const Sum& sum, int level) const {
    std::size_t offset = static_cast<std::size_t>(level) * levelBytes() + sum.slice.offset;
    if (sum.slice.arena != Arena::Scalars) offset += alignUp(m_scalars.sumBytes());
    if (sum.slice.arena == Arena::Staging) offset += m_storage.parameterBytes;
    return {Arena::Partials, offset, sum.slice.bytes};
}

Step FlatSteps::squareSum(int bucket) const {
    const Slot slice = gradients(bucket);
    Step step = flatStep(Step::Kind::SquareSum, slice, m_storage.dtype, "square-sum " + std::to_string(bucket));
    step.bucket = bucket;
    step.inputs = {slice};
    step.outputs = {squareSumSlot(bucket)};
    return step;
}

Step FlatSteps::gate() const {
    Step step;
    step.kind = Step::Kind::Gate;
    step.dtype = DType::F64;
    step.name = "gate";
    step.inputs = {scalar("loss_sum"), scalar("weight"), scalar("samples")};
    for (int b = 0; b < static_cast<int>(m_storage.buckets.size()); ++b) step.inputs.push_back(squareSumSlot(b));
    step.outputs = {gateSlot()};
    return step;
}

Step FlatSteps::update(int bucket) const {
    const Slot slice = gradients(bucket);
    Step step = flatStep(Step::Kind::Update, slice, m_storage.dtype, "update " + std::to_string(bucket));
    step.bucket = bucket;
    step.inputs = {slice, gateSlot()};
    step.outputs = {{Arena::Parameters, slice.offset, slice.bytes}};
    if (m_storage.hasMasters()) step.outputs.push_back(kept(Arena::Masters, slice));
    for (int state = 0; state < m_storage.stateCount; ++state) {
        const std::size_t base = static_cast<std::size_t>(state) * m_storage.kept(m_storage.parameterBytes);
        step.outputs.push_back(kept(Arena::OptimizerState, slice, base));
    }
    return step;
}

Step FlatSteps::average(int bucket) const {
    const Slot slice = gradients(bucket);
    Step step = flatStep(Step::Kind::Average, slice, m_storage.dtype, "average " + std::to_string(bucket));
    step.bucket = bucket;
    step.inputs = {kept(m_storage.hasMasters() ? Arena::Masters : Arena::Parameters, slice), gateSlot()};
    step.outputs = {kept(Arena::Averages, slice)};
    if (m_storage.hasMasters()) {
        step.outputs.push_back({Arena::Averages, m_storage.averagesRead() + slice.offset, slice.bytes});
    }
    return step;
}

std::vector<Step> FlatSteps::commits(const std::vector<bool>& assigned) const {
    std::vector<Step> steps;
    for (std::size_t i = 0; i < assigned.size(); ++i) {
        if (!assigned[i]) continue;
        const std::size_t begin = m_storage.buffers[i].offset;
        while (i + 1 < assigned.size() && assigned[i + 1]) ++i;
        const std::size_t bytes = alignUp(m_storage.buffers[i].offset + m_storage.buffers[i].bytes) - begin;
        const Slot slice{Arena::Staging, begin, bytes};
        Step step = flatStep(Step::Kind::Commit, slice, m_storage.keptType(), "commit statistics");
        step.inputs = {slice, gateSlot()};
        step.outputs = {{Arena::Buffers, begin, bytes}};
        steps.push_back(std::move(step));
    }
    return steps;
}

Slot FlatSteps::gradients(int bucket) const {
    return {Arena::Gradients, bucketAt(bucket).offset, bucketAt(bucket).bytes};
}

Slot FlatSteps::kept(Arena arena, const Slot& slice, std::size_t base) const {
    return {arena, base + m_storage.kept(slice.offset), m_storage.kept(slice.bytes)};
}

Slot FlatSteps::squareSumSlot(int bucket) const {
    const std::size_t position = m_scalars.names.size() + static_cast<std::size_t>(bucket);
    return {Arena::Scalars, position * sizeof(double), sizeof(double)};
}

}  // namespace lockstep
