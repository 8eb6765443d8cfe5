#pragma once
#include <QJsonObject>
#include <QString>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace lockstep::ui {

// Why a trial has no value of something that trials are compared by.
enum class Absence : std::uint8_t {
    None,
    NotSet,
    NotYet,      // it has not come so far
    NotReached,  // it ended before
    Failed,
    Diverged
};
inline constexpr Absence kAbsences[] = {Absence::NotSet, Absence::NotYet, Absence::NotReached, Absence::Failed,
                                        Absence::Diverged};
QString absenceText(Absence absence);  // as a person reads it

// Which values of an axis a person wants to see. A trial passes where any part of it holds.
struct AxisBrush {
    struct Range {
        double low = 0, high = 0;  // both included
        bool operator==(const Range&) const = default;
    };
    std::vector<Range> ranges = {};      // of numbers
    std::set<std::string> choices = {};  // of words
    std::set<Absence> without = {};      // trials that have no value, and why
    bool empty() const { return ranges.empty() && choices.empty() && without.empty(); }
    bool operator==(const AxisBrush&) const = default;
};
// By the key of the axis: a setting's path, or a metric's. All of them must hold.
using Brushes = std::map<std::string, AxisBrush>;

// For settings that are kept; what cannot be read back is left out.
QJsonObject jsonOf(const Brushes& brushes);
Brushes brushesFrom(const QJsonObject& json);

}  // namespace lockstep::ui
