#include "ui/train/sweep_draft.h"

#include <QRegularExpression>
#include <algorithm>
#include <cmath>
#include <optional>

namespace lockstep::ui {

namespace {

constexpr qint64 kMostPoints = 100'000;
constexpr double kMostWhole = 0x1p53;  // that a double holds exactly

bool isNumeric(const FormField& field) {
    return field.kind == FormField::Kind::Integer || field.kind == FormField::Kind::Number;
}

Problem notA(const QString& kind, const std::string& path, const QString& typed) {
    return {path, "spec.wrong-type", {typed.toStdString(), kind.toStdString()}};
}

std::optional<double> numberOf(const QString& typed) {
    bool ok = false;
    const double number = typed.trimmed().toDouble(&ok);
    return ok ? std::optional(number) : std::nullopt;
}

// "64", and "1e3", which is as whole.
std::optional<std::int64_t> wholeOf(const QString& typed) {
    bool ok = false;
    const qint64 whole = typed.trimmed().toLongLong(&ok);
    if (ok) return whole;
    const auto number = numberOf(typed);
    if (!number || std::trunc(*number) != *number || std::abs(*number) > kMostWhole) return std::nullopt;
    return static_cast<std::int64_t>(*number);
}

std::optional<Problem> takeSpacing(const std::string& path, const Variation& variation, NumberRange& range) {
    const QString typed = variation.spacing.trimmed();
    if (typed.isEmpty()) return std::nullopt;
    if (variation.isStep) {
        const auto step = numberOf(typed);
        if (!step) return notA(SweepForm::tr("a number"), path, typed);
        range.step = *step;
        if (*step > 0) return std::nullopt;
        return Problem{
            path, "search.step", {typed.toStdString(), variation.from.toStdString(), variation.to.toStdString()}};
    }
    const auto points = wholeOf(typed);
    if (!points) return notA(SweepForm::tr("a whole number"), path, typed);
    range.points = *points;
    if (*points >= 1 && *points <= kMostPoints) return std::nullopt;
    return Problem{path, "spec.out-of-range", {typed.toStdString(), "1", std::to_string(kMostPoints)}};
}

std::optional<Problem> takeRange(const FormField& field, const Variation& variation, Dimension& dimension) {
    NumberRange range;
    range.isLog = variation.isLog;
    range.isWhole = field.kind == FormField::Kind::Integer;
    for (const auto& [typed, end] : {std::pair(&variation.from, &range.low), std::pair(&variation.to, &range.high)}) {
        const auto number = numberOf(*typed);
        if (!number) return notA(SweepForm::tr("a number"), dimension.path, *typed);
        *end = *number;
    }
    if (auto problem = takeSpacing(dimension.path, variation, range)) return problem;
    dimension.values = range;
    return std::nullopt;
}

std::optional<ParamValue> valueOfKind(FormField::Kind kind, const QString& typed) {
    if (kind == FormField::Kind::Flag) return typed == "true";
    if (kind == FormField::Kind::Integer) {
        const auto whole = wholeOf(typed);
        return whole ? std::optional<ParamValue>(*whole) : std::nullopt;
    }
    if (kind == FormField::Kind::Number) {
        const auto number = numberOf(typed);
        return number ? std::optional<ParamValue>(*number) : std::nullopt;
    }
    return typed.toStdString();
}

std::optional<Problem> takeValues(const FormField& field, const Variation& variation, Dimension& dimension) {
    ChoiceOfValues values;
    const bool isWhole = field.kind == FormField::Kind::Integer;
    for (const QString& typed : variation.values) {
        auto value = valueOfKind(field.kind, typed);
        if (!value)
            return notA(isWhole ? SweepForm::tr("a whole number") : SweepForm::tr("a number"), dimension.path, typed);
        values.push_back(std::move(*value));
    }
    dimension.values = std::move(values);
    return std::nullopt;
}

QString shortNumber(double value) { return QString::number(value, 'g', 6); }

QStringList withinRange(const FormField& field, std::initializer_list<qint64> values) {
    QStringList kept;
    for (const qint64 each : values) {
        const auto number = static_cast<double>(each);
        const bool inside = (!field.low || number >= *field.low) && (!field.high || number <= *field.high);
        if (inside && !kept.contains(QString::number(each))) kept << QString::number(each);
    }
    return kept;
}

// Sizes double; seeds, and what is small, follow each other.
QStringList wholeOnes(const FormField& field, qint64 value) {
    if (value < 2 || field.path.endsWith("seed")) return withinRange(field, {value, value + 1, value + 2});
    if (value < 4) return withinRange(field, {value - 1, value, value + 1});
    return withinRange(field, {value / 2, value, 2 * value});
}

// The next smaller number of one digit, which people read at a glance: 0.0899 is 0.08.
double oneDigit(double value) {
    if (value <= 0) return value;
    const double unit = std::pow(10, std::floor(std::log10(value)));
    return std::floor(value / unit + 1e-9) * unit;
}

// A factor of ten both ways where there is room; near its upper end, as a momentum of 0.9 is, most of what is left.
Variation rangeAbout(const FormField& field, double value) {
    Variation range;
    range.isRange = true;
    range.spacing = "3";
    const double low = field.low.value_or(-HUGE_VAL), high = field.high.value_or(HUGE_VAL);
    double from = 0, to = 0;
    if (value > 0 && 10 * value <= high) {
        range.isLog = true;
        from = std::max(low, value / 10);
        to = 10 * value;
    } else if (value > 0) {
        const double away = oneDigit(std::min({0.9 * (high - value), value - low, value / 2}));
        from = value - away;
        to = value + away;
    } else {
        from = value;
        to = std::isfinite(high) ? value + (high - value) / 10 : value + 1;
    }
    range.from = shortNumber(from);
    range.to = shortNumber(to);
    return range;
}

QString typedOf(const ParamValue& value) { return QString::fromStdString(text(value)); }

Variation variationOf(const Dimension& dimension) {
    Variation variation;
    if (const auto* range = std::get_if<NumberRange>(&dimension.values)) {
        variation.isRange = true;
        variation.from = typedOf(range->low);
        variation.to = typedOf(range->high);
        variation.isLog = range->isLog;
        variation.isStep = range->step > 0;
        if (range->step > 0) variation.spacing = typedOf(range->step);
        if (range->points > 0) variation.spacing = typedOf(range->points);
    } else {
        for (const ParamValue& each : std::get<ChoiceOfValues>(dimension.values)) variation.values << typedOf(each);
    }
    variation.when = dimension.when;
    return variation;
}

}  // namespace

SweepSpec SweepDraft::usualPlan() {
    SweepSpec plan;
    plan.method = "grid";
    plan.trials = 0;
    return plan;
}

Result<Dimension> dimensionOf(const FormField& field, const Variation& variation) {
    Dimension dimension{field.path.toStdString(), {}, variation.when};
    auto problem = variation.isRange ? takeRange(field, variation, dimension) : takeValues(field, variation, dimension);
    if (!problem) problem = check(dimension);
    if (problem) return std::move(*problem);
    return dimension;
}

Variation suggestedVariation(const FormField& field, const QJsonValue& value) {
    if (field.kind == FormField::Kind::Number) return rangeAbout(field, value.toDouble());
    Variation variation;
    if (field.kind == FormField::Kind::Integer) variation.values = wholeOnes(field, value.toInteger());
    else if (field.kind == FormField::Kind::Flag) variation.values = {"false", "true"};
    else if (!value.toString().isEmpty()) variation.values = {value.toString()};
    return variation;
}

Variation asRange(Variation variation, bool isRange) {
    if (variation.isRange == isRange) return variation;
    variation.isRange = isRange;
    if (!isRange) {
        if (variation.values.isEmpty()) variation.values = {variation.from, variation.to};
        return variation;
    }
    std::vector<double> numbers;
    for (const QString& each : variation.values) {
        if (const auto number = numberOf(each)) numbers.push_back(*number);
    }
    if (!variation.from.isEmpty() || numbers.empty()) return variation;
    const auto [low, high] = std::ranges::minmax(numbers);
    variation.from = typedOf(low);
    variation.to = typedOf(high);
    variation.spacing = QString::number(numbers.size());
    return variation;
}

QStringList valuesIn(const FormField& field, const QString& typed) {
    static const QRegularExpression betweenNumbers("[,;\\s]+"), betweenTexts(";");
    QStringList values;
    for (const QString& each : typed.split(isNumeric(field) ? betweenNumbers : betweenTexts)) {
        if (!each.trimmed().isEmpty()) values << each.trimmed();
    }
    return values;
}

QString typedValues(const FormField& field, const QStringList& values) {
    return values.join(isNumeric(field) ? ", " : "; ");
}

SweepDraft draftOf(const SweepSpec& sweep) {
    SweepDraft draft;
    draft.plan = sweep;
    draft.plan.trial = {};
    draft.plan.vary.clear();
    draft.plan.constraints.clear();
    for (const Constraint& each : sweep.constraints) draft.constraints << QString::fromStdString(each.text());
    for (const Dimension& each : sweep.vary) draft.varied[QString::fromStdString(each.path)] = variationOf(each);
    return draft;
}

}  // namespace lockstep::ui
