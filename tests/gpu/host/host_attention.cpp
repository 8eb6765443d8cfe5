#include "tests/gpu/host/host_attention.h"

#include <cmath>
#include <limits>
#include <vector>

#include "engine/backend/cuda/real.h"

namespace lockstep::cuda {

namespace {

template <class T>
class HostAttention final : public FusedAttention {
public:
    explicit HostAttention(const AttentionShape& shape) : m_shape(shape) {}
    std::size_t workspaceBytes() const override { return 256; }  // so that some is asked for

    void run(const AttentionOperands& of, std::byte*, cudaStream_t stream) override {
        launchOnHost(stream, [of, pass = *this] {
            for (std::int64_t sample = 0; sample < pass.m_shape.samples; ++sample)
                for (std::int64_t head = 0; head < pass.m_shape.heads; ++head)
                    pass.m_shape.backward ? pass.backward(of, sample, head) : pass.forward(of, sample, head);
        });
    }

private:
    using Rows = std::vector<double>;  // one for each token

    // The queries (0), keys (1) or values (2) of a head, or its part of y: rows of `width` numbers.
    Rows read(const void* from, std::int64_t sample, std::int64_t head, std::int64_t which, std::int64_t parts) const {
        Rows rows;
        forEach(sample, head, which, parts, [&](std::int64_t at) {
            rows.push_back(static_cast<double>(static_cast<float>(static_cast<const T*>(from)[at])));
        });
        return rows;
    }
    void write(const Rows& rows, const void* to, std::int64_t sample, std::int64_t head, std::int64_t which,
               std::int64_t parts) const {
        std::size_t i = 0;
        forEach(sample, head, which, parts, [&](std::int64_t at) {
            static_cast<T*>(const_cast<void*>(to))[at] = T(static_cast<float>(rows[i++]));
        });
    }
    template <class Visit>
    void forEach(std::int64_t sample, std::int64_t head, std::int64_t which, std::int64_t parts, Visit visit) const {
        const auto& [backward, dtype, samples, tokens, heads, width, causal] = m_shape;
        for (std::int64_t token = 0; token < tokens; ++token)
            for (std::int64_t i = 0; i < width; ++i)
                visit((sample * tokens + token) * parts * heads * width + which * heads * width + head * width + i);
    }

    double dot(const Rows& a, std::int64_t i, const Rows& b, std::int64_t j) const {
        double sum = 0;
        for (std::int64_t k = 0; k < m_shape.width; ++k) sum += a[at(i, k)] * b[at(j, k)];
        return sum;
    }
    std::size_t at(std::int64_t token, std::int64_t k) const {
        return static_cast<std::size_t>(token * m_shape.width + k);
    }
    double score(const Rows& q, std::int64_t i, const Rows& k, std::int64_t j) const {
        if (m_shape.causal && j > i) return -std::numeric_limits<double>::infinity();
        return dot(q, i, k, j) / std::sqrt(static_cast<double>(m_shape.width));
    }
    float& statistic(const void* all, std::int64_t sample, std::int64_t head, std::int64_t token) const {
        auto* const statistics = static_cast<float*>(const_cast<void*>(all));
        return statistics[(sample * m_shape.heads + head) * m_shape.tokens + token];
    }

    void forward(const AttentionOperands& of, std::int64_t sample, std::int64_t head) const {
        const Rows q = read(of.qkv, sample, head, 0, 3), k = read(of.qkv, sample, head, 1, 3),
                   v = read(of.qkv, sample, head, 2, 3);
        Rows y(q.size());
        for (std::int64_t i = 0; i < m_shape.tokens; ++i) {
            double total = 0;
            for (std::int64_t j = 0; j < m_shape.tokens; ++j) total += std::exp(score(q, i, k, j));
            for (std::int64_t j = 0; j < m_shape.tokens; ++j)
                for (std::int64_t c = 0; c < m_shape.width; ++c)
                    y[at(i, c)] += std::exp(score(q, i, k, j)) / total * v[at(j, c)];
            statistic(of.logSumExp, sample, head, i) = static_cast<float>(std::log(total));
        }
        write(y, of.y, sample, head, 0, 1);
    }

    void backward(const AttentionOperands& of, std::int64_t sample, std::int64_t head) const {
        const Rows q = read(of.qkv, sample, head, 0, 3), k = read(of.qkv, sample, head, 1, 3),
                   v = read(of.qkv, sample, head, 2, 3), y = read(of.y, sample, head, 0, 1),
                   dy = read(of.dy, sample, head, 0, 1);
        const double scale = 1 / std::sqrt(static_cast<double>(m_shape.width));
        Rows dq(q.size()), dk(q.size()), dv(q.size());
        for (std::int64_t i = 0; i < m_shape.tokens; ++i) {
            for (std::int64_t j = 0; j < m_shape.tokens; ++j) {
                const double p =
                    std::exp(score(q, i, k, j) - static_cast<double>(statistic(of.logSumExp, sample, head, i)));
                const double ds = scale * p * (dot(dy, i, v, j) - dot(dy, i, y, i));
                for (std::int64_t c = 0; c < m_shape.width; ++c) {
                    dq[at(i, c)] += ds * k[at(j, c)];
                    dk[at(j, c)] += ds * q[at(i, c)];
                    dv[at(j, c)] += p * dy[at(i, c)];
                }
            }
        }
        write(dq, of.dqkv, sample, head, 0, 3);
        write(dk, of.dqkv, sample, head, 1, 3);
        write(dv, of.dqkv, sample, head, 2, 3);
    }

    AttentionShape m_shape;
};

}  // namespace

std::unique_ptr<FusedAttention> makeHostAttention(const AttentionShape& shape, const std::string& where) {
    return withFloat(shape.dtype, where, [&]<class T>(T) -> std::unique_ptr<FusedAttention> {
        return std::make_unique<HostAttention<T>>(shape);
    });
}

}  // namespace lockstep::cuda
