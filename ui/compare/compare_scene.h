#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "ui/compare/compare_table.h"

namespace lockstep::ui {

// What every view of a comparison shows at one moment: a plain value that does not change. A brush makes another one
// around the same table.
struct CompareScene {
    std::shared_ptr<const CompareTable> table;      // never null
    std::shared_ptr<const SweepResult> sweep = {};  // that is compared; null: trials of the list
    std::vector<bool> passes = {};                  // by row of the table: what the brushes leave
    std::vector<std::size_t> ranking = {};          // of all rows, the best first; see CompareTable::ranking()
    std::optional<double> target = std::nullopt;    // of the objective, that a person set
    std::vector<double> importance = {};            // by axis of the table, 0 … 1; empty: not known yet

    std::size_t passing() const;  // how many rows the brushes leave
};
using SharedScene = std::shared_ptr<const CompareScene>;

}  // namespace lockstep::ui
