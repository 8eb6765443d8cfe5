#include "engine/search/fanova.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lockstep {

namespace {

struct LeafInterval {
    double low = 0, high = 1;
    double width() const { return high - low; }
};
using LeafBox = std::vector<LeafInterval>;  // by column

struct TreeLeaf {
    LeafBox box;
    double value = 0, volume = 0;
};

std::vector<TreeLeaf> leavesOf(const RegressionTree& tree, std::size_t columns) {
    struct Open {
        std::size_t node = 0;
        LeafBox box;
    };
    std::vector<Open> open{{0, LeafBox(columns)}};
    std::vector<TreeLeaf> leaves;
    while (!open.empty()) {
        Open at = std::move(open.back());
        open.pop_back();
        const RegressionTree::Node& node = tree.nodes[at.node];
        if (node.column < 0) {
            double volume = 1;
            for (const LeafInterval& each : at.box) volume *= each.width();
            if (volume > 0) leaves.push_back({std::move(at.box), node.value, volume});
            continue;
        }
        const auto column = static_cast<std::size_t>(node.column);
        open.push_back({node.right, at.box});
        open.back().box[column].low = node.threshold;
        at.box[column].high = node.threshold;
        open.push_back({node.left, std::move(at.box)});
    }
    return leaves;
}

double leafMean(const std::vector<TreeLeaf>& leaves) {
    double mean = 0;
    for (const TreeLeaf& each : leaves) mean += each.volume * each.value;
    return mean;
}

double leafVariance(const std::vector<TreeLeaf>& leaves, double mean) {
    double variance = 0;
    for (const TreeLeaf& each : leaves) variance += each.volume * (each.value - mean) * (each.value - mean);
    return variance;
}

// Where a column's intervals begin and end, in order.
std::vector<double> edgesOf(const std::vector<TreeLeaf>& leaves, std::size_t column) {
    std::vector<double> edges{0, 1};
    for (const TreeLeaf& each : leaves) edges.push_back(each.box[column].low);
    std::ranges::sort(edges);
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    return edges;
}

// The variance of the tree's mean over all other columns, which is the same between two edges.
double marginalVariance(const std::vector<TreeLeaf>& leaves, std::size_t column, double mean) {
    const auto edges = edgesOf(leaves, column);
    const auto at = [&](double edge) {
        return static_cast<std::size_t>(std::ranges::lower_bound(edges, edge) - edges.begin());
    };
    std::vector<double> changes(edges.size(), 0.0);  // of that mean, at each edge
    for (const TreeLeaf& each : leaves) {
        const double part = (each.value - mean) * each.volume / each.box[column].width();
        changes[at(each.box[column].low)] += part, changes[at(each.box[column].high)] -= part;
    }
    double apart = 0, variance = 0;
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
        apart += changes[i];
        variance += (edges[i + 1] - edges[i]) * apart * apart;
    }
    return variance;
}

// Around 0 and no further from it than 1: their shares are the same, and no square is too large.
std::vector<double> standardised(std::vector<double> losses) {
    const auto scale = [&] {
        double largest = 0;
        for (const double each : losses) largest = std::max(largest, std::abs(each));
        for (double& each : losses) each = largest > 0 ? each / largest : 0;
    };
    scale();
    const double mean = std::reduce(losses.begin(), losses.end()) / static_cast<double>(losses.size());
    for (double& each : losses) each -= mean;
    scale();
    return losses;
}

// The column of a dimension, and how many cells set it.
struct FanovaColumn {
    ForestColumn column;
    std::size_t set = 0;
};
FanovaColumn columnOf(const Dimension& dimension, const std::vector<const Tried*>& tried) {
    const auto* choices = std::get_if<ChoiceOfValues>(&dimension.values);
    FanovaColumn made{{.values = {}, .isCategory = choices != nullptr}};
    for (const Tried* each : tried) {
        const auto value = coordinateOf(dimension, each->cell);
        made.set += value ? 1 : 0;
        if (choices) made.column.values.push_back(value.value_or(static_cast<double>(choices->size() / 2)));
        else made.column.values.push_back(value ? unitPlace(dimension, *value) : 0.5);
    }
    return made;
}

// Over the trees that differ anywhere.
std::vector<FanovaShare> averageShares(const RegressionForest& forest, std::size_t columns) {
    std::vector<double> sums(columns, 0.0), squares(columns, 0.0);
    double count = 0;
    for (const RegressionTree& each : forest.trees) {
        if (each.nodes.size() == 1) continue;
        const auto shares = marginalShares(each, columns);
        count += 1;
        for (std::size_t i = 0; i < columns; ++i) sums[i] += shares[i], squares[i] += shares[i] * shares[i];
    }
    std::vector<FanovaShare> found(columns);
    for (std::size_t i = 0; i < columns && count > 0; ++i) {
        const double mean = sums[i] / count;
        found[i] = {mean, std::sqrt(std::max(squares[i] / count - mean * mean, 0.0))};
    }
    return found;
}

ImportanceVerdict verdictOf(const Fanova& found, std::size_t columns) {
    if (columns == 0) return ImportanceVerdict::NothingVaried;
    if (found.tried < kFewestTried) return ImportanceVerdict::TooFewTried;
    if (!found.outOfBag) return ImportanceVerdict::AllAlike;
    return *found.outOfBag < kLeastOutOfBag ? ImportanceVerdict::Unpredictable : ImportanceVerdict::Sound;
}

}  // namespace

std::vector<double> marginalShares(const RegressionTree& tree, std::size_t columns) {
    std::vector<double> shares(columns, 0.0);
    const auto leaves = leavesOf(tree, columns);
    const double mean = leafMean(leaves), variance = leafVariance(leaves, mean);
    if (!(variance > 0)) return shares;
    for (std::size_t column = 0; column < columns; ++column)
        shares[column] = std::clamp(marginalVariance(leaves, column, mean) / variance, 0.0, 1.0);
    return shares;
}

double Fanova::together() const {
    double rest = 1;
    for (const auto& each : shares) rest -= each ? each->mean : 0;
    return std::max(rest, 0.0);
}

Fanova fanova(std::span<const Dimension> dimensions, std::span<const Tried> tried, std::uint64_t seed, int trees) {
    std::vector<const Tried*> finite;
    std::vector<double> losses;
    for (const Tried& each : tried) {
        if (std::isfinite(each.loss)) finite.push_back(&each), losses.push_back(each.loss);
    }
    Fanova found{.tried = finite.size()};
    std::vector<ForestColumn> columns;
    std::vector<std::size_t> places;  // of the columns, among the dimensions
    for (const Dimension& each : dimensions) {
        auto made = columnOf(each, finite);
        found.shares.push_back(isVaried(each) && made.set < kFewestTried ? std::nullopt : std::optional(FanovaShare{}));
        if (!isVaried(each) || made.set == 0) continue;
        columns.push_back(std::move(made.column));
        places.push_back(found.shares.size() - 1);
    }
    const RegressionForest forest = growForest(columns, standardised(losses), trees, seed);
    const auto shares = averageShares(forest, columns.size());
    for (std::size_t i = 0; i < shares.size(); ++i) {
        if (found.shares[places[i]]) found.shares[places[i]] = shares[i];
    }
    found.outOfBag = forest.outOfBag;
    found.verdict = verdictOf(found, std::ranges::count_if(dimensions, isVaried));
    return found;
}

}  // namespace lockstep
