#include <algorithm>
#include <cmath>

#include "engine/core/number_text.h"
#include "engine/report/svg_parts.h"
#include "engine/report/sweep_chart.h"
#include "engine/spec/metric_text.h"

// How the cells of a sweep with a scheduler climbed its rungs.

namespace lockstep::report {

namespace {

constexpr double kRungsHeight = 230, kRungsRight = 40;

double atRung(const Metric& metric, double loss) {
    const double value = metric.better == Better::Lower ? loss : -loss;
    return metric.derive ? metric.derive(value) : value;
}

std::string epochsText(std::int64_t epochs) { return counted(epochs, "epoch", "epochs"); }

class RungChart {
public:
    RungChart(const SweepFacts& facts, const Rungs& rungs) : m_facts(facts), m_rungs(rungs) {
        std::vector<double> values;
        for (const Climber& each : facts.climbers) {
            for (const double loss : each.losses) values.push_back(atRung(*facts.objective, loss));
        }
        m_range = objectiveRange(std::move(values), *facts.objective);
        if (!m_range) return;
        m_plot.top = svg::kTitleHeight + 10, m_plot.height = kRungsHeight;
        m_plot.width = kWide - svg::kLeft - kRungsRight;
        m_plot.y = objectiveScale(*facts.objective, m_range->low, m_range->high);
        m_plot.x = {-0.3, static_cast<double>(rungs.epochs.size()) - 0.7, false, {}};
    }

    bool hasAny() const { return m_range.has_value(); }
    const ObjectiveRange& range() const { return *m_range; }  // where there is any

    std::string svg() const {
        std::string body = svg::axesOf(m_plot, "", axisTitle(*m_facts.objective)) + columns();
        std::vector<const Climber*> climbers;
        for (const Climber& each : m_facts.climbers) climbers.push_back(&each);
        std::ranges::stable_sort(climbers, {}, [](const Climber* each) { return each->losses.size(); });
        for (const Climber* each : climbers) body += climb(*each);
        return svg::picture(kWide, m_plot.top + m_plot.height + 44, "Cells at the rungs", body, sweepStyle());
    }

private:
    std::string columns() const {
        std::string out;
        for (std::size_t i = 0; i < m_rungs.epochs.size(); ++i) {
            const double x = m_plot.atX(static_cast<double>(i)), y = m_plot.top + m_plot.height;
            const RungCount count = countAt(m_facts.climbers, i);
            out += svg::lineFrom(x, m_plot.top, x, y, "lk-g") +
                   svg::textAt(x, y + 17, svg::Anchor::Middle, epochsText(m_rungs.epochs[i]), " class=\"lk-c\"") +
                   svg::textAt(x, y + 33, svg::Anchor::Middle, counted(count.cells, "cell", "cells"));
        }
        return out;
    }

    // In the colour of the last value; what failed on its way ends there.
    std::string climb(const Climber& climber) const {
        std::string points, dots, colour;
        std::size_t came = 0;
        for (std::size_t i = 0; i < climber.losses.size(); ++i) {
            const double value = atRung(*m_facts.objective, climber.losses[i]);
            if (!std::isfinite(value)) break;
            colour = rampClass(m_range->goodness(value));
            const double x = m_plot.atX(static_cast<double>(i));
            const double y = m_plot.atY(onAxis(*m_facts.objective, m_range->clipped(value)));
            points += (came++ > 0 ? " " : "") + svg::number(x) + ',' + svg::number(y);
            dots += "<circle class=\"lk-pt\"" + svg::attribute("cx", x) + svg::attribute("cy", y) + " r=\"3.6\"/>\n";
        }
        if (came == 0) return {};
        const std::string line = came > 1 ? "<polyline class=\"lk-ln\" points=\"" + points + "\"/>\n" : "";
        return "<g class=\"" + colour + "\">" + titleElement(wordsOfClimb(climber)) + '\n' + line + dots + "</g>\n";
    }

    std::string wordsOfClimb(const Climber& climber) const {
        const auto cell = std::ranges::find(m_facts.cells, climber.cell, &ReportedCell::number);
        return "cell " + std::to_string(climber.cell) +
               (cell == m_facts.cells.end() ? "" : ": " + cell->state + "; " + wordsOf(cell->settings));
    }

    const SweepFacts& m_facts;
    const Rungs& m_rungs;
    std::optional<ObjectiveRange> m_range;
    svg::Plot m_plot;
};

Line rungWords(const SweepFacts& facts, const Rungs& rungs, std::size_t at) {
    const RungCount count = countAt(facts.climbers, at);
    std::string words = "After " + epochsText(rungs.epochs[at]) + ": " + counted(count.cells, "cell", "cells");
    if (at < rungs.top()) words += ", of which " + countText(count.wentOn) + " went on";
    if (count.correlation)
        words += ". The rank correlation with the next rung is " + formatted("%+.2f", *count.correlation) +
                 ": 1 if it foretells the order there, 0 if it says nothing of it";
    return words + '.';
}

}  // namespace

Blocks sweepRungs(const SweepFacts& facts) {
    const auto rungs = rungsOf(facts.spec);
    if (!rungs || !facts.objective) return {};
    Blocks blocks{{Heading{"Rungs"}}};
    const RungChart chart(facts, *rungs);
    if (!chart.hasAny()) {
        blocks.push_back({Paragraph{"No cell has come to its first rung with a value."}});
        return blocks;
    }
    blocks.push_back({Figure{"rungs", "How the cells climbed", chart.svg()}});
    BulletList words;
    for (std::size_t i = 0; i < rungs->epochs.size(); ++i) words.lines.push_back(rungWords(facts, *rungs, i));
    if (chart.range().isClipped) words.lines.push_back(edgeWords(chart.range(), *facts.objective));
    blocks.push_back({words});
    return blocks;
}

}  // namespace lockstep::report
