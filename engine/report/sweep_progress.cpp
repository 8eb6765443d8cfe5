#include <algorithm>
#include <cmath>

#include "engine/core/number_text.h"
#include "engine/report/svg_parts.h"
#include "engine/report/sweep_chart.h"
#include "engine/spec/metric_text.h"

// What each trial came to, in the order in which they were made, and the best so far.

namespace lockstep::report {

namespace {

constexpr double kProgressHeight = 210, kProgressRight = 20, kKeyRow = 18;
constexpr std::size_t kManyTrials = 300;

struct MadeTrial {
    const ReportedTrial* trial = nullptr;
    const ReportedCell* cell = nullptr;
    bool isFinished() const { return trial->state == RunState::Finished && trial->value; }
};

std::vector<MadeTrial> madeTrials(const SweepFacts& facts) {
    std::vector<MadeTrial> made;
    for (const ReportedCell& cell : facts.cells) {
        for (const ReportedTrial& trial : cell.trials) made.push_back({&trial, &cell});
    }
    std::ranges::stable_sort(made, {}, [](const MadeTrial& each) { return each.trial->trial; });
    return made;
}

std::string wordsOfMade(const MadeTrial& made, const Metric& metric) {
    const ReportedTrial& trial = *made.trial;
    return "trial " + std::to_string(trial.trial) + ": " + (trial.value ? metricText(metric, *trial.value) : "–") +
           (made.isFinished() ? "" : " by epoch " + std::to_string(trial.epoch)) + "; " + wordsOf(made.cell->settings);
}

class ProgressChart {
public:
    ProgressChart(const SweepFacts& facts, const std::vector<MadeTrial>& made, const ObjectiveRange& range)
        : m_metric(*facts.objective), m_made(made), m_range(range) {
        m_plot.top = svg::kTitleHeight + kKeyRow + 8, m_plot.height = kProgressHeight;
        m_plot.width = kWide - svg::kLeft - kProgressRight;
        m_plot.x = linearScale(0.5, static_cast<double>(made.size()) + 0.5, 10, false);
        std::erase_if(m_plot.x.ticks, [](double tick) { return tick != std::round(tick); });
        m_plot.y = objectiveScale(m_metric, range.low, range.high);
    }

    std::string svg() const {
        std::string body =
            keys() + svg::axesOf(m_plot, "trials, in the order in which they were made", axisTitle(m_metric)) + steps();
        for (std::size_t i = 0; i < m_made.size(); ++i) body += mark(i);
        return svg::picture(kWide, m_plot.top + m_plot.height + svg::kUnder,
                            std::string(m_metric.title) + " of each trial", body, sweepStyle());
    }

private:
    double placeOf(std::size_t at) const { return m_plot.atX(static_cast<double>(at + 1)); }
    double heightOf(double value) const { return m_plot.atY(onAxis(m_metric, m_range.clipped(value))); }

    std::string mark(std::size_t at) const {
        const MadeTrial& made = m_made[at];
        if (made.trial->hasFailed()) return cross(placeOf(at), m_plot.top + m_plot.height - 5, 3.5, "lk-bad");
        if (!made.trial->value) return {};
        return dot(placeOf(at), heightOf(*made.trial->value), m_made.size() > kManyTrials ? 1.8 : 2.8,
                   made.isFinished() ? "lk-pt lk-s0" : "lk-ring lk-s0", titleElement(wordsOfMade(made, m_metric)));
    }

    // Of those that finished: a step down the line for each that was better than all before.
    std::string steps() const {
        std::string points;
        std::optional<double> best;
        for (std::size_t i = 0; i < m_made.size(); ++i) {
            if (!m_made[i].isFinished()) continue;
            const double value = *m_made[i].trial->value;
            if (best && !isBetter(m_metric, value, *best)) continue;
            if (best) points += svg::number(placeOf(i)) + ',' + svg::number(heightOf(*best)) + ' ';
            points += svg::number(placeOf(i)) + ',' + svg::number(heightOf(value)) + ' ';
            best = value;
        }
        if (!best) return {};
        points += svg::number(m_plot.left + m_plot.width) + ',' + svg::number(heightOf(*best));
        return "<polyline class=\"lk-ln lk-thick lk-good\" points=\"" + points + "\"/>\n";
    }

    std::string keys() const {
        const double y = svg::kTitleHeight + 8;
        double x = svg::kLeft;
        std::string out;
        const auto add = [&](const std::string& shape, const std::string& words) {
            out += shape + svg::textAt(x + 10, y + 4, svg::Anchor::Start, words);
            x += 36 + svg::kLetter * static_cast<double>(words.size());
        };
        const auto has = [&](auto&& holds) { return std::ranges::any_of(m_made, holds); };
        if (has([](const MadeTrial& each) { return each.isFinished(); })) {
            add(dot(x, y, 2.8, "lk-pt lk-s0"), "finished");
            add("<path class=\"lk-ln lk-thick lk-good\" d=\"M" + svg::number(x - 10) + ' ' + svg::number(y) +
                    "h16\"/>\n",
                "the best so far");
        }
        if (has([](const MadeTrial& each) { return !each.isFinished() && !each.trial->hasFailed(); }))
            add(dot(x, y, 2.8, "lk-ring lk-s0"), "cut short or under way: the best until then");
        if (has([](const MadeTrial& each) { return each.trial->hasFailed(); }))
            add(cross(x, y, 3.5, "lk-bad"), "failed");
        return out;
    }

    const Metric& m_metric;
    const std::vector<MadeTrial>& m_made;
    const ObjectiveRange& m_range;
    svg::Plot m_plot;
};

// After how many trials none was better, of those that finished.
Paragraph progressWords(const SweepFacts& facts, const std::vector<MadeTrial>& made, const ObjectiveRange& range) {
    std::size_t last = 0, since = 0;
    std::optional<double> best;
    for (std::size_t i = 0; i < made.size(); ++i) {
        if (!made[i].isFinished()) continue;
        ++since;
        if (best && !isBetter(*facts.objective, *made[i].trial->value, *best)) continue;
        best = made[i].trial->value, last = i, since = 0;
    }
    if (!best) return {"No trial has come to its end."};
    std::string words =
        "The best trial is " + std::to_string(made[last].trial->trial) + ", with " +
        metricText(*facts.objective, *best) + "; " +
        counted(static_cast<std::int64_t>(since), "later one that finished was", "later ones that finished were") +
        " no better.";
    if (range.isClipped) words += ' ' + edgeWords(range, *facts.objective);
    return {words};
}

}  // namespace

Blocks sweepProgress(const SweepFacts& facts) {
    Blocks blocks{{Heading{"Trial by trial"}}};
    const auto made = madeTrials(facts);
    std::vector<double> values;
    for (const MadeTrial& each : made) {
        if (each.trial->value) values.push_back(*each.trial->value);
    }
    const auto range = facts.objective ? objectiveRange(std::move(values), *facts.objective) : std::nullopt;
    if (!range) {
        blocks.push_back({Paragraph{made.empty() ? "No trial was made." : "No trial was evaluated."}});
        return blocks;
    }
    blocks.push_back({Figure{"progress", "The objective of each trial", ProgressChart(facts, made, *range).svg()}});
    blocks.push_back({progressWords(facts, made, *range)});
    return blocks;
}

}  // namespace lockstep::report
