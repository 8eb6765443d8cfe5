#include <QtTest>
#include <algorithm>
#include <array>
#include <bit>

#include "engine/autodiff/gradients.h"
#include "engine/backend/cpu/conv_choice.h"
#include "engine/backend/cpu/cpu_backend.h"
#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/product_speed.h"
#include "engine/backend/cpu/simd/table.h"
#include "engine/backend/reference/reference_backend.h"
#include "engine/model/registry.h"
#include "engine/plan/precision.h"
#include "tests/cpu/choosing_backend.h"
#include "tests/support/against_reference.h"
#include "tests/support/op_cases.h"
#include "tests/support/small_net.h"

using namespace lockstep;
using namespace lockstep::test;

// What the CPU makes of bf16 where it has instructions for it: convolutions, products of rows, attention.
class tst_cpu_bf16 : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void whatTheProcessorHasAndMayUse();
    void rowsArePairedBothWays();
    void operandsAloneAreRounded_data();
    void operandsAloneAreRounded();
    void theLibrarysRoundOperandsAlone_data();
    void theLibrarysRoundOperandsAlone();
    void thoseOfTilesDoSo_data();
    void thoseOfTilesDoSo();
    void itsProductsAreThose_data();
    void itsProductsAreThose();
    void attentionRoundsOperandsAlone_data();
    void attentionRoundsOperandsAlone();
    void rowsOfTilesLieInMemoryAsThat();
    void weightsOfEvaluationsAreHalves();
    void smallProductsAreOurs();
    void whatComesBehindItReadsIt();
    void graphsAgreeWithTheReference_data();
    void graphsAgreeWithTheReference();
    void poolsOfEveryKindAgreeWithTheReference();
    void synchronisedNormsAgreeWithTheReference();
    void thoseOfTilesStandAmongOthers_data();
    void thoseOfTilesStandAmongOthers();
    void noneIsMadeByPlainLoops_data();
    void noneIsMadeByPlainLoops();
    void imagesOfFewProductsAreHalves_data();
    void imagesOfFewProductsAreHalves();
    void imagesOfFewSamplesAreHalvesInEvaluation();
    void evaluationsKeepWhatConvolutionsReadAsHalves_data();
    void evaluationsKeepWhatConvolutionsReadAsHalves();
    void whatIsTakenInIsRoundedToo();
    void bitsDoNotDependOnThreads();
};

namespace {

constexpr double kHalfUlp = 0x1p-8;  // of bf16, as a part of the smallest number of that exponent

std::int64_t pointwiseNodes(const Graph& lowered) {
    return std::ranges::count(lowered.nodes(), std::string(cpu::kPointwiseBf16), &Node::algorithm);
}

OpCase rounded(OpCase one) {
    for (CaseInput& input : one.inputs) {
        if (input.fixedType || input.isStatistic) continue;
        for (double& x : input.tensor.as<double>()) {
            auto number = static_cast<float>(x);
            cpu::bestSimd().roundToBf16(&number, 1);
            x = number;
        }
    }
    return one;
}

// Norm and ReLU before 1x1 convolutions, which take in these and the other branch; images of an odd number of pixels.
Graph bottleneck() {
    Net net(DType::F32, true, {3, 3, 7, 9});
    const auto pixels = [&](ValueId x, std::int64_t channels) {
        return net.conv(net.relu(net.norm(x)), channels, 1, {});
    };
    ValueId x = net.conv(net.image(), 32, 3, {.padding = {1, 1}});
    for (int i = 0; i < 2; ++i) x = net.add(pixels(pixels(x, 16), 32), x);
    return net.finish(net.dense(net.globalPool(net.relu(net.norm(x))), 10));
}

constexpr std::int64_t kResidualSamples = 6;

// Blocks of three convolutions behind a pool, the second with one beside it.
Graph residual(bool training) {
    Net net(DType::F32, training, {kResidualSamples, 3, 18, 14});
    const auto normed = [&](ValueId x, std::int64_t channels, int window, Conv2dAttrs attrs = {}) {
        return net.norm(net.conv(x, channels, window, attrs));
    };
    ValueId x = net.maxPool(net.relu(normed(net.image(), 32, 3, {.padding = {1, 1}})), {{3, 3}, {2, 2}, {1, 1}});
    for (const int stride : {1, 2}) {
        const ValueId inner = net.relu(normed(net.relu(normed(x, 32, 1)), 32, 3, {{stride, stride}, {1, 1}}));
        const ValueId beside = stride == 1 ? x : normed(x, 64, 1, {.stride = {2, 2}});
        x = net.relu(net.add(normed(inner, stride * 32, 1), beside));
    }
    return net.finish(net.dense(net.globalPool(x), 10));
}

// The CPU as it is where there are pairs alone: what convolutions and products read is rounded, and what
// an evaluation keeps for convolutions.
const ChoosingBackend& pairs() {
    static const ChoosingBackend backend(cpu::chooseByRule, onednn::Bf16Units::Pairs);
    return backend;
}

RunResult ran(const Graph& graph, Precision precision, int threads = 1) {
    return runGraph(pairs(), graph, randomTensors(graph, 12),
                    {.threads = threads, .scalars = {}, .precision = precision});
}

// What pairing makes of rows, as floats: [rows / 2][16][2] for neighbours in a column, [rows][16] for those in a row.
std::vector<float> unpaired(const std::vector<float>& pairs, std::size_t count) {
    std::vector<float> out(count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto pair = std::bit_cast<std::uint32_t>(pairs[i / 2]);
        out[i] = std::bit_cast<float>(i % 2 == 0 ? pair << 16 : pair & 0xffff0000u);
    }
    return out;
}

}  // namespace

void tst_cpu_bf16::initTestCase() {
    if (!cpu::bestBf16()) QSKIP("this processor has no instructions for pairs of bf16");
}

void tst_cpu_bf16::whatTheProcessorHasAndMayUse() {
    using onednn::Bf16Units;
    QCOMPARE(cpu::productUnitsOf(Bf16Units::Tiles, true, true), ProductUnits::Tiles);
    QCOMPARE(cpu::productUnitsOf(Bf16Units::Pairs, false, true), ProductUnits::Pairs);
    QCOMPARE(cpu::productUnitsOf(Bf16Units::None, false, true), ProductUnits::SlowPairs);
    QCOMPARE(cpu::productUnitsOf(Bf16Units::None, false, false), ProductUnits::None);
    for (const Bf16Units without : {Bf16Units::Pairs, Bf16Units::None})
        QCOMPARE(cpu::productUnitsOf(without, true, true), ProductUnits::TilesDenied);
}

// Of every number of rows, in place as well, as they are and normed: the bits of the norm and of rounding.
void tst_cpu_bf16::rowsArePairedBothWays() {
    const cpu::Bf16Table& table = *cpu::bestBf16();
    const CounterRng rng(3, 0, 0, 0);
    const auto noise = [&](std::uint32_t at) { return static_cast<float>(rng.normal(at)); };
    std::array<float, 16> mean, scale, offset;
    for (std::uint32_t i = 0; i < 16; ++i) mean[i] = noise(i), scale[i] = noise(16 + i), offset[i] = noise(32 + i);
    const cpu::ChannelAffine affine{mean.data(), scale.data(), offset.data()};
    for (std::size_t rows = 1; rows < 9; ++rows) {
        for (const cpu::ChannelAffine* norm : {static_cast<const cpu::ChannelAffine*>(nullptr), &affine}) {
            std::vector<float> x(rows * 16), expected;
            for (std::uint32_t i = 0; i < x.size(); ++i) x[i] = noise(48 + i);
            expected = x;
            if (norm)
                cpu::bestSimd().floats.norm({.x = x.data(),
                                             .y = expected.data(),
                                             .count = x.size(),
                                             .mean = mean.data(),
                                             .scale = scale.data(),
                                             .offset = offset.data()},
                                            0, true);
            cpu::bestSimd().roundToBf16(expected.data(), expected.size());
            std::vector<float> inPlace = x, apart((rows + 1) / 2 * 16);
            table.pairColumns(inPlace.data(), norm, inPlace.data(), rows);
            QCOMPARE(unpaired(inPlace, rows * 16), expected);
            expected.resize((rows + 1) / 2 * 32);
            inPlace = x;
            inPlace.resize(apart.size() * 2);
            table.pairRows(inPlace.data(), norm, inPlace.data(), rows);
            table.pairRows(x.data(), norm, apart.data(), rows);
            for (const auto& pairs : {inPlace, apart}) {
                const std::vector<float> found = unpaired(pairs, expected.size());
                for (std::size_t i = 0; i < found.size(); ++i)
                    QCOMPARE(found[i], expected[i / 32 * 32 + i % 2 * 16 + i % 32 / 2]);
            }
        }
    }
}

void tst_cpu_bf16::operandsAloneAreRounded_data() {
    QTest::addColumn<int>("at");
    const auto& cases = opCases();
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const std::string& name = cases[i].name;
        if (name.starts_with("conv2d") && name.find("/pixels") != name.npos)
            QTest::newRow(name.c_str()) << static_cast<int>(i);
    }
}

// Where these are bf16 to begin with, results are those of the reference, but for what `kept` says of rounding them;
// else they differ by as much as it rounds.
void compareRounded(const Backend& backend, int at, double most = 0.02, double kept = 0) {
    const OpCase &given = opCases()[static_cast<std::size_t>(at)], one = rounded(given);
    const auto errorOf = [&](const OpCase& opCase) {
        const RunOptions options{.threads = 2, .scalars = {}, .precision = Precision::Bf16};
        const HostTensor expected = runCase(*makeReferenceBackend(), opCase)[0];
        return relativeError(runCase(backend, opCase, options)[0], expected);
    };
    const double exact = errorOf(one), rounding = errorOf(given);
    QVERIFY2(exact <= std::max(one.tolerance, kept), std::to_string(exact).c_str());
    QVERIFY2(rounding > one.tolerance && rounding < most, std::to_string(rounding).c_str());
}

void tst_cpu_bf16::operandsAloneAreRounded() {
    QFETCH(int, at);
    compareRounded(pairs(), at);
}

const ChoosingBackend& halvesByTheLibrary() {
    static const ChoosingBackend backend([](const cpu::ConvPass&) { return cpu::ConvAlgorithm::DirectBf16; },
                                         onednn::Bf16Units::Pairs);
    return backend;
}

// The CPU as it is where there are tiles.
const ChoosingBackend& tiles() {
    static const ChoosingBackend backend([](const cpu::ConvPass&) { return cpu::ConvAlgorithm::DirectBf16; },
                                         onednn::Bf16Units::Tiles);
    return backend;
}

// All that the library has, and that has channels enough not to be made with samples in lanes: depthwise ones, too.
void tst_cpu_bf16::theLibrarysRoundOperandsAlone_data() {
    QTest::addColumn<int>("at");
    QTest::addColumn<bool>("areTiles");
    const auto& cases = opCases();
    for (const bool areTiles : {false, true}) {
        const ChoosingBackend& backend = areTiles ? tiles() : halvesByTheLibrary();
        int rows = 0, depthwise = 0;
        for (std::size_t i = 0; i < cases.size(); ++i) {
            const std::string& name = cases[i].name;
            if (!name.starts_with("conv2d")) continue;
            const Graph lowered = backend.lower(graphOf(cases[i], DType::F32), {.precision = Precision::Bf16});
            if (std::ranges::count(lowered.nodes(), std::string(cpu::kDirectBf16), &Node::algorithm) == 0) continue;
            QTest::addRow("%s %s", name.c_str(), areTiles ? "of bf16" : "of floats") << static_cast<int>(i) << areTiles;
            ++rows;
            depthwise += name.ends_with("/depthwise") ? 1 : 0;
        }
        QVERIFY2(rows >= 40, std::to_string(rows).c_str());
        QCOMPARE(depthwise, 3);
    }
}

// Where there are tiles images lie in memory as bf16; gradients of weights do not.
void tst_cpu_bf16::theLibrarysRoundOperandsAlone() {
    QFETCH(int, at);
    QFETCH(bool, areTiles);
    const bool isWeights = opCases()[static_cast<std::size_t>(at)].name.starts_with("conv2d_backward_weights");
    compareRounded(areTiles ? tiles() : halvesByTheLibrary(), at, 0.02, areTiles && !isWeights ? kHalfUlp : 0);
}

// As where the processor has tiles, by one of our own algorithms wherever that can be.
const ChoosingBackend& ofTiles(cpu::ConvAlgorithm algorithm) {
    static const ChoosingBackend samples(wherever(cpu::ConvAlgorithm::Samples), onednn::Bf16Units::Tiles);
    static const ChoosingBackend gathered(wherever(cpu::ConvAlgorithm::Gathered), onednn::Bf16Units::Tiles);
    static const ChoosingBackend padded(wherever(cpu::ConvAlgorithm::Padded), onednn::Bf16Units::Tiles);
    static const ChoosingBackend joined(wherever(cpu::ConvAlgorithm::Joined), onednn::Bf16Units::Tiles);
    return algorithm == cpu::ConvAlgorithm::Samples  ? samples
           : algorithm == cpu::ConvAlgorithm::Padded ? padded
           : algorithm == cpu::ConvAlgorithm::Joined ? joined
                                                     : gathered;
}

void tst_cpu_bf16::thoseOfTilesDoSo_data() {
    QTest::addColumn<cpu::ConvAlgorithm>("algorithm");
    QTest::addColumn<int>("at");
    const auto& cases = opCases();
    for (const auto& [algorithm, least] :
         {std::pair{cpu::ConvAlgorithm::Samples, 12}, std::pair{cpu::ConvAlgorithm::Gathered, 18},
          std::pair{cpu::ConvAlgorithm::Padded, 18}, std::pair{cpu::ConvAlgorithm::Joined, 24}}) {
        int rows = 0;
        for (std::size_t i = 0; i < cases.size(); ++i) {
            const Graph lowered =
                ofTiles(algorithm).lower(graphOf(cases[i], DType::F32), {.precision = Precision::Bf16});
            if (std::ranges::count(lowered.nodes(), text(algorithm), &Node::algorithm) == 0) continue;
            QTest::addRow("%s, %s", text(algorithm).c_str(), cases[i].name.c_str()) << algorithm << static_cast<int>(i);
            ++rows;
        }
        QVERIFY2(rows >= least, QByteArray::number(rows).constData());
    }
}

// Images lie in memory as bf16, gradients of weights do not.
void tst_cpu_bf16::thoseOfTilesDoSo() {
    QFETCH(cpu::ConvAlgorithm, algorithm);
    QFETCH(int, at);
    const OpCase& one = opCases()[static_cast<std::size_t>(at)];
    const bool isWeights = one.name.starts_with("conv2d_backward_weights");
    compareRounded(ofTiles(algorithm), at, 0.02, isWeights ? 0 : kHalfUlp);
    const auto made = [&](int threads) {
        return runCase(ofTiles(algorithm), one, {.threads = threads, .scalars = {}, .precision = Precision::Bf16})[0];
    };
    const HostTensor alone = made(1), together = made(5);
    QVERIFY(std::ranges::equal(alone.as<float>(), together.as<float>()));
}

// As where the processor has tiles. What is not a sum for a weight lies in memory as bf16.
void tst_cpu_bf16::itsProductsAreThose_data() {
    QTest::addColumn<int>("at");
    const auto& cases = opCases();
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const std::string& name = cases[i].name;
        if (name.starts_with("dense") && !name.starts_with("dense_backward_bias"))
            QTest::newRow(name.c_str()) << static_cast<int>(i);
    }
}

void tst_cpu_bf16::itsProductsAreThose() {
    QFETCH(int, at);
    constexpr double kOfFewSums = 0.1;  // one of a few that nearly cancels tells little
    const bool isWeights = opCases()[static_cast<std::size_t>(at)].name.starts_with("dense_backward_weights");
    compareRounded(ChoosingBackend(cpu::chooseByRule, onednn::Bf16Units::Tiles), at, kOfFewSums,
                   isWeights ? 0 : kHalfUlp);
}

void tst_cpu_bf16::attentionRoundsOperandsAlone_data() {
    QTest::addColumn<int>("at");
    QTest::addColumn<bool>("areTiles");
    const auto& cases = opCases();
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (!cases[i].name.starts_with("attention")) continue;
        QTest::newRow((cases[i].name + " of floats").c_str()) << static_cast<int>(i) << false;
        QTest::newRow((cases[i].name + " of bf16").c_str()) << static_cast<int>(i) << true;
    }
}

// Queries, keys and values that are bf16 to begin with: weights and scores' gradients are rounded as they are
// multiplied, all else is as in f32. The statistics that backward reads are those of floats.
void tst_cpu_bf16::attentionRoundsOperandsAlone() {
    QFETCH(int, at);
    QFETCH(bool, areTiles);
    const OpCase one = rounded(opCases()[static_cast<std::size_t>(at)]);
    const auto expected = runCase(*makeReferenceBackend(), one);
    const RunOptions options{.threads = 2, .scalars = {}, .precision = Precision::Bf16};
    const auto actual = runCase(areTiles ? tiles() : pairs(), one, options);
    QCOMPARE(actual.size(), expected.size());
    const double error = relativeError(actual[0], expected[0]);
    QVERIFY2(error < 2 * kHalfUlp, std::to_string(error).c_str());
    if (actual.size() > 1) QVERIFY(relativeError(actual[1], expected[1]) <= one.tolerance);
    const HostTensor floats = runCase(*makeCpuBackend(), one, {.threads = 2, .scalars = {}})[0];
    if (one.inputs[0].tensor.type().shape[1] > 1) QVERIFY(relativeError(actual[0], floats) > 0);
}

constexpr std::int64_t kTokens = 16;

// A block's layer norm, dense layers, attention and GELU, of so many samples.
Graph encoder(std::int64_t samples) {
    Net net(DType::F32, true, {samples, 3, 8, 8});
    ValueId x = net.tokens(net.conv(net.image(), 32, 2, {.stride = {2, 2}}));
    x = net.add(x, net.rowsDense(net.attention(net.layerNorm(x), 2, false), 32));
    x = net.add(x, net.rowsDense(net.gelu(net.rowsDense(net.layerNorm(x), 64)), 32));
    return net.finish(net.dense(net.tokenMean(net.layerNorm(x)), 10));
}

// How many nodes make or read rows of tokens, and how many of those are of floats.
std::pair<int, int> rowsIn(const Backend& backend, const Graph& graph) {
    const Graph lowered = backend.lower(toPrecision(graph, DType::BF16), {.precision = Precision::Bf16});
    int rows = 0, floats = 0;
    for (const Node& node : lowered.nodes()) {
        const auto is = [&](const char* kind) { return node.op->name.starts_with(kind); };
        const bool makesWeights = is("dense_backward_weights") || is("dense_backward_bias");
        if (!(is("layer_norm") || is("attention") || is("gelu") || is("dense")) || makesWeights) continue;
        const Shape& shape = lowered.typeOf(node.inputs[0]).shape;
        const bool isHead = shape.count() / shape[-1] == graph.typeOf(graph.withRole(ValueRole::Input)[0]).shape[0];
        if (isHead) continue;
        ++rows;
        floats +=
            lowered.typeOf(node.inputs[0]).dtype == DType::F32 || lowered.typeOf(node.outputs[0]).dtype == DType::F32;
    }
    return {rows, floats};
}

// A transformer's, from the first layer norm to the last: nothing is reordered between them. Many of them do so where
// there are pairs, too.
void tst_cpu_bf16::rowsOfTilesLieInMemoryAsThat() {
    const auto& cases = graphCases();
    const auto transformer = std::ranges::find(cases, "transformer", &GraphCase::name);
    QVERIFY(transformer != cases.end());
    const auto [rows, floats] = rowsIn(tiles(), transformer->build(DType::F32));
    QVERIFY2(rows > 15, std::to_string(rows).c_str());
    QCOMPARE(floats, 0);
    for (const std::int64_t samples : {4, 40}) {
        const auto [all, ofFloats] = rowsIn(pairs(), encoder(samples));
        QVERIFY(all > 8);
        QCOMPARE(ofFloats, samples * kTokens < 512 ? all : 0);
    }
}

// Rounded and laid out once, as long as they stay what they are; in training with each product.
void tst_cpu_bf16::weightsOfEvaluationsAreHalves() {
    for (const auto& [name, dtype] : {std::pair("transformer", DType::F32), {"transformer-evaluation", DType::BF16}}) {
        const auto found = std::ranges::find(graphCases(), name, &GraphCase::name);
        QVERIFY(found != graphCases().end());
        const Graph graph = toPrecision(found->build(DType::F32), DType::BF16);
        const Graph lowered = tiles().lower(graph, {.precision = Precision::Bf16});
        int products = 0;
        for (const Node& node : lowered.nodes()) {
            if (node.algorithm != cpu::kLibraryBf16 || node.op->name.starts_with("dense_backward")) continue;
            QCOMPARE(lowered.typeOf(node.inputs[1]).dtype, dtype);
            ++products;
        }
        QCOMPARE(products, 7);
    }
}

// A classifier's alone: the library would take megabytes for its code, which transformers have anyway.
void tst_cpu_bf16::smallProductsAreOurs() {
    Net net(DType::F32, true, {4, 3, 8, 8});
    const Graph classifier = net.finish(net.dense(net.globalPool(net.conv(net.image(), 32, 3, {})), 10));
    for (const auto& [graph, algorithm, count] :
         {std::tuple(classifier, "bf16", 3), std::tuple(encoder(4), "library+bf16", 15)}) {
        const Graph lowered = tiles().lower(toPrecision(graph, DType::BF16), {.precision = Precision::Bf16});
        int products = 0;
        for (const Node& node : lowered.nodes()) {
            if (!node.op->name.starts_with("dense") || node.op->name == "dense_backward_bias") continue;
            QCOMPARE(node.algorithm, std::string(algorithm));
            ++products;
        }
        QCOMPARE(products, count);
    }
}

// Pools, sums and norms behind convolutions that lie channels last, as those of tiles do.
void tst_cpu_bf16::whatComesBehindItReadsIt() {
    int convolutions = 0;
    for (const GraphCase& each : graphCases()) {
        const Graph graph = each.build(DType::F32);
        const RunResult actual =
            runGraph(tiles(), graph, randomTensors(graph, 12), {.scalars = {}, .precision = Precision::Bf16});
        const HostTensor expected = ran(graph, Precision::Fp32).outputs.at("logits");
        const double error = relativeError(actual.outputs.at("logits"), expected);
        QVERIFY2(error < 0.1, (each.name + " is off by " + std::to_string(error)).c_str());
        convolutions += static_cast<int>(
            std::ranges::count(actual.lowered.nodes(), std::string(cpu::kDirectBf16), &Node::algorithm));
    }
    QVERIFY2(convolutions > 40, std::to_string(convolutions).c_str());
}

void tst_cpu_bf16::graphsAgreeWithTheReference_data() {
    QTest::addColumn<int>("at");
    for (std::size_t i = 0; i < graphCases().size(); ++i)
        QTest::newRow(graphCases()[i].name.c_str()) << static_cast<int>(i);
}

// Outputs, gradients and statistics, where there are tiles. Rounding decides about some ReLUs and maxima, whose
// gradients come or stay away as a whole.
void tst_cpu_bf16::graphsAgreeWithTheReference() {
    QFETCH(int, at);
    constexpr double kDecisions = 4;
    const std::string found = differences(tiles(), graphCases()[static_cast<std::size_t>(at)],
                                          {.threads = 2, .scalars = {}, .precision = Precision::Bf16},
                                          kDecisions * allowance(Precision::Bf16));
    QVERIFY2(found.empty(), found.c_str());
}

// Windows that are apart and that overlap, between and behind convolutions, and what has no loops over bf16. Means
// alone decide nothing, and are off by what rounding loses; of maxima some gradients go elsewhere.
void tst_cpu_bf16::poolsOfEveryKindAgreeWithTheReference() {
    const Pool2dAttrs apart{.window = {2, 2}, .stride = {2, 2}},
        overlapping{.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1}};
    const auto pools = [&](DType compute, bool largest) {
        Net net(compute, true, {4, 3, 12, 13});
        const auto pool = [&](ValueId x, const Pool2dAttrs& attrs) {
            return largest ? net.maxPool(net.relu(x), attrs) : net.averagePool(x, attrs);
        };
        ValueId x = net.conv(net.image(), 32, 3, {.padding = {1, 1}}, true);
        x = pool(net.conv(pool(x, overlapping), 48, 3, {.padding = {1, 1}}), overlapping);
        x = pool(net.add(net.dropout(net.silu(net.conv(x, 48, 1, {})), 0.4), x), {.window = {2, 2}, .stride = {1, 1}});
        x = pool(net.conv(net.conv(x, 40, 1, {}, true), 64, 1, {}), apart);
        return net.finish(net.dense(net.flatten(net.conv(x, 32, 1, {})), 10));
    };
    const RunOptions options{.threads = 2, .scalars = {}, .precision = Precision::Bf16};
    for (const bool largest : {false, true}) {
        const GraphCase graph{"pools", [&](DType compute) { return pools(compute, largest); }, largest ? 3e-4 : 2e-5};
        const std::string found = differences(tiles(), graph, options, allowance(Precision::Bf16));
        QVERIFY2(found.empty(), (std::to_string(largest) + ": " + found).c_str());
    }
}

// Of images of bf16 with several channel blocks, on one device, where what is reduced over all of them is its own.
void tst_cpu_bf16::synchronisedNormsAgreeWithTheReference() {
    const auto build = [](DType compute) {
        Net net(compute, true, {5, 3, 9, 11}, true);
        ValueId x = net.relu(net.norm(net.conv(net.image(), 48, 3, {.padding = {1, 1}})));
        x = net.norm(net.conv(x, 32, 1, {.stride = {2, 2}}));
        return net.finish(net.dense(net.globalPool(x), 10));
    };
    const RunOptions options{.threads = 2, .scalars = {}, .precision = Precision::Bf16};
    const std::string found =
        differences(tiles(), GraphCase{"norms", build, 3e-4}, options, allowance(Precision::Bf16));
    QVERIFY2(found.empty(), found.c_str());
}

// Between norms, branches and the library's convolutions; nothing is reordered on the way but weights.
void tst_cpu_bf16::thoseOfTilesStandAmongOthers_data() {
    QTest::addColumn<cpu::ConvAlgorithm>("algorithm");
    QTest::addColumn<int>("convolutions");
    QTest::newRow("samples") << cpu::ConvAlgorithm::Samples << 3;
    QTest::newRow("gathered") << cpu::ConvAlgorithm::Gathered << 2;
    QTest::newRow("padded") << cpu::ConvAlgorithm::Padded << 2;
    QTest::newRow("joined") << cpu::ConvAlgorithm::Joined << 2;
}

void tst_cpu_bf16::thoseOfTilesStandAmongOthers() {
    QFETCH(cpu::ConvAlgorithm, algorithm);
    QFETCH(int, convolutions);
    constexpr std::int64_t kSamples = 96;
    const auto build = [](DType compute) {
        Net net(compute, true, {kSamples, 3, 8, 8});
        const auto normed = [&](ValueId x, std::int64_t channels, const Conv2dAttrs& attrs) {
            return net.relu(net.norm(net.conv(x, channels, 3, attrs)));
        };
        ValueId x = normed(net.image(), 32, {.padding = {1, 1}});
        x = net.add(normed(x, 32, {.padding = {1, 1}}), x);
        x = net.add(normed(x, 64, {.stride = {2, 2}, .padding = {1, 1}}), net.conv(x, 64, 1, {.stride = {2, 2}}));
        x = net.relu(net.conv(x, 64, 3, {.padding = {1, 1}}, true));
        x = normed(net.conv(x, 48, 1, {}, true), 64, {.padding = {1, 1}});
        return net.finish(net.dense(net.globalPool(x), 10));
    };
    const RunOptions options{.threads = 2, .scalars = {}, .precision = Precision::Bf16};
    const std::string found =
        differences(ofTiles(algorithm), GraphCase{"tiles", build, 3e-4}, options, 4 * allowance(Precision::Bf16));
    QVERIFY2(found.empty(), found.c_str());
    const Graph lowered =
        ofTiles(algorithm).lower(toPrecision(build(DType::F32), DType::BF16), {.precision = Precision::Bf16});
    int passes = 0;
    for (const Node& node : lowered.nodes()) {
        passes += node.algorithm == text(algorithm) ? 1 : 0;
        if (node.op != &cpu::kReorder) continue;
        const Value& to = lowered.value(node.outputs[0]);
        const bool isBatch = lowered.value(node.inputs[0]).role == ValueRole::Input;
        QVERIFY2(isBatch || to.type.shape.rank() != 4 || to.type.shape[0] != kSamples, to.name.c_str());
    }
    QCOMPARE(passes, 3 * convolutions);
}

void tst_cpu_bf16::noneIsMadeByPlainLoops_data() {
    QTest::addColumn<QString>("model");
    for (const char* model : {"fashion-cnn", "small-cnn", "resnet50-cifar", "resnet164", "vgg11-cifar", "mobilenet-v2"})
        QTest::newRow(model) << model;
}

// Nor of a first layer of one channel, nor of images of one pixel, nor with the norm of an evaluation in it.
void tst_cpu_bf16::noneIsMadeByPlainLoops() {
    QFETCH(QString, model);
    constexpr int kThreads = 1;
    const ModelEntry& entry = *findModel(builtinModels(), model.toStdString());
    const bool isGrey = model == "fashion-cnn";
    for (const auto& [samples, training] : {std::pair{1, true}, {8, true}, {1, false}, {8, false}}) {
        const ModelInput input{.batch = samples, .channels = isGrey ? 1 : 3, .height = 32, .width = 32, .classes = 10};
        Graph graph = buildForward(entry, ParamValues(entry.params), input, training).value();
        if (training) appendGradients(graph, *graph.output("loss_sum"));
        const Graph lowered =
            tiles().lower(toPrecision(graph, DType::BF16), {.threads = kThreads, .precision = Precision::Bf16});
        cpu::Machine machine;
        const cpu::TeamOf team(kThreads);
        int passes = 0;
        for (const Node& node : lowered.nodes()) {
            if (node.algorithm != cpu::kDirectBf16) continue;
            const cpu::Order order{machine, lowered, node};
            QVERIFY2(cpu::isLibrarysFast(order), order.where().c_str());
            ++passes;
        }
        QVERIFY2(passes >= (training ? 14 : 5), std::to_string(passes).c_str());
    }
}

void tst_cpu_bf16::imagesOfFewProductsAreHalves_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<bool>("expected");
    QTest::addColumn<int>("batch");
    for (const char* model : {"resnet164", "mobilenet-v2"}) QTest::newRow(model) << model << true << 3;
    for (const char* model : {"resnet50-cifar", "resnet18-cifar", "small-cnn"})
        QTest::newRow(model) << model << false << 2000;
    for (const char* model : {"lenet5", "vit"}) QTest::newRow(model) << model << false << 3;
}

// Where there are pairs, too; in training and in evaluation alike.
void tst_cpu_bf16::imagesOfFewProductsAreHalves() {
    QFETCH(QString, model);
    QFETCH(bool, expected);
    QFETCH(int, batch);
    const ModelEntry& entry = *findModel(builtinModels(), model.toStdString());
    for (const bool training : {true, false}) {
        const ModelInput input{.batch = batch, .channels = 3, .height = 32, .width = 32, .classes = 10};
        const Graph graph =
            toPrecision(buildForward(entry, ParamValues(entry.params), input, training).value(), DType::BF16);
        QCOMPARE(cpu::suitsHalfImages(graph), expected);
        const Graph lowered = makeCpuBackend()->lower(graph, {.precision = Precision::Bf16});
        const auto isHalf = [&](const Node& node) {
            const TensorType& type = lowered.typeOf(node.outputs[0]);
            const bool isOfBlocks =
                node.op->name.find("norm") != node.op->name.npos || node.op->name.starts_with("conv2d");
            return type.shape.rank() == 4 && isOfBlocks && type.dtype == DType::BF16;
        };
        const onednn::Bf16Units units = onednn::bf16Units();
        if (expected || units != onednn::Bf16Units::Tiles)
            QCOMPARE(std::ranges::count_if(lowered.nodes(), isHalf) > 20, expected && units != onednn::Bf16Units::None);
    }
}

// Whatever they multiply for an element.
void tst_cpu_bf16::imagesOfFewSamplesAreHalvesInEvaluation() {
    const ModelEntry& entry = *findModel(builtinModels(), "resnet18-cifar");
    const auto suits = [&](std::int64_t batch, bool training) {
        const ModelInput input{.batch = batch, .channels = 3, .height = 32, .width = 32, .classes = 10};
        Graph graph = buildForward(entry, ParamValues(entry.params), input, training).value();
        if (training) appendGradients(graph, *graph.output("loss_sum"));
        return cpu::suitsHalfImages(toPrecision(graph, DType::BF16));
    };
    QVERIFY(suits(1, false) && suits(2, false));
    QVERIFY(!suits(4, false) && !suits(1, true));
}

void tst_cpu_bf16::evaluationsKeepWhatConvolutionsReadAsHalves_data() {
    using cpu::ConvAlgorithm;
    QTest::addColumn<int>("algorithm");
    QTest::newRow("our own") << -1;
    for (const ConvAlgorithm each : {ConvAlgorithm::DirectBf16, ConvAlgorithm::Direct})
        QTest::newRow(cpu::text(each).c_str()) << static_cast<int>(each);
}

// Where there are pairs: all images from the first convolution on, its pool among them, to those that something else
// reads. In training, and of floats, none is.
void tst_cpu_bf16::evaluationsKeepWhatConvolutionsReadAsHalves() {
    QFETCH(int, algorithm);
    const auto choose = [=](const cpu::ConvPass& pass) {
        const cpu::ConvAlgorithm ours = cpu::chooseByRule(pass);
        if (algorithm >= 0) return static_cast<cpu::ConvAlgorithm>(algorithm);
        return cpu::isOwn(ours) ? ours : cpu::ConvAlgorithm::DirectBf16;
    };
    const ChoosingBackend backend(choose, onednn::Bf16Units::Pairs);
    for (const bool training : {true, false}) {
        const Graph graph = residual(training);
        const auto run = [&](Precision precision) {
            return runGraph(backend, graph, randomTensors(graph, 12), {.scalars = {}, .precision = precision});
        };
        const RunResult halves = run(Precision::Bf16), floats = run(Precision::Fp32);
        int kept = 0, reordered = 0;
        for (const Node& node : halves.lowered.nodes()) {
            const TensorType& made = halves.lowered.typeOf(node.outputs[0]);
            const bool isHalf = made.shape.rank() == 4 && made.dtype == DType::BF16;
            if (!isHalf || made.shape[0] != kResidualSamples) continue;
            (node.op->name == "reorder" ? reordered : kept) += 1;
        }
        const auto isMadeBy = [&](const char* name) {
            return std::ranges::count(halves.lowered.nodes(), std::string(name), &Node::algorithm) > 0;
        };
        QCOMPARE(isMadeBy(cpu::kPointwiseBf16), algorithm < 0);
        QCOMPARE(isMadeBy("winograd"), algorithm < 0);
        const bool libraryLaysOutOtherwise = onednn::bf16Units() == onednn::Bf16Units::Tiles;  // than pairs are read
        const bool areOfFloats = algorithm == static_cast<int>(cpu::ConvAlgorithm::Direct);
        if (training || areOfFloats) QCOMPARE(kept, 0);
        else
            QVERIFY2(kept == 8 && (reordered == 1 || libraryLaysOutOtherwise),
                     qPrintable(QString("%1, %2").arg(kept).arg(reordered)));
        const double error = relativeError(halves.outputs.at("logits"), floats.outputs.at("logits"));
        QVERIFY2(error < 0.03, std::to_string(error).c_str());
    }
}

void tst_cpu_bf16::whatIsTakenInIsRoundedToo() {
    const Graph graph = bottleneck();
    const RunResult halves = ran(graph, Precision::Bf16), floats = ran(graph, Precision::Fp32);
    QCOMPARE(pointwiseNodes(floats.lowered), 0);
    QCOMPARE(pointwiseNodes(halves.lowered), 12);  // four convolutions, three passes
    // Where rounding turns a ReLU's mask, gradients differ by more than it.
    const auto compare = [](const Tensors& actual, const Tensors& expected) {
        for (const auto& [name, tensor] : expected) {
            const double error = relativeError(actual.at(name), tensor);
            QVERIFY2(error < 0.2, (name + " is off by " + std::to_string(error)).c_str());
        }
    };
    compare(halves.outputs, floats.outputs);
    compare(halves.gradients, floats.gradients);
    const double logits = relativeError(halves.outputs.at("logits"), floats.outputs.at("logits"));
    QVERIFY2(logits > 1e-4 && logits < 0.03, std::to_string(logits).c_str());
}

void tst_cpu_bf16::bitsDoNotDependOnThreads() {
    const Graph graph = bottleneck();
    const HostTensor alone = ran(graph, Precision::Bf16).outputs.at("logits");
    const HostTensor together = ran(graph, Precision::Bf16, 3).outputs.at("logits");
    QVERIFY(std::ranges::equal(alone.as<float>(), together.as<float>()));
}

QTEST_APPLESS_MAIN(tst_cpu_bf16)
#include "tst_cpu_bf16.moc"
