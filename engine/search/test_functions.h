#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/search/search_space.h"

namespace lockstep {

// A loss that is known without training: what methods are tried on.
struct TestFunction {
    std::string name;
    std::vector<Dimension> domain;                 // where nothing else is varied
    std::function<double(const Cell& cell)> loss;  // not a number: the cell has none
    // Lines of a table (its names are line 1) whose last column, `lossColumn`, is no finite number: they fail.
    std::vector<std::size_t> linesWithoutLoss = {};
    std::string lossColumn = {};
    // Why a cell without a loss has none. Problems, at `name`: "search.not-a-number" of a setting,
    // "search.no-finite-value" of settings that are too far out, and of tables
    // "search.table-no-cell", "search.table-no-loss".
    std::function<Problem(const Cell& cell)> whyNone = {};
    bool isTable() const { return !lossColumn.empty(); }
};

// "branin" of x1 and x2 (Dixon, Szegő, "Towards global optimisation 2", 1978; least 0.397887) and "hartmann6" of x1 to
// x6 (the same; least -3.32237). nullopt: no function has this name.
std::optional<TestFunction> testFunction(std::string_view name);

// A table's rows, each with as many columns, are cells: its first one names settings, and its last column is the loss.
// Blanks around do not count, and numbers count as such; a cell without a row, or whose loss is no number, fails.
// Problems, at `fileName`: "search.table-empty", "search.table-twice".
Result<TestFunction> tableFunction(std::vector<std::vector<std::string>> rows, const std::string& fileName);

}  // namespace lockstep
