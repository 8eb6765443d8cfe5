#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/core/param_schema.h"

namespace lockstep {

// The learning rate as a pure function of the optimizer update (from 0): base rate x factor, after a linear warm-up from 0
// over `warmup` epochs (every schedule has it).
//   constant;  step: x gamma every `every` epochs;  cosine: half a cosine down to `final` x base (Loshchilov & Hutter,
//   arXiv 1608.03983);  one-cycle: linear up to base over `rise` of the run, then cosine down to `final` x base (Smith & Topin,
//   arXiv 1708.07120).
struct ScheduleEntry { std::string name, meaning; ParamSchema params; };
const std::vector<ScheduleEntry>& schedules();

class Schedule {
public:
    Schedule(std::string name, ParamValues params, double base, std::int64_t totalSteps, std::int64_t stepsPerEpoch);
    double at(std::int64_t step) const;

private:
    std::string m_name;
    ParamValues m_params;
    double m_base;
    std::int64_t m_totalSteps, m_stepsPerEpoch;
};

}  // namespace lockstep
