#include "tests/support/case_inputs.h"

namespace lockstep::test {

namespace {

template <class T, class Make>
HostTensor filled(const Shape& shape, DType dtype, Make make) {
    HostTensor tensor({shape, dtype});
    std::uint32_t element = 0;
    for (T& x : tensor.as<T>()) x = static_cast<T>(make(element++));
    return tensor;
}

}  // namespace

CaseInput CaseInputs::normal(const Shape& shape, ValueRole role, double scale, double offset) {
    const CounterRng rng = next();
    const auto make = [&](std::uint32_t i) { return static_cast<float>(scale * rng.normal(i) + offset); };
    return {filled<double>(shape, DType::F64, make), role};
}

CaseInput CaseInputs::positive(const Shape& shape, ValueRole role) {
    const CounterRng rng = next();
    const auto make = [&](std::uint32_t i) { return static_cast<float>(0.5 + rng.uniform(i)); };
    return {filled<double>(shape, DType::F64, make), role};
}

CaseInput CaseInputs::labels(std::int64_t samples, std::int64_t classes) { return tokens({samples}, classes); }

CaseInput CaseInputs::tokens(const Shape& shape, std::int64_t vocabulary) {
    const CounterRng rng = next();
    const auto make = [&](std::uint32_t i) { return rng.below(static_cast<std::uint64_t>(vocabulary), i); };
    return {filled<std::int32_t>(shape, DType::I32, make), ValueRole::Input, true};
}

CaseInput CaseInputs::ids(std::int64_t samples) {
    const CounterRng rng = next();
    const auto make = [&](std::uint32_t i) { return rng.below(1ull << 40, i); };
    return {filled<std::int64_t>({samples}, DType::I64, make), ValueRole::Input, true};
}

CaseInput CaseInputs::bytes(const Shape& shape) {
    const CounterRng rng = next();
    const auto make = [&](std::uint32_t i) { return rng.below(256, i); };
    return {filled<std::uint8_t>(shape, DType::U8, make), ValueRole::Input, true};
}

CaseInput CaseInputs::given(const Shape& shape, std::vector<double> values, ValueRole role) {
    return {tensorOf(shape, values), role};
}

CaseInput CaseInputs::labelsGiven(const std::vector<int>& labels) {
    return labelsGiven({static_cast<std::int64_t>(labels.size())}, labels);
}

CaseInput CaseInputs::labelsGiven(const Shape& shape, const std::vector<int>& labels) {
    return {filled<std::int32_t>(shape, DType::I32, [&](std::uint32_t i) { return labels[i]; }), ValueRole::Input,
            true};
}

CaseInput CaseInputs::scalar(double value) { return {tensorOf({1}, {&value, 1}), ValueRole::Input, true}; }

}  // namespace lockstep::test
