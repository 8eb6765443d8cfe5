#pragma once
#include <map>
#include <string>

namespace lockstep {

// Sums over samples, never means: of a training epoch or an evaluation, over all ranks. The weight counts what is told
// right or wrong: samples, or the tokens of which they consist.
struct MetricSums {
    double loss = 0, weight = 0, samples = 0, correct1 = 0, correct5 = 0;
    double meanLoss() const { return weight > 0 ? loss / weight : 0; }
    double accuracy() const { return weight > 0 ? correct1 / weight : 0; }
    double accuracy5() const { return weight > 0 ? correct5 / weight : 0; }
    void add(const MetricSums& other);
    std::map<std::string, double> named() const;
    static MetricSums from(const std::map<std::string, double>& named);
};

}  // namespace lockstep
