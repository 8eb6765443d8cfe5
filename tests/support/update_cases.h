#pragma once
#include <string>
#include <vector>

#include "engine/ops/update.h"
#include "tests/support/graph_runner.h"

namespace lockstep::test {

// A few optimizer steps over one bucket, as a compiled program takes them: square sum, gate, update; then the commit of
// a buffer of the same size. Averages, if the rule has any, begin as copies of the weights.
struct UpdateCase {
    std::string name{};
    UpdateRule rule{};
    std::vector<UpdateSegment> segments{};
    std::vector<double> weights{};                 // exact in F32, as are the gradients
    std::vector<std::vector<double>> gradients{};  // one reduced sum per step
    std::vector<std::vector<double>> states{};     // to start from; zero when empty
    double lossSum = 1, weight = 4, samples = 4;
    double learningRate = 0.125;
    double tolerance = 1e-6;  // of F32, of what is largest
};
const std::vector<UpdateCase>& updateCases();

struct UpdateResult {
    std::vector<double> weights;
    std::vector<std::vector<double>> states;
    std::vector<double> averages;  // empty without
    std::vector<double> buffer;    // of the last commit; starts at 9, staged are the gradients
    UpdateGate gate;               // of the last step
};
UpdateResult runUpdate(const Backend& backend, const UpdateCase& updateCase);

}  // namespace lockstep::test
