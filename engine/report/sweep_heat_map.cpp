#include <algorithm>
#include <cmath>

#include "engine/core/number_text.h"
#include "engine/report/markup.h"
#include "engine/report/svg_parts.h"
#include "engine/report/sweep_axis.h"
#include "engine/report/sweep_chart.h"
#include "engine/spec/metric_text.h"

// What cells came to where the two most important settings meet.

namespace lockstep::report {

namespace {

constexpr double kHeatRow = 34, kMostHeatColumn = 96, kHeatRight = 40;
constexpr std::size_t kHeatName = 18;

struct HeatSum {
    double sum = 0;
    std::int64_t count = 0;
    double mean() const { return sum / static_cast<double>(count); }
};

class HeatChart {
public:
    HeatChart(const SweepFacts& facts, std::size_t x, std::size_t y)
        : m_facts(facts),
          m_x(facts.spec.vary[x]),
          m_y(facts.spec.vary[y]),
          m_xName(settingName(facts.spec, x)),
          m_yName(settingName(facts.spec, y)),
          m_sums(m_x.parts() * m_y.parts()) {
        for (const Tried& each : facts.tried) add(each);
        std::vector<double> means;
        for (const HeatSum& each : m_sums) {
            if (each.count > 0) means.push_back(each.mean());
        }
        m_range = objectiveRange(std::move(means), *facts.objective);
        m_left = 40 + svg::kLetter * widest(m_y);
        m_isTurned = svg::kLetter * widest(m_x) > columnOf() - 6;
        m_column = columnOf();
    }

    bool hasAny() const { return m_range.has_value(); }

    std::string svg() const {
        std::string body;
        for (std::size_t up = 0; up < m_y.parts(); ++up) {
            for (std::size_t across = 0; across < m_x.parts(); ++across) body += cell(across, up);
        }
        body += names();
        const double y = under() + 26;
        if (m_range->high > m_range->low) body += rampKey(std::max(m_left, 90.0), y, *m_range, *m_facts.objective);
        const double width = std::max(m_left + m_column * count(m_x) + kHeatRight, 400.0);
        return svg::picture(width, y + 24, m_facts.objective->title.data() + std::string(" where two settings meet"),
                            body, sweepStyle());
    }

private:
    static double count(const SweepAxis& axis) { return static_cast<double>(axis.parts()); }
    double columnOf() const { return std::min(kMostHeatColumn, (kWide - m_left - kHeatRight) / count(m_x)); }
    double bottom() const { return svg::kTitleHeight + 8 + kHeatRow * count(m_y); }
    double under() const { return bottom() + (m_isTurned ? 0.6 * svg::kLetter * widest(m_x) + 12 : 18) + 12; }

    static double widest(const SweepAxis& axis) {
        std::size_t letters = 0;
        for (std::size_t i = 0; i < axis.parts(); ++i)
            letters = std::max(letters, std::min(charactersOf(axis.part(i)), kHeatName));
        return static_cast<double>(letters);
    }

    void add(const Tried& tried) {
        const auto across = m_x.partOf(tried.cell), up = m_y.partOf(tried.cell);
        if (!tried.hasLoss() || !across || !up) return;
        HeatSum& at = m_sums[*up * m_x.parts() + *across];
        at.sum += m_facts.objective->better == Better::Lower ? tried.loss : -tried.loss;
        ++at.count;
    }

    std::string cell(std::size_t across, std::size_t up) const {
        const HeatSum& sum = m_sums[up * m_x.parts() + across];
        const double x = m_left + m_column * static_cast<double>(across),
                     y = bottom() - kHeatRow * static_cast<double>(up + 1);
        if (sum.count == 0)
            return svg::rectangle(x + 1, y + 1, m_column - 2, kHeatRow - 2, " class=\"lk-none\" rx=\"3\"");
        const double goodness = m_range->goodness(sum.mean());
        const Metric& metric = *m_facts.objective;
        const std::string words = m_xName + ' ' + m_x.part(across) + ", " + m_yName + ' ' + m_y.part(up) + ": " +
                                  metricText(metric, sum.mean()) + ", the mean of " +
                                  counted(sum.count, "cell", "cells");
        const bool isShare = metric.unit == MetricUnit::Share;
        return "<g>" + titleElement(words) +
               svg::rectangle(x + 1, y + 1, m_column - 2, kHeatRow - 2,
                              " class=\"lk-pt " + rampClass(goodness) + "\" rx=\"3\"") +
               svg::textAt(x + m_column / 2, y + kHeatRow / 2 + 4, svg::Anchor::Middle,
                           fixedText(onAxis(metric, sum.mean()), isShare ? 1 : 3),
                           goodness > 0.5 ? " class=\"lk-hi\"" : " class=\"lk-lo\"") +
               "</g>\n";
    }

    std::string names() const {
        std::string out;
        for (std::size_t i = 0; i < m_y.parts(); ++i)
            out += svg::textAt(m_left - 8, bottom() - kHeatRow * (static_cast<double>(i) + 0.5) + 4, svg::Anchor::End,
                               shortened(m_y.part(i), kHeatName));
        for (std::size_t i = 0; i < m_x.parts(); ++i) {
            const double x = m_left + m_column * (static_cast<double>(i) + 0.5), y = bottom() + 16;
            const std::string name = shortened(m_x.part(i), kHeatName);
            out += m_isTurned ? svg::textAt(x + 4, y, svg::Anchor::End, name, svg::turned(-36, x + 4, y))
                              : svg::textAt(x, y, svg::Anchor::Middle, name);
        }
        const double middle = (bottom() + svg::kTitleHeight + 8) / 2;
        return out +
               svg::textAt(m_left + m_column * count(m_x) / 2, under() + 6, svg::Anchor::Middle, m_xName,
                           " class=\"lk-c\"") +
               svg::textAt(18, middle, svg::Anchor::Middle, m_yName, " class=\"lk-c\"" + svg::turned(-90, 18, middle));
    }

    const SweepFacts& m_facts;
    const SweepAxis m_x, m_y;
    const std::string m_xName, m_yName;
    std::vector<HeatSum> m_sums;
    std::optional<ObjectiveRange> m_range;
    double m_left = 0, m_column = 0;
    bool m_isTurned = false;
};

}  // namespace

Blocks sweepHeatMap(const SweepFacts& facts, const SweepAnswers& answers) {
    std::vector<std::size_t> varied;
    for (const std::size_t each : answers.settings) {
        if (isVaried(facts.spec.vary[each])) varied.push_back(each);
    }
    if (!answers.range || varied.size() < 2) return {};
    const HeatChart chart(facts, varied[0], varied[1]);
    if (!chart.hasAny()) return {};
    std::string words = "Each field is the mean of the cells in it, over all other settings; an empty one has none.";
    if (facts.triedAt > 0)
        words += " Few cells were trained to the end: these are the values to which they had come by epoch " +
                 std::to_string(facts.triedAt) + '.';
    return {{Heading{isKnown(answers) ? "The two settings that mattered most" : "Two settings together"}},
            {Figure{"heat-map", "The objective where two settings meet", chart.svg()}},
            {Paragraph{words}}};
}

}  // namespace lockstep::report
