#include "engine/backend/cuda/cudnn_attention.h"

#include <array>
#include <cmath>
#include <limits>

namespace lockstep::cuda {

namespace {

// Rows of scores for all heads of all samples: what both passes begin with, and the tensors that they share.
class Builder {
public:
    explicit Builder(const AttentionShape& shape)
        : m_graph(describe(shape), false),
          m_type(cudnnTypeOf(shape.dtype)),
          m_heads{shape.samples, shape.heads, shape.tokens, shape.width},
          m_scores{shape.samples, shape.heads, shape.tokens, shape.tokens},
          m_rows{shape.samples, shape.heads, shape.tokens, 1},
          m_packed{shape.tokens * 3 * shape.channels(), shape.width, 3 * shape.channels(), 1},
          m_plain{shape.tokens * shape.channels(), shape.width, shape.channels(), 1},
          m_causal(shape.causal),
          m_scale(1 / std::sqrt(static_cast<float>(shape.width))) {}

    CudnnGraph forward() {
        const CudnnDescriptor queries = heads(m_packed), keysAcross = across(m_packed), values = heads(m_packed);
        const CudnnDescriptor y = heads(m_plain), logSumExp = rows();
        const CudnnDescriptor scores = masked(scaled(product(queries, keysAcross), m_graph.constant(m_scale)));
        const CudnnDescriptor largest = rowsBetween(), total = rowsBetween(), logTotal = rowsBetween();
        const CudnnDescriptor less = between(), weights = between(), shares = m_graph.between(m_scores, m_type);
        m_graph.reduction(CUDNN_REDUCE_TENSOR_MAX, scores, largest);
        m_graph.pointwise(CUDNN_POINTWISE_SUB, {scores, largest}, less);
        m_graph.pointwise(CUDNN_POINTWISE_EXP, {less}, weights);
        m_graph.reduction(CUDNN_REDUCE_TENSOR_ADD, weights, total);
        m_graph.pointwise(CUDNN_POINTWISE_LOG, {total}, logTotal);
        m_graph.pointwise(CUDNN_POINTWISE_ADD, {largest, logTotal}, logSumExp);
        m_graph.pointwise(CUDNN_POINTWISE_DIV, {weights, total}, shares);
        m_graph.matmul(shares, values, y);
        return std::move(m_graph);
    }

    // p = exp(s - logSumExp); ds = p (dy vᵀ - dy·y); dv = pᵀ dy, dk = dsᵀ q, dq = ds k.
    CudnnGraph backward() {
        const CudnnDescriptor queries = heads(m_packed), keysAcross = across(m_packed), valuesAcross = across(m_packed);
        const CudnnDescriptor y = heads(m_plain), logSumExp = rows(), dy = heads(m_plain), inner = rows();
        const CudnnDescriptor dQueries = heads(m_packed), dKeys = heads(m_packed), dValues = heads(m_packed);
        const CudnnDescriptor scale = m_graph.constant(m_scale), one = m_graph.constant(1);

        const CudnnDescriptor products = m_graph.between(m_heads), sums = rowsBetween();
        m_graph.pointwise(CUDNN_POINTWISE_MUL, {dy, y}, products);
        m_graph.reduction(CUDNN_REDUCE_TENSOR_ADD, products, sums);
        m_graph.pointwise(CUDNN_POINTWISE_MUL, {sums, one}, inner);

        const CudnnDescriptor less = between(), shares = between();
        m_graph.pointwise(CUDNN_POINTWISE_SUB, {scaled(product(queries, keysAcross), scale), logSumExp}, less);
        m_graph.pointwise(CUDNN_POINTWISE_EXP, {masked(less)}, shares);
        m_graph.matmul(transposed(shares), dy, dValues);

        const CudnnDescriptor difference = between(), unscaled = between();
        m_graph.pointwise(CUDNN_POINTWISE_SUB, {product(dy, valuesAcross), inner}, difference);
        m_graph.pointwise(CUDNN_POINTWISE_MUL, {difference, shares}, unscaled);
        const CudnnDescriptor dScores = scaled(unscaled, scale);
        m_graph.matmul(transposed(dScores), queries, dKeys);
        const CudnnDescriptor keys = m_graph.between(m_heads, m_packed, m_type);
        m_graph.reshape(keysAcross, keys);
        m_graph.matmul(dScores, keys, dQueries);
        return std::move(m_graph);
    }

private:
    using Extents = CudnnGraph::Extents;

    static Extents swapped(const Extents& of) { return {of[0], of[1], of[3], of[2]}; }

    CudnnDescriptor heads(const Extents& strides) { return m_graph.memory(m_heads, strides, m_type); }
    CudnnDescriptor across(const Extents& strides) {
        return m_graph.memory(swapped(m_heads), swapped(strides), m_type);
    }
    CudnnDescriptor rows() {
        return m_graph.memory(m_rows, {m_rows[1] * m_rows[2], m_rows[2], 1, 1}, CUDNN_DATA_FLOAT);
    }
    CudnnDescriptor rowsBetween() { return m_graph.between(m_rows); }
    CudnnDescriptor between() { return m_graph.between(m_scores); }

    CudnnDescriptor product(const CudnnDescriptor& a, const CudnnDescriptor& b) {
        const CudnnDescriptor made = between();
        m_graph.matmul(a, b, made);
        return made;
    }

    CudnnDescriptor scaled(const CudnnDescriptor& x, const CudnnDescriptor& scale) {
        const CudnnDescriptor made = between();
        m_graph.pointwise(CUDNN_POINTWISE_MUL, {x, scale}, made);
        return made;
    }

    // Where the query comes before the key: minus infinity.
    CudnnDescriptor masked(const CudnnDescriptor& x) {
        if (!m_causal) return x;
        const CudnnDescriptor query = m_graph.between(m_scores, CUDNN_DATA_INT32),
                              key = m_graph.between(m_scores, CUDNN_DATA_INT32),
                              sees = m_graph.between(m_scores, CUDNN_DATA_BOOLEAN), made = between();
        m_graph.pointwise(CUDNN_POINTWISE_GEN_INDEX, {x}, query, CUDNN_DATA_FLOAT, 2);
        m_graph.pointwise(CUDNN_POINTWISE_GEN_INDEX, {x}, key, CUDNN_DATA_FLOAT, 3);
        m_graph.pointwise(CUDNN_POINTWISE_CMP_GE, {query, key}, sees, CUDNN_DATA_BOOLEAN);
        m_graph.pointwise(CUDNN_POINTWISE_BINARY_SELECT,
                          {x, m_graph.constant(-std::numeric_limits<float>::infinity()), sees}, made);
        return made;
    }

    // In the element type, as products read it.
    CudnnDescriptor transposed(const CudnnDescriptor& x) {
        const auto [n, h, rows, columns] = m_scores;
        const CudnnDescriptor made =
            m_graph.between(swapped(m_scores), {h * rows * columns, rows * columns, 1, columns}, m_type);
        m_graph.reshape(x, made);
        return made;
    }

    CudnnGraph m_graph;
    cudnnDataType_t m_type;
    Extents m_heads, m_scores, m_rows;
    Extents m_packed, m_plain;  // strides of heads within qkv, and within y
    bool m_causal;
    float m_scale;
};

class CudnnAttention final : public FusedAttention {
public:
    CudnnAttention(std::unique_ptr<CudnnPlan> plan, const AttentionShape& shape)
        : m_plan(std::move(plan)),
          m_backward(shape.backward),
          m_part(static_cast<std::size_t>(shape.channels()) * sizeOf(shape.dtype)),
          m_rowBytes(static_cast<std::size_t>(shape.samples * shape.heads * shape.tokens) * sizeof(float)) {
        m_rowBytes = (m_rowBytes + 255) / 256 * 256;
    }

    std::size_t workspaceBytes() const override { return m_plan->workspaceBytes() + (m_backward ? m_rowBytes : 0); }

    void run(const AttentionOperands& of, std::byte* workspace, cudaStream_t stream) override {
        const auto part = [&](const void* packed, std::size_t which) -> void* {
            return const_cast<std::byte*>(static_cast<const std::byte*>(packed)) + which * m_part;
        };
        const auto memory = [](const void* at) { return const_cast<void*>(at); };
        if (!m_backward) {
            const std::array forward{part(of.qkv, 0), part(of.qkv, 1), part(of.qkv, 2), memory(of.y),
                                     memory(of.logSumExp)};
            return m_plan->run(forward, workspace, stream);
        }
        const std::array backward{part(of.qkv, 0),      part(of.qkv, 1), part(of.qkv, 2),   memory(of.y),
                                  memory(of.logSumExp), memory(of.dy),   memory(workspace), part(of.dqkv, 0),
                                  part(of.dqkv, 1),     part(of.dqkv, 2)};
        m_plan->run(backward, workspace + m_rowBytes, stream);
    }

private:
    std::unique_ptr<CudnnPlan> m_plan;
    bool m_backward;
    std::size_t m_part, m_rowBytes;  // of the queries of one token; of a f32 for each row of scores
};

}  // namespace

CudnnGraph attentionGraph(const AttentionShape& shape) {
    Builder builder(shape);
    return shape.backward ? builder.backward() : builder.forward();
}

std::unique_ptr<FusedAttention> makeCudnnAttention(const CudnnPlans& plans, const AttentionShape& shape,
                                                   const std::string& where) {
    if (shape.dtype == DType::F32 || shape.width % 8 != 0) return nullptr;  // heads begin at 16 bytes
    auto plan = makeCudnnPlan(plans, attentionGraph(shape), where);
    return plan ? std::make_unique<CudnnAttention>(std::move(plan), shape) : nullptr;
}

}  // namespace lockstep::cuda
