#include <algorithm>
#include <map>

#include "engine/core/number_text.h"
#include "engine/report/markup.h"
#include "engine/report/sweep_sections.h"
#include "engine/spec/metric_text.h"

// All cells one by one, and why some have nothing to show.

namespace lockstep::report {

namespace {

constexpr std::size_t kOpenCells = 60, kListedTrials = 12, kReasonLength = 90;

std::string numbersOf(const std::vector<std::int64_t>& trials) {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < std::min(trials.size(), kListedTrials); ++i) words.push_back(std::to_string(trials[i]));
    const std::size_t left = trials.size() - words.size();
    return joinedText(words) + (left > 0 ? ", and " + std::to_string(left) + " more" : "");
}

std::string settingCell(const Cell& cell, const std::string& path) {
    const auto found = std::ranges::find(cell, path, &Setting::path);
    return found == cell.end() ? "–" : text(found->value);
}

const CardMessage* firstFailure(const ReportedCell& cell) {
    const auto found =
        std::ranges::find_if(cell.trials, [](const ReportedTrial& each) { return each.failure.has_value(); });
    return found == cell.trials.end() ? nullptr : &*found->failure;
}

std::int64_t furthest(const ReportedCell& cell) {
    std::int64_t epoch = 0;
    for (const ReportedTrial& each : cell.trials) epoch = std::max(epoch, each.epoch);
    return epoch;
}

// The best until then of a cell that has not finished, in brackets.
std::string valueCell(const SweepFacts& facts, const ReportedCell& cell) {
    if (!facts.objective) return "–";
    if (cell.count > 0) return metricText(*facts.objective, cell.mean);
    const CellOutcome outcome = outcomeOf(cell);
    return outcome.value ? '(' + metricText(*facts.objective, *outcome.value) + ')' : "–";
}

class CellsTable {
public:
    explicit CellsTable(const SweepFacts& facts) : m_facts(facts) {}

    Block from(std::size_t begin, std::size_t end) const {
        const std::size_t settings = m_facts.spec.vary.size();
        TextTable table{{"Rank", "Cell"}, {}, settings + 2, settings + 6, true};
        for (std::size_t i = 0; i < settings; ++i) table.header.push_back(settingName(m_facts.spec, i));
        const std::string objective(m_facts.objective ? m_facts.objective->title : "Objective");
        table.header.insert(table.header.end(), {objective, "±\u00a0sd", "n", "Epochs", "Trials", "State"});
        for (std::size_t i = begin; i < end; ++i) table.rows.push_back(row(i));
        return {table};
    }

private:
    std::vector<Line> row(std::size_t rank) const {
        const ReportedCell& cell = m_facts.cells[m_facts.ranking[rank]];
        std::vector<Line> out{cell.count > 0 ? std::to_string(rank + 1) : "–", std::to_string(cell.number)};
        for (const Dimension& each : m_facts.spec.vary) out.emplace_back(settingCell(cell.settings, each.path));
        std::vector<std::int64_t> trials;
        for (const ReportedTrial& each : cell.trials) trials.push_back(each.trial);
        out.emplace_back(valueCell(m_facts, cell));
        out.emplace_back(cell.count > 1 ? deviationText(*m_facts.objective, cell.deviation) : "–");
        for (const std::int64_t each : {cell.count, furthest(cell)}) out.emplace_back(std::to_string(each));
        out.emplace_back(numbersOf(trials));
        const CardMessage* failure = firstFailure(cell);
        out.emplace_back(cell.state + (failure ? ": " + shortened(failure->what, kReasonLength) : ""));
        return out;
    }

    const SweepFacts& m_facts;
};

// Failures of one kind, told by the first of them: others differ in their numbers.
struct FailureKind {
    const CardMessage* first = nullptr;
    std::vector<std::int64_t> trials = {};
};

std::vector<FailureKind> failureKinds(const SweepFacts& facts) {
    std::map<std::string, FailureKind> found;
    for (const ReportedCell& cell : facts.cells) {
        for (const ReportedTrial& trial : cell.trials) {
            if (!trial.failure) continue;
            FailureKind& kind = found[trial.failure->level + '\n' + trial.failure->remedy];
            if (!kind.first) kind.first = &*trial.failure;
            kind.trials.push_back(trial.trial);
        }
    }
    std::vector<FailureKind> kinds;
    for (auto& [name, each] : found) kinds.push_back(std::move(each));
    std::ranges::stable_sort(kinds, std::greater(), [](const FailureKind& each) { return each.trials.size(); });
    return kinds;
}

}  // namespace

Blocks sweepCells(const SweepFacts& facts) {
    Blocks blocks{{Heading{"All cells"}}};
    if (facts.cells.empty()) {
        blocks.push_back({Paragraph{"No cell was suggested."}});
        return blocks;
    }
    const CellsTable table(facts);
    const std::size_t all = facts.ranking.size(), open = all <= kOpenCells + kOpenCells / 2 ? all : kOpenCells;
    blocks.push_back({Paragraph{
        "The best first, by the mean of its trials that finished; then those that came furthest. A value in brackets "
        "is the best of a cell that was cut short, or is under way."}});
    blocks.push_back(table.from(0, open));
    if (open < all)
        blocks.push_back({Folded{"The other " + std::to_string(all - open) + " cells", {table.from(open, all)}}});
    return blocks;
}

Blocks sweepFailures(const SweepFacts& facts) {
    const auto kinds = failureKinds(facts);
    if (kinds.empty()) return {};
    TextTable table{{"Failed", "What the first said", "What helps", "Trials"}, {}};
    for (const FailureKind& each : kinds)
        table.rows.push_back(
            {countText(std::ssize(each.trials)), each.first->what, each.first->remedy, numbersOf(each.trials)});
    return {{Heading{"What failed, and why"}}, {table}};
}

}  // namespace lockstep::report
