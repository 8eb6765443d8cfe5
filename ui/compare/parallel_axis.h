#pragma once
#include <QFontMetricsF>
#include <QString>
#include <optional>
#include <utility>
#include <vector>

#include "ui/compare/compare_table.h"

namespace lockstep::ui {

// A piece of an upright axis, by place: 0 at its foot, 1 at its head.
struct AxisPiece {
    double low = 0, high = 0;
    bool operator==(const AxisPiece&) const = default;
};

// An axis of the table as it stands upright among others: numbers between its foot and its head, a few far beyond the
// rest at its ends; choices at even distances. What has no value has a slot below. A plain value beside its table,
// which outlives it.
class ParallelAxis {
public:
    ParallelAxis(const CompareTable& table, std::size_t index, bool isFlipped);

    const CompareAxis& axis() const { return *m_axis; }
    std::size_t index() const { return m_index; }  // in the table
    bool isFlipped() const { return m_isFlipped; }

    double place(double value) const;  // in 0 … 1
    // By row; of one without a value below 0: see slotAt().
    const std::vector<float>& places() const { return m_places; }
    static Absence slotAt(float place) { return static_cast<Absence>(static_cast<int>(-place)); }
    std::size_t count(Absence absence) const { return m_counts[static_cast<std::size_t>(absence)]; }

    struct Tick {
        double place = 0;
        QString text = {};
    };
    std::vector<Tick> ticks(int most) const;  // about so many of numbers, or at a few values each; of choices all

    struct Stop {
        double place = 0, value = 0;
    };
    std::vector<Stop> stops() const;  // where a brush may end, from the foot: each value, each choice

    // What a brush covers: a piece for each of its ranges, in their order, or each run of neighbouring choices.
    std::vector<AxisPiece> pieces(const AxisBrush& brush) const;
    // As it is read; a number with fewer digits where it would be wider than that, and never cut.
    QString shortText(std::size_t row, const QFontMetricsF& metrics, double width) const;
    std::string choiceAt(double value) const { return m_axis->choices[static_cast<int>(value)].toStdString(); }

private:
    double choicePlace(double value) const;

    const CompareAxis* m_axis;
    std::size_t m_index;
    bool m_isFlipped;
    double m_low, m_high;  // of what is shown at its full height
    std::vector<float> m_places;
    std::vector<std::size_t> m_counts;  // by absence
};

// Whether trials differ by it, be it that only some have it.
bool varies(const CompareAxis& axis);

}  // namespace lockstep::ui
