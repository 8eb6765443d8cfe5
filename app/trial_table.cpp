#include "app/trial_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "datasets/byte_stream.h"
#include "datasets/csv.h"

namespace lockstep {

namespace {

constexpr std::uint64_t kLargestTable = 64u << 20;

template <class T>
std::optional<T> tableNumber(const std::string& cell) {
    T value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    return error == std::errc() && end == cell.data() + cell.size() ? std::optional(value) : std::nullopt;
}
bool isTableNumber(const std::string& cell) {
    const auto value = tableNumber<double>(cell);
    return value && std::isfinite(*value);
}
bool isTableWhole(const std::string& cell) { return tableNumber<std::int64_t>(cell).has_value(); }

using TableColumn = std::vector<std::string>;

struct TableColumns {
    std::vector<std::string> names;
    std::vector<TableColumn> cells;  // by column
};
TableColumns readTableColumns(const std::filesystem::path& file) {
    const auto bytes = readWhole(file, kLargestTable);
    CsvReader reader({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.string());
    TableColumns columns;
    reader.next(columns.names);
    columns.cells.resize(columns.names.size());
    for (std::vector<std::string> row; reader.next(row);) {
        for (std::size_t i = 0; i < row.size(); ++i) columns.cells[i].push_back(std::move(row[i]));
    }
    return columns;
}

void refuseUnknownColumn(const std::string& name, const TableColumns& columns, const TrialTableOptions& options) {
    if (std::ranges::find(columns.names, name) == columns.names.end())
        throw ProblemError({options.file.string(), "table.no-column", {name}});
}

Dimension tableChoice(const std::string& name, const TableColumn& cells) {
    ChoiceOfValues values;
    for (const std::string& each : cells) {
        if (!each.empty() && std::ranges::find(values, ParamValue(each)) == values.end()) values.emplace_back(each);
    }
    return {name, std::move(values)};
}

Dimension tableDimension(const std::string& name, const TableColumn& cells, const TrialTableOptions& options) {
    const auto isEmpty = [](const std::string& each) { return each.empty(); };
    if (!std::ranges::all_of(cells, [&](const auto& each) { return isEmpty(each) || isTableNumber(each); }))
        return tableChoice(name, cells);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    NumberRange range{.low = kInfinity, .high = -kInfinity};
    for (const std::string& each : cells) {
        if (isEmpty(each)) continue;
        range.low = std::min(range.low, *tableNumber<double>(each)),
        range.high = std::max(range.high, *tableNumber<double>(each));
    }
    range.isLog = std::ranges::find(options.log, name) != options.log.end();
    range.isWhole = std::ranges::all_of(cells, [&](const auto& each) { return isEmpty(each) || isTableWhole(each); });
    if (range.isLog && range.low <= 0) throw ProblemError({options.file.string(), "table.not-log", {name}});
    return {name, range};
}

void addTableSetting(TrialTable& table, const Dimension& dimension, const TableColumn& cells) {
    const bool isChoice = std::holds_alternative<ChoiceOfValues>(dimension.values);
    for (std::size_t row = 0; row < cells.size(); ++row) {
        if (cells[row].empty()) continue;
        const ParamValue value = isChoice ? ParamValue(cells[row]) : ParamValue(*tableNumber<double>(cells[row]));
        table.tried[row].cell.push_back({dimension.path, value});
    }
}

double tableLoss(const std::string& cell, bool isHigherBetter) {
    const double value = tableNumber<double>(cell).value_or(std::numeric_limits<double>::quiet_NaN());
    return isHigherBetter ? -value : value;
}

}  // namespace

TrialTable readTrialTable(const TrialTableOptions& options) {
    const TableColumns columns = readTableColumns(options.file);
    refuseUnknownColumn(options.objective, columns, options);
    for (const std::string& each : options.log) refuseUnknownColumn(each, columns, options);
    TrialTable table;
    table.tried.resize(columns.cells.front().size());
    for (std::size_t i = 0; i < columns.names.size(); ++i) {
        const TableColumn& cells = columns.cells[i];
        if (columns.names[i] == options.objective) {
            for (std::size_t row = 0; row < cells.size(); ++row)
                table.tried[row].loss = tableLoss(cells[row], options.isHigherBetter);
        } else if (!std::ranges::all_of(cells, &std::string::empty)) {
            table.settings.push_back(tableDimension(columns.names[i], cells, options));
            addTableSetting(table, table.settings.back(), cells);
        }
    }
    return table;
}

}  // namespace lockstep
