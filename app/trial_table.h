#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "engine/search/importance.h"

namespace lockstep {

// Trials from elsewhere: a CSV file with a name over each column.
struct TrialTable {
    std::vector<Dimension> settings;
    std::vector<Tried> tried;
};
struct TrialTableOptions {
    std::filesystem::path file;
    std::string objective;         // the column of what they came to; where it holds no number, the loss is none
    bool isHigherBetter = false;   //
    std::vector<std::string> log;  // columns on a log scale
};

// Every other column is a setting, whose range is that of its numbers, whole ones where all are; a column with any
// other text is a choice. An empty cell does not set it, and a column without any text is passed over. Throws
// ProblemError: of CsvReader, "file.unreadable", "table.no-column", "table.not-log".
TrialTable readTrialTable(const TrialTableOptions& options);

}  // namespace lockstep
