#include <rapidcheck.h>
#include <QtTest>
#include <algorithm>
#include <set>

#include "engine/data/augment.h"
#include "engine/data/mixture.h"

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
            const Mixture mixture = mixtureOf({.mixup = alpha}, {3, 8, 8}, 50, 3, 1, id);
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
            const Mixture mixture = mixtureOf({.mixup = 0.4, .cutmix = 1}, {3, 32, 32}, 1000000, seed, epoch, id);
            return std::tuple(mixture.partner, mixture.lambda, mixture.box.top, mixture.box.left);
        };
        QCOMPARE(of(1, 2, 3), of(1, 2, 3));
        const std::set distinct{of(1, 2, 3), of(2, 2, 3), of(1, 3, 3), of(1, 2, 4)};
        QCOMPARE(distinct.size(), std::size_t{4});
        // Next to nothing but the two samples themselves, and no number that is none.
        for (const Augmentation& how : {Augmentation{.mixup = 1e-4}, Augmentation{.cutmix = 1e-4}})
            for (int id = 0; id < 100; ++id) QVERIFY(mixtureOf(how, {1, 5, 5}, 9, 1, 0, id).lambda >= 0.5f);
    }

    // The definition of a box: its own lambda comes from the pixels that it has within the image.
    void boxesFollowTheirArea() {
        QVERIFY(rc::check("boxes", [] {
            const ImageShape shape{3, *rc::gen::inRange(1, 40), *rc::gen::inRange(1, 40)};
            const double alpha = *rc::gen::element(0.1, 0.5, 1.0, 8.0);
            const Mixture mixture = mixtureOf({.cutmix = alpha}, shape, 7, *rc::gen::arbitrary<std::uint64_t>(), 3,
                                              *rc::gen::inRange(0, 999));
            int inside = 0;
            for (int y = 0; y < shape.height; ++y)
                for (int x = 0; x < shape.width; ++x) inside += mixture.box.holds(y, x);
            const int whole = shape.height * shape.width, own = mixture.isOwn ? inside : whole - inside;
            RC_ASSERT(mixture.box.pixels() == inside);
            RC_ASSERT(2 * own >= whole);
            RC_ASSERT(mixture.lambda == static_cast<float>(own) / static_cast<float>(whole));
            RC_ASSERT(mixture.partner >= 0 && mixture.partner < 7);
        }));
    }

    // Of boxes that no edge cuts, area and place are as drawn: with alpha 1 all areas are alike, and so are all
    // centres.
    void boxesOfAllAreasAnywhere() {
        constexpr int kCount = 20000;
        int whole = 0, own = 0, left = 0, small = 0;
        for (int id = 0; id < kCount; ++id) {
            const auto [partner, lambda, box, isOwn] = mixtureOf({.cutmix = 1}, {3, 200, 200}, 50, 3, 1, id);
            const bool isWhole = box.top > 0 && box.left > 0 && box.bottom < 200 && box.right < 200;
            if (isWhole && !box.isEmpty()) {
                QCOMPARE(box.bottom - box.top, box.right - box.left);
                QVERIFY((box.bottom - box.top) % 2 == 0);
            }
            whole += isWhole;
            own += isOwn;
            left += box.left + box.right < 200;
            small += box.isEmpty() || box.pixels() < 40000 / 8;
        }
        // A centre leaves room for a side s with probability (1 - s) squared, of which the mean is 1/6 where s² is
        // even.
        QVERIFY2(std::abs(whole - kCount / 6.0) < 0.06 * kCount / 6.0, qPrintable(QString::number(whole)));
        QVERIFY2(std::abs(own - 0.179 * kCount) < 0.017 * kCount, qPrintable(QString::number(own)));
        QVERIFY2(std::abs(left - 0.5 * kCount) < 0.02 * kCount, qPrintable(QString::number(left)));
        QVERIFY2(std::abs(small - 0.171 * kCount) < 0.017 * kCount, qPrintable(QString::number(small)));
    }

    // Each sample is mixed as it would be by the one alone, or as by the other.
    void aCoinChoosesBetweenThem() {
        constexpr int kCount = 10000;
        const auto of = [](const Augmentation& how, int id) { return mixtureOf(how, {1, 32, 32}, 50, 3, 1, id); };
        int pasted = 0;
        for (int id = 0; id < kCount; ++id) {
            const Mixture both = of({.mixup = 0.4, .cutmix = 0.8}, id), cut = of({.cutmix = 0.8}, id);
            const bool isCut = both.lambda == cut.lambda;
            const Mixture alone = isCut ? cut : of({.mixup = 0.4}, id);
            QCOMPARE(both.lambda, alone.lambda);
            QCOMPARE(both.partner, alone.partner);
            QCOMPARE(both.box.pixels(), alone.box.pixels());
            pasted += isCut;
        }
        QVERIFY2(std::abs(pasted - kCount / 2) < 6 * std::sqrt(kCount * 0.25), qPrintable(QString::number(pasted)));
    }

    void mixturesByHand() {
        const std::vector<float> own{1, 2, 3, 4, 5, 6}, partner{10, 20, 30, 40, 50, 60};
        const auto mixed = [&](const Mixture& mixture) {
            std::vector<float> image = own;
            mix(mixture, {1, 2, 3}, partner, image);
            return image;
        };
        QCOMPARE(mixed({.lambda = 0.75f}), (std::vector<float>{3.25f, 6.5f, 9.75f, 13, 16.25f, 19.5f}));
        QCOMPARE(mixed({.box = {0, 1, 2, 2}}), (std::vector<float>{1, 20, 3, 4, 50, 6}));
        QCOMPARE(mixed({.box = {0, 0, 2, 2}, .isOwn = true}), (std::vector<float>{1, 2, 30, 4, 5, 60}));
        QCOMPARE(mixed({}), own);
    }
};

QTEST_APPLESS_MAIN(TestAugment)
#include "tst_augment.moc"
