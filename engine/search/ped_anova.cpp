#include "engine/search/ped_anova.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace lockstep {

namespace {

constexpr double kNarrowest = 0.5 / 1.64;  // cells: nine tenths of such a kernel lie in its own
constexpr double kFloor = 1e-12;           // of a probability that something is divided by

using CellCounts = std::vector<std::int64_t>;  // by cell
using CellShares = std::vector<double>;

double partOf(std::size_t part, std::size_t whole) { return static_cast<double>(part) / static_cast<double>(whole); }

std::int64_t countOf(const CellCounts& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

// What a standard normal has between a and b, exact in both tails.
double kernelMass(double a, double b) {
    if (a + b < 0) return kernelMass(-b, -a);
    return 0.5 * (std::erfc(a / std::numbers::sqrt2) - std::erfc(b / std::numbers::sqrt2));
}

// A normal cut off at the ends of so many cells, `weight` times.
void addCellKernel(CellShares& shares, double mean, double width, double weight) {
    const auto edge = [&](std::size_t cell) { return (static_cast<double>(cell) - 0.5 - mean) / width; };
    const double whole = kernelMass(edge(0), edge(shares.size()));
    for (std::size_t cell = 0; cell < shares.size(); ++cell)
        shares[cell] += weight * kernelMass(edge(cell), edge(cell + 1)) / whole;
}

// Scott's rule for values that are whole numbers: D. W. Scott, Multivariate Density Estimation, 1992.
double scottWidth(const CellCounts& counts) {
    const std::int64_t all = countOf(counts);
    double mean = 0, squares = 0;
    for (std::size_t cell = 0; cell < counts.size(); ++cell)
        mean += static_cast<double>(counts[cell]) * static_cast<double>(cell) / static_cast<double>(all);
    for (std::size_t cell = 0; cell < counts.size(); ++cell)
        squares += static_cast<double>(counts[cell]) * std::pow(static_cast<double>(cell) - mean, 2);
    const double deviation = std::sqrt(squares / static_cast<double>(std::max<std::int64_t>(1, all - 1)));

    std::size_t first = counts.size(), third = 0, last = 0;  // cells of the quartiles
    bool hasThird = false;
    std::int64_t below = 0;
    for (std::size_t cell = 0; cell < counts.size(); ++cell) {
        if (counts[cell] == 0) continue;
        below += counts[cell], last = cell;
        if (first == counts.size() && below >= all / 4) first = cell;
        if (!hasThird && below > all * 3 / 4) third = cell, hasThird = true;
    }
    const auto spread = static_cast<double>((hasThird ? third : last) - first);
    const double width = 1.059 * std::min(spread / 1.34, deviation) * std::pow(static_cast<double>(all), -0.2);
    return std::max(width, kNarrowest);
}

CellShares spreadOfNumbers(const CellCounts& counts) {
    CellShares shares(counts.size(), 0.0);
    const auto cells = static_cast<double>(counts.size()), all = static_cast<double>(countOf(counts));
    const double width = scottWidth(counts);
    for (std::size_t cell = 0; cell < counts.size(); ++cell) {
        if (counts[cell] == 0) continue;
        addCellKernel(shares, static_cast<double>(cell), width, static_cast<double>(counts[cell]) / (all + 1));
    }
    addCellKernel(shares, (cells - 1) / 2, cells, 1 / (all + 1));
    return shares;
}

// A kernel for each category that was met, with a little for all others; and one that is the same for all.
CellShares spreadOfChoices(const CellCounts& counts) {
    const auto choices = static_cast<double>(counts.size()), all = static_cast<double>(countOf(counts));
    const auto kernels = static_cast<double>(std::ranges::count_if(counts, [](auto each) { return each > 0; }) + 1);
    const double others = 1 / kernels, sum = 1 + choices * others;
    CellShares shares(counts.size(), 0.0);
    for (std::size_t i = 0; i < counts.size(); ++i)
        shares[i] = (static_cast<double>(counts[i]) / sum + all * others / sum + 1 / choices) / (all + 1);
    return shares;
}

// The cells of one dimension.
class PedCells {
public:
    explicit PedCells(const Dimension& dimension) {
        const auto all = dimension.count();
        const auto* range = std::get_if<NumberRange>(&dimension.values);
        m_isChoice = !range;
        m_count = static_cast<std::size_t>(range ? std::min<std::int64_t>(all.value_or(kPedAnovaCells), kPedAnovaCells)
                                                 : *all);
        if (!range) return;
        m_isLog = range->isLog;
        const double high = range->step > 0 ? range->low + static_cast<double>(*all - 1) * range->step : range->high;
        if (range->isLog && range->isWhole.value_or(false)) {
            const double doublings = std::ceil(std::log2(range->high - range->low + 1)) + 1;
            m_count = std::min(m_count, static_cast<std::size_t>(doublings));
        }
        m_low = scaled(range->low);
        m_step = (scaled(high) - m_low) / static_cast<double>(m_count - 1);
    }

    CellCounts count(std::span<const double> values) const {
        CellCounts counts(m_count, 0);
        for (const double each : values) ++counts[at(each)];
        return counts;
    }
    CellShares spread(const CellCounts& counts) const {
        CellShares shares = m_isChoice ? spreadOfChoices(counts) : spreadOfNumbers(counts);
        for (double& each : shares) each += kFloor;
        return shares;
    }

private:
    double scaled(double value) const { return m_isLog ? std::log(value) : value; }
    std::size_t at(double value) const {
        if (m_isChoice) return static_cast<std::size_t>(value);
        const double nearest = std::ceil((scaled(value) - m_low) / m_step - 0.5);  // the lower one of two
        return static_cast<std::size_t>(std::clamp(nearest, 0.0, static_cast<double>(m_count - 1)));
    }

    std::size_t m_count = 0;
    bool m_isChoice = false, m_isLog = false;
    double m_low = 0, m_step = 1;
};

double pearsonDivergence(const CellShares& of, const CellShares& from) {
    double sum = 0;
    for (std::size_t i = 0; i < of.size(); ++i) sum += from[i] * std::pow(of[i] / from[i] - 1, 2);
    return sum;
}

// The best of this share, and those that came to the same as the last of them.
std::vector<const Tried*> bestOf(std::vector<const Tried*> tried, double share) {
    const auto wanted = static_cast<std::ptrdiff_t>(std::ceil(share * static_cast<double>(tried.size())));
    if (share >= 1 || wanted < 1) return tried;
    std::ranges::nth_element(tried, tried.begin() + (wanted - 1), {}, &Tried::loss);
    const double last = tried[static_cast<std::size_t>(wanted - 1)]->loss;
    std::erase_if(tried, [&](const Tried* each) { return each->loss > last; });
    return tried;
}

std::vector<double> coordinates(const Dimension& dimension, const std::vector<const Tried*>& tried) {
    std::vector<double> found;
    for (const Tried* each : tried) {
        if (const auto value = coordinate(dimension, each->settings)) found.push_back(*value);
    }
    return found;
}

double importanceOf(const Dimension& dimension, const std::vector<const Tried*>& best,
                    const std::vector<const Tried*>& region, bool isLocal) {
    if (!isVaried(dimension)) return 0;
    const auto ofBest = coordinates(dimension, best), ofRegion = coordinates(dimension, region);
    if (ofBest.empty() || ofRegion.size() < 2) return 0;
    const PedCells cells(dimension);
    const CellShares top = cells.spread(cells.count(ofBest));
    const CellShares all =
        isLocal ? cells.spread(cells.count(ofRegion)) : CellShares(top.size(), partOf(1, top.size()));
    const double a = partOf(ofBest.size(), best.size()), b = partOf(ofRegion.size(), region.size());
    return a * a / b * pearsonDivergence(top, all) * std::pow(partOf(best.size(), region.size()), 2);
}

ImportanceVerdict verdictOf(std::span<const Dimension> dimensions, const PedAnova& found, std::size_t region) {
    if (std::ranges::none_of(dimensions, isVaried)) return ImportanceVerdict::NothingVaried;
    if (found.tried < kFewestTried) return ImportanceVerdict::TooFewTried;
    if (found.best == region) return ImportanceVerdict::AllAlike;
    return found.best < kFewestBest ? ImportanceVerdict::TooFewBest : ImportanceVerdict::Sound;
}

}  // namespace

std::vector<double> PedAnova::shares() const {
    const double sum = std::accumulate(importances.begin(), importances.end(), 0.0);
    std::vector<double> shares = importances;
    for (double& each : shares) each = sum > 0 ? each / sum : 0;
    return shares;
}

PedAnova pedAnova(std::span<const Dimension> dimensions, std::span<const Tried> tried, const PedAnovaOptions& options) {
    std::vector<const Tried*> finite;
    for (const Tried& each : tried) {
        if (std::isfinite(each.loss)) finite.push_back(&each);
    }
    const auto region = bestOf(finite, options.region), best = bestOf(finite, options.target);
    PedAnova found{.tried = finite.size(), .best = best.size()};
    for (const Dimension& each : dimensions)
        found.importances.push_back(finite.size() < 2 ? 0 : importanceOf(each, best, region, options.isLocal));
    found.verdict = verdictOf(dimensions, found, region.size());
    return found;
}

}  // namespace lockstep
