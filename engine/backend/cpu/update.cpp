#include "engine/ops/update.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <optional>
#include <vector>

#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/matrix_step.h"
#include "engine/backend/cpu/parallel.h"
#include "engine/backend/cpu/square_sum.h"

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
                machine.simd->floats.scale(in(call, 0) + begin, by, out(call, 0) + begin, end - begin);
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
                machine.simd->floats.addRow(out(call, 0) + begin, in(call, 0) + begin, end - begin);
            });
        });
    }
    requireF64("add", dtype);
    return kernelOf([count](const KernelCall& call) {
        for (std::size_t i = 0; i < count; ++i) out<double>(call, 0)[i] += in<double>(call, 0)[i];
    });
}

std::unique_ptr<Kernel> makeSquareSum(const Machine& machine, std::size_t count) {
    const SquareSum sum(machine, count);
    return kernelOf([sum](const KernelCall& call) { *out<double>(call, 0) = sum.of(in(call, 0), call.workspace); },
                    sum.workspaceBytes());
}

std::unique_ptr<Kernel> makeGate(const UpdateRule& rule, std::size_t squareSums) {
    return kernelOf([clipNorm = rule.clipNorm, squareSums](const KernelCall& call) {
        double squares = 0;
        for (std::size_t i = 0; i < squareSums; ++i) squares += *in<double>(call, 3 + i);
        const ReducedSums sums{*in<double>(call, 0), *in<double>(call, 1), *in<double>(call, 2), std::sqrt(squares)};
        *out<UpdateGate>(call, 0) = decideGate(sums, clipNorm, call.scalars->lossScale);
    });
}

namespace {

float narrow(double value) { return static_cast<float>(value); }

// One kernel for all segments of a slice: a thread takes its share of the floats, whatever segments they fall into.
class Update final : public Kernel {
public:
    Update(const Machine& machine, const UpdateRule& rule, std::size_t count, std::span<const UpdateSegment> segments)
        : m_machine(machine), m_rule(rule), m_count(count) {
        for (const UpdateSegment& segment : segments) addPart(segment);
    }

    std::size_t workspaceBytes() const override { return m_workspace; }

    void run(const KernelCall& call) override {
        const UpdateGate& gate = *in<UpdateGate>(call, 1);
        if (gate.skip != 0) return;
        if (m_rule.kind == UpdateRule::Kind::Lars) measure(call, gate);
        overFloats(m_machine.threads, m_count, [&](std::size_t begin, std::size_t end) {
            overParts(begin, end, [&](const Part& part, std::size_t from, std::size_t to) {
                if (!part.matrix) step(call, gate, part, from, to - from, nullptr);
            });
        });
        for (Part& part : m_parts) {
            if (!part.matrix) continue;
            part.matrix->run(narrow(gate.scale), narrow(call.scalars->learningRate), in(call, 0) + part.at,
                             out(call, 0) + part.at, out(call, 1) + part.at, call.workspace);
        }
    }

    bool runSummed(const KernelCall& call, std::span<BitSums> sums) override {
        const UpdateGate& gate = *in<UpdateGate>(call, 1);
        if (gate.skip != 0 || m_rule.kind == UpdateRule::Kind::Muon) return false;
        if (m_rule.kind == UpdateRule::Kind::Lars) measure(call, gate);
        overFloats(m_machine.threads, m_count, [&](std::size_t begin, std::size_t end) {
            std::array<BitSums, kMostOutputs> own{};
            std::size_t done = begin;
            overParts(begin, end, [&](const Part& part, std::size_t from, std::size_t to) {
                addUnused(call, done, from, own);
                step(call, gate, part, from, to - from, own.data());
                done = to;
            });
            addUnused(call, done, end, own);
            for (std::size_t i = 0; i < sums.size(); ++i) {
                std::atomic_ref(sums[i].found) += own[i].found;
                std::atomic_ref(sums[i].left) += own[i].left;
            }
        });
        return true;
    }

private:
    static constexpr std::size_t kMostOutputs = 3;  // weights and two states

    struct Part {
        std::size_t at = 0, count = 0;
        double decay = 0;
        bool decays = true;
        double rate = 1;  // of the schedule's; of this step, for Lars
        std::optional<MatrixStep> matrix{};
    };

    void addPart(const UpdateSegment& segment) {
        Part part{.at = segment.offset, .count = segment.count, .decays = segment.decays};
        part.decay = segment.decays ? m_rule.weightDecay : 0;
        const bool muon = m_rule.kind == UpdateRule::Kind::Muon;
        if (muon) part.rate = m_rule.adamShare;
        if (muon && takesMatrixStep(*segment.parameter)) {
            part.matrix.emplace(m_machine, m_rule, segment);
            m_workspace = std::max(m_workspace, part.matrix->workspaceBytes());
        }
        if (m_rule.kind == UpdateRule::Kind::Lars)
            m_workspace = std::max(m_workspace, SquareSum(m_machine, segment.count).workspaceBytes());
        m_parts.push_back(std::move(part));
    }

    // body(part, from, to) for what lies in each of the parts, which are in order.
    template <class Body>
    void overParts(std::size_t begin, std::size_t end, const Body& body) const {
        for (const Part& part : m_parts) {
            const std::size_t from = std::max(begin, part.at), to = std::min(end, part.at + part.count);
            if (from < to) body(part, from, to);
        }
    }

    // Of what fills the room between parts, which nobody writes.
    void addUnused(const KernelCall& call, std::size_t begin, std::size_t end, std::span<BitSums> sums) const {
        for (std::size_t i = 0; begin < end && i < call.outputs.size(); ++i) {
            const std::uint32_t bits = m_machine.simd->bits(out(call, i) + begin, end - begin);
            sums[i].found += bits;
            sums[i].left += bits;
        }
    }

    void measure(const KernelCall& call, const UpdateGate& gate) {
        for (Part& part : m_parts) {
            if (!part.decays) continue;
            const SquareSum sum(m_machine, part.count);
            const double gradient = gate.scale * std::sqrt(sum.of(in(call, 0) + part.at, call.workspace));
            const double weight = std::sqrt(sum.of(out(call, 0) + part.at, call.workspace));
            const bool both = gradient > 0 && weight > 0;
            part.rate = both ? m_rule.trust * weight / (gradient + part.decay * weight) : 1;
        }
    }

    void step(const KernelCall& call, const UpdateGate& gate, const Part& part, std::size_t at, std::size_t count,
              BitSums* sums) const {
        const auto state = [&](std::size_t i) { return call.outputs.size() > i + 1 ? out(call, i + 1) + at : nullptr; };
        m_machine.simd->update({.rule = &m_rule,
                                .scale = gate.scale,
                                .decay = part.decay,
                                .learningRate = call.scalars->learningRate * part.rate,
                                .number = call.scalars->step + 1,
                                .gradient = in(call, 0) + at,
                                .w = out(call, 0) + at,
                                .states = {state(0), state(1)},
                                .count = count,
                                .sums = sums});
    }

    const Machine& m_machine;
    UpdateRule m_rule;
    std::size_t m_count;
    std::vector<Part> m_parts;
    std::size_t m_workspace = 0;
};

}  // namespace

std::unique_ptr<Kernel> makeUpdate(const Machine& machine, const UpdateRule& rule, std::size_t count,
                                   std::span<const UpdateSegment> segments) {
    return std::make_unique<Update>(machine, rule, count, segments);
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
        if (gate.skip == 0) machine.simd->floats.scale(in(call, 0), narrow(gate.bufferScale), out(call, 0), count);
    });
}

}  // namespace lockstep::cpu
