#include "engine/backend/cpu/layout_pass.h"

#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/kernels.h"

namespace lockstep::cpu {

using onednn::Desc;

namespace {

constexpr const char* kAnyAxes = "abcdef";  // names for as many as there may be

}  // namespace

LayoutPass::LayoutPass(const Graph& graph, const LowerOptions& options, const ConvChoice& choose,
                       onednn::Bf16Units units)
    : Rewriter(graph, Parameters::AtLeastF32),
      m_graph(graph),
      m_choose(choose),
      m_block(onednn::preferredBlock()),
      m_operands(options.precision == Precision::Bf16 ? DType::BF16 : DType::F32),
      m_units(units),
      m_decided(graph.values().size()) {
    for (const ValueId parameter : graph.withRole(ValueRole::Parameter)) {
        if (const auto gradient = graph.gradientOf(parameter)) m_parameters[*gradient] = parameter;
    }
    for (const ValueRole role : {ValueRole::Parameter, ValueRole::Frozen}) {
        for (const ValueId parameter : graph.withRole(role)) take(parameter, options.layouts);
    }
}

void LayoutPass::take(ValueId parameter, const ParameterLayouts* layouts) {
    if (!layouts) return;
    const auto given = layouts->find(m_graph.value(parameter).name);
    if (given == layouts->end()) return;
    made().setLayout(now(parameter), given->second);
    m_decided[index(parameter)] = true;
}

Graph LayoutPass::run() {
    for (const Node& node : m_graph.nodes()) {
        m_scope = node.scope;
        const LayoutRule rule = findRule(*node.op);
        if (rule) rule(*this, node);
        else copyNode(node);
        for (const ValueId output : node.outputs) settleGradient(output);
    }
    // What is read from outside has the shape that the old graph gives it, and is of floats where it is of those.
    for (const Graph::Output& output : m_graph.outputs()) {
        const bool isHalf = newValue(output.value).type.dtype == DType::BF16;
        become(output.value, isHalf ? rowMajor(output.value) : shaped(output.value));
    }
    return finish([&](ValueId parameter, ValueId gradient) { return likeParameter(parameter, gradient); });
}

// A gradient that lies otherwise than its parameter is reordered here rather than at the end, so that its reduction may
// begin, and comes between the same two nodes whatever the batch.
void LayoutPass::settleGradient(ValueId old) {
    const auto parameter = parameterOf(old);
    if (parameter) likeParameter(now(*parameter), old);
}

ValueId LayoutPass::likeParameter(ValueId parameter, ValueId gradient) {
    const Value value = made().value(parameter);
    const Value& has = newValue(gradient);
    if (!value.layout && !has.layout && value.type.dtype == has.type.dtype) return now(gradient);
    const ValueId result = inLayout(gradient, descOf(value), kAnyAxes, value.type.shape);
    made().setLayout(result, value.layout);  // with the names of its axes
    return result;
}

void LayoutPass::copyNode(const Node& node) {
    if (!node.op->isView && !findKernel(*node.op))
        throw EngineError(EngineError::Kind::Device, std::string(node.op->name) + " " + node.scope,
                          "the CPU has no kernel for this op");
    std::vector<ValueId> inputs;
    for (const ValueId input : node.inputs) inputs.push_back(rowMajor(input));
    emit(node, std::move(inputs), node.op->isView ? "" : "loop");
}

void LayoutPass::decide(ValueId parameter, const Desc& desc, const char* axes) {
    made().setLayout(now(parameter), layoutOf(desc, axes));
    m_decided[index(parameter)] = true;
}

std::optional<ValueId> LayoutPass::parameterOf(ValueId gradient) const {
    const auto found = m_parameters.find(gradient);
    return found == m_parameters.end() ? std::nullopt : std::optional(found->second);
}

ValueId LayoutPass::shaped(ValueId old) {
    return newValue(old).type.shape == oldValue(old).type.shape ? now(old) : rowMajor(old);
}

bool LayoutPass::holdsHalves(const Shape& image) const {
    if (image.rank() != 4) return false;
    if (multipliesTiles()) return image[1] % 16 == 0;
    return multipliesHalves() && suitsBlocks(image);
}

Desc LayoutPass::halfImage(const Shape& image) const {
    return multipliesTiles() ? Desc::channelsLast(image.dims(), DType::BF16)
                             : Desc::blockedChannels(image.dims(), m_block, DType::BF16);
}

ValueId LayoutPass::rowMajor(ValueId old) { return rowMajor(old, atLeastF32(newValue(old).type.dtype)); }

ValueId LayoutPass::rows(ValueId old) {
    return rowMajor(old, areHalves(oldValue(old).type.shape) ? DType::BF16 : DType::F32);
}

bool LayoutPass::areHalves(const Shape& rows) const {
    constexpr std::int64_t kMany = 512;
    return multipliesTiles() || (multipliesHalves() && rows.count() / rows[-1] >= kMany);
}

ValueId LayoutPass::rowMajor(ValueId old, DType dtype) {
    const Value& value = newValue(old);
    const Shape& shape = oldValue(old).type.shape;
    if (!value.layout && value.type == TensorType{shape, dtype}) return now(old);
    return inLayout(old, Desc::rowMajor(value.layout ? descOf(value).dims() : dimsOf(shape), dtype), kAnyAxes, shape);
}

Desc LayoutPass::readable(const Value& value) const {
    const Desc desc = descOf(value);
    if (desc.dtype() != DType::BF16 || isInWholeBlocks(desc)) return desc;
    return desc.isRowMajor() ? desc.of(DType::F32) : imageLayouts(value.type.shape).back();
}

ValueId LayoutPass::image(ValueId old, const Desc& want) {
    return inLayout(old, want, "nchw", Shape(std::span<const std::int64_t>(want.dims())));
}

ValueId LayoutPass::weights(ValueId old, const Desc& want, const char* axes) {
    return inLayout(old, want, axes, oldValue(old).type.shape);
}

ValueId LayoutPass::scaled(ValueId weights, ValueId scale, const Desc& want, const char* axes) {
    Node node{&kScaleFilters, {now(weights), rowMajor(scale)}, {}, {}, uniqueScope(made(), kScaleFilters, m_scope),
              "jit"};
    const Value result{.name = oldValue(weights).name + ":scaled",
                       .type = {oldValue(weights).type.shape, want.dtype()},
                       .layout = layoutOf(want, axes)};
    return made().appendLowered(std::move(node), {result})[0];
}

ValueId LayoutPass::inLayout(ValueId old, const Desc& want, const char* axes, const Shape& shape) {
    const Value& value = newValue(old);
    const Desc has = descOf(value);
    const bool isPlain = has.isRowMajor() && want.isRowMajor() && has.dtype() == want.dtype();
    if ((isPlain || has == want) && value.type.shape == shape) return now(old);
    const auto key = std::pair(now(old), want.text(kAnyAxes) + " " + TensorType{shape, want.dtype()}.text());
    const auto known = m_reordered.find(key);
    if (known != m_reordered.end()) return known->second;
    Node node{&kReorder, {now(old)}, {}, {}, uniqueScope(made(), kReorder, m_scope), "jit"};
    const Value result{
        .name = value.name + ":" + want.text(kAnyAxes), .type = {shape, want.dtype()}, .layout = layoutOf(want, axes)};
    return m_reordered[key] = made().appendLowered(std::move(node), {result})[0];
}

std::vector<Desc> LayoutPass::imageLayouts(const Shape& shape) const {
    const std::vector<std::int64_t> dims = dimsOf(shape);
    const Desc plain = Desc::rowMajor(dims, DType::F32), blocked = Desc::blockedChannels(dims, m_block, DType::F32);
    if (!suitsBlocks(shape)) return {plain, blocked};
    return {blocked};
}

std::vector<Desc> LayoutPass::imageLayouts(ValueId old) const {
    const Value& value = newValue(old);
    const Shape& shape = oldValue(old).type.shape;
    const bool inBlocks = value.layout && value.type.shape == shape && descOf(value).channelBlock() > 1;
    return inBlocks ? std::vector{descOf(value).of(DType::F32)} : imageLayouts(shape);
}

Desc LayoutPass::imageLayout(const Shape& shape) const {
    return holdsHalves(shape) ? halfImage(shape) : imageLayouts(shape).front();
}

Value LayoutPass::outputOf(ValueId old, const Form& form) const {
    Value value{.name = oldValue(old).name, .type = oldValue(old).type};
    value.type.dtype = atLeastF32(value.type.dtype);
    if (!form.desc) return value;
    if (value.type.dtype == DType::F32) value.type.dtype = form.desc.dtype();
    value.layout = layoutOf(form.desc, form.axes);
    if (!form.keepsShape) value.type.shape = Shape(std::span<const std::int64_t>(form.desc.dims()));
    return value;
}

void LayoutPass::emit(const Node& old, std::vector<ValueId> inputs, std::string algorithm, std::vector<Form> outputs) {
    outputs.resize(old.outputs.size());
    std::vector<Value> values;
    for (std::size_t i = 0; i < old.outputs.size(); ++i) values.push_back(outputOf(old.outputs[i], outputs[i]));
    Node node{old.op, std::move(inputs), {}, old.attrs, old.scope, std::move(algorithm)};
    const auto results = made().appendLowered(std::move(node), std::move(values));
    for (std::size_t i = 0; i < results.size(); ++i) become(old.outputs[i], results[i]);
}

}  // namespace lockstep::cpu
