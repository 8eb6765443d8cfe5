#include "engine/plan/flat_steps.h"

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

Step reduction(const Slot& slice, DType dtype, int bucket, const std::string& name) {
    Step step = flatStep(Step::Kind::AllReduce, slice, dtype, "all-reduce " + name);
    step.lane = Lane::Collective;
    step.bucket = bucket;
    step.inputs = {slice};
    step.outputs = {slice};
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

std::vector<Step> FlatSteps::reductions() const {
    std::vector<Step> steps;
    if (m_storage.bufferBytes > 0) steps.push_back(reduction(staged(), m_storage.dtype, -1, "statistics"));
    steps.push_back(reduction(reducedScalars(), DType::F64, -1, "scalars"));
    for (int b = 0; b < static_cast<int>(m_storage.buckets.size()); ++b) {
        steps.push_back(reduction(gradients(b), m_storage.dtype, b, std::to_string(b)));
    }
    return steps;
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
    for (int state = 0; state < m_storage.stateCount; ++state) {
        const std::size_t base = static_cast<std::size_t>(state) * m_storage.parameterBytes;
        step.outputs.push_back({Arena::OptimizerState, base + slice.offset, slice.bytes});
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
        Step step = flatStep(Step::Kind::Commit, slice, m_storage.dtype, "commit statistics");
        step.inputs = {slice, gateSlot()};
        step.outputs = {{Arena::Buffers, begin, bytes}};
        steps.push_back(std::move(step));
    }
    return steps;
}

Slot FlatSteps::gradients(int bucket) const {
    return {Arena::Gradients, bucketAt(bucket).offset, bucketAt(bucket).bytes};
}

Slot FlatSteps::squareSumSlot(int bucket) const {
    const std::size_t position = m_scalars.names.size() + static_cast<std::size_t>(bucket);
    return {Arena::Scalars, position * sizeof(double), sizeof(double)};
}

}  // namespace lockstep
