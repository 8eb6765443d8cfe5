#include "engine/ops/update.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/backend/reference/kernels.h"
#include "engine/backend/reference/loops.h"

namespace lockstep::reference {

std::unique_ptr<Kernel> makeFill(std::size_t count, double value) {
    return loops([=](const KernelCall& call) { std::fill_n(output(call, 0), count, value); });
}

std::unique_ptr<Kernel> makeScale(std::size_t count, double factor) {
    return loops([=](const KernelCall& call) {
        const double* from = input(call, 0);
        double* to = output(call, 0);
        for (std::size_t i = 0; i < count; ++i) to[i] = from[i] * factor;
    });
}

std::unique_ptr<Kernel> makeFlatAdd(std::size_t count) {
    return loops([=](const KernelCall& call) {
        const double* from = input(call, 0);
        double* to = output(call, 0);
        for (std::size_t i = 0; i < count; ++i) to[i] += from[i];
    });
}

std::unique_ptr<Kernel> makeSquareSum(std::size_t count) {
    return loops([=](const KernelCall& call) {
        const double* slice = input(call, 0);
        double sum = 0;
        for (std::size_t i = 0; i < count; ++i) sum += slice[i] * slice[i];
        *output(call, 0) = sum;
    });
}

std::unique_ptr<Kernel> makeGate(const UpdateRule& rule, std::size_t squareSums) {
    return loops([clipNorm = rule.clipNorm, squareSums](const KernelCall& call) {
        double squares = 0;
        for (std::size_t i = 0; i < squareSums; ++i) squares += *input(call, 3 + i);
        const ReducedSums sums{*input(call, 0), *input(call, 1), *input(call, 2), std::sqrt(squares)};
        *output<UpdateGate>(call, 0) = decideGate(sums, clipNorm);
    });
}

namespace {

// One element's step; v is null without momentum.
void stepSgd(const UpdateRule& rule, double learningRate, double decay, double g, double& w, double* v) {
    g += decay * w;
    if (v != nullptr) *v = rule.momentum * *v + g;
    const double direction = v == nullptr ? g : rule.nesterov ? g + rule.momentum * *v : *v;
    w -= learningRate * direction;
}

struct AdamCorrections {
    double first = 1, second = 1;  // 1 - beta^t for update number t
};

void stepAdamW(const UpdateRule& rule, double learningRate, double decay, const AdamCorrections& corrections, double g,
               double& w, double& m, double& v) {
    m = rule.beta1 * m + (1 - rule.beta1) * g;
    v = rule.beta2 * v + (1 - rule.beta2) * g * g;
    const double direction = m / corrections.first / (std::sqrt(v / corrections.second) + rule.epsilon);
    w -= learningRate * (direction + decay * w);
}

// Lars: what a parameter's own learning rate is of the schedule's.
double trustOf(const UpdateRule& rule, const UpdateSegment& segment, double scale, const double* g, const double* w) {
    double gradient = 0, weight = 0;
    for (std::size_t i = segment.offset; i < segment.offset + segment.count; ++i) {
        gradient += g[i] * scale * (g[i] * scale);
        weight += w[i] * w[i];
    }
    if (!segment.decays || gradient == 0 || weight == 0) return 1;
    return rule.trust * std::sqrt(weight) / (std::sqrt(gradient) + rule.weightDecay * std::sqrt(weight));
}

// c = a b with every extent and stride given by its two functions of position: c is rows x columns.
template <class A, class B>
std::vector<double> product(std::size_t rows, std::size_t depth, std::size_t columns, A a, B b) {
    std::vector<double> c(rows * columns, 0.0);
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t k = 0; k < depth; ++k)
            for (std::size_t j = 0; j < columns; ++j) c[i * columns + j] += a(i, k) * b(k, j);
    return c;
}

// Muon: x, rows x columns, becomes next to orthogonal; see NewtonSchulz.
void orthogonalise(std::vector<double>& x, std::size_t rows, std::size_t columns) {
    double squares = 0;
    for (const double each : x) squares += each * each;
    for (double& each : x) each /= std::sqrt(squares) + NewtonSchulz::kEpsilon;
    const auto at = [&](std::size_t i, std::size_t j) { return x[i * columns + j]; };
    const auto transposed = [&](std::size_t j, std::size_t i) { return x[i * columns + j]; };
    for (int step = 0; step < NewtonSchulz::kSteps; ++step) {
        std::vector<double> gram = product(rows, columns, rows, at, transposed);
        const auto gramAt = [&](std::size_t i, std::size_t j) { return gram[i * rows + j]; };
        const std::vector<double> square = product(rows, rows, rows, gramAt, gramAt);
        for (std::size_t i = 0; i < gram.size(); ++i) gram[i] = NewtonSchulz::kB * gram[i] + NewtonSchulz::kC * square[i];
        const std::vector<double> change = product(rows, rows, columns, gramAt, at);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = NewtonSchulz::kA * x[i] + change[i];
    }
}

void stepMatrix(const UpdateRule& rule, double learningRate, double decay, double scale, const UpdateSegment& segment,
                const double* g, double* w, double* v) {
    const auto rows = static_cast<std::size_t>(segment.parameter->type.shape[0]), columns = segment.count / rows;
    std::vector<double> direction(segment.count);
    for (std::size_t i = 0; i < segment.count; ++i) {
        v[i] = rule.momentum * v[i] + g[i] * scale;
        direction[i] = rule.nesterov ? g[i] * scale + rule.momentum * v[i] : v[i];
    }
    orthogonalise(direction, rows, columns);
    const double size = std::sqrt(std::max(1.0, static_cast<double>(rows) / static_cast<double>(columns)));
    for (std::size_t i = 0; i < segment.count; ++i) w[i] -= learningRate * (decay * w[i] + size * direction[i]);
}

// One step of a slice of parameters.
class Update {
public:
    Update(const UpdateRule& rule, const KernelCall& call)
        : m_rule(rule), m_scale(input<UpdateGate>(call, 1)->scale), m_learningRate(call.scalars->learningRate),
          m_gradient(input(call, 0)), m_w(output(call, 0)),
          m_states{call.outputs.size() > 1 ? output(call, 1) : nullptr, call.outputs.size() > 2 ? output(call, 2) : nullptr} {
        const auto number = static_cast<double>(call.scalars->step + 1);
        m_corrections = {1 - std::pow(rule.beta1, number), 1 - std::pow(rule.beta2, number)};
    }

    void step(const UpdateSegment& segment) const {
        const double decay = segment.decays ? m_rule.weightDecay : 0;
        const std::size_t at = segment.offset;
        switch (m_rule.kind) {
            case UpdateRule::Kind::Sgd: return stepSgdOver(segment, decay);
            case UpdateRule::Kind::AdamW: return stepAdamOver(segment, decay, m_learningRate);
            case UpdateRule::Kind::Lars: return stepLars(segment, decay);
            case UpdateRule::Kind::Muon:
                if (!takesMatrixStep(*segment.parameter))
                    return stepAdamOver(segment, decay, m_learningRate * m_rule.adamShare);
                return stepMatrix(m_rule, m_learningRate, decay, m_scale, segment, m_gradient + at, m_w + at,
                                  m_states[0] + at);
        }
    }

private:
    void stepSgdOver(const UpdateSegment& segment, double decay) const {
        for (std::size_t i = segment.offset; i < segment.offset + segment.count; ++i)
            stepSgd(m_rule, m_learningRate, decay, m_gradient[i] * m_scale, m_w[i], m_states[0] ? m_states[0] + i : nullptr);
    }

    void stepAdamOver(const UpdateSegment& segment, double decay, double learningRate) const {
        for (std::size_t i = segment.offset; i < segment.offset + segment.count; ++i)
            stepAdamW(m_rule, learningRate, decay, m_corrections, m_gradient[i] * m_scale, m_w[i], m_states[0][i],
                      m_states[1][i]);
    }

    void stepLars(const UpdateSegment& segment, double decay) const {
        const double rate = m_learningRate * trustOf(m_rule, segment, m_scale, m_gradient, m_w);
        for (std::size_t i = segment.offset; i < segment.offset + segment.count; ++i) {
            double change = rate * (m_gradient[i] * m_scale + decay * m_w[i]);
            if (m_states[0]) change = m_states[0][i] = m_rule.momentum * m_states[0][i] + change;
            m_w[i] -= change;
        }
    }

    const UpdateRule& m_rule;
    double m_scale, m_learningRate;
    const double* m_gradient;
    double* m_w;
    double* m_states[2];
    AdamCorrections m_corrections;
};

}  // namespace

std::unique_ptr<Kernel> makeUpdate(const UpdateRule& rule, std::span<const UpdateSegment> given) {
    return loops([rule, segments = std::vector(given.begin(), given.end())](const KernelCall& call) {
        if (input<UpdateGate>(call, 1)->skip != 0) return;
        const Update update(rule, call);
        for (const UpdateSegment& segment : segments) update.step(segment);
    });
}

std::unique_ptr<Kernel> makeAverage(double decay, std::size_t count) {
    return loops([=](const KernelCall& call) {
        const double* w = input(call, 0);
        if (input<UpdateGate>(call, 1)->skip != 0) return;
        double* average = output(call, 0);
        const double rest = 1 - averageDecayAt(decay, call.scalars->step);
        for (std::size_t i = 0; i < count; ++i) average[i] += rest * (w[i] - average[i]);
    });
}

std::unique_ptr<Kernel> makeCommit(std::size_t count) {
    return loops([=](const KernelCall& call) {
        const double* staged = input(call, 0);
        const UpdateGate& gate = *input<UpdateGate>(call, 1);
        if (gate.skip != 0) return;
        double* buffer = output(call, 0);
        for (std::size_t i = 0; i < count; ++i) buffer[i] = staged[i] * gate.bufferScale;
    });
}

}  // namespace lockstep::reference
