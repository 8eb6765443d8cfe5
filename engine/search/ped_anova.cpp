#include "engine/search/ped_anova.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>

#include "engine/core/random.h"

namespace lockstep {

namespace {

constexpr double kNarrowest = 0.5 / 1.64;  // cells: nine tenths of such a kernel lie in its own
constexpr double kFloor = 1e-12;           // of a probability that something is divided by

constexpr int kChanceDraws = 39;  // of which none may reach what was found: one in forty would

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

// From the first quartile to the third.
double quartilesApart(const CellCounts& counts) {
    const std::int64_t all = countOf(counts);
    std::optional<std::size_t> first, third;
    std::size_t last = 0;
    std::int64_t below = 0;
    for (std::size_t cell = 0; cell < counts.size(); ++cell) {
        if (counts[cell] == 0) continue;
        below += counts[cell], last = cell;
        if (!first && below >= all / 4) first = cell;
        if (!third && below > all * 3 / 4) third = cell;
    }
    return static_cast<double>(third.value_or(last) - first.value_or(last));
}

// Scott's rule for values that are whole numbers: D. W. Scott, Multivariate Density Estimation, 1992.
double scottWidth(const CellCounts& counts) {
    const auto all = static_cast<double>(countOf(counts));
    double mean = 0, squares = 0;
    for (std::size_t cell = 0; cell < counts.size(); ++cell)
        mean += static_cast<double>(counts[cell]) * static_cast<double>(cell) / all;
    for (std::size_t cell = 0; cell < counts.size(); ++cell)
        squares += static_cast<double>(counts[cell]) * std::pow(static_cast<double>(cell) - mean, 2);
    const double deviation = std::sqrt(squares / std::max(1.0, all - 1));
    const double width = 1.059 * std::min(quartilesApart(counts) / 1.34, deviation) * std::pow(all, -0.2);
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

    CellShares spread(const CellCounts& counts) const {
        CellShares shares = m_isChoice ? spreadOfChoices(counts) : spreadOfNumbers(counts);
        for (double& each : shares) each += kFloor;
        return shares;
    }

    std::size_t size() const { return m_count; }
    std::size_t at(double value) const {
        if (m_isChoice) return static_cast<std::size_t>(value);
        const double nearest = std::ceil((scaled(value) - m_low) / m_step - 0.5);  // the lower one of two
        return nearest > 0 ? static_cast<std::size_t>(std::min(nearest, static_cast<double>(m_count - 1))) : 0;
    }

private:
    double scaled(double value) const { return m_isLog ? std::log(value) : value; }

    std::size_t m_count = 0;
    bool m_isChoice = false, m_isLog = false;
    double m_low = 0, m_step = 1;
};

double pearsonDivergence(const CellShares& of, const CellShares& from) {
    double sum = 0;
    for (std::size_t i = 0; i < of.size(); ++i) sum += from[i] * std::pow(of[i] / from[i] - 1, 2);
    return sum;
}

// The loss of the last of the best of this share.
double lastLoss(std::vector<double> losses, double share) {
    const auto wanted = static_cast<std::ptrdiff_t>(std::ceil(share * static_cast<double>(losses.size())));
    const auto last = losses.begin() + std::max<std::ptrdiff_t>(wanted - 1, 0);
    std::ranges::nth_element(losses, last);
    return *last;
}

// What is compared.
struct PedSample {
    std::vector<const Tried*> region = {};
    std::vector<std::size_t> best = {};  // numbers in it
    std::size_t tried = 0;               // that have a loss
};
PedSample sampleOf(std::span<const Tried> tried, const PedAnovaOptions& options) {
    std::vector<double> losses;
    for (const Tried& each : tried) {
        if (std::isfinite(each.loss)) losses.push_back(each.loss);
    }
    if (losses.empty()) return {};
    PedSample sample{.tried = losses.size()};
    const double lastOfBest = lastLoss(losses, options.target), lastOfRegion = lastLoss(losses, options.region);
    for (const Tried& each : tried) {
        if (!std::isfinite(each.loss) || each.loss > lastOfRegion) continue;
        if (each.loss <= lastOfBest) sample.best.push_back(sample.region.size());
        sample.region.push_back(&each);
    }
    return sample;
}

// A setting in the region.
class PedSetting {
public:
    PedSetting(const Dimension& dimension, const std::vector<const Tried*>& region, bool isLocal)
        : m_cells(dimension), m_region(region.size()) {
        for (const Tried* each : region) {
            const auto value = coordinateOf(dimension, each->cell);
            m_at.push_back(value ? static_cast<std::ptrdiff_t>(m_cells.at(*value)) : kUnset);
        }
        CellCounts counts(m_cells.size(), 0);
        for (const std::ptrdiff_t at : m_at) {
            if (at != kUnset) ++counts[static_cast<std::size_t>(at)], ++m_set;
        }
        if (m_set < 2) return;
        m_all = isLocal ? m_cells.spread(counts) : CellShares(m_cells.size(), partOf(1, m_cells.size()));
    }

    // `best`: numbers in the region.
    double importance(std::span<const std::size_t> best) const {
        CellCounts counts(m_cells.size(), 0);
        std::size_t set = 0;
        for (const std::size_t each : best) {
            if (m_at[each] != kUnset) ++counts[static_cast<std::size_t>(m_at[each])], ++set;
        }
        if (set == 0 || m_set < 2) return 0;
        const double a = partOf(set, best.size()), b = partOf(m_set, m_region);
        return a * a / b * pearsonDivergence(m_cells.spread(counts), m_all) *
               std::pow(partOf(best.size(), m_region), 2);
    }

private:
    static constexpr std::ptrdiff_t kUnset = -1;

    PedCells m_cells;
    std::size_t m_region = 0, m_set = 0;  // of the region: all, and those that set it
    std::vector<std::ptrdiff_t> m_at;     // cells, by number in the region
    CellShares m_all;
};

std::vector<double> importancesOf(const std::vector<PedSetting>& settings, std::span<const std::size_t> best) {
    std::vector<double> importances;
    for (const PedSetting& each : settings) importances.push_back(each.importance(best));
    return importances;
}

// How often as many others, drawn from the region, make as much of a setting. Settings are measured by what is
// made of them on average, and the one that stands out most counts.
int reachedByChance(const std::vector<PedSetting>& settings, const std::vector<double>& found, std::size_t best,
                    std::size_t region) {
    std::vector<std::vector<double>> drawn;
    std::vector<double> usual = found;  // the sums of all, this one included: it is to be like any other
    std::vector<std::size_t> order(region);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (int draw = 0; draw < kChanceDraws; ++draw) {
        const CounterRng random(0, streamOf("ped-anova.chance"), static_cast<std::uint64_t>(draw), 0);
        for (std::size_t i = 0; i < best; ++i)
            std::swap(order[i], order[i + random.below(region - i, static_cast<std::uint32_t>(i))]);
        drawn.push_back(importancesOf(settings, std::span(order).first(best)));
        for (std::size_t i = 0; i < usual.size(); ++i) usual[i] += drawn.back()[i];
    }
    const auto outstanding = [&](const std::vector<double>& importances) {
        double most = 0;
        for (std::size_t i = 0; i < usual.size(); ++i)
            most = std::max(most, usual[i] > 0 ? importances[i] / usual[i] : 0);
        return most;
    };
    const double reached = outstanding(found);
    return static_cast<int>(
        std::ranges::count_if(drawn, [&](const auto& each) { return outstanding(each) >= reached; }));
}

ImportanceVerdict verdictOf(const std::vector<PedSetting>& settings, const std::vector<double>& importances,
                            const PedSample& sample) {
    const std::size_t best = sample.best.size(), region = sample.region.size();
    if (settings.empty()) return ImportanceVerdict::NothingVaried;
    if (sample.tried < kFewestTried) return ImportanceVerdict::TooFewTried;
    if (best == region) return ImportanceVerdict::AllAlike;
    const bool isChance = reachedByChance(settings, importances, best, region) > 0;
    return isChance ? ImportanceVerdict::Chance : ImportanceVerdict::Sound;
}

}  // namespace

std::vector<double> PedAnova::shares() const {
    const double sum = std::accumulate(importances.begin(), importances.end(), 0.0);
    std::vector<double> shares = importances;
    for (double& each : shares) each = sum > 0 ? each / sum : 0;
    return shares;
}

PedAnova pedAnova(std::span<const Dimension> dimensions, std::span<const Tried> tried, const PedAnovaOptions& options) {
    PedAnova found{.importances = std::vector<double>(dimensions.size(), 0.0)};
    const PedSample sample = sampleOf(tried, options);
    found.tried = sample.tried, found.best = sample.best.size();
    std::vector<PedSetting> settings;
    std::vector<std::size_t> places;  // of the settings, among the dimensions
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
        if (!isVaried(dimensions[i])) continue;
        settings.emplace_back(dimensions[i], sample.region, options.isLocal), places.push_back(i);
    }
    const auto importances = importancesOf(settings, sample.best);
    for (std::size_t i = 0; i < places.size(); ++i) found.importances[places[i]] = importances[i];
    found.verdict = verdictOf(settings, importances, sample);
    return found;
}

}  // namespace lockstep
