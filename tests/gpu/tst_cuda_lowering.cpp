#include <QtTest>
#include <algorithm>

#include "engine/autodiff/gradients.h"
#include "engine/backend/cuda/algorithm_names.h"
#include "engine/backend/cuda/convolution.h"
#include "engine/backend/cuda/cuda_backend.h"
#include "engine/backend/cuda/library_workspace.h"
#include "engine/backend/cuda/lowering.h"
#include "engine/core/error.h"
#include "engine/model/registry.h"
#include "engine/ops/elementwise.h"
#include "engine/plan/align.h"
#include "engine/plan/precision.h"

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
    // Wherever a slot lies, what a library gets of it is aligned and has all the bytes that it asked for.
    void librariesGetAlignedWorkspaces() {
        static_assert(cuda::kSlotAlignment == lockstep::kSlotAlignment);
        QCOMPARE(cuda::librarySlot(0), std::size_t{0});
        for (std::size_t at = 4096; at < 5120; at += lockstep::kSlotAlignment) {
            auto* const slot = reinterpret_cast<std::byte*>(at);
            const auto given = reinterpret_cast<std::size_t>(cuda::libraryWorkspace(slot));
            QVERIFY(given % cuda::kWorkspaceAlignment == 0 && given >= at);
            QVERIFY(given + 1000 <= at + cuda::librarySlot(1000));
        }
    }

    void convolutionsAreDescribedOnOneLine() {
        cuda::ConvolutionShape shape{.pass = cuda::ConvolutionShape::Pass::BackwardData, .dtype = DType::BF16};
        shape.x = {2, 8, 5, 6};
        shape.w = {16, 8, 3, 3};
        shape.y = {2, 16, 5, 6};
        QCOMPARE(describe(shape),
                 std::string("backward-data bf16 x=2,8,5,6 w=16,8,3,3 y=2,16,5,6 stride=1,1 padding=0,0 "
                             "dilation=1,1"));
        shape.dtype = DType::F32;
        shape.tf32 = true;
        QVERIFY(describe(shape).starts_with("backward-data tf32 "));
    }

    void denseAndReluBecomeOneNode() {
        const Graph graph = trainingGraph("mlp");
        const Graph lowered = cuda::lower(graph, Precision::Fp32);
        verify(lowered);
        QVERIFY(countOf(graph, "relu") > 0);
        QCOMPARE(countOf(lowered, "relu"), 0);
        QCOMPARE(countOf(lowered, "dense_relu"), countOf(graph, "relu"));
        QCOMPARE(countOf(lowered, "dense"), countOf(graph, "dense") - countOf(graph, "relu"));
    }

    void gradientsOfWeightsAndBiasAreOneProduct() {
        const Graph graph = trainingGraph("vit");
        const Graph lowered = cuda::lower(graph, Precision::Tf32);
        const auto layers = countOf(graph, "dense");
        QCOMPARE(countOf(graph, "dense_backward_bias"), layers + 1);  // the sum for positions
        QCOMPARE(countOf(lowered, "dense_backward_bias"), 1);
        QCOMPARE(countOf(lowered, "dense_backward_weights"), 0);
        QCOMPARE(countOf(lowered, "dense_backward_weights_bias"), layers);
        for (const Node& node : lowered.nodes())
            QVERIFY(node.op->name != "dense_backward_weights_bias" || node.algorithm == text(Precision::Tf32));
    }

    // What cuDNN does in reproducible runs must not depend on what was found by timing, and only that says so.
    void plansAreByRuleWhereTheyMayNotBeTimed() {
        for (const char* model : {"lenet5", "vit"}) {
            const auto lowered = [&](AlgorithmChoice how) {
                return cuda::CudaBackend(1).lower(trainingGraph(model),
                                                  {.precision = Precision::Tf32, .algorithms = how});
            };
            std::size_t byRule = 0;
            const Graph steady = lowered(AlgorithmChoice::ByRule);
            for (const Node& node : steady.nodes()) {
                const std::string_view op = node.op->name;
                const bool asks =
                    op.starts_with("attention") || (op.starts_with("conv2d") && op != "conv2d_backward_bias");
                QVERIFY2(cuda::isByRule(node) == asks, op.data());
                byRule += asks ? 1 : 0;
            }
            QVERIFY(byRule > 1);
            const Graph timed = lowered(AlgorithmChoice::Timed);
            QVERIFY(std::ranges::none_of(timed.nodes(), cuda::isByRule));
        }
    }

    // Forward and backward, where two thirds of the multiplications are.
    void productsReadTf32() {
        for (const char* model : {"lenet5", "vit"}) {
            const Graph lowered = cuda::lower(trainingGraph(model), Precision::Tf32);
            for (const Node& node : lowered.nodes()) {
                const std::string_view op = node.op->name;
                const bool product = op.starts_with("conv2d") || op.starts_with("dense");
                QVERIFY2(cuda::readsTf32(node) == (product && !op.ends_with("backward_bias")), op.data());
            }
        }
    }

    void convolutionAndReluBecomeOneNode() {
        const Graph graph = trainingGraph("lenet5");
        const Graph lowered = cuda::lower(graph, Precision::Tf32);
        verify(lowered);
        QVERIFY(countOf(graph, "conv2d") > 0);
        QCOMPARE(countOf(lowered, "conv2d"), 0);
        QCOMPARE(countOf(lowered, "conv2d_relu"), countOf(graph, "conv2d"));
        QCOMPARE(countOf(lowered, "relu"), 0);
        for (const Node& node : lowered.nodes())
            QVERIFY(node.op->name != "conv2d_relu" || node.algorithm == text(Precision::Tf32));
    }

    // Each norm with the ReLU behind it and the branch that joins there; the same backward.
    void residualBlocksHaveNormsAlone() {
        const Graph graph = trainingGraph("resnet18-cifar");
        const Graph lowered = cuda::lower(graph, Precision::Bf16);
        verify(lowered);
        for (const char* op : {"relu", "relu_backward", "batch_norm_train", "batch_norm_backward"}) {
            QVERIFY2(countOf(graph, op) > 0, op);
            QVERIFY2(countOf(lowered, op) == 0, op);
        }
        QCOMPARE(countOf(lowered, "norm_train"), countOf(graph, "relu"));
        QCOMPARE(countOf(lowered, "norm_backward"), countOf(graph, "relu"));
        QCOMPARE(countOf(lowered, "add"), 0);
    }

    // In f16, where the library has engines: every convolution behind the first, which reads three channels, sums up
    // what it makes; those that alone read what a norm makes apply it themselves, forward and for both gradients.
    void convolutionsTakeTheNormsAroundThem() {
        const ModelEntry* entry = findModel(builtinModels(), "resnet18-cifar");
        auto forward = buildForward(*entry, ParamValues(entry->params), {8, 3, 32, 32, 10}, true);
        Graph whole = std::move(forward).value();
        appendGradients(whole, *whole.output("loss_sum"));
        const Graph graph = toPrecision(whole, DType::F16);
        const Graph lowered = cuda::lower(graph, Precision::Fp16, true);
        verify(lowered);
        const auto convolutions = countOf(graph, "conv2d"), blocks = decltype(convolutions){8};
        QCOMPARE(countOf(lowered, "conv2d"), 1);
        QCOMPARE(countOf(lowered, "norm_conv2d_sums"), blocks);
        QCOMPARE(countOf(lowered, "conv2d_sums"), convolutions - 1 - blocks);
        QCOMPARE(countOf(lowered, "norm_factors"), blocks);
        QCOMPARE(countOf(lowered, "norm_train_from_sums"), blocks);
        QCOMPARE(countOf(lowered, "norm_train"), 1);
        QCOMPARE(countOf(lowered, "norm_conv2d_backward_weights"), blocks);
        QCOMPARE(countOf(lowered, "conv2d_backward_data_norm"), blocks);
        QCOMPARE(countOf(lowered, "norm_backward_from_sums"), blocks);
        const Graph apart = cuda::lower(graph, Precision::Fp16);
        QCOMPARE(countOf(apart, "conv2d"), convolutions);
        for (const char* op : {"reorder", "cast", "relu"}) QVERIFY2(countOf(lowered, op) == countOf(apart, op), op);
        const cuda::CudaBackend backend(1);
        for (const Precision precision : {Precision::Fp32, Precision::Bf16, Precision::Fp16}) {
            const Graph chosen =
                backend.lower(toPrecision(whole, backend.computeType(precision)), {.precision = precision});
            QCOMPARE(countOf(chosen, "conv2d_sums") > 0, precision == Precision::Fp16);
        }
    }

    // What goes around attention and the hidden layer is added by the product behind it; its gradient by the norm's.
    void branchesOfATransformerAreAddedWithinProducts() {
        const Graph graph = trainingGraph("vit");
        const Graph lowered = cuda::lower(graph, Precision::Bf16);
        verify(lowered);
        const auto norms = countOf(graph, "layer_norm"), branches = norms - 1;  // the last has none
        QVERIFY(branches >= 2);
        QCOMPARE(countOf(lowered, "dense_add"), branches);
        QCOMPARE(countOf(lowered, "layer_norm_backward_add"), branches);
        QCOMPARE(countOf(lowered, "add"), 0);
    }

    void parametersGradientsAndOutputsAreKept() {
        const Graph graph = trainingGraph("mlp");
        const Graph lowered = cuda::lower(graph, Precision::Fp32);
        const auto parameters = graph.withRole(ValueRole::Parameter);
        QCOMPARE(lowered.withRole(ValueRole::Parameter).size(), parameters.size());
        for (const ValueId parameter : parameters) {
            const auto same = lowered.find(graph.value(parameter).name);
            QVERIFY(same.has_value());
            QVERIFY(lowered.gradientOf(*same).has_value());
        }
        QCOMPARE(lowered.outputs().size(), graph.outputs().size());
    }

    // What convolutions read is made of the pixels at once: neither widened first, nor laid out again.
    void imagesAreMadeAsConvolutionsReadThem() {
        const ModelEntry* entry = findModel(builtinModels(), "resnet18-cifar");
        ModelInput input{.batch = 8, .channels = 3, .height = 32, .width = 32, .classes = 10};
        input.pixels = {.kept = 500, .mean = {0.5f, 0.5f, 0.5f}, .deviation = {0.2f, 0.2f, 0.2f}};
        auto forward = buildForward(*entry, ParamValues(entry->params), input, true);
        Graph graph = std::move(forward).value();
        appendGradients(graph, *graph.output("loss_sum"));
        const Graph lowered = cuda::lower(toPrecision(graph, DType::BF16), Precision::Bf16);
        verify(lowered);
        QCOMPARE(countOf(lowered, "cast"), 0);
        QCOMPARE(countOf(lowered, "reorder"), 0);
        const auto made =
            std::ranges::find(lowered.nodes(), "pixels_to_images", [](const Node& node) { return node.op->name; });
        QVERIFY(made != lowered.nodes().end());
        const Value& images = lowered.value(made->outputs[0]);
        QCOMPARE(images.type.dtype, DType::BF16);
        QVERIFY(images.layout != nullptr);
        for (const ValueId pixels : made->inputs) QVERIFY(lowered.value(pixels).layout == nullptr);
    }

    void imagesAndFiltersHaveTheirChannelsLast() {
        const Graph lowered = cuda::lower(trainingGraph("lenet5"), Precision::Fp32);
        verify(lowered);
        for (const ValueId parameter : lowered.withRole(ValueRole::Parameter)) {
            const Value& value = lowered.value(parameter);
            const bool wide = value.type.shape.rank() == 4 && value.type.shape[1] > 1;
            QCOMPARE(value.layout != nullptr, wide);
            const Value& gradient = lowered.value(*lowered.gradientOf(parameter));
            QCOMPARE(gradient.layout != nullptr, wide);
        }
        // The image has one channel; the features are flattened row-major, and their gradient comes back so.
        QCOMPARE(countOf(lowered, "reorder"), 2);
    }
};

QTEST_APPLESS_MAIN(TestCudaLowering)
#include "tst_cuda_lowering.moc"
