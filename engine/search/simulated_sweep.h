#pragma once
#include <functional>

#include "engine/search/sweep_spec.h"
#include "engine/search/test_functions.h"
#include "engine/search/tried.h"

namespace lockstep {

// A trial of a sweep that trains nothing, when it has ended.
struct SimulatedTrial {
    std::size_t number = 0;  // of its suggestion, from 0
    Tried tried;
    double best = 0;  // so far; not a number: none yet
};

// Tries a sweep's method on a function: `parallel` run at once, each as long as the others, one begun after the other,
// so that all but one are running when the next is suggested. Tells what has ended, in the order in which it ends.
// Pure.
void simulate(const SweepSpec& sweep, const SearchSpace& space, const TestFunction& function,
              const std::function<void(const SimulatedTrial& trial)>& tell);

}  // namespace lockstep
