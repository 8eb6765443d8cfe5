#include "engine/search/parzen.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace lockstep {

namespace {

constexpr std::size_t kFullyCounted = 25;
constexpr double kNarrowestKernel = 0.01;

double normalCdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

// Of a normal distribution between two points; of what lies in its upper tail by the lower one, where digits are left.
double normalMass(double low, double high, double middle, double width) {
    const double a = (low - middle) / width, b = (high - middle) / width;
    return a > 0 ? normalCdf(-a) - normalCdf(-b) : normalCdf(b) - normalCdf(a);
}

std::vector<double> weightsOf(std::size_t observations) {
    std::vector<double> weights(observations, 1);
    if (observations >= kFullyCounted) {
        const std::size_t old = observations - kFullyCounted;
        const double first = 1 / static_cast<double>(observations);
        for (std::size_t i = 0; i < old; ++i) {
            const double share = old == 1 ? 0 : static_cast<double>(i) / static_cast<double>(old - 1);
            weights[i] = first + share * (1 - first);
        }
    }
    weights.push_back(1);
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (double& each : weights) each /= sum;
    return weights;
}

// The larger gap to a neighbour; the ends of the axis are neighbours of one that is alone.
std::vector<double> widthsOf(const std::vector<double>& middles) {
    const std::size_t count = middles.size();
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return middles[i]; });
    std::vector<double> widths(count);
    const double narrowest = std::max(kNarrowestKernel, 1 / static_cast<double>(count + 2));
    for (std::size_t i = 0; i < count; ++i) {
        const double here = middles[order[i]];
        const double below = i > 0 ? here - middles[order[i - 1]] : count > 1 ? 0 : here;
        const double above = i + 1 < count ? middles[order[i + 1]] - here : count > 1 ? 0 : 1 - here;
        widths[order[i]] = std::clamp(std::max(below, above), narrowest, 1.0);
    }
    return widths;
}

}  // namespace

ParzenEstimator::ParzenEstimator(std::span<const ParzenAxis> axes, std::span<const UnitPlace> observations)
    : m_axes(axes.begin(), axes.end()),
      m_weights(weightsOf(observations.size())),
      m_kernels(observations.size() + 1, std::vector<Kernel>(axes.size())) {
    for (std::size_t axis = 0; axis < axes.size(); ++axis) addAxis(axis, observations);
}

void ParzenEstimator::addAxis(std::size_t axis, std::span<const UnitPlace> observations) {
    if (m_axes[axis].isOrdered) {
        std::vector<double> middles;
        for (const UnitPlace& each : observations) middles.push_back(each[axis].middle);
        const std::vector<double> widths = widthsOf(middles);
        for (std::size_t i = 0; i < middles.size(); ++i)
            m_kernels[i][axis] = {.middle = middles[i], .width = widths[i]};
        for (auto& kernel : m_kernels)
            kernel[axis].logNormaliser = std::log(normalMass(0, 1, kernel[axis].middle, kernel[axis].width));
    } else {
        for (std::size_t i = 0; i < observations.size(); ++i)
            m_kernels[i][axis].choice = observations[i][axis].placeAmong(m_axes[axis].choices);
    }
}

// All are possible, the one that was seen the more so, the more others were.
double ParzenEstimator::choiceProbability(std::size_t kernel, std::size_t axis, std::int64_t choice) const {
    const auto choices = static_cast<double>(m_axes[axis].choices);
    const std::int64_t seen = m_kernels[kernel][axis].choice;
    if (seen < 0) return 1 / choices;
    const double usual = 1 / static_cast<double>(m_kernels.size());
    return (usual + (seen == choice ? 1 : 0)) / (1 + choices * usual);
}

double ParzenEstimator::logKernel(std::size_t kernel, std::size_t axis, const UnitShare& share) const {
    if (!m_axes[axis].isOrdered)
        return std::log(choiceProbability(kernel, axis, share.placeAmong(m_axes[axis].choices)));
    const Kernel& k = m_kernels[kernel][axis];
    if (share.high > share.low) return std::log(normalMass(share.low, share.high, k.middle, k.width)) - k.logNormaliser;
    const double z = (share.middle - k.middle) / k.width;
    return -0.5 * z * z - std::log(k.width * std::sqrt(2 * std::numbers::pi)) - k.logNormaliser;
}

double ParzenEstimator::logDensity(const UnitPlace& place) const {
    std::vector<double> logs;
    for (std::size_t kernel = 0; kernel < m_kernels.size(); ++kernel) {
        double log = std::log(m_weights[kernel]);
        for (std::size_t axis = 0; axis < m_axes.size(); ++axis) log += logKernel(kernel, axis, place[axis]);
        logs.push_back(log);
    }
    const double largest = *std::ranges::max_element(logs);
    double sum = 0;
    for (const double each : logs) sum += std::exp(each - largest);
    return largest + std::log(sum);
}

std::vector<double> ParzenEstimator::draw(Draws& draws) const {
    double left = draws.uniform();
    std::size_t kernel = 0;
    while (kernel + 1 < m_kernels.size() && left >= m_weights[kernel]) left -= m_weights[kernel++];
    std::vector<double> point;
    for (std::size_t axis = 0; axis < m_axes.size(); ++axis) point.push_back(drawOn(kernel, axis, draws));
    return point;
}

// At least a third of a normal distribution lies between 0 and 1 where its middle does and it is no wider.
double ParzenEstimator::drawOn(std::size_t kernel, std::size_t axis, Draws& draws) const {
    const Kernel& k = m_kernels[kernel][axis];
    if (m_axes[axis].isOrdered) {
        for (;;) {
            const double u = k.middle + k.width * draws.normal();
            if (u >= 0 && u < 1) return u;
        }
    }
    const std::int64_t choices = m_axes[axis].choices;
    double left = draws.uniform();
    std::int64_t choice = 0;
    while (choice + 1 < choices && left >= choiceProbability(kernel, axis, choice))
        left -= choiceProbability(kernel, axis, choice++);
    return (static_cast<double>(choice) + 0.5) / static_cast<double>(choices);
}

}  // namespace lockstep
