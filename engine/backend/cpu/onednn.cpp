#include "engine/backend/cpu/onednn.h"

#include <algorithm>
#include <cctype>
#include <numeric>

#include <oneapi/dnnl/dnnl.hpp>

#include "engine/core/error.h"

namespace lockstep::onednn {

struct Desc::Impl { dnnl::memory::desc desc; };
struct Engine::Impl {
    dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream{engine};
};
struct Plan::Impl {
    dnnl::primitive primitive;
    dnnl::memory::desc scratch;
    std::vector<int> names;                      // DNNL_ARG_… of the arguments
};

namespace {

using dnnl::memory;

[[noreturn]] void rethrow(const dnnl::error& error) {
    const auto kind = error.status == dnnl_out_of_memory ? EngineError::Kind::OutOfMemory : EngineError::Kind::Device;
    throw EngineError(kind, "oneDNN", "status " + std::to_string(error.status) + ": " + error.what());
}

template <class Body>
auto guarded(Body body) {
    try {
        return body();
    } catch (const dnnl::error& error) {
        rethrow(error);
    }
}

memory::data_type typeOf(DType dtype) {
    switch (dtype) {
        case DType::F32: return memory::data_type::f32;
        case DType::I32: return memory::data_type::s32;
        case DType::U8: return memory::data_type::u8;
        default: throw EngineError(EngineError::Kind::Internal, "oneDNN", "no such element type");
    }
}

memory::dims dimsOf(std::span<const std::int64_t> dims) { return {dims.begin(), dims.end()}; }

memory::dims rowMajorStrides(std::span<const std::int64_t> dims) {
    memory::dims strides(dims.size(), 1);
    for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * std::max<std::int64_t>(dims[i], 1);
    return strides;
}

Desc wrap(memory::desc desc) { return Desc(std::make_shared<const Desc::Impl>(Desc::Impl{std::move(desc)})); }

const memory::desc& unwrap(const Desc& desc) { return desc.impl().desc; }

const dnnl_blocking_desc_t& blockingOf(const memory::desc& desc) { return desc.data.format_desc.blocking; }

dnnl::primitive_attr attributes(bool relu) {
    dnnl::primitive_attr attr;
    attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    if (relu) {
        dnnl::post_ops ops;
        ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
        attr.set_post_ops(ops);
    }
    return attr;
}

memory::desc vectorDesc(std::int64_t count) {
    return {{count}, memory::data_type::f32, memory::format_tag::a};
}

struct Argument { int name; memory::desc desc; };

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
        : stride{r.stride[0], r.stride[1]}, dilation{r.dilation[0] - 1, r.dilation[1] - 1},
          low{r.padding[0], r.padding[1]}, high{r.paddingEnd[0], r.paddingEnd[1]} {}
};

// The forward plan that the library wants to see beside a backward one: its layouts do not bind.
dnnl::convolution_forward::primitive_desc convHint(const Engine& engine, const ConvRequest& r, dnnl::algorithm algorithm,
                                                   const memory::desc& any) {
    const ConvGeometry g(r);
    return {{dnnl::prop_kind::forward_training, algorithm, unwrap(r.source), any, unwrap(r.destination), g.stride,
             g.dilation, g.low, g.high},
            attributes(false), engine.impl().engine};
}

Plan planConvForward(const Engine& engine, const ConvRequest& r, dnnl::algorithm algorithm) {
    const ConvGeometry g(r);
    const memory::desc &x = unwrap(r.source), &w = unwrap(r.weights), &y = unwrap(r.destination);
    const memory::desc bias = vectorDesc(y.dims()[1]);
    const auto kind = dnnl::prop_kind::forward_training;
    using Forward = dnnl::convolution_forward;
    const auto op = r.bias ? Forward::desc(kind, algorithm, x, w, bias, y, g.stride, g.dilation, g.low, g.high)
                           : Forward::desc(kind, algorithm, x, w, y, g.stride, g.dilation, g.low, g.high);
    const Forward::primitive_desc chosen(op, attributes(r.relu), engine.impl().engine);
    std::vector<Argument> arguments{{DNNL_ARG_SRC, chosen.src_desc()}, {DNNL_ARG_WEIGHTS, chosen.weights_desc()}};
    if (r.bias) arguments.push_back({DNNL_ARG_BIAS, bias});
    arguments.push_back({DNNL_ARG_DST, chosen.dst_desc()});
    return finish<Forward>(chosen, arguments);
}

Plan planConvBackwardData(const Engine& engine, const ConvRequest& r, dnnl::algorithm algorithm, const memory::desc& any) {
    const ConvGeometry g(r);
    using Backward = dnnl::convolution_backward_data;
    const Backward::desc op(algorithm, unwrap(r.source), unwrap(r.weights), unwrap(r.destination), g.stride, g.dilation,
                            g.low, g.high);
    const Backward::primitive_desc chosen(op, attributes(false), engine.impl().engine,
                                          convHint(engine, r, algorithm, any));
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
    const Backward::primitive_desc chosen(op, attributes(false), engine.impl().engine,
                                          convHint(engine, r, algorithm, any));
    std::vector<Argument> arguments{{DNNL_ARG_SRC, chosen.src_desc()},
                                    {DNNL_ARG_DIFF_DST, chosen.diff_dst_desc()},
                                    {DNNL_ARG_DIFF_WEIGHTS, chosen.diff_weights_desc()}};
    if (r.bias) arguments.push_back({DNNL_ARG_DIFF_BIAS, bias});
    return finish<Backward>(chosen, arguments);
}

memory::desc anyLike(const Desc& desc) {
    return {unwrap(desc).dims(), memory::data_type::f32, memory::format_tag::any};
}

dnnl::inner_product_forward::primitive_desc denseForward(const Engine& engine, const DenseRequest& r,
                                                         const memory::desc& w, bool relu) {
    using Forward = dnnl::inner_product_forward;
    const memory::desc &x = unwrap(r.source), &y = unwrap(r.destination);
    const auto kind = dnnl::prop_kind::forward_training;
    const auto op = r.bias && r.pass == Pass::Forward ? Forward::desc(kind, x, w, vectorDesc(y.dims()[1]), y)
                                                      : Forward::desc(kind, x, w, y);
    return {op, attributes(relu), engine.impl().engine};
}

Plan planDenseForward(const Engine& engine, const DenseRequest& r) {
    const auto chosen = denseForward(engine, r, unwrap(r.weights), r.relu);
    std::vector<Argument> arguments{{DNNL_ARG_SRC, chosen.src_desc()}, {DNNL_ARG_WEIGHTS, chosen.weights_desc()}};
    if (r.bias) arguments.push_back({DNNL_ARG_BIAS, chosen.bias_desc()});
    arguments.push_back({DNNL_ARG_DST, chosen.dst_desc()});
    return finish<dnnl::inner_product_forward>(chosen, arguments);
}

Plan planDenseBackwardData(const Engine& engine, const DenseRequest& r) {
    using Backward = dnnl::inner_product_backward_data;
    const Backward::desc op(unwrap(r.source), unwrap(r.weights), unwrap(r.destination));
    const Backward::primitive_desc chosen(op, attributes(false), engine.impl().engine,
                                          denseForward(engine, r, anyLike(r.weights), false));
    return finish<Backward>(chosen, {{DNNL_ARG_DIFF_DST, chosen.diff_dst_desc()},
                                     {DNNL_ARG_WEIGHTS, chosen.weights_desc()},
                                     {DNNL_ARG_DIFF_SRC, chosen.diff_src_desc()}});
}

Plan planDenseBackwardWeights(const Engine& engine, const DenseRequest& r) {
    using Backward = dnnl::inner_product_backward_weights;
    const memory::desc &x = unwrap(r.source), &w = unwrap(r.weights), &y = unwrap(r.destination);
    const auto op = r.bias ? Backward::desc(x, w, vectorDesc(y.dims()[1]), y) : Backward::desc(x, w, y);
    const Backward::primitive_desc chosen(op, attributes(false), engine.impl().engine,
                                          denseForward(engine, r, anyLike(r.weights), false));
    std::vector<Argument> arguments{{DNNL_ARG_SRC, chosen.src_desc()},
                                    {DNNL_ARG_DIFF_DST, chosen.diff_dst_desc()},
                                    {DNNL_ARG_DIFF_WEIGHTS, chosen.diff_weights_desc()}};
    if (r.bias) arguments.push_back({DNNL_ARG_DIFF_BIAS, vectorDesc(y.dims()[1])});
    return finish<Backward>(chosen, arguments);
}

}  // namespace

int preferredBlock() {
    const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
    const auto wide = static_cast<unsigned>(dnnl::cpu_isa::avx512_core);
    return (isa & wide) == wide ? 16 : 8;
}

Desc Desc::rowMajor(std::span<const std::int64_t> dims, DType dtype) {
    return guarded([&] { return wrap(memory::desc(dimsOf(dims), typeOf(dtype), rowMajorStrides(dims))); });
}

Desc Desc::any(std::span<const std::int64_t> dims, DType dtype) {
    return guarded([&] { return wrap(memory::desc(dimsOf(dims), typeOf(dtype), memory::format_tag::any)); });
}

Desc Desc::blockedChannels(std::span<const std::int64_t> dims, int block, DType dtype) {
    const auto tag = block == 16 ? memory::format_tag::nChw16c : memory::format_tag::nChw8c;
    return guarded([&] { return wrap(memory::desc(dimsOf(dims), typeOf(dtype), tag)); });
}

Desc Desc::sampleLanes(std::span<const std::int64_t> dims, DType dtype) {
    constexpr std::int64_t kLanes = 16;
    return guarded([&] {
        memory::desc desc(dimsOf(dims), typeOf(dtype), rowMajorStrides(dims));
        dnnl_blocking_desc_t& blocking = desc.data.format_desc.blocking;
        for (std::size_t axis = 0; axis < dims.size(); ++axis) blocking.strides[axis] *= kLanes;
        desc.data.padded_dims[0] = (dims[0] + kLanes - 1) / kLanes * kLanes;
        blocking.inner_nblks = 1;
        blocking.inner_blks[0] = kLanes;
        blocking.inner_idxs[0] = 0;
        return wrap(desc);
    });
}

bool Desc::isSampleLanes() const { return dims().size() == 4 && *this == sampleLanes(dims(), dtype()); }

bool Desc::operator==(const Desc& other) const {
    if (!m_impl || !other.m_impl) return m_impl == other.m_impl;
    return m_impl->desc == other.m_impl->desc;
}

std::vector<std::int64_t> Desc::dims() const { return m_impl->desc.dims(); }

DType Desc::dtype() const {
    switch (m_impl->desc.data_type()) {
        case memory::data_type::s32: return DType::I32;
        case memory::data_type::u8: return DType::U8;
        default: return DType::F32;
    }
}

bool Desc::isRowMajor() const { return *this == rowMajor(dims(), dtype()); }

int Desc::channelBlock() const {
    if (isRowMajor()) return 1;
    if (dims().size() != 4) return 0;
    for (const int block : {16, 8}) {
        if (*this == blockedChannels(dims(), block, dtype())) return block;
    }
    return 0;
}

std::size_t Desc::bytes() const { return m_impl->desc.get_size(); }

std::string Desc::text(const char* axes) const {
    const memory::desc& desc = m_impl->desc;
    if (desc.data.format_kind != dnnl_blocked) return "opaque";
    const dnnl_blocking_desc_t& blocking = blockingOf(desc);
    std::vector<int> order(static_cast<std::size_t>(desc.data.ndims));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](int a, int b) { return blocking.strides[a] > blocking.strides[b]; });
    const auto isBlocked = [&](int axis) {
        return std::find(blocking.inner_idxs, blocking.inner_idxs + blocking.inner_nblks, axis) !=
               blocking.inner_idxs + blocking.inner_nblks;
    };
    std::string text;
    for (const int axis : order) text += isBlocked(axis) ? static_cast<char>(std::toupper(axes[axis])) : axes[axis];
    for (int i = 0; i < blocking.inner_nblks; ++i)
        text += std::to_string(blocking.inner_blks[i]) + axes[blocking.inner_idxs[i]];
    return text;
}

Engine::Engine() : m_impl(guarded([] { return std::make_unique<Impl>(); })) {}
Engine::~Engine() = default;

std::optional<Plan> planConv(const Engine& engine, const ConvRequest& request) {
    const auto algorithm =
        request.winograd ? dnnl::algorithm::convolution_winograd : dnnl::algorithm::convolution_direct;
    return planned([&] {
        const memory::desc any = anyLike(request.weights);
        switch (request.pass) {
            case Pass::Forward: return planConvForward(engine, request, algorithm);
            case Pass::BackwardData: return planConvBackwardData(engine, request, algorithm, any);
            default: return planConvBackwardWeights(engine, request, algorithm, any);
        }
    });
}

std::optional<Plan> planDense(const Engine& engine, const DenseRequest& request) {
    return planned([&] {
        switch (request.pass) {
            case Pass::Forward: return planDenseForward(engine, request);
            case Pass::BackwardData: return planDenseBackwardData(engine, request);
            default: return planDenseBackwardWeights(engine, request);
        }
    });
}

Plan planReorder(const Engine& engine, const Desc& from, const Desc& to) {
    return guarded([&] {
        const dnnl::engine& cpu = engine.impl().engine;
        const dnnl::reorder::primitive_desc chosen(cpu, unwrap(from), cpu, unwrap(to), attributes(false));
        return finish<dnnl::reorder>(chosen, {{DNNL_ARG_FROM, unwrap(from)}, {DNNL_ARG_TO, unwrap(to)}});
    });
}

struct Primitive::Impl {
    std::shared_ptr<const Plan::Impl> plan;
    dnnl::stream stream;
    std::vector<memory> memories;                // of the arguments; the scratchpad's is last
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
        for (std::size_t i = 0; i < names.size(); ++i) m_impl->arguments.push_back({names[i], m_impl->memories[i].get()});
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
