#include "ui/run/eta.h"

#include <algorithm>
#include <cmath>

namespace lockstep::ui {

namespace {

constexpr double kSteady = 0.25;  // relative difference between the halves

std::optional<double> medianOf(std::vector<double> values) {
    if (values.empty()) return std::nullopt;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace

void Eta::Window::add(double value) {
    if (!std::isfinite(value) || value < 0) return;
    if (values.size() < kWindow) values.push_back(value);
    else values[next] = value;
    next = (next + 1) % kWindow;
}

std::vector<double> Eta::Window::inOrder() const {
    auto out = values;
    if (values.size() == kWindow) std::rotate(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(next), out.end());
    return out;
}

void Eta::addStep(double seconds) { m_steps.add(seconds); }
void Eta::addEvaluation(double seconds) { m_evaluations.add(seconds); }
std::optional<double> Eta::stepSeconds() const { return medianOf(m_steps.values); }

std::optional<double> Eta::remaining(double steps, double evaluations) const {
    const auto all = m_steps.inOrder();
    if (all.size() < kEnough) return std::nullopt;
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    const double older = *medianOf({all.begin(), middle}), newer = *medianOf({middle, all.end()});
    if (std::abs(newer - older) > kSteady * std::max(older, newer)) return std::nullopt;
    return steps * *medianOf(all) + evaluations * medianOf(m_evaluations.values).value_or(0);
}

}  // namespace lockstep::ui
