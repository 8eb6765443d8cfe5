#include "ui/train/number_steps.h"

#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <cmath>

namespace lockstep::ui {

namespace {

constexpr double kShareStep = 0.05, kSmallest = 1e-4;
constexpr int kArrowWidth = 20, kArrowHeight = 13;

bool isShare(const FormField& field) { return field.low == 0.0 && field.high && *field.high <= 1; }

// The next multiple; one that is reached already, but for rounding, does not count.
double nextMultiple(double number, double of, int by) {
    const double at = number / of;
    return (by > 0 ? std::floor(at + 1e-6) + 1 : std::ceil(at - 1e-6) - 1) * of;
}

// 1, 2 and 5 times powers of ten.
double nextInDecade(double number, int by) {
    if (number < kSmallest) return by > 0 ? kSmallest : 0;
    const double decade = std::pow(10.0, std::floor(std::log10(number) + 1e-9)), lead = number / decade;
    constexpr std::array<double, 5> kLeads{0.5, 1, 2, 5, 10};
    if (by > 0) return *std::ranges::find_if(kLeads, [&](double each) { return each > lead * (1 + 1e-6); }) * decade;
    const auto below = std::ranges::find_if(kLeads, [&](double each) { return each >= lead * (1 - 1e-6); });
    const double next = *(below - 1) * decade;
    return next < kSmallest * (1 - 1e-6) ? 0 : next;
}

bool isWithin(const FormField& field, double number) {
    return (!field.low || number >= *field.low) && (!field.high || number <= *field.high);
}

QString steppedWhole(const FormField& field, const QString& text, int by) {
    bool isWhole = false;
    const qlonglong next = text.toLongLong(&isWhole) + by;
    return isWhole && isWithin(field, static_cast<double>(next)) ? QString::number(next) : QString();
}

}  // namespace

QString steppedNumber(const FormField& field, const QString& text, int by) {
    if (field.kind == FormField::Kind::Integer) return steppedWhole(field, text.trimmed(), by);
    bool isNumber = false;
    const double number = text.trimmed().toDouble(&isNumber);
    if (!isNumber || !std::isfinite(number)) return {};
    double next = isShare(field) ? nextMultiple(number, kShareStep, by) : nextInDecade(number, by);
    if (field.low) next = std::max(next, *field.low);
    if (field.high) next = std::min(next, *field.high);
    const bool isFurther = by > 0 ? next > number : next < number;
    return isFurther ? QString::number(next, 'g', 10) : QString();  // without the dust of binary fractions
}

NumberSteps::NumberSteps(const FormField& field, QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(addArrow(Qt::UpArrow, 1, field.path + ".more", tr("More: %1").arg(field.label)));
    column->addWidget(addArrow(Qt::DownArrow, -1, field.path + ".less", tr("Less: %1").arg(field.label)));
    setToolTip(field.help());
}

QToolButton* NumberSteps::addArrow(Qt::ArrowType arrow, int by, const QString& name, const QString& words) {
    auto* button = new QToolButton;
    button->setObjectName(name);
    button->setAccessibleName(words);
    button->setArrowType(arrow);
    button->setAutoRaise(true);
    button->setAutoRepeat(true);
    button->setFocusPolicy(Qt::NoFocus);
    button->setFixedSize(kArrowWidth, kArrowHeight);
    connect(button, &QToolButton::clicked, this, [this, by] { emit stepped(by); });
    return button;
}

}  // namespace lockstep::ui
