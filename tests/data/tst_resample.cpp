#include <QtTest>
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "engine/data/image_cut.h"
#include "engine/data/resample.h"

using namespace lockstep;

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes noise(int channels, int height, int width, unsigned seed) {
    std::mt19937 random(seed);
    Bytes pixels(static_cast<std::size_t>(channels * height * width));
    for (auto& each : pixels) each = static_cast<std::uint8_t>(random());
    return pixels;
}

PixelView viewOf(const Bytes& pixels, int channels, int height, int width) {
    return {pixels.data(), channels, height, width, static_cast<std::size_t>(channels * width)};
}

Bytes resampled(const PixelView& view, const PictureBox& box, int height, int width,
                Interpolation how = Interpolation::Bilinear) {
    Bytes out(static_cast<std::size_t>(view.channels * height * width));
    resample(view, box, height, width, how, out);
    return out;
}

double kernel(Interpolation how, double x) {
    x = std::abs(x);
    if (how == Interpolation::Bilinear) return x < 1 ? 1 - x : 0;
    if (x < 1) return 1.5 * x * x * x - 2.5 * x * x + 1;
    return x < 2 ? -0.5 * x * x * x + 2.5 * x * x - 4 * x + 2 : 0;
}

// Written down from the definition, in doubles, over all pixels; whole levels between the two passes.
std::vector<double> line(const std::vector<double>& in, double from, double to, int count, Interpolation how) {
    std::vector<double> out;
    const double scale = (to - from) / count, wide = std::max(1.0, scale);
    for (int i = 0; i < count; ++i) {
        double sum = 0, weights = 0;
        for (std::size_t k = 0; k < in.size(); ++k) {
            const double weight = kernel(how, (static_cast<double>(k) + 0.5 - (from + (i + 0.5) * scale)) / wide);
            sum += weight * in[k], weights += weight;
        }
        out.push_back(std::clamp(std::floor(sum / weights + 0.5), 0.0, 255.0));
    }
    return out;
}

std::vector<double> reference(const Bytes& grey, int height, int width, const PictureBox& box, int rows, int columns,
                              Interpolation how) {
    std::vector<std::vector<double>> across;
    for (int y = 0; y < height; ++y)
        across.push_back(
            line({grey.begin() + y * width, grey.begin() + (y + 1) * width}, box.left, box.right, columns, how));
    std::vector<double> out(static_cast<std::size_t>(rows * columns));
    for (int x = 0; x < columns; ++x) {
        std::vector<double> column;
        for (const auto& row : across) column.push_back(row[static_cast<std::size_t>(x)]);
        const auto down = line(column, box.top, box.bottom, rows, how);
        for (int y = 0; y < rows; ++y)
            out[static_cast<std::size_t>(y * columns + x)] = down[static_cast<std::size_t>(y)];
    }
    return out;
}

}  // namespace

class TestResample : public QObject {
    Q_OBJECT
private slots:
    void isWhatTheDefinitionSays() {
        std::mt19937 random(1);
        const auto within = [&](double low, double high) { return std::uniform_real_distribution(low, high)(random); };
        for (int round = 0; round < 60; ++round) {
            const int height = 1 + static_cast<int>(random() % 40), width = 1 + static_cast<int>(random() % 40);
            const int rows = 1 + static_cast<int>(random() % 30), columns = 1 + static_cast<int>(random() % 30);
            const PictureBox box{within(0, 0.4 * width), within(0, 0.4 * height), within(0.6 * width, width),
                                 within(0.6 * height, height)};
            const auto how = round % 2 == 0 ? Interpolation::Bilinear : Interpolation::Bicubic;
            const Bytes grey = noise(1, height, width, static_cast<unsigned>(round));
            const Bytes out = resampled(viewOf(grey, 1, height, width), box, rows, columns, how);
            const auto wanted = reference(grey, height, width, box, rows, columns, how);
            for (std::size_t i = 0; i < out.size(); ++i) QVERIFY(std::abs(out[i] - wanted[i]) <= 1);
        }
    }

    void aPictureOfTheSizeStaysAsItIs() {
        for (const auto how : {Interpolation::Bilinear, Interpolation::Bicubic}) {
            const Bytes grey = noise(1, 13, 17, 1), colour = noise(3, 13, 17, 2);
            QCOMPARE(resampled(viewOf(grey, 1, 13, 17), {0, 0, 17, 13}, 13, 17, how), grey);
            const Bytes planes = resampled(viewOf(colour, 3, 13, 17), {0, 0, 17, 13}, 13, 17, how);
            for (std::size_t i = 0; i < 13 * 17; ++i)
                for (std::size_t c = 0; c < 3; ++c) QCOMPARE(planes[c * 13 * 17 + i], colour[3 * i + c]);
        }
    }

    void oneLevelStaysThat() {
        for (const int level : {0, 1, 77, 254, 255}) {
            const Bytes even(3 * 50 * 61, static_cast<std::uint8_t>(level));
            for (const int size : {1, 7, 50, 130}) {
                const Bytes out = resampled(viewOf(even, 3, 50, 61), {3.2, 1.7, 60.9, 49.1}, size, size);
                QVERIFY(std::ranges::all_of(out, [&](int each) { return each == level; }));
            }
        }
    }

    void channelsAreScaledAlike() {
        const Bytes colour = noise(3, 31, 45, 5);
        const PictureBox box{2, 3, 40, 30};
        const Bytes planes = resampled(viewOf(colour, 3, 31, 45), box, 20, 19, Interpolation::Bicubic);
        for (std::size_t c = 0; c < 3; ++c) {
            Bytes grey;
            for (std::size_t i = c; i < colour.size(); i += 3) grey.push_back(colour[i]);
            const Bytes plane = resampled(viewOf(grey, 1, 31, 45), box, 20, 19, Interpolation::Bicubic);
            QVERIFY(std::ranges::equal(plane, std::span(planes).subspan(c * 20 * 19, 20 * 19)));
        }
    }

    // torchvision's Resize(256) and CenterCrop(224) of 500 x 375: 256 rows of 341 pixels, of which 16 rows and 58
    // columns lie before the part (58.5, to the even one).
    void theMiddleIsThatOfTorchvision() {
        const ImageCut cut = middleCut(375, 500, 224, 0.875);
        const double down = 375 / 256.0, across = 500 / 341.0;
        QCOMPARE(cut.box, (PictureBox{58 * across, 16 * down, 282 * across, 240 * down}));
        QVERIFY(!cut.isApart);
        const ImageCut upright = middleCut(500, 375, 224, 0.875);
        QCOMPARE(upright.box.top, 58 * across);
        QCOMPARE(middleCut(32, 32, 32, 1).box, (PictureBox{0, 0, 32, 32}));
        QCOMPARE(middleCut(10, 30, 10, 1).box, (PictureBox{10, 0, 20, 10}));
    }

    void randomPartsLieWithinAndHaveTheirAreasAndSides() {
        const RandomCut how{.least = 0.25, .most = 1};
        double smallest = 1, largest = 0, flattest = 10, longest = 0;
        for (std::int64_t id = 0; id < 4000; ++id) {
            const ImageCut cut = randomCut(how, 375, 500, 7, 3, id);
            QVERIFY(cut.isApart && cut.box.left >= 0 && cut.box.top >= 0 && cut.box.right <= 500 &&
                    cut.box.bottom <= 375);
            QVERIFY(cut.box.left == std::floor(cut.box.left) && cut.box.bottom == std::floor(cut.box.bottom));
            const double area = cut.box.width() * cut.box.height() / (375 * 500),
                         sides = cut.box.width() / cut.box.height();
            smallest = std::min(smallest, area), largest = std::max(largest, area);
            flattest = std::min(flattest, sides), longest = std::max(longest, sides);
        }
        QVERIFY(smallest > 0.24 && smallest < 0.27 && largest > 0.97);
        QVERIFY(flattest > 0.745 && flattest < 0.77 && longest > 1.3 && longest < 1.345);
    }

    void randomPartsDependOnSeedEpochAndSample() {
        const auto boxOf = [](std::uint64_t seed, std::int64_t epoch, std::int64_t id) {
            return randomCut({}, 300, 400, seed, epoch, id).box;
        };
        QCOMPARE(boxOf(1, 2, 3), boxOf(1, 2, 3));
        QVERIFY(boxOf(1, 2, 3) != boxOf(2, 2, 3) && boxOf(1, 2, 3) != boxOf(1, 3, 3) &&
                boxOf(1, 2, 3) != boxOf(1, 2, 4));
    }

    void whereNothingFitsTheLargestPartInTheMiddleIsTaken() {
        const RandomCut whole{.least = 1, .most = 1};
        QCOMPARE(randomCut(whole, 10, 1000, 1, 0, 0).box, (PictureBox{493, 0, 506, 10}));
        QCOMPARE(randomCut(whole, 1000, 10, 1, 0, 0).box, (PictureBox{0, 493, 10, 506}));
        QCOMPARE(randomCut({}, 1, 1, 1, 0, 0).box, (PictureBox{0, 0, 1, 1}));
    }
};

QTEST_APPLESS_MAIN(TestResample)
#include "tst_resample.moc"
