#include "tests/support/against_reference.h"

#include "engine/backend/reference/reference_backend.h"
#include "engine/plan/precision.h"

namespace lockstep::test {

namespace {

std::string ifMore(const std::string& what, double error, double tolerance) {
    if (error <= tolerance) return {};
    return what + " differs by " + std::to_string(error) + " of its largest element; ";
}

// Some of these are zero but for rounding (a bias ahead of a batch norm has no gradient): they are measured against the
// largest of all.
std::string differences(const Tensors& actual, const Tensors& expected, double tolerance) {
    if (actual.size() != expected.size()) return "another number of tensors; ";
    double largest = 0;
    for (const auto& [name, tensor] : expected) largest = std::max(largest, largestMagnitude(tensor));
    std::string words;
    for (const auto& [name, tensor] : expected)
        words += ifMore(name, relativeError(actual.at(name), tensor, 1e-2 * largest), tolerance);
    return words;
}

std::string differences(const std::string& what, const std::vector<double>& actual, const std::vector<double>& expected,
                        double tolerance) {
    const auto tensor = [](const std::vector<double>& values) {
        return tensorOf({static_cast<std::int64_t>(values.size())}, values);
    };
    if (actual.size() != expected.size()) return what + " of another size; ";
    return ifMore(what, relativeError(tensor(actual), tensor(expected)), tolerance);
}

OpCase rounded(OpCase opCase, DType compute) {
    if (sizeOf(compute) >= sizeOf(DType::F32)) return opCase;
    for (CaseInput& input : opCase.inputs) {
        if (!input.fixedType && !input.isStatistic)
            input.tensor = converted(converted(input.tensor, compute), DType::F64);
    }
    return opCase;
}

}  // namespace

std::string differences(const Backend& backend, const OpCase& given, const RunOptions& options, double factor) {
    const OpCase opCase = rounded(given, backend.computeType(options.precision));
    auto expected = runCase(*makeReferenceBackend(), opCase);
    const auto actual = runCase(backend, opCase, options);
    std::string words;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const DType dtype = actual[i].type().dtype;  // what overflows it does so in both
        if (sizeOf(dtype) < sizeOf(DType::F32)) expected[i] = converted(converted(expected[i], dtype), DType::F64);
        words +=
            ifMore("output " + std::to_string(i), relativeError(actual[i], expected[i]), opCase.tolerance * factor);
    }
    return words;
}

std::string differences(const Backend& backend, const GraphCase& graphCase, const RunOptions& options, double factor) {
    const auto run = [&](const Backend& by) {
        const DType compute = by.computeType(options.precision);
        const Graph graph = toPrecision(graphCase.build(atLeastF32(compute)), compute);
        RunResult result = runGraph(by, graph, randomTensors(graph, 17), options);
        verify(result.lowered);
        return result;
    };
    const RunResult expected = run(*makeReferenceBackend()), actual = run(backend);
    const double tolerance = graphCase.tolerance * factor;
    return differences(actual.outputs, expected.outputs, tolerance) +
           differences(actual.gradients, expected.gradients, tolerance) +
           differences(actual.buffers, expected.buffers, tolerance);
}

std::string differences(const Backend& backend, const UpdateCase& updateCase) {
    const UpdateResult expected = runUpdate(*makeReferenceBackend(), updateCase),
                       actual = runUpdate(backend, updateCase);
    std::string words = differences("weights", actual.weights, expected.weights, updateCase.tolerance) +
                        differences("buffer", actual.buffer, expected.buffer, updateCase.tolerance) +
                        differences("averages", actual.averages, expected.averages, updateCase.tolerance);
    if (actual.states.size() != expected.states.size()) return words + "another number of states; ";
    for (std::size_t i = 0; i < expected.states.size(); ++i)
        words += differences("state " + std::to_string(i), actual.states[i], expected.states[i], updateCase.tolerance);
    return actual.gate.skip == expected.gate.skip ? words : words + "the gate decides otherwise; ";
}

double allowance(Precision precision) {
    switch (precision) {
        case Precision::Fp32: return 1;
        case Precision::Tf32:
        case Precision::Fp16: return 150;
        case Precision::Bf16: return 1000;
    }
    return 1;
}

}  // namespace lockstep::test
