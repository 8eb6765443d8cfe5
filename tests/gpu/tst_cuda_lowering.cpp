#include <QtTest>
#include <algorithm>

#include "engine/autodiff/gradients.h"
#include "engine/backend/cuda/lowering.h"
#include "engine/core/error.h"
#include "engine/model/registry.h"
#include "engine/ops/elementwise.h"

using namespace lockstep;

namespace {

Graph trainingGraph(const char* model) {
    const ModelEntry* entry = findModel(builtinModels(), model);
    auto forward = buildForward(*entry, ParamValues(entry->params), {8, 1, 28, 28, 10}, true);
    Graph graph = std::move(forward).value();
    appendGradients(graph, *graph.output("loss_sum"));
    return graph;
}

auto countOf(const Graph& graph, std::string_view op) {
    return std::ranges::count_if(graph.nodes(), [&](const Node& node) { return node.op->name == op; });
}

}  // namespace

class TestCudaLowering : public QObject {
    Q_OBJECT
private slots:
    void denseAndReluBecomeOneNode() {
        const Graph graph = trainingGraph("mlp");
        const Graph lowered = lowerForCuda(graph, cudaKernelNames());
        verify(lowered);
        QVERIFY(countOf(graph, "relu") > 0);
        QCOMPARE(countOf(lowered, "relu"), 0);
        QCOMPARE(countOf(lowered, "cuda_dense_relu"), countOf(graph, "relu"));
        QCOMPARE(countOf(lowered, "dense"), countOf(graph, "dense") - countOf(graph, "relu"));
    }

    void parametersGradientsAndOutputsAreKept() {
        const Graph graph = trainingGraph("mlp");
        const Graph lowered = lowerForCuda(graph, cudaKernelNames());
        const auto parameters = graph.withRole(ValueRole::Parameter);
        QCOMPARE(lowered.withRole(ValueRole::Parameter).size(), parameters.size());
        for (const ValueId parameter : parameters) {
            const auto same = lowered.find(graph.value(parameter).name);
            QVERIFY(same.has_value());
            QVERIFY(lowered.gradientOf(*same).has_value());
        }
        QCOMPARE(lowered.outputs().size(), graph.outputs().size());
    }

    void halvesAreRefused() {
        Graph graph;
        const ValueId image = graph.addInput("image", {{2, 3}, DType::F32});
        graph.append(kCast, {image}, Attrs::of(CastAttrs{DType::BF16}), "image");
        try {
            lowerForCuda(graph, {"cast"});
            QFAIL("there are no kernels for bf16, and it was accepted");
        } catch (const EngineError& error) {
            QCOMPARE(error.kind(), EngineError::Kind::Device);
            QVERIFY(QString(error.what()).contains("bf16"));
        }
    }

    void anOpWithoutAKernelIsNamed() {
        const Graph graph = trainingGraph("lenet5");
        try {
            lowerForCuda(graph, cudaKernelNames());
            QFAIL("conv2d has no CUDA kernel and was accepted");
        } catch (const EngineError& error) {
            QCOMPARE(error.kind(), EngineError::Kind::Device);
            QVERIFY(error.where().starts_with("conv2d "));
        }
    }
};

QTEST_APPLESS_MAIN(TestCudaLowering)
#include "tst_cuda_lowering.moc"
