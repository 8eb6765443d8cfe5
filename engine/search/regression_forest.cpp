#include "engine/search/regression_forest.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "engine/core/random.h"

namespace lockstep {

namespace {

constexpr std::uint64_t kBag = streamOf("forest.bag"), kTies = streamOf("forest.ties");

using ForestRow = std::uint32_t;
using ForestPoints = std::vector<std::vector<double>>;  // by column, then row

// How often each row is in the bag of a tree.
std::vector<double> drawBag(std::size_t rows, const CounterRng& random) {
    std::vector<double> bag(rows, 0.0);
    for (std::size_t i = 0; i < rows; ++i) bag[random.below(rows, static_cast<std::uint32_t>(i))] += 1;
    return bag;
}

// Where the categories of a column stand in [0, 1].
std::vector<double> placesOf(const ForestColumn& column, std::span<const double> targets,
                             const std::vector<double>& bag) {
    struct Mean {
        double sum = 0, count = 0;
        double value() const { return sum / count; }
    };
    std::map<double, Mean> met;
    Mean all;
    for (std::size_t row = 0; row < bag.size(); ++row) {
        if (bag[row] == 0) continue;
        for (Mean* each : {&met[column.values[row]], &all})
            each->sum += bag[row] * targets[row], each->count += bag[row];
    }
    std::vector<std::pair<double, double>> order;  // mean, category
    for (const auto& [category, mean] : met) order.emplace_back(mean.value(), category);
    std::ranges::sort(order);
    const auto count = static_cast<double>(order.size());
    const auto smaller = std::ranges::count_if(order, [&](const auto& each) { return each.first < all.value(); });
    std::map<double, double> places;
    for (std::size_t i = 0; i < order.size(); ++i) places[order[i].second] = (static_cast<double>(i) + 0.5) / count;
    std::vector<double> values;
    for (const double category : column.values)
        values.push_back(places.try_emplace(category, static_cast<double>(smaller) / count).first->second);
    return values;
}

// One tree.
class TreeGrower {
public:
    TreeGrower(const ForestPoints& points, std::span<const double> targets, const std::vector<double>& bag,
               std::uint64_t seed, std::uint64_t number)
        : m_points(points), m_targets(targets), m_bag(bag), m_seed(seed), m_number(number) {
        std::vector<ForestRow> rows;
        for (std::size_t row = 0; row < bag.size(); ++row) {
            if (bag[row] > 0) rows.push_back(static_cast<ForestRow>(row));
        }
        m_order.assign(points.size(), rows);
        for (std::size_t column = 0; column < points.size(); ++column)
            std::ranges::stable_sort(m_order[column], {}, [&](ForestRow row) { return points[column][row]; });
        m_columns.resize(points.size());
        std::iota(m_columns.begin(), m_columns.end(), std::size_t{0});
        m_goesLeft.resize(bag.size());
    }

    RegressionTree grow() {
        m_tree.nodes.emplace_back();
        std::vector<Open> open{{0, 0, m_order.front().size()}};
        while (!open.empty()) {
            const Open at = open.back();
            open.pop_back();
            m_tree.nodes[at.node].value = meanOf(at);
            const auto split = isPure(at) ? std::nullopt : bestSplit(at);
            if (!split) continue;
            const std::size_t middle = divide(at, *split), left = m_tree.nodes.size();
            m_tree.nodes[at.node].column = static_cast<int>(split->column);
            m_tree.nodes[at.node].threshold = split->threshold;
            m_tree.nodes[at.node].left = left, m_tree.nodes[at.node].right = left + 1;
            m_tree.nodes.resize(left + 2);
            open.push_back({left, at.begin, middle});
            open.push_back({left + 1, middle, at.end});
        }
        return std::move(m_tree);
    }

private:
    struct Open {  // a node whose rows are a part of each column's order
        std::size_t node = 0, begin = 0, end = 0;
    };
    struct Split {
        std::size_t column = 0, place = 0;  // the first row of the right side
        double threshold = 0, gain = 0;
    };
    struct Sum {
        double targets = 0, count = 0;
    };

    Sum sumOf(const Open& at) const {
        Sum sum;
        for (std::size_t i = at.begin; i < at.end; ++i) add(sum, m_order.front()[i]);
        return sum;
    }
    void add(Sum& sum, ForestRow row) const { sum.targets += m_bag[row] * m_targets[row], sum.count += m_bag[row]; }
    double meanOf(const Open& at) const {
        const Sum sum = sumOf(at);
        return sum.targets / sum.count;
    }
    bool isPure(const Open& at) const {
        const auto& rows = m_order.front();
        return std::all_of(rows.begin() + static_cast<std::ptrdiff_t>(at.begin),
                           rows.begin() + static_cast<std::ptrdiff_t>(at.end),
                           [&](ForestRow row) { return m_targets[row] == m_targets[rows[at.begin]]; });
    }

    // Among columns that split equally well chance decides; of few rows all do.
    std::optional<Split> bestSplit(const Open& at) {
        const CounterRng random(m_seed, kTies, m_number, at.node);
        for (std::size_t i = m_columns.size(); i > 1; --i)
            std::swap(m_columns[i - 1], m_columns[random.below(i, static_cast<std::uint32_t>(i))]);
        const Sum all = sumOf(at);
        std::optional<Split> best;
        for (const std::size_t column : m_columns) look(at, all, column, best);
        return best;
    }
    void look(const Open& at, const Sum& all, std::size_t column, std::optional<Split>& best) const {
        const auto& order = m_order[column];
        const auto& points = m_points[column];
        Sum left;
        for (std::size_t i = at.begin; i + 1 < at.end; ++i) {
            add(left, order[i]);
            const double here = points[order[i]], next = points[order[i + 1]];
            if (!(here < next)) continue;
            const double right = all.targets - left.targets;
            const double gain = left.targets * left.targets / left.count + right * right / (all.count - left.count);
            if (best && gain <= best->gain) continue;
            const double middle = here + (next - here) / 2;
            best = Split{.column = column, .place = i + 1, .threshold = middle < next ? middle : here, .gain = gain};
        }
    }

    // The order on both sides stays as it was. Returns where the right side begins.
    std::size_t divide(const Open& at, const Split& split) {
        for (std::size_t i = at.begin; i < at.end; ++i) m_goesLeft[m_order[split.column][i]] = i < split.place;
        for (auto& order : m_order) {
            m_right.clear();
            std::size_t kept = at.begin;
            for (std::size_t i = at.begin; i < at.end; ++i) {
                if (m_goesLeft[order[i]]) order[kept++] = order[i];
                else m_right.push_back(order[i]);
            }
            std::ranges::copy(m_right, order.begin() + static_cast<std::ptrdiff_t>(kept));
        }
        return split.place;
    }

    const ForestPoints& m_points;
    std::span<const double> m_targets;
    const std::vector<double>& m_bag;
    std::uint64_t m_seed, m_number;
    std::vector<std::vector<ForestRow>> m_order;  // by column: the rows of the bag, and within a node by their values
    std::vector<std::size_t> m_columns;
    std::vector<char> m_goesLeft;  // by row
    std::vector<ForestRow> m_right;
    RegressionTree m_tree;
};

// What the trees that have not seen a row predict of it.
struct OutOfBag {
    std::vector<double> sums, counts;
    explicit OutOfBag(std::size_t rows) : sums(rows, 0.0), counts(rows, 0.0) {}

    void add(const RegressionTree& tree, const ForestPoints& points, const std::vector<double>& bag) {
        std::vector<double> point(points.size());
        for (std::size_t row = 0; row < bag.size(); ++row) {
            if (bag[row] > 0) continue;
            for (std::size_t column = 0; column < points.size(); ++column) point[column] = points[column][row];
            sums[row] += tree.at(point), counts[row] += 1;
        }
    }
    std::optional<double> explained(std::span<const double> targets) const {
        double mean = 0, count = 0, error = 0, variance = 0;
        for (std::size_t row = 0; row < targets.size(); ++row) {
            if (counts[row] > 0) mean += targets[row], count += 1;
        }
        for (std::size_t row = 0; row < targets.size(); ++row) {
            if (counts[row] == 0) continue;
            const double missed = targets[row] - sums[row] / counts[row], apart = targets[row] - mean / count;
            error += missed * missed, variance += apart * apart;
        }
        return variance > 0 ? std::optional(1 - error / variance) : std::nullopt;
    }
};

}  // namespace

double RegressionTree::at(std::span<const double> point) const {
    std::size_t node = 0;
    while (nodes[node].column >= 0) {
        const Node& each = nodes[node];
        node = point[static_cast<std::size_t>(each.column)] <= each.threshold ? each.left : each.right;
    }
    return nodes[node].value;
}

RegressionForest growForest(std::span<const ForestColumn> columns, std::span<const double> targets, int trees,
                            std::uint64_t seed) {
    RegressionForest forest;
    if (columns.empty() || targets.empty()) return forest;
    OutOfBag unseen(targets.size());
    for (int number = 0; number < trees; ++number) {
        const auto tree = static_cast<std::uint64_t>(number);
        const auto bag = drawBag(targets.size(), CounterRng(seed, kBag, tree, 0));
        ForestPoints points;
        for (const ForestColumn& each : columns)
            points.push_back(each.isCategory ? placesOf(each, targets, bag) : each.values);
        forest.trees.push_back(TreeGrower(points, targets, bag, seed, tree).grow());
        unseen.add(forest.trees.back(), points, bag);
    }
    forest.outOfBag = unseen.explained(targets);
    return forest;
}

}  // namespace lockstep
