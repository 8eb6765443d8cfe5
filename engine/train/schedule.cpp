#include "engine/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lockstep {

namespace {

const ParamField kWarmup{"warmup", 0.0, 0.0, 1000.0, {}, "epochs", "Epochs over which the rate first rises from zero."};
const ParamField kFinal{"final", 0.0, 0.0, 1.0, {}, "", "The rate at the end, as a share of the learning rate."};

std::vector<ScheduleEntry> makeSchedules() {
    return {
        {"constant", "The same learning rate throughout.", {kWarmup}},
        {"step",
         "The learning rate drops by a factor every few epochs.",
         {kWarmup,
          {"every", 10.0, 0.01, 10000.0, {}, "epochs", "Epochs between drops."},
          {"gamma", 0.1, 0.0, 1.0, {}, "", "What the rate is multiplied by at each drop."}}},
        {"cosine", "The learning rate falls along half a cosine to the end of the run.", {kWarmup, kFinal}},
        {"one-cycle",
         "The learning rate rises in a straight line, then falls along half a cosine.",
         {kWarmup, {"rise", 0.3, 0.0, 1.0, {}, "", "The share of the run spent rising."}, kFinal}},
    };
}

// From 1 at progress 0 down to `final` at progress 1.
double halfCosine(double progress, double final) {
    const double share = std::clamp(progress, 0.0, 1.0);
    return final + (1 - final) * (1 + std::cos(std::numbers::pi * share)) / 2;
}

double ratio(double part, double whole) { return whole > 0 ? part / whole : 1; }

}  // namespace

const std::vector<ScheduleEntry>& schedules() {
    static const std::vector<ScheduleEntry> kSchedules = makeSchedules();
    return kSchedules;
}

const ScheduleEntry* findSchedule(std::string_view name) {
    const auto found = std::ranges::find(schedules(), name, &ScheduleEntry::name);
    return found == schedules().end() ? nullptr : &*found;
}

double rateFactor(std::string_view rule, std::int64_t batch, std::int64_t chosenFor) {
    const double ratio = static_cast<double>(batch) / static_cast<double>(chosenFor);
    if (rule == "sqrt") return std::sqrt(ratio);
    return rule == "linear" ? ratio : 1;
}

Schedule::Schedule(std::string name, ParamValues params, double base, std::int64_t totalSteps,
                   std::int64_t stepsPerEpoch, double warmupFrom)
    : m_name(std::move(name)),
      m_params(std::move(params)),
      m_base(base),
      m_warmupFrom(warmupFrom),
      m_totalSteps(totalSteps),
      m_stepsPerEpoch(stepsPerEpoch),
      m_warmupSteps(std::llround(m_params.number("warmup") * static_cast<double>(stepsPerEpoch))) {}

double Schedule::at(std::int64_t step) const {
    const auto remaining = static_cast<double>(std::max<std::int64_t>(m_totalSteps - m_warmupSteps, 0));
    if (step >= m_warmupSteps) return m_base * factor(static_cast<double>(step - m_warmupSteps), remaining);
    const double risen = static_cast<double>(step + 1) / static_cast<double>(m_warmupSteps);
    return m_base * (m_warmupFrom + (1 - m_warmupFrom) * risen) * factor(0, remaining);
}

double Schedule::factor(double step, double remaining) const {
    if (m_name == "step") {
        const double epoch = (step + static_cast<double>(m_warmupSteps)) / static_cast<double>(m_stepsPerEpoch);
        return std::pow(m_params.number("gamma"), std::floor(epoch / m_params.number("every")));
    }
    if (m_name == "cosine") return halfCosine(ratio(step, remaining), m_params.number("final"));
    if (m_name == "one-cycle") {
        const double rise = std::floor(m_params.number("rise") * remaining);
        if (step < rise) return (step + 1) / rise;
        return halfCosine(ratio(step - rise, remaining - rise), m_params.number("final"));
    }
    return 1;
}

}  // namespace lockstep
