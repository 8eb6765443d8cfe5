#include "engine/backend/cpu/onednn.h"

#include <cmath>

#include "engine/backend/cpu/onednn_objects.h"

namespace lockstep::onednn {

namespace {

using dnnl::memory;

void appendRelu(dnnl::post_ops& ops) { ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f); }

dnnl::primitive_attr attributes(const dnnl::post_ops& ops) {
    dnnl::primitive_attr attr;
    attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    attr.set_post_ops(ops);
    return attr;
}

dnnl::primitive_attr attributes() { return attributes(dnnl::post_ops()); }

dnnl::post_ops endOf(const ConvRequest& r) {
    dnnl::post_ops ops;
    if (r.adds) ops.append_sum();
    if (r.relu && std::isinf(r.ceiling)) appendRelu(ops);
    else if (r.relu) ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_clip, 0.0f, r.ceiling);
    return ops;
}

memory::desc vectorDesc(std::int64_t count) { return {{count}, memory::data_type::f32, memory::format_tag::a}; }

struct Argument {
    int name;
    memory::desc desc;
};

template <class Primitive, class PrimitiveDesc>
Plan finish(const PrimitiveDesc& chosen, const std::vector<Argument>& arguments) {
    Plan plan;
    auto impl = std::make_shared<Plan::Impl>();
    impl->primitive = Primitive(chosen);
    impl->scratch = chosen.scratchpad_desc();
    for (const Argument& argument : arguments) {
        impl->names.push_back(argument.name);
        plan.arguments.push_back(wrap(argument.desc));
    }
    plan.scratchBytes = impl->scratch.get_size();
    plan.implementation = chosen.impl_info_str();
    plan.isFast = plan.implementation.find("ref") == std::string::npos;
    plan.impl = std::move(impl);
    return plan;
}

// Empty where the library says that it has no implementation.
template <class Body>
std::optional<Plan> planned(Body body) {
    try {
        return body();
    } catch (const dnnl::error& error) {
        if (error.status == dnnl_unimplemented || error.status == dnnl_invalid_arguments) return std::nullopt;
        rethrow(error);
    }
}

struct ConvGeometry {
    memory::dims stride, dilation, low, high;
    explicit ConvGeometry(const ConvRequest& r)
        : stride{r.stride[0], r.stride[1]},
          dilation{r.dilation[0] - 1, r.dilation[1] - 1},
          low{r.padding[0], r.padding[1]},
          high{r.paddingEnd[0], r.paddingEnd[1]} {}
};

// The forward plan that the library wants to see beside a backward one: its layouts do not bind. Where gradients of
// bf16 become f32, it is that of bf16.
dnnl::convolution_forward::primitive_desc convHint(const Engine& engine, const ConvRequest& r,
                                                   dnnl::algorithm algorithm, const memory::desc& any) {
    const ConvGeometry g(r);
    const memory::desc &x = unwrap(r.source), &y = unwrap(r.destination);
    const bool isHalf = y.data_type() == memory::data_type::bf16;
    const auto operand = [&](const memory::desc& desc) {
        return isHalf ? memory::desc(desc.dims(), memory::data_type::bf16, memory::format_tag::any) : desc;
    };
    return {{dnnl::prop_kind::forward_training, algorithm, operand(x), operand(any), y, g.stride, g.dilation, g.low,
             g.high},
            attributes(),
            engine.impl().engine};
}

Plan planConvForward(const Engine& engine, const ConvRequest& r, dnnl::algorithm algorithm) {
    const ConvGeometry g(r);
    const memory::desc &x = unwrap(r.source), &w = unwrap(r.weights), &y = unwrap(r.destination);
    const memory::desc bias = vectorDesc(y.dims()[1]);
    const auto kind = dnnl::prop_kind::forward_training;
    using Forward = dnnl::convolution_forward;
    const auto op = r.bias ? Forward::desc(kind, algorithm, x, w, bias, y, g.stride, g.dilation, g.low, g.high)
                           : Forward::desc(kind, algorithm, x, w, y, g.stride, g.dilation, g.low, g.high);
    const Forward::primitive_desc chosen(op, attributes(endOf(r)), engine.impl().engine);
    std::vector<Argument> arguments{{DNNL_ARG_SRC, chosen.src_desc()}, {DNNL_ARG_WEIGHTS, chosen.weights_desc()}};
    if (r.bias) arguments.push_back({DNNL_ARG_BIAS, bias});
    arguments.push_back({DNNL_ARG_DST, chosen.dst_desc()});
    return finish<Forward>(chosen, arguments);
}

Plan planConvBackwardData(const Engine& engine, const ConvRequest& r, dnnl::algorithm algorithm,
                          const memory::desc& any) {
    const ConvGeometry g(r);
    using Backward = dnnl::convolution_backward_data;
    const Backward::desc op(algorithm, unwrap(r.source), unwrap(r.weights), unwrap(r.destination), g.stride, g.dilation,
                            g.low, g.high);
    const Backward::primitive_desc chosen(op, attributes(), engine.impl().engine, convHint(engine, r, algorithm, any));
    return finish<Backward>(chosen, {{DNNL_ARG_DIFF_DST, chosen.diff_dst_desc()},
                                     {DNNL_ARG_WEIGHTS, chosen.weights_desc()},
                                     {DNNL_ARG_DIFF_SRC, chosen.diff_src_desc()}});
}

Plan planConvBackwardWeights(const Engine& engine, const ConvRequest& r, dnnl::algorithm algorithm,
                             const memory::desc& any) {
    const ConvGeometry g(r);
    const memory::desc &x = unwrap(r.source), &w = unwrap(r.weights), &y = unwrap(r.destination);
    const memory::desc bias = vectorDesc(y.dims()[1]);
    using Backward = dnnl::convolution_backward_weights;
    const auto op = r.bias ? Backward::desc(algorithm, x, w, bias, y, g.stride, g.dilation, g.low, g.high)
                           : Backward::desc(algorithm, x, w, y, g.stride, g.dilation, g.low, g.high);
    const Backward::primitive_desc chosen(op, attributes(), engine.impl().engine, convHint(engine, r, algorithm, any));
    std::vector<Argument> arguments{{DNNL_ARG_SRC, chosen.src_desc()},
                                    {DNNL_ARG_DIFF_DST, chosen.diff_dst_desc()},
                                    {DNNL_ARG_DIFF_WEIGHTS, chosen.diff_weights_desc()}};
    if (r.bias) arguments.push_back({DNNL_ARG_DIFF_BIAS, bias});
    return finish<Backward>(chosen, arguments);
}

memory::desc anyLike(const Desc& desc) {
    return {unwrap(desc).dims(), unwrap(desc).data_type(), memory::format_tag::any};
}

}  // namespace

std::string version() {
    const dnnl_version_t& linked = *dnnl_version();
    return std::to_string(linked.major) + '.' + std::to_string(linked.minor) + '.' + std::to_string(linked.patch);
}

Engine::Engine() : m_impl(guarded([] { return std::make_unique<Impl>(); })) {}
Engine::~Engine() = default;

std::optional<Plan> planConv(const Engine& engine, const ConvRequest& request) {
    constexpr auto algorithm = dnnl::algorithm::convolution_direct;
    return planned([&] {
        const memory::desc any = anyLike(request.weights);
        switch (request.pass) {
            case Pass::Forward: return planConvForward(engine, request, algorithm);
            case Pass::BackwardData: return planConvBackwardData(engine, request, algorithm, any);
            default: return planConvBackwardWeights(engine, request, algorithm, any);
        }
    });
}

Plan planReorder(const Engine& engine, const Desc& from, const Desc& to) {
    return guarded([&] {
        const dnnl::engine& cpu = engine.impl().engine;
        const dnnl::reorder::primitive_desc chosen(cpu, unwrap(from), cpu, unwrap(to), attributes());
        return finish<dnnl::reorder>(chosen, {{DNNL_ARG_FROM, unwrap(from)}, {DNNL_ARG_TO, unwrap(to)}});
    });
}

Plan planScaling(const Engine& engine, const Desc& from, const Desc& to) {
    return guarded([&] {
        const dnnl::engine& cpu = engine.impl().engine;
        const memory::dims dims = unwrap(from).dims();
        const bool isGrouped = dims.size() == 5;
        dnnl::primitive_attr attr = attributes();
        attr.set_output_scales(isGrouped ? 3 : 1, {DNNL_RUNTIME_F32_VAL});  // one for each extent of these dimensions
        const dnnl::reorder::primitive_desc chosen(cpu, unwrap(from), cpu, unwrap(to), attr);
        return finish<dnnl::reorder>(
            chosen, {{DNNL_ARG_FROM, unwrap(from)},
                     {DNNL_ARG_ATTR_OUTPUT_SCALES, vectorDesc(isGrouped ? dims[0] * dims[1] : dims[0])},
                     {DNNL_ARG_TO, unwrap(to)}});
    });
}

Plan planProduct(const Engine& engine, const ProductRequest& r) {
    return guarded([&] {
        const memory::desc &a = unwrap(r.a), &b = unwrap(r.b);
        const memory::dim columns = b.dims()[1];
        const Desc result = Desc::rowMajor(std::array{a.dims()[0], columns}, r.c);
        const memory::desc bias({1, columns}, memory::data_type::f32, memory::format_tag::ab), &c = unwrap(result);
        dnnl::post_ops ops;
        if (r.with == WithOther::Added) ops.append_binary(dnnl::algorithm::binary_add, c);
        if (r.with == WithOther::Multiplied) ops.append_binary(dnnl::algorithm::binary_mul, c);
        if (r.relu) appendRelu(ops);
        const auto op = r.bias ? dnnl::matmul::desc(a, b, bias, c) : dnnl::matmul::desc(a, b, c);
        const dnnl::matmul::primitive_desc chosen(op, attributes(ops), engine.impl().engine);
        std::vector<Argument> arguments{{DNNL_ARG_SRC, chosen.src_desc()}, {DNNL_ARG_WEIGHTS, chosen.weights_desc()}};
        if (r.bias) arguments.push_back({DNNL_ARG_BIAS, bias});
        if (r.with != WithOther::Nothing) arguments.push_back({DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, c});
        arguments.push_back({DNNL_ARG_DST, chosen.dst_desc()});
        return finish<dnnl::matmul>(chosen, arguments);
    });
}

struct Primitive::Impl {
    std::shared_ptr<const Plan::Impl> plan;
    dnnl::stream stream;
    std::vector<memory> memories;  // of the arguments; the scratchpad's is last
    std::vector<dnnl_exec_arg_t> arguments;
    std::size_t scratchBytes = 0;
};

Primitive::Primitive(const Engine& engine, const Plan& plan) : m_impl(std::make_unique<Impl>()) {
    guarded([&] {
        m_impl->plan = plan.impl;
        m_impl->stream = engine.impl().stream;
        m_impl->scratchBytes = plan.scratchBytes;
        const dnnl::engine& cpu = engine.impl().engine;
        for (const Desc& desc : plan.arguments) m_impl->memories.push_back(memory(unwrap(desc), cpu, DNNL_MEMORY_NONE));
        std::vector<int> names = plan.impl->names;
        if (plan.scratchBytes > 0) {
            m_impl->memories.push_back(memory(plan.impl->scratch, cpu, DNNL_MEMORY_NONE));
            names.push_back(DNNL_ARG_SCRATCHPAD);
        }
        for (std::size_t i = 0; i < names.size(); ++i)
            m_impl->arguments.push_back({names[i], m_impl->memories[i].get()});
    });
}

Primitive::~Primitive() = default;
Primitive::Primitive(Primitive&&) noexcept = default;

std::size_t Primitive::scratchBytes() const { return m_impl->scratchBytes; }

void Primitive::run(std::span<std::byte* const> pointers, std::byte* scratch) {
    const auto check = [](dnnl_status_t status) {
        if (status != dnnl_success) rethrow(dnnl::error(status, "could not run a primitive"));
    };
    Impl& impl = *m_impl;
    // Giving a padded tensor its memory makes the library write the padding, so it is done only when the place changed.
    const auto place = [&](const memory& at, std::byte* pointer) {
        if (at.get_data_handle() != pointer) check(dnnl_memory_set_data_handle(at.get(), pointer));
    };
    for (std::size_t i = 0; i < pointers.size(); ++i) place(impl.memories[i], pointers[i]);
    if (impl.scratchBytes > 0) place(impl.memories.back(), scratch);
    check(dnnl_primitive_execute(impl.plan->primitive.get(), impl.stream.get(), static_cast<int>(impl.arguments.size()),
                                 impl.arguments.data()));
    check(dnnl_stream_wait(impl.stream.get()));
}

}  // namespace lockstep::onednn
