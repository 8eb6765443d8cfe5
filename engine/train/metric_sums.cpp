#include "engine/train/metric_sums.h"

namespace lockstep {

void MetricSums::add(const MetricSums& other) {
    loss += other.loss;
    weight += other.weight;
    samples += other.samples;
    correct1 += other.correct1;
    correct5 += other.correct5;
}

std::map<std::string, double> MetricSums::named() const {
    return {
        {"loss_sum", loss}, {"weight", weight}, {"samples", samples}, {"correct1", correct1}, {"correct5", correct5}};
}

MetricSums MetricSums::from(const std::map<std::string, double>& named) {
    const auto get = [&](const char* name) {
        const auto found = named.find(name);
        return found == named.end() ? 0 : found->second;
    };
    return {get("loss_sum"), get("weight"), get("samples"), get("correct1"), get("correct5")};
}

}  // namespace lockstep
