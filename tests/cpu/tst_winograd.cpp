#include <QtTest>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/cpu/noise.h"
#include "tests/cpu/simd_tables.h"

using namespace lockstep;
using namespace lockstep::cpu;

namespace {

using Size = std::size_t;

constexpr Size kSamples = 3, kIn = 32, kOut = 48, kFilter = 256;

// Where an element of an image lies in blocks of `block` channels.
struct Image {
    Size channels, height, width, block;

    Size count() const { return kSamples * channels * height * width; }
    Size at(Size n, Size c, Size row, Size column) const {
        const Size plane = height * width;
        return n * channels * plane + c / block * block * plane + (row * width + column) * block + c % block;
    }
};

struct Case {
    WinogradForm form;
    Size height, width;
    int padding, block;

    Size outHeight() const { return height + 2 * static_cast<Size>(padding) - 2; }
    Size outWidth() const { return width + 2 * static_cast<Size>(padding) - 2; }
    // An element of filters, as many of which lie side by side.
    Size filterAt(Size k, Size c, Size tap) const {
        const auto side = static_cast<Size>(block);
        return (((k / side * (kIn / side) + c / side) * 9 + tap) * side + c % side) * side + k % side;
    }
    WinogradFilters filters() const { return {static_cast<Size>(block), kIn * 9 * static_cast<Size>(block)}; }
    Image x() const { return {kIn, height, width, static_cast<Size>(block)}; }
    Image y() const { return {kOut, outHeight(), outWidth(), static_cast<Size>(block)}; }
    Size points() const { return form == WinogradForm::Tile4 ? 36 : 9; }
    Size side() const { return form == WinogradForm::Tile4 ? 4 : 2; }
    Size tileRows() const { return (outHeight() + side() - 1) / side(); }
    Size tileColumns() const { return (outWidth() + side() - 1) / side(); }
    Size tiles() const { return kSamples * tileRows() * tileColumns(); }
    WinogradImage of(const Image& image, int border) const {
        return {.form = form,
                .height = static_cast<std::int64_t>(image.height),
                .width = static_cast<std::int64_t>(image.width),
                .tileRows = static_cast<std::int64_t>(tileRows()),
                .tileColumns = static_cast<std::int64_t>(tileColumns()),
                .top = border,
                .left = border,
                .sampleStride = image.count() / kSamples,
                .block = block};
    }
    WinogradImage input() const { return of(x(), form == WinogradForm::Tile4 ? padding : 0); }
    WinogradImage output() const { return of(y(), 0); }

    // body(n, k, c, row and column of y, row and column of x, tap) for each product of the convolution.
    template <class Body>
    void eachProduct(Body body) const {
        for (Size n = 0; n < kSamples; ++n)
            for (Size k = 0; k < kOut; ++k)
                for (Size c = 0; c < kIn; ++c)
                    for (Size i = 0; i < outHeight() * outWidth(); ++i)
                        for (Size tap = 0; tap < 9; ++tap) {
                            const Size row = i / outWidth(), column = i % outWidth();
                            const auto border = static_cast<Size>(padding);
                            const Size xRow = row + tap / 3 - border, xColumn = column + tap % 3 - border;  // may wrap
                            if (xRow < height && xColumn < width) body(n, k, c, row, column, xRow, xColumn, tap);
                        }
    }
};

}  // namespace

// Every instruction set's transforms and products, put together to convolutions, against sums of products in double: of
// images in blocks of 16 channels and of 8.
class TstWinograd : public QObject {
    Q_OBJECT

private slots:
    void convolutions_data() { addSimdTables(); }
    void convolutions() {
        for (const Case& each : kCases) checkForward(each);
    }

    // What the loops over floats make of the same numbers, rounded.
    void imagesOfHalves_data() { addSimdTables(); }
    void imagesOfHalves() {
        if (!table().winogradDataHalves) QSKIP("these instructions have no loops over bf16");
        for (const Case& each : kCases)
            if (each.block == 16) checkHalves(each);
    }

    void gradientsOfFilters_data() { addSimdTables(); }
    void gradientsOfFilters() {
        for (const Case& each : kCases) checkBackwardWeights(each);
    }

private:
    static constexpr Case kCases[] = {
        {WinogradForm::Tile4, 9, 7, 1, 16},  {WinogradForm::Tile4, 9, 7, 1, 8},  {WinogradForm::Tile4, 6, 11, 0, 16},
        {WinogradForm::Tile4, 6, 11, 0, 8},  {WinogradForm::Tile4, 4, 4, 2, 16}, {WinogradForm::Tile4, 4, 4, 2, 8},
        {WinogradForm::Image2, 2, 2, 1, 16}, {WinogradForm::Image2, 2, 2, 1, 8},
    };

    // y = ReLU(scale * (convolution of ReLU(norm of x)) + bias + addends)
    static void checkForward(const Case& of) {
        const Floats x = noise(0, of.x().count()), w = noise(1, kIn * kOut * 9), mean = noise(2, kIn),
                     gain = noise(3, kIn), offset = noise(4, kIn), scale = noise(5, kOut), bias = noise(6, kOut),
                     addends = noise(7, of.y().count());
        std::vector<double> wanted(of.y().count());
        of.eachProduct([&](Size n, Size k, Size c, Size row, Size column, Size xRow, Size xColumn, Size tap) {
            const double from = x[of.x().at(n, c, xRow, xColumn)];
            const double normed = std::max((from - mean[c]) * gain[c] + offset[c], 0.0);
            wanted[of.y().at(n, k, row, column)] += normed * w[of.filterAt(k, c, tap)];
        });

        const Size tiles = of.tiles(), dataStride = kIn / 16 * tiles * 16, productStride = kOut / 16 * tiles * 16,
                   filterStride = kIn * kOut;
        Floats data(of.points() * dataStride), filters(of.points() * filterStride),
            products(of.points() * productStride), y(of.y().count() + 16, kUntouched);
        for (Size b = 0; b < kIn / 16; ++b) {
            const ChannelAffine norm{&mean[b * 16], &gain[b * 16], &offset[b * 16]};
            table().winogradData(of.input(), &x[b * 16 * of.height * of.width], {0, tiles, dataStride}, &norm,
                                 &data[b * tiles * 16]);
        }
        for (Size i = 0; i < kIn * kOut / kFilter; ++i)
            table().winogradFilter(of.form, of.filters(), &w[of.filterAt(i / (kIn / 16) * 16, i % (kIn / 16) * 16, 0)],
                                   false, &filters[i * kFilter], filterStride);
        for (Size point = 0; point < of.points(); ++point)
            table().blockProduct({.filters = &filters[point * filterStride],
                                  .data = &data[point * dataStride],
                                  .products = &products[point * productStride],
                                  .filterStride = kIn / 16 * kFilter,
                                  .dataStride = tiles * 16,
                                  .productStride = tiles * 16,
                                  .blocks = kOut / 16,
                                  .channelBlocks = kIn / 16,
                                  .tiles = tiles});
        for (Size b = 0; b < kOut / 16; ++b) {
            const Size at = b * 16 * of.outHeight() * of.outWidth();
            const SumEnd end{.scale = &scale[b * 16], .bias = &bias[b * 16], .addends = &addends[at], .relu = true};
            table().winogradOutput(of.output(), &products[b * tiles * 16], {0, tiles, productStride}, end, &y[at]);
        }

        for (Size n = 0; n < kSamples; ++n)
            for (Size k = 0; k < kOut; ++k)
                for (Size i = 0; i < of.outHeight() * of.outWidth(); ++i) {
                    const Size at = of.y().at(n, k, i / of.outWidth(), i % of.outWidth());
                    compare(y[at], std::max(wanted[at] * scale[k] + bias[k] + addends[at], 0.0));
                }
        QVERIFY(std::all_of(y.end() - 16, y.end(), [](float each) { return each == kUntouched; }));
    }

    static void checkHalves(const Case& of) {
        const Size tiles = of.tiles(), stride = tiles * 16;
        const Floats x = rounded(noise(10, of.x().count() / kIn * 16)), sums = noise(11, of.points() * stride),
                     scale = noise(12, 16), bias = noise(13, 16),
                     addends = rounded(noise(14, of.y().count() / kOut * 16));
        WinogradImage input = of.input(), output = of.output();  // of one block
        input.sampleStride = x.size() / kSamples;
        output.sampleStride = addends.size() / kSamples;
        Floats points(of.points() * stride), expected(points.size());
        const ChannelAffine affine{scale.data(), bias.data(), scale.data()};
        for (const ChannelAffine* norm : {static_cast<const ChannelAffine*>(nullptr), &affine}) {
            table().winogradData(input, x.data(), {0, tiles, stride}, norm, expected.data());
            table().winogradDataHalves(input, bf16Of(x).data(), {0, tiles, stride}, norm, points.data());
            QVERIFY(points == expected);
        }
        table().winogradGradient(output, addends.data(), {0, tiles, stride}, expected.data());
        table().winogradGradientHalves(output, bf16Of(addends).data(), {0, tiles, stride}, points.data());
        QVERIFY(points == expected);

        Floats y(addends.size());
        const SumEnd end{.scale = scale.data(), .bias = bias.data(), .addends = addends.data(), .relu = true};
        table().winogradOutput(output, sums.data(), {0, tiles, stride}, end, y.data());
        std::vector<Bf16> made = bf16Of(addends);  // which may lie where what is made does
        const SumEndOf<Bf16> same{.scale = scale.data(), .bias = bias.data(), .addends = made.data(), .relu = true};
        table().winogradOutputHalves(output, sums.data(), {0, tiles, stride}, same, made.data());
        QVERIFY(made == bf16Of(y));
    }

    static void checkBackwardWeights(const Case& of) {
        const Floats x = noise(8, of.x().count()), dy = noise(9, of.y().count());
        std::vector<double> wanted(kIn * kOut * 9);
        of.eachProduct([&](Size n, Size k, Size c, Size row, Size column, Size xRow, Size xColumn, Size tap) {
            wanted[of.filterAt(k, c, tap)] +=
                static_cast<double>(x[of.x().at(n, c, xRow, xColumn)]) * dy[of.y().at(n, k, row, column)];
        });

        const Size tiles = of.tiles(), dataStride = kIn / 16 * tiles * 16, gradientStride = kOut / 16 * tiles * 16,
                   filterStride = kIn * kOut;
        Floats data(of.points() * dataStride), gradients(of.points() * gradientStride),
            filters(of.points() * filterStride), dw(kIn * kOut * 9);
        for (Size b = 0; b < kIn / 16; ++b)
            table().winogradData(of.input(), &x[b * 16 * of.height * of.width], {0, tiles, dataStride}, nullptr,
                                 &data[b * tiles * 16]);
        for (Size b = 0; b < kOut / 16; ++b)
            table().winogradGradient(of.output(), &dy[b * 16 * of.outHeight() * of.outWidth()],
                                     {0, tiles, gradientStride}, &gradients[b * tiles * 16]);
        for (Size point = 0; point < of.points(); ++point)
            table().blockGradientProduct({.gradients = &gradients[point * gradientStride],
                                          .data = &data[point * dataStride],
                                          .filters = &filters[point * filterStride],
                                          .gradientStride = tiles * 16,
                                          .dataStride = tiles * 16,
                                          .filterStride = kIn / 16 * kFilter,
                                          .blocks = kOut / 16,
                                          .channelBlocks = kIn / 16,
                                          .tiles = tiles});
        for (Size i = 0; i < kIn * kOut / kFilter; ++i)
            table().winogradFilterGradient(of.form, of.filters(), {&filters[i * kFilter], filterStride}, false,
                                           &dw[of.filterAt(i / (kIn / 16) * 16, i % (kIn / 16) * 16, 0)]);
        for (Size i = 0; i < dw.size(); ++i) compare(dw[i], wanted[i]);
    }

    static constexpr float kUntouched = 777;

    // Of sums of some hundred products.
    static void compare(double value, double wanted) {
        QVERIFY2(std::abs(value - wanted) < 1e-3, qPrintable(QString("%1, not %2").arg(value).arg(wanted)));
    }
};

QTEST_APPLESS_MAIN(TstWinograd)
#include "tst_winograd.moc"
