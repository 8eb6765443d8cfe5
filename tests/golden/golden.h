#pragma once
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/backend/backend.h"

namespace lockstep::test {

// The first training steps of a whole model as PyTorch does them in float64 (make_goldens.py), from made-up weights and
// batches: losses, gradient norms, and what they leave behind.
struct GoldenCase {
    nlohmann::json of;
    std::vector<double> errorsInBf16;  // of PyTorch's losses where it computes in bf16 (make_half_goldens.py), relative

    std::string name() const;
    std::string model() const { return of.at("model"); }
    // Large; its first gradients are compared one by one.
    bool isOfZoo() const { return !of.at("first_gradients").empty(); }

    // Deep networks with batch norms enlarge rounding a thousandfold in an update of noise, PyTorch's own floats as
    // ours. How many of the first `steps` there are before PyTorch's float leaves its double by more than the
    // tolerance.
    int comparableSteps(int steps, double tolerance) const;
};

std::vector<GoldenCase> goldenCases();  // throws where the file cannot be read

// As GoldenCase::errorsInBf16, of ours.
std::vector<double> errorsInBf16(const Backend& backend, const GoldenCase& golden);

// What differs by more than the tolerance in the first steps on the backend's first device, in words; nothing where all
// is well. Gradients may be off by a hundred times as much, relative to each parameter's own norm.
std::string differences(const Backend& backend, const GoldenCase& golden, int steps, double tolerance);

}  // namespace lockstep::test
