#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lockstep {

// One column of the table that a forest learns from: a number of [0, 1] a row, or the number of a category, from 0.
struct ForestColumn {
    std::vector<double> values;
    bool isCategory = false;
};

// Splits the unit cube into boxes with a value each. Children stand behind their parents.
struct RegressionTree {
    struct Node {
        int column = -1;       // -1: a leaf
        double threshold = 0;  // left: up to it
        std::size_t left = 0, right = 0;
        double value = 0;  // the mean of the targets that fell into it
    };
    std::vector<Node> nodes;  // the root first
    double at(std::span<const double> point) const;
};

struct RegressionForest {
    std::vector<RegressionTree> trees;
    // How much of the targets' variance is predicted by those trees that have not seen them: 1 all, 0 no more than
    // their mean does, less than that of noise. nullopt: there is no variance, or no tree has missed a row.
    std::optional<double> outOfBag;
};

// Breiman, "Random forests", Machine Learning 45, 2001: each tree from as many rows as there are, drawn with
// replacement, split where the variance falls most, among all columns, down to single rows. Categories stand in each
// tree in the order of their means there (Fisher, "On grouping for maximum homogeneity", JASA 53, 1958), equally far
// apart; one that the tree has not met, between them. Pure: the same seed gives the same forest.
RegressionForest growForest(std::span<const ForestColumn> columns, std::span<const double> targets, int trees,
                            std::uint64_t seed);

}  // namespace lockstep
