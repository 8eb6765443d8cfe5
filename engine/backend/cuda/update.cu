#include "engine/ops/update.h"

#include <cmath>
#include <vector>

#include "engine/backend/cuda/cuda_device.h"
#include "engine/backend/cuda/grid.h"
#include "engine/backend/cuda/kernels.h"
#include "engine/backend/cuda/matrix_step.h"
#include "engine/backend/cuda/real.h"

namespace lockstep::cuda {

namespace {

// A piece of a segment, the work of one team.
struct Tile {
    std::int64_t offset, count, segment;
    bool decays;
};
constexpr int kTeam = 256;
constexpr std::int64_t kTile = 4096;

// What every rule has at hand. Masters are the parameters themselves where those are f32.
template <class T>
struct Slices {
    const T* gradient;
    const UpdateGate* gate;
    T* weight;
    float *master, *first, *second;  // second: null but with AdamW
    const StepScalars* step;

    LOCKSTEP_CARD float gradientAt(std::int64_t i) const {
        return static_cast<float>(gradient[i]) * static_cast<float>(gate->scale);
    }
    LOCKSTEP_CARD void change(std::int64_t i, float by) const {
        const float w = master[i] - by;
        master[i] = w;
        weight[i] = T(w);
    }
};

// v = momentum v + g;  w -= lr (v, or g + momentum v)
struct Sgd {
    float momentum, decay;
    bool nesterov;

    struct Constants {
        float rate;
    };
    template <class T>
    LOCKSTEP_CARD Constants constants(const Slices<T>& at, std::int64_t) const {
        return {static_cast<float>(at.step->learningRate)};
    }
    template <class T>
    LOCKSTEP_CARD void step(const Slices<T>& at, const Constants& constants, std::int64_t i, bool decays) const {
        const float g = at.gradientAt(i) + (decays ? decay : 0) * at.master[i];
        float direction = g;
        if (at.first) {
            const float v = at.first[i] = momentum * at.first[i] + g;
            direction = nesterov ? g + momentum * v : v;
        }
        at.change(i, constants.rate * direction);
    }
};

struct AdamW {
    double beta1, beta2;
    float epsilon, decay, share;  // share: of the schedule's learning rate

    struct Constants {
        float rate, first, second;  // 1 - beta^t for update number t
    };
    template <class T>
    LOCKSTEP_CARD Constants constants(const Slices<T>& at, std::int64_t) const {
        const auto number = static_cast<double>(at.step->step + 1);
        return {static_cast<float>(at.step->learningRate * share), static_cast<float>(1 - pow(beta1, number)),
                static_cast<float>(1 - pow(beta2, number))};
    }
    template <class T>
    LOCKSTEP_CARD void step(const Slices<T>& at, const Constants& constants, std::int64_t i, bool decays) const {
        const float g = at.gradientAt(i), keep1 = static_cast<float>(beta1), keep2 = static_cast<float>(beta2);
        const float m = at.first[i] = keep1 * at.first[i] + static_cast<float>(1 - beta1) * g;
        const float v = at.second[i] = keep2 * at.second[i] + static_cast<float>(1 - beta2) * g * g;
        const float direction = m / constants.first / (sqrtf(v / constants.second) + epsilon);
        at.change(i, constants.rate * (direction + (decays ? decay : 0) * at.master[i]));
    }
};

struct Lars {
    float momentum, decay;
    const float* trust;  // by segment

    struct Constants {
        float rate;
    };
    template <class T>
    LOCKSTEP_CARD Constants constants(const Slices<T>& at, std::int64_t segment) const {
        return {static_cast<float>(at.step->learningRate) * trust[segment]};
    }
    template <class T>
    LOCKSTEP_CARD void step(const Slices<T>& at, const Constants& constants, std::int64_t i, bool decays) const {
        float change = constants.rate * (at.gradientAt(i) + (decays ? decay : 0) * at.master[i]);
        if (at.first) change = at.first[i] = momentum * at.first[i] + change;
        at.change(i, change);
    }
};

template <class T, class Rule>
struct StepTiles {
    Rule rule;
    Slices<T> slices;
    const Tile* tiles;

    LOCKSTEP_CARD void operator()(const Team<kTeam>& team) const {
        if (slices.gate->skip != 0) return;
        const Tile tile = tiles[team.index()];
        auto* const constants = team.template shared<typename Rule::Constants, 1>();
        team.once([&] { *constants = rule.constants(slices, tile.segment); });
        team.barrier();
        team.forEach(tile.count, [&](std::int64_t i) { rule.step(slices, *constants, tile.offset + i, tile.decays); });
    }
};

// LARS: what a segment's own learning rate is of the schedule's.
template <class T>
struct Trust {
    Slices<T> slices;
    const Tile* segments;  // whole ones
    float coefficient, decay;
    float* trust;

    LOCKSTEP_CARD void operator()(const Team<1024>& team) const {
        const Tile segment = segments[team.index()];
        const auto squares = team.template sum<Sums<2, double>>(segment.count, [&](std::int64_t i) {
            const double g = slices.gradientAt(segment.offset + i), w = slices.master[segment.offset + i];
            return Sums<2, double>{{g * g, w * w}};
        });
        const double gradient = sqrt(squares.at[0]), weight = sqrt(squares.at[1]);
        const bool own = segment.decays && gradient != 0 && weight != 0;
        team.once([&] {
            trust[segment.segment] =
                own ? static_cast<float>(coefficient * weight / (gradient + decay * weight)) : 1.0f;
        });
    }
};

std::vector<Tile> tilesOf(std::span<const UpdateSegment> segments, std::int64_t most) {
    std::vector<Tile> tiles;
    for (std::size_t s = 0; s < segments.size(); ++s) {
        const auto count = static_cast<std::int64_t>(segments[s].count);
        for (std::int64_t first = 0; first < count; first += most)
            tiles.push_back({static_cast<std::int64_t>(segments[s].offset) + first, std::min(most, count - first),
                             static_cast<std::int64_t>(s), segments[s].decays});
    }
    return tiles;
}

template <class T>
Slices<T> slicesOf(const KernelCall& call, const StepScalars* step) {
    constexpr bool kMasters = sizeof(T) < sizeof(float);
    const std::size_t states = kMasters ? 2 : 1;
    Slices<T> slices{
        in<T>(call, 0), in<UpdateGate>(call, 1), out<T>(call, 0), out<float>(call, states - 1), nullptr, nullptr, step};
    if (call.outputs.size() > states) slices.first = out<float>(call, states);
    if (call.outputs.size() > states + 1) slices.second = out<float>(call, states + 1);
    return slices;
}

template <class T>
std::unique_ptr<Kernel> updateOf(CudaDevice& device, const UpdateRule& rule, std::span<const UpdateSegment> given) {
    std::vector<UpdateSegment> elementwise;
    std::vector<std::shared_ptr<MatrixStep<T>>> matrices;
    std::size_t workspace = 0;
    for (const UpdateSegment& segment : given) {
        if (rule.kind != UpdateRule::Kind::Muon || !takesMatrixStep(*segment.parameter)) {
            elementwise.push_back(segment);
            continue;
        }
        matrices.push_back(std::make_shared<MatrixStep<T>>(device.libraries(), rule, segment));
        workspace = std::max(workspace, matrices.back()->workspaceBytes());
    }
    const auto tiles = tilesOf(elementwise, kTile), wholes = tilesOf(elementwise, INT64_MAX);
    const auto tilesOnCard = std::make_shared<Buffer>(device.upload(tiles));
    const auto wholesOnCard = std::make_shared<Buffer>(device.upload(wholes));
    if (rule.kind == UpdateRule::Kind::Lars) workspace = wholes.size() * sizeof(float);
    const auto decay = static_cast<float>(rule.weightDecay), momentum = static_cast<float>(rule.momentum);
    const auto count = static_cast<std::int64_t>(tiles.size()), segments = static_cast<std::int64_t>(wholes.size());
    const StepScalars* const step = device.scalars();
    return kernelOf(
        "update",
        [=](const KernelCall& call, cudaStream_t stream) {
            const Slices<T> slices = slicesOf<T>(call, step);
            const auto* const onCard = reinterpret_cast<const Tile*>(tilesOnCard->data());
            const auto launch = [&]<class Rule>(const Rule& of) {
                launchTeams<kTeam>(stream, count, StepTiles<T, Rule>{of, slices, onCard});
            };
            switch (rule.kind) {
                case UpdateRule::Kind::Sgd: return launch(Sgd{momentum, decay, rule.nesterov});
                case UpdateRule::Kind::Lars: {
                    auto* const trust = reinterpret_cast<float*>(call.workspace);
                    const auto* const whole = reinterpret_cast<const Tile*>(wholesOnCard->data());
                    launchTeams<1024>(stream, segments,
                                      Trust<T>{slices, whole, static_cast<float>(rule.trust), decay, trust});
                    return launch(Lars{momentum, decay, trust});
                }
                case UpdateRule::Kind::AdamW:
                case UpdateRule::Kind::Muon: {
                    const bool muon = rule.kind == UpdateRule::Kind::Muon;
                    launch(AdamW{rule.beta1, rule.beta2, static_cast<float>(rule.epsilon), decay,
                                 muon ? static_cast<float>(rule.adamShare) : 1.0f});
                    for (const auto& matrix : matrices)
                        matrix->run(slices.gradient, slices.gate, slices.weight, slices.master, slices.first, step,
                                    call.workspace, stream);
                }
            }
        },
        workspace);
}

template <class T>
struct Average {
    const float* weight;
    const UpdateGate* gate;
    float* average;
    T* rounded;  // null where weights are f32
    const StepScalars* step;
    double decay;

    LOCKSTEP_CARD void operator()(std::int64_t i) const {
        if (gate->skip != 0) return;
        const auto rest = static_cast<float>(1 - averageDecayAt(decay, step->step));
        average[i] += rest * (weight[i] - average[i]);
        if (rounded) rounded[i] = T(average[i]);
    }
};

}  // namespace

std::unique_ptr<Kernel> makeUpdate(CudaDevice& device, const UpdateRule& rule, DType dtype,
                                   std::span<const UpdateSegment> segments) {
    return withFloat(dtype, "update", [&]<class T>(T) { return updateOf<T>(device, rule, segments); });
}

std::unique_ptr<Kernel> makeAverage(CudaDevice& device, double decay, DType dtype, std::size_t count) {
    return withFloat(dtype, "average", [&]<class T>(T) {
        return kernelOf("average", [=, step = device.scalars()](const KernelCall& call, cudaStream_t stream) {
            launchElements(stream, static_cast<std::int64_t>(count),
                           Average<T>{in<float>(call, 0), in<UpdateGate>(call, 1), out<float>(call, 0),
                                      call.outputs.size() > 1 ? out<T>(call, 1) : nullptr, step, decay});
        });
    });
}

}  // namespace lockstep::cuda
