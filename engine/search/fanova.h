#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/search/importance.h"
#include "engine/search/regression_forest.h"

namespace lockstep {

// Which settings explain the differences between all cells: Hutter, Hoos and Leyton-Brown, "An Efficient Approach for
// Assessing Hyperparameter Importance", ICML 2014. A forest learns the loss; of each of its trees, the variance over
// the whole space is divided into what each setting does by itself, averaged over all others, and the rest, which
// settings do only together. The space is what a random search draws from: logarithmic where its dimension is, every
// whole number and every choice as likely as the others. (Optuna's space has no logarithms, half of the first and last
// number, and an axis for each choice: figures of such settings differ.)
struct FanovaShare {
    double mean = 0, deviation = 0;  // of the variance, 0 to 1; over the trees
};

struct Fanova {
    ImportanceVerdict verdict = ImportanceVerdict::Sound;
    std::size_t tried = 0;                // that have a loss
    std::optional<double> outOfBag = {};  // R^2, see RegressionForest
    // By dimension; nullopt: fewer than kFewestTried cells set it. Of one that is not varied, 0.
    std::vector<std::optional<FanovaShare>> shares = {};
    double together() const;  // what no setting does by itself
};

// A conditional setting stands in the middle of its dimension in cells that do not set it, as in the paper a default
// does. Pure: the same seed gives the same. A thousand cells of a dozen settings take a tenth of a second.
constexpr double kLeastOutOfBag = 0.1;  // below, Unpredictable: the forest has learnt next to nothing
Fanova fanova(std::span<const Dimension> dimensions, std::span<const Tried> tried, std::uint64_t seed = 1,
              int trees = 64);

// The parts of a tree's variance over the unit cube that its columns have by themselves, one a column; all 0 of a tree
// that is the same everywhere.
std::vector<double> marginalShares(const RegressionTree& tree, std::size_t columns);

}  // namespace lockstep
