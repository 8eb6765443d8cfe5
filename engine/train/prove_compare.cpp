#include "engine/train/prove_compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/core/random.h"

namespace lockstep {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

double relative(double difference, double largest) {
    if (difference == 0) return 0;
    return std::isfinite(difference) && std::isfinite(largest) && largest > 0 ? difference / largest : kInfinite;
}

template <class T>
double differenceOf(std::span<const T> one, double oneScale, std::span<const T> many, double manyScale) {
    double difference = 0, largest = 0;
    for (std::size_t i = 0; i < one.size(); ++i) {
        const double a = static_cast<double>(one[i]) * oneScale, b = static_cast<double>(many[i]) * manyScale;
        if (!std::isfinite(a) || !std::isfinite(b)) return kInfinite;
        difference = std::max(difference, std::abs(a - b));
        largest = std::max(largest, std::abs(a));
    }
    return relative(difference, largest);
}

template <class T>
double squareDistance(std::span<const T> one, std::span<const T> many) {
    double sum = 0;
    for (std::size_t i = 0; i < one.size(); ++i) {
        const double difference = static_cast<double>(one[i]) - static_cast<double>(many[i]);
        sum += difference * difference;
    }
    return sum;
}

double squareDistance(const HostTensor& one, const HostTensor& many) {
    return one.type().dtype == DType::F64 ? squareDistance(one.as<double>(), many.as<double>())
                                          : squareDistance(one.as<float>(), many.as<float>());
}

double distance(const Outcome& one, const Outcome& many, const StoragePlan& storage) {
    double difference = 0, whole = 0;
    for (const StorageEntry& entry : storage.parameters) {
        const HostTensor& tensor = one.tensors.at(entry.name);
        difference += squareDistance(tensor, many.tensors.at(entry.name));
        whole += squareDistance(tensor, HostTensor(tensor.type()));
    }
    return relative(std::sqrt(difference), std::sqrt(whole));
}

TensorDifference compare(const std::string& name, const HostTensor& one, double oneScale, const HostTensor& many,
                         double manyScale) {
    TensorDifference out{name, kInfinite, 0, false};
    if (!(one.type() == many.type())) return out;
    out.sameBits = oneScale == manyScale && std::memcmp(one.data(), many.data(), one.bytes()) == 0;
    switch (one.type().dtype) {
        case DType::F32: out.value = differenceOf(one.as<float>(), oneScale, many.as<float>(), manyScale); break;
        case DType::F64: out.value = differenceOf(one.as<double>(), oneScale, many.as<double>(), manyScale); break;
        default: out.value = out.sameBits ? 0 : kInfinite;
    }
    return out;
}

// By what differences are ordered; what may not differ at all is ordered by how far it does.
std::pair<double, bool> severity(const TensorDifference& each) {
    return {each.allowed > 0 ? each.value / each.allowed : each.value, !each.sameBits};
}

double worstSeverity(const SideBySide& sides) {
    double worst = severity(worstOf(sides.gradients)).first;
    if (!sides.statistics.empty()) worst = std::max(worst, severity(worstOf(sides.statistics)).first);
    return worst;
}

// What one device differs from itself, at most, may be found between both sides a few times over.
void allow(std::vector<TensorDifference>& differences, const std::vector<TensorDifference>& own) {
    for (std::size_t i = 0; i < differences.size(); ++i)
        differences[i].allowed = std::max(differences[i].allowed, Tolerance::kRoundings * own[i].value);
}

void allow(SideBySide& judged, std::span<const SideBySide> own, double relative) {
    for (auto* list : {&judged.gradients, &judged.statistics}) {
        for (TensorDifference& each : *list) each.allowed = relative;
    }
    for (const SideBySide& each : own) {
        allow(judged.gradients, each.gradients);
        allow(judged.statistics, each.statistics);
    }
}

template <class T>
void nudge(std::span<T> values, const CounterRng& rng) {
    constexpr double kNearby = 1e-2;
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] *= static_cast<T>(1 + kNearby * rng.normal(static_cast<std::uint32_t>(i)));
}

}  // namespace

Tensors readAll(Replica& replica) {
    Tensors tensors;
    for (const std::string& name : replica.tensorNames()) tensors.emplace(name, replica.read(name));
    return tensors;
}

void writeAll(Replica& replica, const Tensors& tensors) {
    for (const auto& [name, tensor] : tensors) replica.write(name, tensor);
}

Outcome outcomeOf(Replica& replica, std::size_t which, const StoragePlan& storage) {
    const double weight = replica.scalar(which, "weight");
    const UpdateGate gate = replica.gate(which);
    Outcome outcome;
    outcome.loss = weight > 0 ? replica.scalar(which, "loss_sum") / weight : 0;
    outcome.scale = gate.skip != 0 ? std::numeric_limits<double>::quiet_NaN() : gate.scale;
    for (const StorageEntry& entry : storage.parameters)
        outcome.gradients.emplace(entry.name, replica.readGradient(entry.name));
    outcome.tensors = readAll(replica);
    return outcome;
}

SideBySide compare(const Outcome& one, const Outcome& many, const StoragePlan& storage) {
    SideBySide out;
    out.loss = many.loss;
    out.sameLoss = many.loss == one.loss;
    out.distance = distance(one, many, storage);
    for (const StorageEntry& entry : storage.parameters) {
        out.gradients.push_back(
            compare(entry.name, one.gradients.at(entry.name), one.scale, many.gradients.at(entry.name), many.scale));
    }
    for (const auto& [name, tensor] : one.tensors) {
        const bool isStatistic = std::ranges::find(storage.buffers, name, &StorageEntry::name) != storage.buffers.end();
        (isStatistic ? out.statistics : out.weights).push_back(compare(name, tensor, 1, many.tensors.at(name), 1));
    }
    return out;
}

Verdict judge(const Outcome& one, const Outcome& many, std::span<const SideBySide> own, const StoragePlan& storage,
              const Tolerance& tolerance) {
    Verdict verdict{compare(one, many, storage)};
    if (tolerance.bitwise) {
        verdict.equal = verdict.judged.sameBits();
        return verdict;
    }
    allow(verdict.judged, own, tolerance.relative);
    verdict.equal = worstSeverity(verdict.judged) <= 1;
    return verdict;
}

void nudge(Tensors& tensors, const StoragePlan& storage, int times) {
    for (const StorageEntry& entry : storage.parameters) {
        HostTensor& tensor = tensors.at(entry.name);
        const CounterRng rng(static_cast<std::uint64_t>(times), streamOf("nudge"), 0, streamOf(entry.name));
        if (tensor.type().dtype == DType::F64) nudge(tensor.as<double>(), rng);
        else nudge(tensor.as<float>(), rng);
    }
}

const TensorDifference& worstOf(const std::vector<TensorDifference>& differences) {
    return *std::ranges::max_element(differences, {}, severity);
}

bool SideBySide::sameBits() const {
    const auto same = [](const auto& list) { return std::ranges::all_of(list, &TensorDifference::sameBits); };
    return sameLoss && same(gradients) && same(statistics) && same(weights);
}

Proof::Worst Proof::worst() const {
    Worst worst{0, {}};
    for (const UpdateProof& update : updates) {
        for (const auto* list : {&update.judged.gradients, &update.judged.statistics}) {
            if (list->empty()) continue;
            const TensorDifference& tensor = worstOf(*list);
            if (worst.update == 0 || severity(tensor) > severity(worst.tensor)) worst = {update.update, tensor};
        }
    }
    return worst;
}

}  // namespace lockstep
