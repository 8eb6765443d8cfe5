#include <rapidcheck.h>
#include <QtTest>
#include <algorithm>
#include <set>

#include "engine/data/augment.h"

using namespace lockstep;

namespace {

struct Picture {
    DatasetInfo info;
    std::vector<std::uint8_t> pixels;
};

Picture picture(int channels, int height, int width) {
    Picture out;
    out.info.fields = imageFields({channels, height, width});
    for (int c = 0; c < channels; ++c) {
        out.info.mean.push_back(0.3f + 0.1f * static_cast<float>(c));
        out.info.deviation.push_back(0.2f + 0.05f * static_cast<float>(c));
    }
    for (int i = 0; i < channels * height * width; ++i)
        out.pixels.push_back(static_cast<std::uint8_t>(1 + i * 37 % 255));
    return out;
}

std::vector<float> run(const Picture& picture, const Augmentation& how, std::uint64_t seed, std::int64_t epoch,
                       std::int64_t id) {
    std::vector<float> out(picture.pixels.size(), -99);
    augment(how, picture.info, picture.pixels, seed, epoch, id, out);
    return out;
}

double normalised(const Picture& picture, int channel, int pixel) {
    const auto c = static_cast<std::size_t>(channel);
    return (pixel / 255.0 - picture.info.mean[c]) / picture.info.deviation[c];
}

// The definition, word by word: pad, crop at (dy, dx), mirror, normalise, cut a hole around (holeY, holeX).
struct Place {
    int dy = 0, dx = 0;
    bool mirrored = false;
    int cutout = 0, holeY = 0, holeX = 0;
};

double expected(const Picture& picture, const Place& at, int c, int y, int x) {
    const ImageShape shape = picture.info.image();
    const auto hit = [&](int value, int centre) {
        return value >= centre - at.cutout / 2 && value < centre - at.cutout / 2 + at.cutout;
    };
    if (at.cutout > 0 && hit(y, at.holeY) && hit(x, at.holeX)) return 0;
    const int fromY = y + at.dy, fromX = (at.mirrored ? shape.width - 1 - x : x) + at.dx;
    const bool inside = fromY >= 0 && fromY < shape.height && fromX >= 0 && fromX < shape.width;
    const auto index = static_cast<std::size_t>((c * shape.height + fromY) * shape.width + fromX);
    return normalised(picture, c, inside ? picture.pixels[index] : 0);
}

bool matches(const Picture& picture, const Place& at, const std::vector<float>& out) {
    const ImageShape shape = picture.info.image();
    std::size_t i = 0;
    for (int c = 0; c < shape.channels; ++c) {
        for (int y = 0; y < shape.height; ++y) {
            for (int x = 0; x < shape.width; ++x, ++i) {
                if (std::abs(out[i] - expected(picture, at, c, y, x)) > 1e-5) return false;
            }
        }
    }
    return true;
}

// Every place that the settings allow; the output must be one of them.
std::vector<Place> places(const Augmentation& how, const ImageShape& shape) {
    std::vector<Place> out;
    for (int dy = -how.cropPadding; dy <= how.cropPadding; ++dy) {
        for (int dx = -how.cropPadding; dx <= how.cropPadding; ++dx) {
            for (const bool mirrored : {false, true}) {
                if (mirrored && !how.flip) continue;
                for (int y = 0; y < (how.cutout > 0 ? shape.height : 1); ++y) {
                    for (int x = 0; x < (how.cutout > 0 ? shape.width : 1); ++x) {
                        out.push_back({dy, dx, mirrored, how.cutout, y, x});
                    }
                }
            }
        }
    }
    return out;
}

}  // namespace

class TestAugment : public QObject {
    Q_OBJECT
private slots:
    void plainIsNormalisationOnly() {
        for (const auto& shape : {ImageShape{1, 28, 28}, ImageShape{3, 5, 7}, ImageShape{2, 1, 1}}) {
            const Picture image = picture(shape.channels, shape.height, shape.width);
            QVERIFY(matches(image, {}, run(image, {}, 1, 2, 3)));
        }
    }

    void theResultIsOneOfTheAllowedPlaces() {
        QVERIFY(rc::check("places", [] {
            const Augmentation how{*rc::gen::inRange(0, 4), *rc::gen::arbitrary<bool>(), *rc::gen::inRange(0, 12)};
            const Picture image = picture(*rc::gen::inRange(1, 4), *rc::gen::inRange(1, 9), *rc::gen::inRange(1, 9));
            const auto out = run(image, how, *rc::gen::arbitrary<std::uint64_t>(), *rc::gen::inRange(0, 99),
                                 *rc::gen::inRange(0, 99));
            const auto allowed = places(how, image.info.image());
            RC_ASSERT(std::ranges::any_of(allowed, [&](const Place& at) { return matches(image, at, out); }));
        }));
    }

    void paddingLargerThanTheImageIsAllBlackAtTimes() {
        const Picture image = picture(1, 3, 3);
        for (int id = 0; id < 200; ++id) {
            for (const float value : run(image, {40, true, 1000}, 1, 0, id)) QVERIFY(value == 0.0f);
            for (const float value : run(image, {64, true, 0}, 1, 0, id)) QVERIFY(std::isfinite(value) && value > -98);
        }
    }

    void choicesDependOnSeedEpochAndSampleOnly() {
        const Picture image = picture(3, 12, 12);
        const Augmentation how{3, true, 4};
        QCOMPARE(run(image, how, 5, 6, 7), run(image, how, 5, 6, 7));
        std::set<std::vector<float>> seen;
        for (int i = 0; i < 20; ++i) {
            seen.insert(run(image, how, 100 + static_cast<std::uint64_t>(i), 6, 7));
            seen.insert(run(image, how, 5, 100 + i, 7));
            seen.insert(run(image, how, 5, 6, 100 + i));
        }
        QVERIFY2(seen.size() > 55, qPrintable(QString::number(seen.size())));
    }

    // All places are reached and equally often (six standard deviations).
    void placesAreUniform() {
        const Picture image = picture(1, 7, 7);
        const Augmentation how{1, true, 0};
        const auto allowed = places(how, image.info.image());
        QCOMPARE(allowed.size(), std::size_t{18});
        constexpr int kSamples = 9000;
        std::vector<int> hits(allowed.size());
        for (int id = 0; id < kSamples; ++id) {
            const auto out = run(image, how, 1, 0, id);
            const auto at =
                std::ranges::find_if(allowed, [&](const Place& place) { return matches(image, place, out); });
            ++hits[static_cast<std::size_t>(at - allowed.begin())];
        }
        const double each = kSamples / 18.0;
        for (const int hit : hits) QVERIFY(std::abs(hit - each) < 6 * std::sqrt(each));
    }

    // Two epochs in a row show an image both ways round; half of all images begin with either.
    void sidesAlternate() {
        constexpr int kSamples = 4000;
        int mirroredFirst = 0;
        for (int id = 0; id < kSamples; ++id) {
            const auto isMirrored = [&](std::int64_t epoch) {
                return recipeOf({4, true, 8}, {3, 32, 32}, 1, epoch, id).mirrored != 0;
            };
            mirroredFirst += isMirrored(0);
            for (std::int64_t epoch = 1; epoch < 5; ++epoch) QVERIFY(isMirrored(epoch) != isMirrored(epoch - 1));
        }
        QVERIFY(std::abs(mirroredFirst - kSamples / 2) < 6 * std::sqrt(kSamples * 0.25));
    }

    // A rectangle within the image, the same in all channels, in as many images as asked for.
    void erasedIsARectangle() {
        const Picture image = picture(3, 32, 32);
        const auto whole = run(image, {}, 1, 0, 0);
        constexpr int kSamples = 4000;
        int erased = 0, small = 0, large = 0, tall = 0;
        for (int id = 0; id < kSamples; ++id) {
            const auto out = run(image, {0, false, 0, 0.25}, 1, 0, id);
            if (out == whole) continue;
            ++erased;
            int top = 32, left = 32, bottom = -1, right = -1, blanked = 0;
            for (int i = 0; i < 32 * 32; ++i) {
                const auto at = static_cast<std::size_t>(i);
                const bool blank = out[at] != whole[at];
                for (std::size_t channel : {at, at + 1024, at + 2048})
                    QCOMPARE(out[channel], blank ? 0.0f : whole[channel]);
                if (!blank) continue;
                ++blanked;
                top = std::min(top, i / 32), bottom = std::max(bottom, i / 32);
                left = std::min(left, i % 32), right = std::max(right, i % 32);
            }
            const int height = bottom - top + 1, width = right - left + 1;
            QCOMPARE(blanked, height * width);
            QVERIFY(blanked >= 0.015 * 1024 && blanked <= 0.36 * 1024);
            QVERIFY(height < 4 * width && width < 4 * height);
            small += blanked < 0.05 * 1024;
            large += blanked > 0.28 * 1024;
            tall += height > width;
        }
        QVERIFY(std::abs(erased - kSamples / 4) < 6 * std::sqrt(kSamples * 0.25 * 0.75));
        QVERIFY(small > erased / 20 && large > erased / 20 && tall > erased / 4 && tall < 3 * erased / 4);
        for (int id = 0; id < 100; ++id) {  // too small for one: left alone
            const Picture dot = picture(1, 1, 1);
            QCOMPARE(run(dot, {0, false, 0, 1.0}, 1, 0, id), run(dot, {}, 1, 0, id));
        }
    }

    void settingsComeFromTheSchema() {
        QCOMPARE(augmentationFrom(ParamValues(augmentationSchema())), Augmentation{});
        const auto values = ParamValues::from(
            augmentationSchema(),
            {{"crop_padding", std::int64_t{4}}, {"flip", true}, {"cutout", std::int64_t{8}}, {"random_erasing", 0.5}},
            "");
        QVERIFY(values.ok());
        QCOMPARE(augmentationFrom(values.value()), (Augmentation{4, true, 8, 0.5}));
        QVERIFY(!ParamValues::from(augmentationSchema(), {{"crop_padding", std::int64_t{-1}}}, "").ok());
    }

    // Of Beta(alpha, alpha) the deviation from 1/2 is known, and so is the median's share of even mixtures.
    void mixturesFollowBeta_data() {
        QTest::addColumn<double>("alpha");
        for (const double alpha : {0.1, 0.2, 1.0, 4.0}) QTest::addRow("%g", alpha) << alpha;
    }
    void mixturesFollowBeta() {
        QFETCH(double, alpha);
        constexpr int kCount = 20000;
        double squares = 0;
        std::vector<int> chosen(50);
        for (int id = 0; id < kCount; ++id) {
            const Mixture mixture = mixtureOf(alpha, 50, 3, 1, id);
            QVERIFY(mixture.lambda >= 0.5f && mixture.lambda <= 1 && mixture.partner >= 0 && mixture.partner < 50);
            squares += std::pow(mixture.lambda - 0.5, 2) / kCount;
            ++chosen[static_cast<std::size_t>(mixture.partner)];
        }
        const double variance = 1 / (4 * (2 * alpha + 1));
        QVERIFY2(std::abs(squares / variance - 1) < 0.04, qPrintable(QString("%1, %2").arg(squares).arg(variance)));
        const auto [fewest, most] = std::ranges::minmax(chosen);
        QVERIFY2(fewest > 300 && most < 500, qPrintable(QString("%1 to %2").arg(fewest).arg(most)));
    }

    void mixturesDependOnSeedEpochAndSample() {
        const auto of = [](std::uint64_t seed, std::int64_t epoch, std::int64_t id) {
            const Mixture mixture = mixtureOf(0.4, 1000000, seed, epoch, id);
            return std::pair(mixture.partner, mixture.lambda);
        };
        QCOMPARE(of(1, 2, 3), of(1, 2, 3));
        const std::set distinct{of(1, 2, 3), of(2, 2, 3), of(1, 3, 3), of(1, 2, 4)};
        QCOMPARE(distinct.size(), std::size_t{4});
        // Next to nothing but the two samples themselves, and no number that is none.
        for (int id = 0; id < 100; ++id) QVERIFY(mixtureOf(1e-4, 9, 1, 0, id).lambda >= 0.5f);
    }
};

QTEST_APPLESS_MAIN(TestAugment)
#include "tst_augment.moc"
