#include "engine/ops/update.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"

namespace lockstep::cpu {

namespace {

[[noreturn]] void refuse(const char* step, DType dtype) {
    throw EngineError(EngineError::Kind::Device, step, "the CPU has no such step for " + std::string(text(dtype)));
}

void requireF64(const char* step, DType dtype) {
    if (dtype != DType::F64) refuse(step, dtype);
}

}  // namespace

std::unique_ptr<Kernel> makeFlatFill(const Machine& machine, DType dtype, std::size_t count, double value) {
    if (dtype == DType::F32) {
        return kernelOf(
            [threads = machine.threads, count, element = static_cast<float>(value)](const KernelCall& call) {
                overFloats(threads, count, [&](std::size_t begin, std::size_t end) {
                    std::fill(out(call, 0) + begin, out(call, 0) + end, element);
                });
            });
    }
    requireF64("fill", dtype);
    return kernelOf([count, value](const KernelCall& call) { std::fill_n(out<double>(call, 0), count, value); });
}

std::unique_ptr<Kernel> makeFlatScale(const Machine& machine, DType dtype, std::size_t count, double factor) {
    if (dtype == DType::F32) {
        return kernelOf([&machine, count, by = static_cast<float>(factor)](const KernelCall& call) {
            overFloats(machine.threads, count, [&](std::size_t begin, std::size_t end) {
                machine.simd->scale(in(call, 0) + begin, by, out(call, 0) + begin, end - begin);
            });
        });
    }
    requireF64("scale", dtype);
    return kernelOf([count, factor](const KernelCall& call) {
        for (std::size_t i = 0; i < count; ++i) out<double>(call, 0)[i] = in<double>(call, 0)[i] * factor;
    });
}

std::unique_ptr<Kernel> makeFlatAdd(const Machine& machine, DType dtype, std::size_t count) {
    if (dtype == DType::F32) {
        return kernelOf([&machine, count](const KernelCall& call) {
            overFloats(machine.threads, count, [&](std::size_t begin, std::size_t end) {
                machine.simd->addRow(out(call, 0) + begin, in(call, 0) + begin, end - begin);
            });
        });
    }
    requireF64("add", dtype);
    return kernelOf([count](const KernelCall& call) {
        for (std::size_t i = 0; i < count; ++i) out<double>(call, 0)[i] += in<double>(call, 0)[i];
    });
}

// In parts of fixed size, so that the sum does not depend on the threads.
std::unique_ptr<Kernel> makeSquareSum(const Machine& machine, std::size_t count) {
    static constexpr std::size_t kPart = 4096;
    const std::size_t parts = (count + kPart - 1) / kPart;
    return kernelOf(
        [&machine, count, parts](const KernelCall& call) {
            auto* sums = reinterpret_cast<double*>(call.workspace);
            inParallel(machine.threads, parts, count, [&](std::size_t begin, std::size_t end) {
                for (std::size_t i = begin; i < end; ++i) {
                    const std::size_t at = i * kPart;
                    sums[i] = machine.simd->squareSum(in(call, 0) + at, std::min(kPart, count - at));
                }
            });
            double sum = 0;
            for (std::size_t i = 0; i < parts; ++i) sum += sums[i];
            *out<double>(call, 0) = sum;
        },
        parts * sizeof(double));
}

std::unique_ptr<Kernel> makeGate(const UpdateRule& rule, std::size_t squareSums) {
    return kernelOf([clipNorm = rule.clipNorm, squareSums](const KernelCall& call) {
        double squares = 0;
        for (std::size_t i = 0; i < squareSums; ++i) squares += *in<double>(call, 3 + i);
        const ReducedSums sums{*in<double>(call, 0), *in<double>(call, 1), *in<double>(call, 2), std::sqrt(squares)};
        *out<UpdateGate>(call, 0) = decideGate(sums, clipNorm);
    });
}

namespace {

float narrow(double value) {
    return static_cast<float>(value);
}

// One kernel for all segments of a slice: a thread takes its share of the floats, whatever segments they fall into.
class Update final : public Kernel {
public:
    Update(const Machine& machine, const UpdateRule& rule, std::span<const UpdateSegment> segments)
        : m_machine(machine), m_rule(rule), m_segments(segments.begin(), segments.end()) {
        for (const UpdateSegment& segment : segments) m_end = std::max(m_end, segment.offset + segment.count);
    }

    void run(const KernelCall& call) override {
        const UpdateGate& gate = *in<UpdateGate>(call, 1);
        if (gate.skip != 0) return;
        overFloats(m_machine.threads, m_end, [&](std::size_t begin, std::size_t end) {
            for (const UpdateSegment& segment : m_segments) {
                const std::size_t from = std::max(begin, segment.offset);
                const std::size_t to = std::min(end, segment.offset + segment.count);
                if (from < to) step(call, gate, segment.decays ? m_rule.weightDecay : 0, from, to - from);
            }
        });
    }

private:
    void step(const KernelCall& call, const UpdateGate& gate, double decay, std::size_t at, std::size_t count) const {
        const auto state = [&](std::size_t i) { return call.outputs.size() > i + 1 ? out(call, i + 1) + at : nullptr; };
        const float* gradient = in(call, 0) + at;
        const float learningRate = narrow(call.scalars->learningRate);
        float* w = out(call, 0) + at;
        if (m_rule.kind == UpdateRule::Kind::Sgd) {
            const SgdRun run{narrow(gate.scale), narrow(decay), narrow(m_rule.momentum), learningRate, m_rule.nesterov};
            m_machine.simd->sgd(run, gradient, w, state(0), count);
            return;
        }
        const auto number = static_cast<double>(call.scalars->step + 1);
        const AdamRun run{.scale = narrow(gate.scale),
                          .decay = narrow(decay),
                          .beta1 = narrow(m_rule.beta1),
                          .beta2 = narrow(m_rule.beta2),
                          .rest1 = narrow(1 - m_rule.beta1),
                          .rest2 = narrow(1 - m_rule.beta2),
                          .epsilon = narrow(m_rule.epsilon),
                          .learningRate = learningRate,
                          .correction1 = narrow(1 / (1 - std::pow(m_rule.beta1, number))),
                          .correction2 = narrow(1 / (1 - std::pow(m_rule.beta2, number)))};
        m_machine.simd->adamW(run, gradient, w, state(0), state(1), count);
    }

    const Machine& m_machine;
    UpdateRule m_rule;
    std::vector<UpdateSegment> m_segments;
    std::size_t m_end = 0;
};

}  // namespace

std::unique_ptr<Kernel> makeUpdate(const Machine& machine, const UpdateRule& rule,
                                   std::span<const UpdateSegment> segments) {
    return std::make_unique<Update>(machine, rule, segments);
}

std::unique_ptr<Kernel> makeAverage(const Machine& machine, double decay, std::size_t count) {
    return kernelOf([&machine, decay, count](const KernelCall& call) {
        if (in<UpdateGate>(call, 1)->skip != 0) return;
        const float rest = narrow(1 - averageDecayAt(decay, call.scalars->step));
        overFloats(machine.threads, count, [&](std::size_t begin, std::size_t end) {
            machine.simd->average(in(call, 0) + begin, rest, out(call, 0) + begin, end - begin);
        });
    });
}

std::unique_ptr<Kernel> makeCommit(const Machine& machine, std::size_t count) {
    return kernelOf([&machine, count](const KernelCall& call) {
        const UpdateGate& gate = *in<UpdateGate>(call, 1);
        if (gate.skip == 0) machine.simd->scale(in(call, 0), narrow(gate.bufferScale), out(call, 0), count);
    });
}

}  // namespace lockstep::cpu
