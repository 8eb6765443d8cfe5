#pragma once
#include <span>
#include <vector>

#include "engine/search/importance.h"

namespace lockstep {

// Which settings must be right to be among the best: how differently the best are spread over a setting's values than
// all are. Watanabe, Bansal and Hutter, "PED-ANOVA: Efficiently Quantifying Hyperparameter Importance in Arbitrary
// Subspaces", IJCAI 2023; settings that only some cells have after "Conditional PED-ANOVA: Hyperparameter Importance in
// Hierarchical & Dynamic Search Spaces", KDD 2026. With the defaults the figures are those of Optuna 5.0.
struct PedAnovaOptions {
    double target = 0.1;  // the best: this share of all, and those that came to the same as the last of them
    double region = 1;    // compared with the best of this share; 0 < target < region <= 1
    bool isLocal = true;  // with where those lie; otherwise with the whole space, evenly
};

struct PedAnova {
    ImportanceVerdict verdict = ImportanceVerdict::Sound;
    std::size_t tried = 0, best = 0;  // that have a loss; that are among the best
    // By dimension. Of one that is not varied, or that fewer than two cells or none of the best set, 0.
    std::vector<double> importances = {};
    std::vector<double> shares() const;  // of their sum; all 0 where that is
};

// A numeric setting is looked at in kPedAnovaCells cells between its ends, on its scale, or one a value where it has
// fewer; each cell's probability is that of a mixture of normals at the cells that were tried, as wide as Scott's rule
// says but no narrower than 0.5/1.64 of a cell, and one that is as wide as the range; a choice's likewise of
// categories. The importance is the Pearson divergence of the best from the region, times the square of how many of the
// region they are. A conditional setting's is that among the cells that set it, times a^2 / b: the shares of the best
// and of the region that do. Chance makes much of some setting where the best are few: they are believed (Sound) only
// if none of 39 draws of as many others would make more of the one that stands out most. Pure; a thousand cells of a
// dozen settings take a thirtieth of a second.
constexpr int kPedAnovaCells = 50;
PedAnova pedAnova(std::span<const Dimension> dimensions, std::span<const Tried> tried,
                  const PedAnovaOptions& options = {});

}  // namespace lockstep
