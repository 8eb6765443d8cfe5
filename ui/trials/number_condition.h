#pragma once
#include <QString>
#include <optional>

#include "ui/trials/trial_columns.h"

namespace lockstep::ui {

// What a person asks of a number in the table: "> 0.91", "<= 5min", "= 91.8". Equal is what shows the same where it is
// rounded to as many digits as were written. A share is written as one, or in percent ("91%", and whatever is above 1);
// seconds are s, min or h.
class NumberCondition {
public:
    // `compare`: "", "=", "<", "<=", ">" or ">=". nullopt: `asked` is no such number.
    static std::optional<NumberCondition> from(const QString& compare, const QString& asked, NumberKind kind);
    bool holds(std::optional<double> value) const;  // false where there is none

private:
    QString m_compare;
    double m_number = 0, m_halfDigit = 0;
};

bool isOrdering(const QString& compare);  // one of < <= > >=

}  // namespace lockstep::ui
