#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/param_schema.h"

namespace lockstep {

// The learning rate as a pure function of the optimizer update (from 0): base rate x factor, after a linear warm-up
// from `warmupFrom` (a share, 0 unless said) over `warmup` epochs (every schedule has it): update s of W warm-up
// updates gets warmupFrom + (1 - warmupFrom) (s + 1) / W of what the schedule starts with.
//   constant;  step: x gamma every `every` epochs, counted from the start of the run;  cosine: half a cosine from the
//   end of the warm-up down to `final` x base (Loshchilov & Hutter, arXiv 1608.03983);  one-cycle: after the warm-up,
//   linear up to base over `rise` of what remains, then cosine down to `final` x base (Smith & Topin, arXiv
//   1708.07120).
struct ScheduleEntry {
    std::string name, meaning;
    ParamSchema params;
};
const std::vector<ScheduleEntry>& schedules();
const ScheduleEntry* findSchedule(std::string_view name);  // null when there is none

// What a global batch of `batch` does to a rate that was chosen for one of `chosenFor`: "none" 1; "sqrt" sqrt(k)
// (Krizhevsky, arXiv 1404.5997); "linear" k (Goyal et al., arXiv 1706.02677), k = batch / chosenFor. With a factor
// above 1 a warm-up begins at the unscaled rate (Goyal et al., section 2.2).
double rateFactor(std::string_view rule, std::int64_t batch, std::int64_t chosenFor);

class Schedule {
public:
    Schedule(std::string name, ParamValues params, double base, std::int64_t totalSteps, std::int64_t stepsPerEpoch,
             double warmupFrom = 0);
    double at(std::int64_t step) const;

private:
    double factor(double step, double remaining) const;  // after the warm-up

    std::string m_name;
    ParamValues m_params;
    double m_base, m_warmupFrom;
    std::int64_t m_totalSteps, m_stepsPerEpoch, m_warmupSteps;
};

}  // namespace lockstep
