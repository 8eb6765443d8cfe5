#include "ui/trials/number_condition.h"

#include <QRegularExpression>
#include <cmath>

namespace lockstep::ui {

namespace {

// What a number is multiplied by; nullopt: nothing of this kind has such a unit.
std::optional<double> scaleOf(const QString& unit, double number, NumberKind kind) {
    if (kind == NumberKind::Share && (unit == "%" || (unit.isEmpty() && std::abs(number) > 1))) return 0.01;
    if (unit.isEmpty()) return 1;
    if (kind != NumberKind::Seconds) return std::nullopt;
    if (unit == "s") return 1;
    if (unit == "min") return 60;
    return unit == "h" ? std::optional<double>(3600) : std::nullopt;
}

}  // namespace

std::optional<NumberCondition> NumberCondition::from(const QString& compare, const QString& asked, NumberKind kind) {
    static const QRegularExpression form("^([+-]?[0-9]*(?:\\.([0-9]*))?(?:e([+-]?[0-9]+))?) *(%|s|min|h)?$",
                                         QRegularExpression::CaseInsensitiveOption);
    const auto parts = form.match(asked);
    bool isNumber = false;
    const double number = parts.captured(1).toDouble(&isNumber);
    if (!isNumber || !std::isfinite(number)) return std::nullopt;
    const auto scale = scaleOf(parts.captured(4).toLower(), number, kind);
    if (!scale) return std::nullopt;
    const auto digits = static_cast<int>(parts.capturedLength(2)) - parts.captured(3).toInt();
    NumberCondition condition;
    condition.m_compare = compare;
    condition.m_number = number * *scale;
    condition.m_halfDigit = 0.5 * std::pow(10, -digits) * *scale;
    return condition;
}

bool NumberCondition::holds(std::optional<double> value) const {
    if (!value) return false;
    if (m_compare == "<") return *value < m_number;
    if (m_compare == "<=") return *value <= m_number;
    if (m_compare == ">") return *value > m_number;
    if (m_compare == ">=") return *value >= m_number;
    return std::abs(*value - m_number) <= m_halfDigit * (1 + 1e-9);
}

bool isOrdering(const QString& compare) { return compare.startsWith('<') || compare.startsWith('>'); }

}  // namespace lockstep::ui
