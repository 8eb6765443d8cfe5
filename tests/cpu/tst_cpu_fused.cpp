#include <QtTest>

#include "engine/backend/cpu/cpu_backend.h"
#include "engine/backend/reference/reference_backend.h"
#include "tests/support/op_cases.h"
#include "tests/support/small_net.h"

using namespace lockstep;
using namespace lockstep::test;

// Whole small nets on the CPU, fused and laid out, against the reference backend: outputs, gradients and running
// statistics, for odd numbers of channels, odd images, single samples, several threads, with and without memory taken
// over.
class tst_cpu_fused : public QObject {
    Q_OBJECT
private slots:
    void nets_data();
    void nets();
};

namespace {

// Convolutions here are followed by a batch norm or have no bias: the gradient of a bias that a norm takes away is
// noise.
ValueId conv(Net& net, ValueId x, std::int64_t channels, int window, int stride = 1) {
    return net.conv(x, channels, window, {.stride = {stride, stride}, .padding = {window / 2, window / 2}});
}

using BuildNet = Graph (*)(DType compute, const Shape& image, std::int64_t channels);

// Identity and projected shortcuts, as in ResNet: every fused form of the norm, forward and backward.
Graph residual(DType compute, const Shape& image, std::int64_t channels) {
    Net net(compute, true, image);
    ValueId x = net.relu(net.norm(conv(net, net.image(), channels, 3)));
    for (const int stride : {1, 2, 1}) {
        const ValueId y = net.norm(conv(net, net.relu(net.norm(conv(net, x, channels, 3, stride))), channels, 3));
        const ValueId shortcut = stride == 1 ? x : net.norm(conv(net, x, channels, 1, stride));
        x = net.relu(stride == 1 ? net.add(shortcut, y) : net.add(y, shortcut));
    }
    return net.finish(net.dense(net.globalPool(x), 10));
}

// Norm and ReLU before each convolution, with the sum left bare: He et al., arXiv 1603.05027.
Graph preActivation(DType compute, const Shape& image, std::int64_t channels) {
    Net net(compute, true, image);
    ValueId x = conv(net, net.image(), channels, 3);
    for (int i = 0; i < 2; ++i) x = net.add(x, conv(net, net.relu(net.norm(x)), channels, 3));
    return net.finish(net.dense(net.globalPool(net.relu(net.norm(x))), 10));
}

// The same with 1x1 convolutions around the 3x3 one: they take in norms and the other branch, too.
Graph bottleneck(DType compute, const Shape& image, std::int64_t channels) {
    Net net(compute, true, image);
    ValueId x = conv(net, net.image(), 2 * channels, 3);
    for (int i = 0; i < 2; ++i) {
        ValueId y = conv(net, net.relu(net.norm(x)), channels, 1);
        y = conv(net, net.relu(net.norm(y)), channels, 3);
        x = net.add(conv(net, net.relu(net.norm(y)), 2 * channels, 1), x);
    }
    return net.finish(net.dense(net.globalPool(net.relu(net.norm(x))), 10));
}

// No norms: ReLU goes into convolutions, dense layers and pools; the image stays one through the flattening.
Graph plain(DType compute, const Shape& image, std::int64_t channels) {
    Net net(compute, true, image);
    ValueId x = net.maxPool(net.relu(conv(net, net.image(), channels, 5)));
    x = net.maxPool(net.relu(conv(net, x, channels + 3, 3)));
    return net.finish(net.dense(net.relu(net.dense(net.flatten(x), 13)), 10));
}

// A ReLU's output that is read from outside, and a norm whose output has two readers: little may be fused.
Graph shared(DType compute, const Shape& image, std::int64_t channels) {
    Net net(compute, true, image);
    const ValueId normed = net.norm(conv(net, net.image(), channels, 3)), active = net.relu(normed);
    const ValueId joined = net.relu(net.add(net.add(normed, active), net.norm(conv(net, active, channels, 1))));
    const ValueId twice = net.relu(net.add(joined, joined));
    return net.finish(net.dense(net.flatten(net.maxPool(twice)), 10));
}

// As in a transformer: dense layers with GELU or the other branch, layer norms inside and outside of branches; and a
// GELU's input that is read twice.
Graph transformer(DType compute, const Shape& image, std::int64_t channels) {
    Net net(compute, true, image);
    ValueId x = net.tokens(conv(net, net.image(), channels, 3));
    for (int i = 0; i < 2; ++i) {
        x = net.add(x, net.rowsDense(net.attention(net.layerNorm(x), 2, false), channels));
        const ValueId wide = net.rowsDense(net.layerNorm(x), 2 * channels + 1);
        const ValueId active = i == 0 ? net.gelu(wide) : net.add(net.gelu(wide), wide);
        x = net.add(net.rowsDense(active, channels), x);
    }
    return net.finish(net.dense(net.tokenMean(net.layerNorm(x)), 10));
}

struct NetCase {
    const char* name;
    BuildNet build;
};
constexpr NetCase kNets[] = {{"residual", residual},     {"pre-activation", preActivation},
                             {"bottleneck", bottleneck}, {"plain", plain},
                             {"shared", shared},         {"transformer", transformer}};

double largestError(const Tensors& actual, const Tensors& expected, std::string& where) {
    double worst = 0;
    for (const auto& [name, tensor] : expected) {
        const double error = actual.contains(name) ? relativeError(actual.at(name), tensor) : INFINITY;
        if (error >= worst) {
            worst = error;
            where = name;
        }
    }
    return worst;
}

void expectClose(const Tensors& actual, const Tensors& expected, double tolerance) {
    std::string where;
    const double worst = largestError(actual, expected, where);
    QVERIFY2(worst <= tolerance, (where + " is off by " + std::to_string(worst * 1e6) + "e-6").c_str());
}

}  // namespace

void tst_cpu_fused::nets_data() {
    QTest::addColumn<int>("net");
    QTest::addColumn<int>("samples");
    QTest::addColumn<int>("channels");
    QTest::addColumn<int>("height");
    QTest::addColumn<int>("threads");
    for (int net = 0; net < static_cast<int>(std::size(kNets)); ++net) {
        for (const int channels : {6, 10, 16, 20, 48}) {
            for (const int samples : {1, 3, 16, 17}) {
                for (const int threads : {1, 3}) {
                    const int height = channels % 4 == 0 ? 8 : 7;
                    QTest::addRow("%s %d channels, %d samples, %d threads", kNets[net].name, channels, samples, threads)
                        << net << samples << channels << height << threads;
                }
            }
        }
    }
}

void tst_cpu_fused::nets() {
    QFETCH(int, net);
    QFETCH(int, samples);
    QFETCH(int, channels);
    QFETCH(int, height);
    QFETCH(int, threads);
    const Shape image{samples, 3, height, 9};
    const Graph exact = kNets[net].build(DType::F64, image, channels);
    const Graph graph = kNets[net].build(DType::F32, image, channels);
    // A seed with which no ReLU reads a number so near to zero that rounding decides on its mask.
    const Tensors given = randomTensors(exact, 12);
    const RunResult expected = runGraph(*makeReferenceBackend(), exact, given);
    for (const bool inplace : {false, true}) {
        const RunResult actual =
            runGraph(*makeCpuBackend(), graph, given, {.threads = threads, .scalars = {}, .inplace = inplace});
        verify(actual.lowered);
        expectClose(actual.outputs, expected.outputs, 1e-5);
        expectClose(actual.buffers, expected.buffers, 1e-5);
        expectClose(actual.gradients, expected.gradients, 3e-5);
    }
}

QTEST_APPLESS_MAIN(tst_cpu_fused)
#include "tst_cpu_fused.moc"
