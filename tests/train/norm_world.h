#pragma once
#include <map>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/data/dataset.h"
#include "engine/model/registry.h"
#include "engine/train/replica.h"

namespace lockstep {

// By rank, then pass: how many samples it takes at once.
using Shares = std::vector<std::vector<std::int64_t>>;

// A few training steps of one model, on as many ranks as there are shares. What a pass takes is the same run of samples
// however it is divided, rank after rank.
struct NormWorld {
    const Backend* backend = nullptr;
    ModelEntry model;
    Shares shares;
    bool synchronises = true;
    int steps = 3;
    UpdateRule update{};

    using Tensors = std::map<std::string, HostTensor>;
    struct Result {
        std::vector<Tensors> tensors;    // of rank 0, after each step: parameters, statistics, momenta
        std::vector<Tensors> gradients;  // as they were reduced
        std::vector<double> losses;
        std::vector<std::vector<std::uint64_t>> hashes;  // by step, then rank
    };
    Result run() const;

    // The same batches on one device, that normalises each pass as a whole.
    NormWorld onOneDevice() const;
};

inline constexpr ImageShape kNormImage{3, 9, 9};

// Convolutions of a few odd numbers of channels, batch norms of the image, with and without ReLU behind them, and on
// a shortcut; none whose gradient is zero because a later norm takes it back.
ModelEntry smallNormModel();
// A batch norm of flat activations: with one value for each sample, it takes a few of those to be well conditioned.
ModelEntry flatNormModel();

}  // namespace lockstep
