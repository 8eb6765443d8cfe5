#pragma once
#include <map>
#include <string>

namespace lockstep {

// Sums over samples, never means: of a training epoch or an evaluation, over all ranks.
struct MetricSums {
    double loss = 0, weight = 0, samples = 0, correct1 = 0, correct5 = 0;
    double meanLoss() const { return weight > 0 ? loss / weight : 0; }
    double accuracy() const { return samples > 0 ? correct1 / samples : 0; }
    void add(const MetricSums& other);
    std::map<std::string, double> named() const;
    static MetricSums from(const std::map<std::string, double>& named);
};

}  // namespace lockstep
