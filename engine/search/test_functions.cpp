#include "engine/search/test_functions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <numbers>

namespace lockstep {

namespace {

constexpr double kNoLoss = std::numeric_limits<double>::quiet_NaN();

double branin(const std::vector<double>& x) {
    constexpr double kPi = std::numbers::pi;
    const double bent = x[1] - 5.1 / (4 * kPi * kPi) * x[0] * x[0] + 5 / kPi * x[0] - 6;
    return bent * bent + 10 * (1 - 1 / (8 * kPi)) * std::cos(x[0]) + 10;
}

double hartmann6(const std::vector<double>& x) {
    constexpr std::array<double, 4> kHeights{1, 1.2, 3, 3.2};
    constexpr double kSlopes[4][6] = {
        {10, 3, 17, 3.5, 1.7, 8}, {0.05, 10, 17, 0.1, 8, 14}, {3, 3.5, 1.7, 10, 17, 8}, {17, 8, 0.05, 10, 0.1, 14}};
    constexpr double kMiddles[4][6] = {{0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886},
                                       {0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991},
                                       {0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650},
                                       {0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381}};
    double sum = 0;
    for (std::size_t i = 0; i < kHeights.size(); ++i) {
        double distance = 0;
        for (std::size_t j = 0; j < x.size(); ++j)
            distance += kSlopes[i][j] * (x[j] - kMiddles[i][j]) * (x[j] - kMiddles[i][j]);
        sum -= kHeights[i] * std::exp(-distance);
    }
    return sum;
}

std::optional<double> numberWritten(std::string_view text) {
    double number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

const Setting* settingOf(const Cell& cell, const std::string& path) {
    const auto found = std::ranges::find(cell, path, &Setting::path);
    return found == cell.end() ? nullptr : &*found;
}

// Of numbers "x1", "x2"…
TestFunction numeric(std::string_view name, const std::vector<NumberRange>& ranges,
                     double (*value)(const std::vector<double>& x)) {
    TestFunction function{std::string(name), {}, {}};
    for (std::size_t i = 0; i < ranges.size(); ++i)
        function.domain.push_back({"x" + std::to_string(i + 1), ranges[i], {}});
    function.loss = [domain = function.domain, value](const Cell& cell) {
        std::vector<double> x;
        for (const Dimension& each : domain) {
            const Setting* set = settingOf(cell, each.path);
            x.push_back(set ? numberOf(set->value).value_or(kNoLoss) : kNoLoss);
        }
        return value(x);
    };
    function.whyNone = [function = function.name, domain = function.domain](const Cell& cell) {
        for (const Dimension& each : domain) {
            const Setting* set = settingOf(cell, each.path);
            if (!set || !numberOf(set->value))
                return Problem{function, "search.not-a-number", {each.path, set ? text(set->value) : ""}};
        }
        return Problem{function, "search.no-finite-value", {wordsOf(cell)}};
    };
    return function;
}

void trim(std::string& cell) {
    constexpr const char* kBlanks = " \t\r";
    cell.erase(std::min(cell.find_last_not_of(kBlanks) + 1, cell.size()));
    cell.erase(0, std::min(cell.find_first_not_of(kBlanks), cell.size()));
}

struct Table {
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> rows;
};

std::size_t lineOf(std::size_t row) { return row + 2; }  // behind the names

Result<Table> tableIn(std::vector<std::vector<std::string>> rows, const std::string& fileName) {
    for (auto& row : rows) std::ranges::for_each(row, trim);
    if (rows.size() < 2 || rows.front().size() < 2) return Problem{fileName, "search.table-empty", {}};
    Table table{.header = std::move(rows.front()), .rows = {}};
    table.rows.assign(std::make_move_iterator(rows.begin() + 1), std::make_move_iterator(rows.end()));
    return table;
}

ParamValue valueWritten(const std::string& text) {
    std::int64_t whole = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), whole);
    if (failed == std::errc() && end == text.data() + text.size()) return whole;
    if (const auto number = numberWritten(text)) return *number;
    return text;
}

// Numbers in order; else as they come.
Dimension columnOf(const Table& table, std::size_t column) {
    ChoiceOfValues values;
    for (const auto& row : table.rows) {
        ParamValue value = valueWritten(row[column]);
        if (std::ranges::find(values, value) == values.end()) values.push_back(std::move(value));
    }
    if (std::ranges::all_of(values, [](const auto& each) { return numberOf(each).has_value(); }))
        std::ranges::sort(values, {}, [](const auto& each) { return *numberOf(each); });
    return {table.header[column], std::move(values), {}};
}

bool isWritten(const std::string& written, const Setting* set) {
    if (!set) return written.empty();
    const auto number = numberOf(set->value), other = numberWritten(written);
    return number && other ? *number == *other : written == text(set->value);
}

// The number of rows: none.
std::size_t rowOf(const Table& table, const Cell& cell) {
    for (std::size_t at = 0; at < table.rows.size(); ++at) {
        const auto& row = table.rows[at];
        bool isRow = true;
        for (std::size_t i = 0; i + 1 < row.size() && isRow; ++i)
            isRow = isWritten(row[i], settingOf(cell, table.header[i]));
        if (isRow) return at;
    }
    return table.rows.size();
}

double lossIn(const Table& table, const Cell& cell) {
    const std::size_t row = rowOf(table, cell);
    return row < table.rows.size() ? numberWritten(table.rows[row].back()).value_or(kNoLoss) : kNoLoss;
}

Problem whyNoneIn(const Table& table, const std::string& fileName, const Cell& cell) {
    const std::size_t row = rowOf(table, cell);
    if (row < table.rows.size())
        return {fileName,
                "search.table-no-loss",
                {std::to_string(lineOf(row)), table.header.back(), table.rows[row].back(), wordsOf(cell)}};
    std::string columns;
    for (std::size_t i = 0; i + 1 < table.header.size(); ++i) columns += (i > 0 ? ", " : "") + table.header[i];
    return {fileName, "search.table-no-cell", {wordsOf(cell), columns}};
}

// Two numbers are the same however they are written.
std::vector<ParamValue> settingsIn(const std::vector<std::string>& row) {
    std::vector<ParamValue> settings;
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
        const auto number = numberWritten(row[i]);
        settings.push_back(number ? ParamValue(*number) : ParamValue(row[i]));
    }
    return settings;
}

std::optional<Problem> problemOfTwins(const Table& table, const std::string& fileName) {
    std::map<std::vector<ParamValue>, std::size_t> lines;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        const auto [twin, isNew] = lines.emplace(settingsIn(table.rows[i]), lineOf(i));
        if (!isNew)
            return Problem{fileName, "search.table-twice", {std::to_string(twin->second), std::to_string(lineOf(i))}};
    }
    return std::nullopt;
}

}  // namespace

std::optional<TestFunction> testFunction(std::string_view name) {
    if (name == "branin") return numeric(name, {{-5, 10}, {0, 15}}, branin);
    if (name == "hartmann6") return numeric(name, std::vector<NumberRange>(6), hartmann6);
    return std::nullopt;
}

Result<TestFunction> tableFunction(std::vector<std::vector<std::string>> rows, const std::string& fileName) {
    auto read = tableIn(std::move(rows), fileName);
    if (!read.ok()) return read.problems();
    if (auto problem = problemOfTwins(read.value(), fileName)) return std::move(*problem);
    TestFunction function{fileName, {}, {}};
    function.lossColumn = read.value().header.back();
    for (std::size_t i = 0; i < read.value().rows.size(); ++i) {
        if (!std::isfinite(numberWritten(read.value().rows[i].back()).value_or(kNoLoss)))
            function.linesWithoutLoss.push_back(lineOf(i));
    }
    for (std::size_t i = 0; i + 1 < read.value().header.size(); ++i)
        function.domain.push_back(columnOf(read.value(), i));
    const auto table = std::make_shared<const Table>(std::move(read).value());
    function.loss = [table](const Cell& cell) { return lossIn(*table, cell); };
    function.whyNone = [table, fileName](const Cell& cell) { return whyNoneIn(*table, fileName, cell); };
    return function;
}

}  // namespace lockstep
