#include "engine/ops/update.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "engine/backend/reference/kernels.h"
#include "engine/backend/reference/loops.h"
#include "engine/backend/reference/matrix_step.h"

namespace lockstep::reference {

std::unique_ptr<Kernel> makeFill(std::size_t count, double value) {
    return kernelOf([=](const KernelCall& call) { std::fill_n(output(call, 0), count, value); });
}

std::unique_ptr<Kernel> makeScale(std::size_t count, double factor) {
    return kernelOf([=](const KernelCall& call) {
        const double* from = input(call, 0);
        double* to = output(call, 0);
        for (std::size_t i = 0; i < count; ++i) to[i] = from[i] * factor;
    });
}

std::unique_ptr<Kernel> makeFlatAdd(std::size_t count) {
    return kernelOf([=](const KernelCall& call) {
        const double* from = input(call, 0);
        double* to = output(call, 0);
        for (std::size_t i = 0; i < count; ++i) to[i] += from[i];
    });
}

std::unique_ptr<Kernel> makeSquareSum(std::size_t count) {
    return kernelOf([=](const KernelCall& call) {
        const double* slice = input(call, 0);
        double sum = 0;
        for (std::size_t i = 0; i < count; ++i) sum += slice[i] * slice[i];
        *output(call, 0) = sum;
    });
}

std::unique_ptr<Kernel> makeGate(const UpdateRule& rule, std::size_t squareSums) {
    return kernelOf([clipNorm = rule.clipNorm, squareSums](const KernelCall& call) {
        double squares = 0;
        for (std::size_t i = 0; i < squareSums; ++i) squares += *input(call, 3 + i);
        const ReducedSums sums{*input(call, 0), *input(call, 1), *input(call, 2), std::sqrt(squares)};
        *output<UpdateGate>(call, 0) = decideGate(sums, clipNorm, call.scalars->lossScale);
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

// One step of a slice of parameters.
class Update {
public:
    Update(const UpdateRule& rule, const KernelCall& call)
        : m_rule(rule),
          m_scale(input<UpdateGate>(call, 1)->scale),
          m_learningRate(call.scalars->learningRate),
          m_gradient(input(call, 0)),
          m_w(output(call, 0)),
          m_states{call.outputs.size() > 1 ? output(call, 1) : nullptr,
                   call.outputs.size() > 2 ? output(call, 2) : nullptr} {
        const auto number = static_cast<double>(call.scalars->step + 1);
        m_corrections = {1 - std::pow(rule.beta1, number), 1 - std::pow(rule.beta2, number)};
    }

    void step(const UpdateSegment& segment, const std::optional<MatrixStep>& matrix, double* workspace) const {
        const double decay = segment.decays ? m_rule.weightDecay : 0;
        const std::size_t at = segment.offset;
        switch (m_rule.kind) {
            case UpdateRule::Kind::Sgd: return stepSgdOver(segment, decay);
            case UpdateRule::Kind::AdamW: return stepAdamOver(segment, decay, m_learningRate);
            case UpdateRule::Kind::Lars: return stepLars(segment, decay);
            case UpdateRule::Kind::Muon:
                if (!matrix) return stepAdamOver(segment, decay, m_learningRate * m_rule.adamShare);
                return matrix->run(m_scale, m_learningRate, m_gradient + at, m_w + at, m_states[0] + at, workspace);
        }
    }

private:
    void stepSgdOver(const UpdateSegment& segment, double decay) const {
        for (std::size_t i = segment.offset; i < segment.offset + segment.count; ++i)
            stepSgd(m_rule, m_learningRate, decay, m_gradient[i] * m_scale, m_w[i],
                    m_states[0] ? m_states[0] + i : nullptr);
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
    std::vector<std::pair<UpdateSegment, std::optional<MatrixStep>>> segments;
    std::size_t workspace = 0;
    for (const UpdateSegment& segment : given) {
        auto& matrix = segments.emplace_back(segment, std::nullopt).second;
        if (rule.kind != UpdateRule::Kind::Muon || !takesMatrixStep(*segment.parameter)) continue;
        matrix.emplace(rule, segment);
        workspace = std::max(workspace, matrix->workspaceBytes());
    }
    auto body = [rule, segments = std::move(segments)](const KernelCall& call) {
        if (input<UpdateGate>(call, 1)->skip != 0) return;
        const Update update(rule, call);
        for (const auto& [segment, matrix] : segments)
            update.step(segment, matrix, reinterpret_cast<double*>(call.workspace));
    };
    return kernelOf(std::move(body), workspace);
}

std::unique_ptr<Kernel> makeAverage(double decay, std::size_t count) {
    return kernelOf([=](const KernelCall& call) {
        const double* w = input(call, 0);
        if (input<UpdateGate>(call, 1)->skip != 0) return;
        double* average = output(call, 0);
        const double rest = 1 - averageDecayAt(decay, call.scalars->step);
        for (std::size_t i = 0; i < count; ++i) average[i] += rest * (w[i] - average[i]);
    });
}

std::unique_ptr<Kernel> makeCommit(std::size_t count) {
    return kernelOf([=](const KernelCall& call) {
        const double* staged = input(call, 0);
        const UpdateGate& gate = *input<UpdateGate>(call, 1);
        if (gate.skip != 0) return;
        double* buffer = output(call, 0);
        for (std::size_t i = 0; i < count; ++i) buffer[i] = staged[i] * gate.bufferScale;
    });
}

}  // namespace lockstep::reference
