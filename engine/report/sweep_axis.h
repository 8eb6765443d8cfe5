#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/report/chart_scale.h"
#include "engine/search/search_space.h"

namespace lockstep::report {

// A setting of a sweep as an axis of a chart: on the scale of the space that was searched; of a choice each value has
// its place, numbers ascending.
class SweepAxis {
public:
    explicit SweepAxis(const Dimension& dimension);  // which outlives it

    // Where a cell stands, from 0 to 1. nullopt: it does not set it.
    std::optional<double> placeOf(const Cell& cell) const;
    struct Tick {
        double place = 0;
        std::string text;
    };
    std::vector<Tick> ticks(int most) const;  // at most so many, three or more; of choices all

    // How far to either side of its place a value may be drawn so that it is not taken for another; 0 on a scale.
    double spread() const { return hasValues() ? 0.3 / static_cast<double>(m_rank.size()) : 0; }

    // The same in stretches: a value each where they are few, else equal parts of the scale.
    static constexpr std::size_t kMostParts = 8;
    std::size_t parts() const { return m_parts.size(); }
    const std::string& part(std::size_t at) const { return m_parts[at]; }
    std::optional<std::size_t> partOf(const Cell& cell) const;

private:
    bool hasValues() const { return !m_rank.empty(); }
    double placeOfValue(double index) const;
    void takeValues(std::vector<ParamValue> values);
    void takeRange(const NumberRange& range);

    const Dimension& m_dimension;
    std::vector<std::size_t> m_rank;  // of values that are told apart: where the one of that number stands
    ChartScale m_scale;               // of a range
    std::vector<std::string> m_parts;
};

}  // namespace lockstep::report
