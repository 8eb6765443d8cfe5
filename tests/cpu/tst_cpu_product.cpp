#include <QtTest>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/backend/cpu/cpu_backend.h"
#include "engine/backend/cpu/cpu_device.h"
#include "engine/backend/cpu/library_product.h"
#include "engine/backend/cpu/product.h"
#include "engine/backend/reference/reference_backend.h"
#include "engine/ops/dense.h"
#include "tests/cpu/noise.h"
#include "tests/support/against_reference.h"
#include "tests/support/graph_runner.h"
#include "tests/support/op_cases.h"

using namespace lockstep;
using namespace lockstep::cpu;

// Products of matrices in both precisions, by each instruction set, beside plain sums in double.
class tst_cpu_product : public QObject {
    Q_OBJECT
private slots:
    void agreesWithPlainSums_data();
    void agreesWithPlainSums();
    void roundsToNearestEven_data() { machines(); }
    void roundsToNearestEven();
    void bitsDoNotDependOnThreads_data() { machines(); }
    void bitsDoNotDependOnThreads();
    void panelsAreReadAsTheyLie_data() { machines(); }
    void panelsAreReadAsTheyLie();
    void panelsOfPairsAreReadAsTheyLie();
    void symmetricOnesAreHalfMade_data() { machines(); }
    void symmetricOnesAreHalfMade();
    void denseLayersAgreeWithTheReference_data();
    void denseLayersAgreeWithTheReference();
    void theLibrarysAgreeWithPlainSums_data();
    void theLibrarysAgreeWithPlainSums();
    void speedIsMeasuredOnce();

private:
    static void machines();
};

namespace {

// Eight significant bits, in double's own rounding.
double bf16Of(double x) {
    if (x == 0 || !std::isfinite(x)) return x;
    int exponent = 0;
    const double fraction = std::frexp(x, &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
}

double operandOf(DType type, float x) { return type == DType::BF16 ? bf16Of(x) : x; }

// Of a row of machines().
struct Chosen : Machine {
    explicit Chosen(int index, int count = 1) {
        const auto tables = allSimd();
        const auto at = static_cast<std::size_t>(index);
        simd = at < tables.size() ? tables[at] : &bestSimd();
        bf16 = at < tables.size() ? nullptr : bestBf16();
        multipliesPairs = bf16 != nullptr;
        threads = count;
    }
};

Floats run(const Product& product, const Floats& a, const Floats& b, std::size_t count, const ProductEnd& end = {}) {
    Floats c(count, 1e9f), workspace(product.workspaceBytes() / sizeof(float), 1e9f);
    product.run(a.data(), b.data(), end, c.data(), reinterpret_cast<std::byte*>(workspace.data()));
    return c;
}

}  // namespace

// The last one has instructions for pairs of bf16.
void tst_cpu_product::machines() {
    QTest::addColumn<int>("index");
    const auto tables = allSimd();
    for (std::size_t i = 0; i < tables.size(); ++i) {
        if (tables[i]) QTest::newRow(tables[i]->name) << static_cast<int>(i);
    }
    if (bestBf16()) QTest::newRow("pairs of bf16") << static_cast<int>(tables.size());
}

void tst_cpu_product::agreesWithPlainSums_data() { machines(); }

// Both matrices as they lie and turned, with what may follow the sums.
void tst_cpu_product::agreesWithPlainSums() {
    QFETCH(int, index);
    const Chosen machine(index);
    struct Size {
        std::size_t rows, columns, depth;
    };
    for (const Size size : {Size{1, 1, 1},
                            {15, 33, 1},
                            {13, 31, 2},
                            {14, 32, 3},
                            {29, 70, 19},
                            {3, 1100, 5},
                            {120, 40, 257},
                            {17, 65, 515},
                            {257, 128, 128},
                            {290, 128, 160},
                            {667, 384, 160},
                            {560, 256, 1056}}) {
        const auto [rows, columns, depth] = size;
        const bool isFast = suitsStrassen(*machine.simd, static_cast<std::int64_t>(rows),
                                          static_cast<std::int64_t>(columns), static_cast<std::int64_t>(depth));
        QCOMPARE(isFast, rows >= 256);
        const Floats a = noise(1, rows * depth), b = noise(2, depth * columns), bias = noise(3, columns);
        const Floats addends = noise(4, rows * columns);
        for (int which = 0; which < 8; ++which) {
            const DType type = which & 4 ? DType::BF16 : DType::F32;
            const Arithmetic arithmetic = which & 4 ? Arithmetic::Bf16
                                          : isFast  ? Arithmetic::Strassen
                                                    : Arithmetic::Plain;
            const bool turnsA = which & 1, turnsB = which & 2;
            const Matrix left = turnsA ? Matrix::rowMajor(depth, rows).transposed() : Matrix::rowMajor(rows, depth);
            const Matrix right =
                turnsB ? Matrix::rowMajor(columns, depth).transposed() : Matrix::rowMajor(depth, columns);
            // Higham, Accuracy and Stability of Numerical Algorithms, 23.2.2: a few times more, of all rows and
            // columns.
            const double tolerance = arithmetic == Arithmetic::Strassen ? 2e-6 : 5e-7;
            ProductEnd end;
            end.bias = turnsA ? bias.data() : nullptr;
            end.addends = turnsB ? addends.data() : nullptr;
            end.relu = turnsA && !turnsB;
            const Floats c = run(Product(machine, left, right, arithmetic), a, b, rows * columns, end);
            const std::size_t step = isFast ? 53 : 1;  // numbers enough, of every row, column and quarter
            for (std::size_t i = 0; i < rows * columns; i += step) {
                double sum = end.bias ? bias[i % columns] : 0, magnitude = 1;
                for (std::size_t k = 0; k < depth; ++k) {
                    const double term = operandOf(type, a[i / columns * left.rowStride + k * left.columnStride]) *
                                        operandOf(type, b[k * right.rowStride + i % columns * right.columnStride]);
                    sum += term;
                    magnitude += std::abs(term);
                }
                if (end.relu) sum = std::max(sum, 0.0);
                if (end.addends) sum += addends[i];
                QVERIFY2(std::abs(c[i] - sum) <= tolerance * magnitude,
                         qPrintable(QString("%1x%2x%3, %4: %5, not %6 at %7")
                                        .arg(rows)
                                        .arg(columns)
                                        .arg(depth)
                                        .arg(which)
                                        .arg(c[i])
                                        .arg(sum)
                                        .arg(i)));
            }
        }
    }
}

void tst_cpu_product::roundsToNearestEven() {
    QFETCH(int, index);
    const Chosen machine(index);
    const auto fromBits = [](std::uint32_t bits) {
        float x = 0;
        std::memcpy(&x, &bits, sizeof x);
        return x;
    };
    const float infinity = std::numeric_limits<float>::infinity();
    const std::pair<float, float> pairs[] = {
        {1.0f, 1.0f},
        {fromBits(0x3f808000), fromBits(0x3f800000)},  // half way: down to the even one
        {fromBits(0x3f818000), fromBits(0x3f820000)},  // and up to it
        {fromBits(0x3f808001), fromBits(0x3f810000)},
        {fromBits(0xbf807fff), fromBits(0xbf800000)},
        {std::numeric_limits<float>::max(), infinity},
        {infinity, infinity},
        {-infinity, -infinity},
    };
    const Product product(machine, Matrix::rowMajor(1, 3), Matrix::rowMajor(3, 1), Arithmetic::Bf16);
    for (const auto& [from, to] : pairs) {
        QCOMPARE(run(product, {0, 0, from}, {1, 1, 1}, 1)[0], to);
        QCOMPARE(run(product, {1, 1, 1}, {0, from, 0}, 1)[0], to);
    }
    for (const std::uint32_t bits : {0x7fffffffu, 0x7f800001u, 0xffffffffu, 0x7fc00000u}) {
        QVERIFY(std::isnan(run(product, {0, 0, fromBits(bits)}, {1, 1, 1}, 1)[0]));
        QVERIFY(std::isnan(run(product, {1, 1, 1}, {fromBits(bits), 0, 0}, 1)[0]));
    }
}

void tst_cpu_product::bitsDoNotDependOnThreads() {
    QFETCH(int, index);
    struct Case {
        std::size_t rows, columns, depth;
        Arithmetic arithmetic;
    };
    for (const Case& one : {Case{90, 75, 300, Arithmetic::Bf16},
                            {650, 256, 128, Arithmetic::Strassen},
                            {520, 768, 128, Arithmetic::Strassen}}) {
        const Floats a = noise(1, one.rows * one.depth), b = noise(2, one.depth * one.columns);
        const auto with = [&](int threads) {
            const Chosen machine(index, threads);
            const Matrix left = Matrix::rowMajor(one.rows, one.depth), right = Matrix::rowMajor(one.depth, one.columns);
            return run(Product(machine, left, right, one.arithmetic), a, b, one.rows * one.columns);
        };
        const Floats alone = with(1);
        for (const int threads : {2, 3, 5}) QVERIFY(with(threads) == alone);
    }
}

// The bits of the product that packs the same columns itself.
void tst_cpu_product::panelsAreReadAsTheyLie() {
    QFETCH(int, index);
    const std::size_t width = Chosen(index).simd->panelColumns;
    using enum Arithmetic;
    struct Case {
        std::size_t rows, columns, depth;
        Arithmetic arithmetic = Plain;
    };
    for (const auto& [rows, columns, depth, arithmetic] :
         {Case{1, width, 5}, Case{15, 3 * width, 300}, Case{300, 2 * width - 3, 70}, Case{7, 10, 84},
          Case{40, 1024 + 2 * width, 520}, Case{300, 20 * width, 256, Strassen}, Case{77, 4 * width, 1200, Strassen}}) {
        const Floats a = noise(1, rows * depth), b = noise(2, depth * columns), bias = noise(3, columns);
        Floats packed(roundUp(columns, width) * depth);
        for (std::size_t k = 0; k < depth; ++k) {
            for (std::size_t column = 0; column < columns; ++column)
                packed[(column / width * depth + k) * width + column % width] = b[k * columns + column];
        }
        const ProductEnd end{.bias = bias.data(), .relu = true};
        for (const int threads : {1, 2, 3}) {
            const Chosen machine(index, threads);
            const Matrix left = Matrix::rowMajor(rows, depth);
            const Product plain(machine, left, Matrix::rowMajor(depth, columns), arithmetic);
            const Product ahead(machine, left, Matrix::inPanels(depth, columns, width), arithmetic);
            QVERIFY(run(ahead, a, packed, rows * columns, end) == run(plain, a, b, rows * columns, end));
        }
    }
}

// Where the processor multiplies pairs, those of neighbours in a column; of an odd depth the last one's other half is
// zero.
void tst_cpu_product::panelsOfPairsAreReadAsTheyLie() {
    if (!bestBf16()) QSKIP("this processor has no instructions for pairs of bf16");
    struct Case {
        std::size_t rows, columns, depth;
    };
    const std::size_t width = bestSimd().panelColumns;
    for (const auto& [rows, columns, depth] :
         {Case{1, width, 5}, Case{15, 3 * width, 301}, Case{300, 2 * width - 3, 70}, Case{7, 10, 84},
          Case{40, 1024 + 2 * width, 523}}) {
        const Floats a = noise(1, rows * depth), b = noise(2, depth * columns), bias = noise(3, columns);
        const std::size_t pairs = divideUp(depth, std::size_t{2});
        std::vector<Bf16> packed(roundUp(columns, width) * pairs * 2);
        const std::vector<Bf16> halves = bf16Of(b);
        for (std::size_t k = 0; k < depth; ++k) {
            for (std::size_t column = 0; column < columns; ++column)
                packed[((column / width * pairs + k / 2) * width + column % width) * 2 + k % 2] =
                    halves[k * columns + column];
        }
        const ProductEnd end{.bias = bias.data(), .relu = true};
        for (const int threads : {1, 2, 3}) {
            Machine machine;
            machine.simd = &bestSimd();
            machine.bf16 = bestBf16();
            machine.multipliesPairs = true;
            machine.threads = threads;
            const Matrix left = Matrix::rowMajor(rows, depth);
            const Product plain(machine, left, Matrix::rowMajor(depth, columns), Arithmetic::Bf16);
            const Product ahead(machine, left, Matrix::inPanels(depth, columns, width, true), Arithmetic::Bf16);
            Floats asFloats(packed.size() / 2);
            std::memcpy(asFloats.data(), packed.data(), packed.size() * sizeof(Bf16));
            QVERIFY(run(ahead, a, asFloats, rows * columns, end) == run(plain, a, b, rows * columns, end));
        }
    }
}

// The bits of the whole product below the diagonal, and the same above it: of a matrix with its transpose, either way.
void tst_cpu_product::symmetricOnesAreHalfMade() {
    QFETCH(int, index);
    for (const auto& [side, depth] : std::vector<std::pair<std::size_t, std::size_t>>{
             {1, 5}, {15, 40}, {16, 40}, {50, 270}, {130, 64}, {259, 30}, {1100, 3}}) {
        const Floats a = noise(1, side * depth);
        for (const bool isTall : {false, true}) {
            const Matrix matrix = isTall ? Matrix::rowMajor(depth, side) : Matrix::rowMajor(side, depth);
            const Matrix left = isTall ? matrix.transposed() : matrix, right = isTall ? matrix : matrix.transposed();
            const Chosen alone(index);
            const Floats whole = run(Product(alone, left, right), a, a, side * side);
            for (const int threads : {1, 2, 5}) {
                const Chosen machine(index, threads);
                const Floats half = run(Product::symmetric(machine, left, right), a, a, side * side);
                for (std::size_t i = 0; i < side * side; ++i) {
                    const std::size_t row = i / side, column = i % side;
                    QCOMPARE(half[i], whole[row < column ? column * side + row : i]);
                }
            }
        }
    }
}

void tst_cpu_product::denseLayersAgreeWithTheReference_data() {
    QTest::addColumn<int>("at");
    const auto& cases = test::opCases();
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (cases[i].name.starts_with("dense")) QTest::newRow(cases[i].name.c_str()) << static_cast<int>(i);
    }
}

// Products round what they read, as the reference does; sums are given what is rounded. Where there are tiles, rows
// lie in memory as bf16, which rounds what is made, too.
void tst_cpu_product::denseLayersAgreeWithTheReference() {
    QFETCH(int, at);
    const test::OpCase& one = test::opCases()[static_cast<std::size_t>(at)];
    if (one.op == &kDenseBackwardBias) {
        test::RunOptions halves;
        halves.precision = Precision::Bf16;
        QCOMPARE(test::differences(*makeCpuBackend(), one, halves), std::string());
        return;
    }
    const auto with = [&](const Backend& backend, Precision precision) {
        test::RunOptions options;
        options.precision = precision;
        return test::runCase(backend, one, options);
    };
    const auto actual = with(*makeCpuBackend(), Precision::Bf16),
               expected = with(*makeReferenceBackend(), Precision::Bf16);
    QCOMPARE(actual.size(), expected.size());
    const bool areRowsHalves = onednn::bf16Units() == onednn::Bf16Units::Tiles && one.op != &kDenseBackwardWeights;
    const double allowed = std::max(one.tolerance, areRowsHalves ? std::ldexp(1.0, -8) : 0.0);
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const double error = test::relativeError(actual[i], expected[i]);
        QVERIFY2(error <= allowed, std::to_string(error).c_str());
    }
    const double rounding = test::relativeError(with(*makeCpuBackend(), Precision::Fp32)[0], expected[0]);
    QVERIFY2(rounding > one.tolerance && rounding < 0.1, std::to_string(rounding).c_str());
}

void tst_cpu_product::theLibrarysAgreeWithPlainSums_data() {
    QTest::addColumn<int>("depth");
    QTest::addColumn<int>("columns");
    QTest::addColumn<int>("threads");
    QTest::newRow("small") << 70 << 40 << 1;
    QTest::newRow("in two slices") << 1024 << 4096 << 1;
    QTest::newRow("at once by two threads") << 1024 << 4096 << 2;
    QTest::newRow("in three slices, by two threads") << 4096 << 2112 << 2;
    QTest::newRow("large, and not to be cut into slices") << 1024 << 4128 << 1;
}

// A weight as it lies and turned; sums of both types, with a bias or without.
void tst_cpu_product::theLibrarysAgreeWithPlainSums() {
    if (!bestBf16()) QSKIP("this processor has no instructions for pairs of bf16");
    QFETCH(int, depth);
    QFETCH(int, columns);
    QFETCH(int, threads);
    constexpr std::size_t kRows = 5;
    const auto deep = static_cast<std::size_t>(depth), wide = static_cast<std::size_t>(columns);
    const TeamOf team(threads);
    const Chosen machine(0, threads);
    const Floats rows = noise(1, kRows * deep), b = noise(2, deep * wide), bias = noise(3, wide);
    std::vector<std::uint16_t> a(rows.size());
    for (std::size_t i = 0; i < a.size(); ++i)
        a[i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(bf16Of(rows[i]))) >> 16);
    for (const bool isTurned : {false, true}) {
        const Matrix right = isTurned ? Matrix::rowMajor(wide, deep).transposed() : Matrix::rowMajor(deep, wide);
        const bool hasBias = isTurned;
        const DType made = isTurned ? DType::BF16 : DType::F32;
        LibraryProduct product(machine, {Matrix::rowMajor(kRows, deep), DType::BF16}, {right},
                               {.bias = hasBias, .relu = hasBias, .dtype = made});
        std::vector<std::byte> c(kRows * wide * sizeOf(made)), workspace(product.workspaceBytes() + 64);
        product.run({.a = reinterpret_cast<const std::byte*>(a.data()),
                     .b = reinterpret_cast<const std::byte*>(b.data()),
                     .bias = hasBias ? reinterpret_cast<const std::byte*>(bias.data()) : nullptr,
                     .c = c.data()},
                    workspace.data() + (64 - reinterpret_cast<std::uintptr_t>(workspace.data()) % 64) % 64);
        for (std::size_t i = 0; i < kRows * wide; ++i) {
            double sum = hasBias ? bias[i % wide] : 0, magnitude = 1;
            for (std::size_t k = 0; k < deep; ++k) {
                const double term =
                    bf16Of(rows[i / wide * deep + k]) * bf16Of(b[k * right.rowStride + i % wide * right.columnStride]);
                sum += term;
                magnitude += std::abs(term);
            }
            if (hasBias) sum = std::max(sum, 0.0);
            std::uint32_t bits = 0;
            std::memcpy(made == DType::F32 ? reinterpret_cast<char*>(&bits) : reinterpret_cast<char*>(&bits) + 2,
                        c.data() + i * sizeOf(made), sizeOf(made));
            const double tolerance = 5e-7 * magnitude + (made == DType::BF16 ? std::abs(sum) / 256 : 0);
            QVERIFY2(std::abs(std::bit_cast<float>(bits) - sum) <= tolerance,
                     qPrintable(QString("%1, not %2 at %3").arg(std::bit_cast<float>(bits)).arg(sum).arg(i)));
        }
    }
}

void tst_cpu_product::speedIsMeasuredOnce() {
    const auto backend = makeCpuBackend();
    const double speed = backend->productSpeed(Precision::Bf16);
    QVERIFY2(speed > 0.05 && speed < 20, qPrintable(QString::number(speed)));
    QCOMPARE(backend->productSpeed(Precision::Bf16), speed);
    QCOMPARE(backend->productSpeed(Precision::Fp32), 1.0);
    QCOMPARE(backend->productSpeed(Precision::Fp16), 0.0);
}

QTEST_APPLESS_MAIN(tst_cpu_product)
#include "tst_cpu_product.moc"
