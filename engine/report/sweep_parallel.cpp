#include <algorithm>
#include <cmath>

#include "engine/report/markup.h"
#include "engine/report/svg_parts.h"
#include "engine/report/sweep_axis.h"
#include "engine/report/sweep_chart.h"
#include "engine/spec/metric_text.h"

// All cells as lines over the axes of their settings, to what they came to.

namespace lockstep::report {

namespace {

constexpr double kAxisHeight = 250, kAxisLeft = 46, kAxisRight = 112, kTurnedRight = 146, kLeastGap = 56, kSlot = 20,
                 kFirstSlot = 24;
constexpr std::size_t kMostUpright = 6, kMostAxes = 16, kFewCells = 150, kColouredOfMany = 60, kAxisName = 22,
                      kTickName = 12;
constexpr double kTurn = -28;

struct DrawnCell {
    const ReportedCell* cell = nullptr;
    CellOutcome outcome = {};
    double goodness = 0;  // 0 too where there is no value
    double order = 0;     // among all, 0 worst, 1 best
};

// Worst first, so that the best are on top; those without a value before them.
std::vector<DrawnCell> drawnCells(const SweepFacts& facts, const ObjectiveRange& range) {
    std::vector<DrawnCell> drawn;
    for (const ReportedCell& each : facts.cells) {
        const CellOutcome outcome = outcomeOf(each);
        if (outcome.outcome == Outcome::None) continue;
        drawn.push_back({&each, outcome, outcome.value ? range.goodness(*outcome.value) : 0});
    }
    std::ranges::stable_sort(drawn, [&](const DrawnCell& a, const DrawnCell& b) {
        if (!a.outcome.value || !b.outcome.value) return !a.outcome.value && b.outcome.value;
        return isBetter(*facts.objective, *b.outcome.value, *a.outcome.value);
    });
    for (std::size_t i = 0; i < drawn.size(); ++i)
        drawn[i].order = static_cast<double>(i + 1) / static_cast<double>(drawn.size());
    return drawn;
}

class ParallelChart {
public:
    ParallelChart(const SweepFacts& facts, const SweepAnswers& answers)
        : m_facts(facts), m_range(*answers.range), m_cells(drawnCells(facts, m_range)) {
        for (const std::size_t each : answers.settings) {
            if (!isVaried(facts.spec.vary[each]) || m_axes.size() == kMostAxes) continue;
            m_axes.emplace_back(facts.spec.vary[each]);
            m_names.push_back(shortened(settingName(facts.spec, each), kAxisName));
        }
        const auto gaps = static_cast<double>(m_axes.size());
        m_isTurned = m_axes.size() > kMostUpright;
        const double right = m_isTurned ? kTurnedRight : kAxisRight;
        m_gap = std::max(kLeastGap, (kWide - kAxisLeft - right) / std::max(gaps, 1.0));
        m_width = kAxisLeft + m_gap * gaps + right;
        m_coloured = m_cells.size() <= kFewCells ? m_cells.size() : kColouredOfMany;
        m_top = svg::kTitleHeight + (m_isTurned ? 78 : 24);
        findSlots();
    }

    std::string svg() const {
        std::string body;
        for (std::size_t i = 0; i < m_cells.size(); ++i) body += lineOf(m_cells[i], m_cells.size() - i <= m_coloured);
        for (std::size_t i = 0; i < m_axes.size(); ++i) body += axis(i);
        body += objectiveAxis();
        const double y = bottom() + (m_slots > 0 ? kFirstSlot + kSlot * (m_slots - 1) : 0) + 24;
        return svg::picture(m_width, y + 26, "Cells by their settings", body + keys(y), sweepStyle());
    }

private:
    bool isMany() const { return m_coloured < m_cells.size(); }
    double bottom() const { return m_top + kAxisHeight; }
    double across(std::size_t axis) const { return kAxisLeft + m_gap * static_cast<double>(axis); }
    double slot(int at) const { return bottom() + kFirstSlot + kSlot * at; }
    double upTo(double share) const { return bottom() - kAxisHeight * share; }

    // Which rows there are beneath the axes.
    void findSlots() {
        const auto has = [&](Outcome outcome) {
            return std::ranges::any_of(m_cells, [&](const DrawnCell& each) { return each.outcome.outcome == outcome; });
        };
        m_hasUnset = std::ranges::any_of(m_cells, [&](const DrawnCell& each) {
            return std::ranges::any_of(m_axes,
                                       [&](const SweepAxis& axis) { return !axis.placeOf(each.cell->settings); });
        });
        m_hasFailed = has(Outcome::Failed), m_hasDiverged = has(Outcome::Diverged), m_hasCut = has(Outcome::CutShort);
        m_slots = m_hasFailed && m_hasDiverged ? 2 : m_hasUnset || m_hasFailed || m_hasDiverged ? 1 : 0;
    }

    double heightOnObjective(const DrawnCell& cell) const {
        if (cell.outcome.outcome == Outcome::Failed) return slot(0);
        if (cell.outcome.outcome == Outcome::Diverged) return slot(m_hasFailed ? 1 : 0);
        const ChartScale scale{m_range.low, m_range.high, false, {}};
        if (!(m_range.high > m_range.low)) return upTo(0.5);
        return upTo(std::clamp(scale.place(*cell.outcome.value), 0.0, 1.0));
    }

    double heightOn(const SweepAxis& axis, const DrawnCell& cell) const {
        const auto place = axis.placeOf(cell.cell->settings);
        return place ? upTo(*place + axis.spread() * (2 * cell.order - 1)) : slot(0);
    }

    // The rest stand as a ground, in whole pixels.
    std::string lineOf(const DrawnCell& cell, bool isColoured) const {
        std::string points;
        const auto add = [&](double x, double y) {
            if (!points.empty()) points += ' ';
            points += isColoured ? svg::number(x) + ',' + svg::number(y)
                                 : std::to_string(std::lround(x)) + ',' + std::to_string(std::lround(y));
        };
        for (std::size_t i = 0; i < m_axes.size(); ++i) add(across(i), heightOn(m_axes[i], cell));
        add(across(m_axes.size()), heightOnObjective(cell));
        if (!isColoured) return "<polyline class=\"lk-ln lk-thin lk-faint lk-rest\" points=\"" + points + "\"/>\n";
        const bool isCut = cell.outcome.outcome == Outcome::CutShort;
        const std::string colour = cell.outcome.value ? rampClass(cell.goodness) : "lk-thin lk-bad";
        return "<polyline class=\"lk-ln " + colour + '"' + (isCut ? " stroke-dasharray=\"5 3\"" : "") + " points=\"" +
               points + "\">" + titleElement(wordsOfCell(cell)) + "</polyline>\n";
    }

    std::string wordsOfCell(const DrawnCell& cell) const {
        const std::string value = cell.outcome.value ? metricText(*m_facts.objective, *cell.outcome.value) + ", " : "";
        return "cell " + std::to_string(cell.cell->number) + ": " + value + cell.cell->state + "; " +
               wordsOf(cell.cell->settings);
    }

    std::string nameAt(double x, const std::string& name, bool isBold) const {
        const double y = m_top - 12;
        const std::string look = isBold ? " class=\"lk-c\" font-weight=\"600\"" : " class=\"lk-c\"";
        if (m_isTurned) return svg::textAt(x, y, svg::Anchor::Start, name, look + svg::turned(kTurn, x, y));
        return svg::textAt(x, y, svg::Anchor::Middle, name, look);
    }

    std::string tickAt(double x, double y, const std::string& words) const {
        return svg::lineFrom(x - 3, y, x + 3, y, "lk-a") +
               svg::textAt(x + 6, y + 4, svg::Anchor::Start, shortened(words, kTickName), " class=\"lk-up\"");
    }

    std::string axis(std::size_t at) const {
        const double x = across(at);
        std::string out = nameAt(x, m_names[at], false) + svg::lineFrom(x, m_top, x, bottom(), "lk-a");
        for (const SweepAxis::Tick& each : m_axes[at].ticks(5)) out += tickAt(x, upTo(each.place), each.text);
        const bool isSometimesUnset = std::ranges::any_of(
            m_cells, [&](const DrawnCell& each) { return !m_axes[at].placeOf(each.cell->settings); });
        return out + (isSometimesUnset ? tickAt(x, slot(0), "not set") : "");
    }

    std::string objectiveAxis() const {
        const double x = across(m_axes.size());
        const Metric& metric = *m_facts.objective;
        std::string out = nameAt(x, axisTitle(metric), true) + svg::lineFrom(x, m_top, x, bottom(), "lk-a");
        const ChartScale scale = linearScale(onAxis(metric, m_range.low), onAxis(metric, m_range.high), 6, false);
        const bool hasOne = !(m_range.high > m_range.low);
        for (const double tick : scale.ticks) {
            if (!hasOne) out += tickAt(x, upTo(scale.place(tick)), tickText(scale, tick));
        }
        if (hasOne) out += tickAt(x, upTo(0.5), metricText(metric, m_range.low));
        if (m_hasFailed) out += tickAt(x, slot(0), "failed");
        if (m_hasDiverged) out += tickAt(x, slot(m_hasFailed ? 1 : 0), "diverged");
        return out;
    }

    std::string keys(double y) const {
        double x = 90;
        std::string out;
        if (m_range.high > m_range.low) out += rampKey(x, y, m_range, *m_facts.objective), x += 240;
        const auto add = [&](const std::string& line, const std::string& words) {
            out += "<path class=\"lk-ln " + line + " d=\"M" + svg::number(x) + ' ' + svg::number(y + 4) + "h22\"/>\n" +
                   svg::textAt(x + 28, y + 8, svg::Anchor::Start, words);
            x += 50 + svg::kLetter * static_cast<double>(words.size());
        };
        if (m_hasCut) add(rampClass(0.7) + "\" stroke-dasharray=\"5 3\"", "cut short: the best until then");
        if ((m_hasFailed || m_hasDiverged) && !isMany()) add("lk-thin lk-bad\"", "failed");
        if (isMany()) add("lk-rest\"", "behind the " + std::to_string(m_coloured) + " best, and failed");
        return out;
    }

    const SweepFacts& m_facts;
    const ObjectiveRange& m_range;
    const std::vector<DrawnCell> m_cells;
    std::vector<SweepAxis> m_axes;
    std::vector<std::string> m_names;
    bool m_isTurned = false, m_hasUnset = false, m_hasFailed = false, m_hasDiverged = false, m_hasCut = false;
    std::size_t m_coloured = 0;  // the best, where they are many
    int m_slots = 0;
    double m_gap = 0, m_width = 0, m_top = 0;
};

}  // namespace

Blocks sweepParallel(const SweepFacts& facts, const SweepAnswers& answers) {
    if (!answers.range || !std::ranges::any_of(facts.spec.vary, isVaried)) return {};
    return {{Heading{"Settings and what they came to"}},
            {Figure{"parallel", "Parallel coordinates of all cells", ParallelChart(facts, answers).svg()}},
            {Paragraph{"A line is a cell, its repeats together. " +
                       std::string(isKnown(answers) ? "Axes stand in the order of their importance. " : "") +
                       "On an axis of single values better cells stand higher within their value."}}};
}

}  // namespace lockstep::report
