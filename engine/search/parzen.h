#pragma once
#include <span>
#include <vector>

#include "engine/search/dimension.h"
#include "engine/search/draws.h"

namespace lockstep {

// Densities on the unit cube from observations, as tree-structured Parzen estimators take them: Bergstra, Bardenet,
// Bengio, Kégl, "Algorithms for hyper-parameter optimization", NeurIPS 2011; one product of kernels for each
// observation after Falkner, Klein, Hutter, "BOHB", ICML 2018; widths and weights after Watanabe, "Tree-structured
// Parzen estimator: understanding its algorithm components", arXiv:2304.11127. Pure.

// Where an observation lies on each axis.
using UnitPlace = std::vector<UnitShare>;

struct ParzenAxis {
    bool isOrdered = true;
    std::int64_t choices = 0;  // of one without an order
};

class ParzenEstimator {
public:
    // `observations`: the oldest first; what is older than the newest 25 counts for less. A wide kernel, which stands
    // for no observation, is always there.
    ParzenEstimator(std::span<const ParzenAxis> axes, std::span<const UnitPlace> observations);

    // A point of the unit cube.
    std::vector<double> draw(Draws& draws) const;
    // On axes whose places have a width: of the mass there.
    double logDensity(const UnitPlace& place) const;

    const std::vector<double>& weights() const { return m_weights; }  // of kernels, the wide one last; their sum is 1
    double width(std::size_t kernel, std::size_t axis) const { return m_kernels[kernel][axis].width; }

private:
    struct Kernel {
        double middle = 0.5, width = 1, logNormaliser = 0;  // a normal distribution cut at 0 and 1
        std::int64_t choice = -1;                           // the one that was seen; -1: none
    };

    void addAxis(std::size_t axis, std::span<const UnitPlace> observations);
    double logKernel(std::size_t kernel, std::size_t axis, const UnitShare& share) const;
    double choiceProbability(std::size_t kernel, std::size_t axis, std::int64_t choice) const;
    double drawOn(std::size_t kernel, std::size_t axis, Draws& draws) const;

    std::vector<ParzenAxis> m_axes;
    std::vector<double> m_weights;
    std::vector<std::vector<Kernel>> m_kernels;  // by kernel and axis
};

}  // namespace lockstep
