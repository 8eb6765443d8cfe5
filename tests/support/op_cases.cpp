#include "tests/support/op_cases.h"

#include "engine/graph/graph.h"
#include "tests/support/case_inputs.h"

namespace lockstep::test {

std::vector<ValueId> OpCase::appendOp(Graph& graph, const std::vector<ValueId>& inputs, const OpCase& opCase,
                                      DType compute) {
    return graph.append(*opCase.op, inputs, opCase.attrs(compute), "case");
}

const std::vector<OpCase>& opCases() {
    static const std::vector<OpCase> all = [] {
        std::vector<OpCase> cases;
        addConvCases(cases);
        addPoolCases(cases);
        addDenseCases(cases);
        addBatchNormCases(cases);
        addSynchronisedNormCases(cases);
        addElementwiseCases(cases);
        addDropoutCases(cases);
        addLossCases(cases);
        addMixedLossCases(cases);
        addLayerNormCases(cases);
        addActivationCases(cases);
        addPixelCases(cases);
        addEmbeddingCases(cases);
        addTokenCases(cases);
        addAttentionCases(cases);
        return cases;
    }();
    return all;
}

std::vector<const OpCase*> casesOf(const OpDef& op) {
    std::vector<const OpCase*> found;
    for (const OpCase& opCase : opCases())
        if (opCase.op == &op) found.push_back(&opCase);
    return found;
}

Graph graphOf(const OpCase& opCase, DType compute) {
    Graph graph;
    std::vector<ValueId> inputs;
    for (std::size_t i = 0; i < opCase.inputs.size(); ++i) {
        const CaseInput& input = opCase.inputs[i];
        const std::string name = "in" + std::to_string(i);
        const DType floats = input.isStatistic ? atLeastF32(compute) : compute;
        const TensorType type{input.tensor.type().shape, input.fixedType ? input.tensor.type().dtype : floats};
        switch (input.role) {
            case ValueRole::Parameter: inputs.push_back(graph.addParameter(name, type, {}, true)); break;
            case ValueRole::Buffer: inputs.push_back(graph.addBuffer(name, type, {})); break;
            default: inputs.push_back(graph.addInput(name, type)); break;
        }
    }
    const auto outputs = opCase.append(graph, inputs, opCase, compute);
    for (std::size_t i = 0; i < outputs.size(); ++i) graph.addOutput("out" + std::to_string(i), outputs[i]);
    return graph;
}

Tensors tensorsOf(const OpCase& opCase) {
    Tensors tensors;
    for (std::size_t i = 0; i < opCase.inputs.size(); ++i)
        tensors.emplace("in" + std::to_string(i), opCase.inputs[i].tensor);
    return tensors;
}

std::vector<HostTensor> runCase(const Backend& backend, const OpCase& opCase, const RunOptions& options) {
    RunOptions used = options;
    used.scalars = opCase.scalars;
    const Graph graph = graphOf(opCase, backend.computeType(options.precision));
    RunResult result = runGraph(backend, graph, tensorsOf(opCase), used);
    verify(result.lowered);
    std::vector<HostTensor> outputs;
    for (std::size_t i = 0; i < graph.outputs().size(); ++i)
        outputs.push_back(std::move(result.outputs.at("out" + std::to_string(i))));
    return outputs;
}

}  // namespace lockstep::test
