#include <QtTest>

#include "engine/backend/cuda/cudnn_attention.h"
#include "engine/backend/cuda/cudnn_convolution.h"

using namespace lockstep;
using namespace lockstep::cuda;

namespace {

// An H200 in the words of CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION: of a card that is only described the library tells
// which engines it would try, without a driver.
constexpr std::string_view kCard = R"({"maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64],
    "regsPerBlock": 65536, "multiProcessorCount": 132, "smClockRateKHz": 1980000, "memClockRateKHz": 3201000,
    "l2CacheSize": 62914560, "warpSize": 32, "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 232448,
    "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536, "pciDeviceId": 0, "maxCtasPerSM": 32,
    "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "isTccDriver": 0, "supportCoopLaunch": 1, "deviceVer": 900,
    "driverVer": 13000, "totalGlobalMem": 150000000000, "cudaDeviceId": 0, "deviceName": "NVIDIA H200"})";

CudnnDescriptor card() {
    CudnnDescriptor made(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
    made.set<char>(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, kCard);
    return made.finalize("an H200");
}

const char* nameOf(DType dtype) { return text(dtype).data(); }

}  // namespace

// What the CUDA module asks of cuDNN, put to the library itself on a machine without a card.
class TestCudnnEngines : public QObject {
    Q_OBJECT
private slots:
    void convolutionsHaveEngines_data() {
        QTest::addColumn<ConvolutionShape>("shape");
        using Pass = ConvolutionShape::Pass;
        struct Layer {
            const char* name;
            std::int64_t n, c, h, k, r, stride;
        };
        const Layer layers[] = {
            {"ResNet-50 3x3", 256, 64, 56, 64, 3, 1},      {"ResNet-50 strided", 256, 128, 56, 128, 3, 2},
            {"ResNet-50 1x1", 256, 256, 56, 64, 1, 1},     {"ResNet-50 stem", 256, 3, 224, 64, 7, 2},
            {"ResNet-18 of CIFAR", 512, 64, 32, 64, 3, 1}, {"patches of a ViT", 64, 3, 32, 192, 4, 4}};
        for (const Layer& layer : layers) {
            for (const Pass pass : {Pass::Forward, Pass::BackwardData, Pass::BackwardWeights}) {
                for (const DType dtype : {DType::BF16, DType::F16, DType::F32}) {
                    const std::int64_t padding = layer.r == layer.stride ? 0 : layer.r / 2;
                    const std::int64_t out = (layer.h + 2 * padding - layer.r) / layer.stride + 1;
                    ConvolutionShape shape{.pass = pass, .dtype = dtype};
                    shape.x = {layer.n, layer.c, layer.h, layer.h};
                    shape.w = {layer.k, layer.c, layer.r, layer.r};
                    shape.y = {layer.n, layer.k, out, out};
                    shape.stride = {layer.stride, layer.stride};
                    shape.padding = {padding, padding};
                    QTest::addRow("%s %d %s", layer.name, static_cast<int>(pass), nameOf(dtype)) << shape;
                }
            }
        }
    }
    void convolutionsHaveEngines() {
        QFETCH(ConvolutionShape, shape);
        QVERIFY(enginesFor(convolutionGraph(shape), card()) > 0);
    }

    // What follows convolutions with a bias, in one kernel with them: of halves everywhere, of floats where they may be
    // rounded.
    void epiloguesHaveEngines_data() {
        QTest::addColumn<ConvolutionShape>("shape");
        for (const DType dtype : {DType::BF16, DType::F16, DType::F32})
            for (const bool bias : {false, true})
                for (const bool relu : {false, true})
                    QTest::addRow("%s%s%s", nameOf(dtype), bias ? " bias" : "", relu ? " relu" : "")
                        << ConvolutionShape{.dtype = dtype,
                                            .x = {512, 64, 32, 32},
                                            .w = {128, 64, 3, 3},
                                            .y = {512, 128, 32, 32},
                                            .padding = {1, 1},
                                            .tf32 = true,
                                            .bias = bias,
                                            .relu = relu};
    }
    void epiloguesHaveEngines() { convolutionsHaveEngines(); }

    // Norms around convolutions, in f16, of all their shapes in ResNets.
    void normsHaveEngines_data() {
        QTest::addColumn<ConvolutionShape>("shape");
        using Pass = ConvolutionShape::Pass;
        struct Layer {
            std::int64_t n, c, h, k, r, stride;
        };
        const Layer layers[] = {{256, 64, 56, 64, 3, 1},  {256, 64, 56, 256, 1, 1},  {256, 128, 56, 128, 3, 2},
                                {256, 512, 7, 512, 3, 1}, {256, 512, 7, 2048, 1, 1}, {512, 64, 32, 64, 3, 1},
                                {128, 16, 32, 64, 1, 1},  {1, 24, 8, 24, 3, 1}};
        for (const Layer& layer : layers) {
            const std::int64_t padding = layer.r / 2, out = (layer.h + 2 * padding - layer.r) / layer.stride + 1;
            ConvolutionShape shape{.dtype = DType::F16};
            shape.x = {layer.n, layer.c, layer.h, layer.h};
            shape.w = {layer.k, layer.c, layer.r, layer.r};
            shape.y = {layer.n, layer.k, out, out};
            shape.stride = {layer.stride, layer.stride};
            shape.padding = {padding, padding};
            const auto add = [&](const char* name, Pass pass, bool normalised, bool sums, bool gradient) {
                shape.pass = pass;
                shape.normalised = normalised;
                shape.sums = sums;
                shape.normGradient = gradient;
                QTest::addRow("%s %s", name, describe(shape).c_str()) << shape;
            };
            add("sums", Pass::Forward, false, true, false);
            add("norm ahead, sums", Pass::Forward, true, true, false);
            add("norm ahead", Pass::BackwardWeights, true, false, false);
            add("norm's gradient", Pass::BackwardData, false, false, true);
        }
    }
    void normsHaveEngines() { convolutionsHaveEngines(); }

    void attentionHasEngines_data() {
        QTest::addColumn<AttentionShape>("shape");
        for (const bool backward : {false, true})
            for (const bool causal : {false, true})
                for (const DType dtype : {DType::BF16, DType::F16})
                    for (const std::int64_t width : {32, 64, 128})
                        for (const std::int64_t tokens : {65, 256, 1024})
                            QTest::addRow("%s%s, %s, width %d, %d tokens", backward ? "backward" : "forward",
                                          causal ? ", causal" : "", nameOf(dtype), static_cast<int>(width),
                                          static_cast<int>(tokens))
                                << AttentionShape{backward, dtype, 16, tokens, 8, width, causal};
    }
    void attentionHasEngines() {
        QFETCH(AttentionShape, shape);
        QVERIFY(enginesFor(attentionGraph(shape), card()) > 0);
    }
};

QTEST_APPLESS_MAIN(TestCudnnEngines)
#include "tst_cudnn_engines.moc"
