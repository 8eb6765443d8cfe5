#include <QtTest>
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

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
#include "tests/cpu/noise.h"
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
    void rowsOfHalvesArePairedAlike();
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
};

namespace {

constexpr double kHalfUlp = 0x1p-8;  // of bf16, as a part of the smallest number of that exponent

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
    using cpu::PairsOf, onednn::Bf16Units;
    QCOMPARE(cpu::productUnitsOf(Bf16Units::Tiles, true, PairsOf::Slow), ProductUnits::Tiles);
    QCOMPARE(cpu::productUnitsOf(Bf16Units::Pairs, false, PairsOf::Fast), ProductUnits::Pairs);
    QCOMPARE(cpu::productUnitsOf(Bf16Units::None, false, PairsOf::Fast), ProductUnits::PairsDenied);
    QCOMPARE(cpu::productUnitsOf(Bf16Units::None, false, PairsOf::Slow), ProductUnits::SlowPairs);
    QCOMPARE(cpu::productUnitsOf(Bf16Units::None, false, PairsOf::None), ProductUnits::None);
    for (const Bf16Units without : {Bf16Units::Pairs, Bf16Units::None})
        QCOMPARE(cpu::productUnitsOf(without, true, PairsOf::Slow), ProductUnits::TilesDenied);
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

// What is made of the same numbers as floats.
void tst_cpu_bf16::rowsOfHalvesArePairedAlike() {
    const cpu::Bf16Table& table = *cpu::bestBf16();
    const CounterRng rng(4, 0, 0, 0);
    std::array<float, 48> forms;
    for (std::uint32_t i = 0; i < forms.size(); ++i) forms[i] = static_cast<float>(rng.normal(i));
    const cpu::ChannelAffine affine{&forms[0], &forms[16], &forms[32]};
    for (std::size_t rows = 1; rows < 9; ++rows) {
        std::vector<float> x(rows * 16);
        for (std::uint32_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(rng.normal(48 + i));
        cpu::bestSimd().roundToBf16(x.data(), x.size());
        const std::vector<cpu::Bf16> halves = bf16Of(x);
        for (const cpu::ChannelAffine* norm : {static_cast<const cpu::ChannelAffine*>(nullptr), &affine}) {
            std::vector<float> expected((rows + 1) / 2 * 16), found(expected.size());
            table.pairRows(x.data(), norm, expected.data(), rows);
            table.pairRowsOfHalves(halves.data(), norm, found.data(), rows);
            QVERIFY(std::memcmp(found.data(), expected.data(), found.size() * sizeof(float)) == 0);
            std::ranges::fill(expected, 0.0f), std::ranges::fill(found, 0.0f);
            table.pairColumns(x.data(), norm, expected.data(), rows);
            table.pairColumnsOfHalves(halves.data(), norm, found.data(), rows);
            QVERIFY(std::memcmp(found.data(), expected.data(), found.size() * sizeof(float)) == 0);
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

// Where these are bf16 to begin with, results are those of the reference, but for what rounds them as they are written:
// images and rows lie in memory as bf16, gradients of weights do not. Else they differ by as much as it rounds.
void compareRounded(const Backend& backend, int at, double most = 0.02) {
    const OpCase &given = opCases()[static_cast<std::size_t>(at)], one = rounded(given);
    const double kept = given.name.find("_backward_weights") == std::string::npos ? kHalfUlp : 0;
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
    compareRounded(ofPairs(), at);
}

// All that the library has, and that has channels enough not to be made with samples in lanes: depthwise ones, too.
void tst_cpu_bf16::theLibrarysRoundOperandsAlone_data() {
    QTest::addColumn<int>("at");
    QTest::addColumn<bool>("areTiles");
    const auto& cases = opCases();
    for (const bool areTiles : {false, true}) {
        const ChoosingBackend& backend = areTiles ? ofTiles() : ofPairsByTheLibrary();
        int rows = 0, depthwise = 0;
        for (std::size_t i = 0; i < cases.size(); ++i) {
            const std::string& name = cases[i].name;
            if (!name.starts_with("conv2d")) continue;
            const Graph lowered = backend.lower(graphOf(cases[i], DType::F32), {.precision = Precision::Bf16});
            if (std::ranges::count(lowered.nodes(), std::string(cpu::kDirectBf16), &Node::algorithm) == 0) continue;
            QTest::addRow("%s of %s", name.c_str(), areTiles ? "tiles" : "pairs") << static_cast<int>(i) << areTiles;
            ++rows;
            depthwise += name.ends_with("/depthwise") ? 1 : 0;
        }
        QVERIFY2(rows >= 40, std::to_string(rows).c_str());
        QCOMPARE(depthwise, 3);
    }
}

void tst_cpu_bf16::theLibrarysRoundOperandsAlone() {
    QFETCH(int, at);
    QFETCH(bool, areTiles);
    compareRounded(areTiles ? ofTiles() : ofPairsByTheLibrary(), at);
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

void tst_cpu_bf16::thoseOfTilesDoSo() {
    QFETCH(cpu::ConvAlgorithm, algorithm);
    QFETCH(int, at);
    const OpCase& one = opCases()[static_cast<std::size_t>(at)];
    compareRounded(ofTiles(algorithm), at);
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
    compareRounded(ofTiles(), at, kOfFewSums);
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
    const auto actual = runCase(areTiles ? ofTiles() : ofPairs(), one, options);
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
    const auto [rows, floats] = rowsIn(ofTiles(), transformer->build(DType::F32));
    QVERIFY2(rows > 15, std::to_string(rows).c_str());
    QCOMPARE(floats, 0);
    for (const std::int64_t samples : {4, 40}) {
        const auto [all, ofFloats] = rowsIn(ofPairs(), encoder(samples));
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
        const Graph lowered = ofTiles().lower(graph, {.precision = Precision::Bf16});
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
        const Graph lowered = ofTiles().lower(toPrecision(graph, DType::BF16), {.precision = Precision::Bf16});
        int products = 0;
        for (const Node& node : lowered.nodes()) {
            if (!node.op->name.starts_with("dense") || node.op->name == "dense_backward_bias") continue;
            QCOMPARE(node.algorithm, std::string(algorithm));
            ++products;
        }
        QCOMPARE(products, count);
    }
}

QTEST_APPLESS_MAIN(tst_cpu_bf16)
#include "tst_cpu_bf16.moc"
