#include "ui/compare/setting_axis.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>

#include "ui/history/setting_text.h"
#include "ui/style/plain_text.h"

namespace lockstep::ui {

namespace {

QString wordsOf(const ParamValue& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return oneLine(*text);
    if (const auto* isTrue = std::get_if<bool>(&value)) return *isTrue ? "true" : "false";
    return QString::number(*numberOf(value), 'g', 10);
}

class SettingAxis {
public:
    SettingAxis(const std::vector<TrialRow>& rows, const SettingValues& values, const Dimension* dimension)
        : m_rows(rows), m_values(values), m_dimension(dimension) {}

    CompareAxis axisAt(const std::string& path) const {
        CompareAxis axis{.key = path, .name = labelOf(QString::fromStdString(path).section('.', -1))};
        const bool isOfNumbers = areNumbers();
        if (!isOfNumbers) axis.choices = choices();
        for (const TrialRow& row : m_rows) {
            const auto value = m_values.find(row.id);
            const bool isSet = value != m_values.end();
            axis.absences.push_back(isSet ? Absence::None : Absence::NotSet);
            axis.values.push_back(!isSet        ? std::numeric_limits<double>::quiet_NaN()
                                  : isOfNumbers ? *numberOf(value->second)
                                                : static_cast<double>(axis.choices.indexOf(wordsOf(value->second))));
        }
        axis.findEnds();
        const auto* range = m_dimension ? std::get_if<NumberRange>(&m_dimension->values) : nullptr;
        axis.isLog = isOfNumbers && axis.low > 0 && (range ? range->isLog : isMultiplied(axis));
        return axis;
    }

private:
    bool areNumbers() const {
        return std::ranges::all_of(m_rows, [&](const TrialRow& row) {
            const auto value = m_values.find(row.id);
            return value == m_values.end() || numberOf(value->second);
        });
    }

    // Those of the space first, in its order.
    QStringList choices() const {
        QStringList listed, others;
        if (const auto* known = m_dimension ? std::get_if<ChoiceOfValues>(&m_dimension->values) : nullptr)
            for (const ParamValue& value : *known) listed << wordsOf(value);
        for (const TrialRow& row : m_rows) {
            const auto value = m_values.find(row.id);
            if (value != m_values.end() && !listed.contains(wordsOf(value->second))) others << wordsOf(value->second);
        }
        others.sort();
        others.removeDuplicates();
        return listed + others;
    }

    // Where nobody has said: numbers over more than two decades, and those that were multiplied from one to the next
    // (32, 64, 128; 1, 2, 5, 10), are read by their logarithms.
    static bool isMultiplied(const CompareAxis& axis) {
        if (axis.high / axis.low >= 100) return true;
        std::set<double> values;
        std::ranges::copy_if(axis.values, std::inserter(values, values.end()),
                             [](double value) { return std::isfinite(value); });
        if (values.size() < 3) return false;
        double least = axis.high / axis.low, most = 0;
        for (auto value = values.begin(), next = std::next(value); next != values.end(); ++value, ++next)
            least = std::min(least, *next / *value), most = std::max(most, *next / *value);
        constexpr double kFactor = 1.5, kAlike = 1.3;
        return least >= kFactor && most <= kAlike * least;
    }

    const std::vector<TrialRow>& m_rows;
    const SettingValues& m_values;
    const Dimension* m_dimension;
};

}  // namespace

CompareAxis settingAxis(const std::string& path, const std::vector<TrialRow>& rows, const SettingValues& values,
                        const Dimension* dimension) {
    return SettingAxis(rows, values, dimension).axisAt(path);
}

}  // namespace lockstep::ui
