#pragma once
#include <cstdint>
#include <string_view>

#include "engine/core/random.h"
#include "tests/support/op_cases.h"

namespace lockstep::test {

// The inputs of one case, from its name: the same on every machine, another stream for every tensor. Floats are F64
// numbers that are exact in F32.
class CaseInputs {
public:
    explicit CaseInputs(std::string_view name) : m_stream(streamOf(name)) {}

    CaseInput normal(const Shape& shape, ValueRole role = ValueRole::Input, double scale = 1, double offset = 0);
    CaseInput positive(const Shape& shape, ValueRole role = ValueRole::Input);  // [0.5, 1.5)
    CaseInput labels(std::int64_t samples, std::int64_t classes);               // I32
    CaseInput tokens(const Shape& shape, std::int64_t vocabulary);              // I32
    CaseInput ids(std::int64_t samples);                                        // I64, up to 2^40
    CaseInput bytes(const Shape& shape);                                        // U8

    static CaseInput given(const Shape& shape, std::vector<double> values, ValueRole role = ValueRole::Input);
    static CaseInput labelsGiven(const std::vector<int>& labels);
    static CaseInput labelsGiven(const Shape& shape, const std::vector<int>& labels);
    static CaseInput scalar(double value);  // F64[1] on every backend

    static CaseInput statistic(CaseInput input) {
        input.isStatistic = true;
        return input;
    }

private:
    CounterRng next() { return CounterRng(2024, m_stream, 0, m_count++); }

    std::uint64_t m_stream;
    std::uint64_t m_count = 0;
};

// Attributes that do not depend on the backend's type.
template <class T>
std::function<Attrs(DType)> fixedAttrs(T value) {
    return [value](DType) { return Attrs::of(value); };
}

// One file per op family; opCases() puts them together.
void addConvCases(std::vector<OpCase>& cases);
void addPoolCases(std::vector<OpCase>& cases);
void addDenseCases(std::vector<OpCase>& cases);
void addBatchNormCases(std::vector<OpCase>& cases);
void addSynchronisedNormCases(std::vector<OpCase>& cases);
void addElementwiseCases(std::vector<OpCase>& cases);
void addDropoutCases(std::vector<OpCase>& cases);
void addLossCases(std::vector<OpCase>& cases);
void addMixedLossCases(std::vector<OpCase>& cases);
void addLayerNormCases(std::vector<OpCase>& cases);
void addActivationCases(std::vector<OpCase>& cases);
void addPixelCases(std::vector<OpCase>& cases);
void addEmbeddingCases(std::vector<OpCase>& cases);
void addTokenCases(std::vector<OpCase>& cases);
void addAttentionCases(std::vector<OpCase>& cases);

}  // namespace lockstep::test
