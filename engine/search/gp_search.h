#pragma once
#include "engine/search/tpe.h"

namespace lockstep {

// By a Gaussian process (gaussian_process.h) of the losses, where the logarithm of the expected improvement over the
// best is largest: Jones, Schonlau, Welch, "Efficient global optimization of expensive black-box functions", 1998;
// Ament and others, "Unexpected improvements to expected improvement for Bayesian optimization", NeurIPS 2023. Running
// cells are believed to come to what is foretold of them (kriging believer: Ginsbourger, Le Riche, Carraro, 2010);
// failures to have been as bad as the worst. A dimension that does not count stands in the middle of its axis. Nullopt,
// `tried`, and what else there is: as of suggestByTpe(). Of very many cells the best and the newest are looked at.
std::optional<Cell> suggestByGp(const SearchSpace& space, std::span<const Tried> tried, std::uint64_t seed,
                                const MayBe& mayBe);

// Cells whose results are awaited before anything is learned from them.
constexpr std::size_t kGpBeginning = 8;

// Of the expected improvement in units of the deviation, by how many of them the mean is better; exact to digits.
double logImprovement(double z);

}  // namespace lockstep
