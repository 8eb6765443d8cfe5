#pragma once
#include <cstdint>
#include <string_view>

#include "engine/core/number_text.h"
#include "engine/core/result.h"
#include "engine/spec/train_event.h"

namespace lockstep {

// Samples per second of all devices of a run: how fast they are made, whatever takes them; how fast they are trained
// on, whatever makes them; and what comes of the two.
struct Bandwidths {
    double loading = 0, training = 0, reached = 0;
    // Where the same cores do both, one after the other.
    double shared() const { return loading > 0 && training > 0 ? 1 / (1 / loading + 1 / training) : 0; }
    double lower() const { return loading < training ? loading : training; }
    double upper() const { return loading < training ? training : loading; }
};

// What keeps a run from being faster. Even: neither more than the other. Cores: both take turns on the same ones, so
// that less is reached than either could. What other programs take of the cores is no binding of this run.
enum class Binding { Loading, Training, Even, Cores };
Binding bindingOf(const Bandwidths& now);
std::string_view text(Binding binding);  // "loading", "training", "even", "cores"

// In words, as a problem's: the catalogue has "bandwidth.…" for each case, with what would help. `rate` writes samples
// per second.
Problem verdictOf(const BindingChanged& seen, std::string (*rate)(double) = rateText);

}  // namespace lockstep
