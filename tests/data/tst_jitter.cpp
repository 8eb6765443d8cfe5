#include <rapidcheck.h>
#include <QtTest>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "engine/data/augment.h"

using namespace lockstep;

namespace {

using Step = ColourJitter::Step;
using Levels = std::vector<std::uint8_t>;

constexpr JitterRanges kAll{.brightness = 0.4, .contrast = 0.6, .saturation = 0.8, .hue = 0.1};

std::int32_t stepsOf(std::initializer_list<Step> order) {
    std::int32_t steps = 0, place = 0;
    for (const Step step : order) steps |= step << (4 * place++);
    return steps;
}

std::int32_t fixed(double factor) { return static_cast<std::int32_t>(std::lround(factor * kJitterOne)); }

Levels after(ColourJitter jitter, int channels, Levels image) {
    jitterImage(jitter, channels, image);
    return image;
}

Levels anyImage(std::size_t bytes) { return *rc::gen::container<Levels>(bytes, rc::gen::arbitrary<std::uint8_t>()); }

// Of a kind and size that loops meet.
ColourJitter anyJitter(int channels) {
    const JitterRanges ranges{1, *rc::gen::element(0.0, 1.0), 1, *rc::gen::element(0.0, 0.5)};
    return jitterOf(ranges, channels, *rc::gen::arbitrary<std::uint64_t>(), 1, 2);
}

Colour colourAt(const Levels& image, std::size_t i) {
    const std::size_t plane = image.size() / 3;
    return {image[i], image[plane + i], image[2 * plane + i]};
}

// torchvision's formulas, word by word, in double.
struct Exact {
    double red, green, blue;
};

double greyOfExact(const Exact& c) { return std::floor(0.2989 * c.red + 0.587 * c.green + 0.114 * c.blue + 1e-9); }

Exact blended(const Exact& c, double factor, double other) {
    const auto level = [&](double own) { return std::clamp(own * factor + other * (1 - factor), 0.0, 255.0); };
    return {level(c.red), level(c.green), level(c.blue)};
}

Exact turnedExact(const Exact& c, double turns) {
    const double largest = std::max({c.red, c.green, c.blue}), least = std::min({c.red, c.green, c.blue});
    const double range = largest - least;
    if (range == 0) return c;
    const double part = largest == c.red     ? (c.green - c.blue) / range
                        : largest == c.green ? 2 + (c.blue - c.red) / range
                                             : 4 + (c.red - c.green) / range;
    const double place = part / 6 + turns, hue = 6 * (place - std::floor(place)), within = hue - std::floor(hue);
    const double falls = largest - range * within, rises = least + range * within;
    switch (static_cast<int>(hue) % 6) {
        case 0: return {largest, rises, least};
        case 1: return {falls, largest, least};
        case 2: return {least, largest, rises};
        case 3: return {least, falls, largest};
        case 4: return {rises, least, largest};
        default: return {largest, least, falls};
    }
}

bool isWithinALevel(const Colour& found, const Exact& exact) {
    const auto isNear = [](double level, double wanted) { return std::abs(level - wanted) <= 1.001; };
    return isNear(found.red, exact.red) && isNear(found.green, exact.green) && isNear(found.blue, exact.blue);
}

}  // namespace

class TestJitter : public QObject {
    Q_OBJECT
private slots:
    void offIsNothing() {
        QCOMPARE(jitterOf({}, 3, 1, 2, 3), ColourJitter{});
        QCOMPARE(recipeOf({.cropPadding = 2, .flip = true}, {3, 8, 8}, 1, 2, 3).jitter.steps, 0);
        const Levels image{1, 2, 3, 4, 5, 6};
        QCOMPARE(after({}, 3, image), image);
        DatasetInfo info;
        info.fields = imageFields({3, 1, 2});
        Levels room(6);
        QCOMPARE(jitterColours({}, info, image, 1, 2, 3, room).data(), image.data());
        QCOMPARE(room, Levels(6));
    }

    // A factor of 1 and a turn by nothing or by all of the circle, a third at a time, leave every colour.
    void ofNothingEveryColourStays() {
        const ColourJitter one{.brightness = kJitterOne, .contrast = kJitterOne, .saturation = kJitterOne};
        for (int red = 0; red < 256; red += 3)
            for (int green = 0; green < 256; green += 3)
                for (int blue = 0; blue < 256; blue += 5) {
                    const Colour colour{red, green, blue};
                    for (const Step step : {Step::kBrightness, Step::kContrast, Step::kSaturation, Step::kHue})
                        QVERIFY(stepped(one, step, colour) == colour);
                    const auto third = turned(colour, 2 * kJitterOne), back = turned(third, -2 * kJitterOne);
                    QVERIFY((third == Colour{blue, red, green}) && back == colour);
                }
    }

    void coloursByHand_data() {
        QTest::addColumn<int>("step");
        QTest::addColumn<double>("factor");
        QTest::addColumn<Levels>("wanted");
        const auto row = [](const char* name, Step step, double factor, const Levels& wanted) {
            QTest::addRow("%s", name) << static_cast<int>(step) << factor << wanted;
        };
        // Two pixels, (200, 100, 50) and (0, 51, 255): greys 124 and 59, whose mean is 91.5.
        row("brighter", Step::kBrightness, 1.5, {255, 0, 150, 76, 75, 255});
        row("dark", Step::kBrightness, 0, {0, 0, 0, 0, 0, 0});
        row("half the contrast", Step::kContrast, 0.5, {145, 45, 95, 71, 70, 173});
        row("no contrast", Step::kContrast, 0, {91, 91, 91, 91, 91, 91});
        row("twice the contrast", Step::kContrast, 2, {255, 0, 108, 10, 8, 255});
        row("grey", Step::kSaturation, 0, {124, 59, 124, 59, 124, 59});
        row("strong", Step::kSaturation, 1.5, {238, 0, 88, 47, 13, 255});
        row("a third of the circle", Step::kHue, 2, {50, 255, 200, 0, 100, 51});
        row("half of the circle", Step::kHue, 3, {50, 255, 150, 204, 200, 0});
        row("a twelfth of the circle", Step::kHue, 0.5, {200, 76, 175, 0, 50, 255});
    }
    void coloursByHand() {
        QFETCH(int, step);
        QFETCH(double, factor);
        QFETCH(Levels, wanted);
        ColourJitter jitter{.steps = step};
        jitter.brightness = jitter.contrast = jitter.saturation = jitter.hue = fixed(factor);
        const Levels found = after(jitter, 3, {200, 0, 100, 51, 50, 255});
        QVERIFY2(found == wanted, qPrintable(QByteArray(reinterpret_cast<const char*>(found.data()), 6).toHex(' ')));
    }

    // The steps in their order: contrast sees what brightness left.
    void theOrderCounts() {
        ColourJitter jitter{.steps = stepsOf({Step::kBrightness, Step::kContrast})};
        jitter.brightness = fixed(2), jitter.contrast = fixed(0.5);
        QCOMPARE(after(jitter, 1, {10, 100, 200}), (Levels{89, 179, 206}));  // 20, 200, 255: their mean is 158 1/3
        jitter.steps = stepsOf({Step::kContrast, Step::kBrightness});
        QCOMPARE(after(jitter, 1, {10, 100, 200}), (Levels{112, 202, 255}));  // 56, 101, 151 of a mean of 103 1/3
    }

    void eachStepIsTorchvisions() {
        QVERIFY(rc::check("formulas", [] {
            const auto level = [] { return *rc::gen::inRange(0, 256); };
            const Colour c{level(), level(), level()};
            const Exact exact{static_cast<double>(c.red), static_cast<double>(c.green), static_cast<double>(c.blue)};
            const double factor = *rc::gen::inRange(0, 2 * kJitterOne + 1) / double{kJitterOne}, mean = level();
            ColourJitter how;
            how.brightness = how.contrast = how.saturation = fixed(factor);
            how.meanGrey = static_cast<std::int32_t>(mean * (kJitterOne - how.contrast));
            how.hue = fixed(6 * (factor / 2 - 0.5));
            RC_ASSERT(isWithinALevel(stepped(how, Step::kBrightness, c), blended(exact, factor, 0)));
            RC_ASSERT(isWithinALevel(stepped(how, Step::kContrast, c), blended(exact, factor, mean)));
            RC_ASSERT(isWithinALevel(stepped(how, Step::kSaturation, c), blended(exact, factor, greyOfExact(exact))));
            RC_ASSERT(isWithinALevel(stepped(how, Step::kHue, c), turnedExact(exact, factor / 2 - 0.5)));
        }));
    }

    // The loops over whole images do what the definition says for one pixel, and so does who only settles the recipe.
    void imagesFollowTheDefinition() {
        QVERIFY(rc::check("loops", [] {
            const std::size_t pixels = *rc::gen::inRange<std::size_t>(1, 300);
            const Levels image = anyImage(3 * pixels);
            ColourJitter made = anyJitter(3), told = made, again = made;
            Levels out = image, scratch(image.size()), same = image;
            jitterImage(made, 3, out);
            settle(told, 3, image, scratch);
            settle(again, 3, same, same);
            RC_ASSERT(made == told && made == again);
            for (std::size_t i = 0; i < pixels; ++i) RC_ASSERT(jittered(told, colourAt(image, i)) == colourAt(out, i));
        }));
        QVERIFY(rc::check("loops of other channels", [] {
            const int channels = *rc::gen::element(1, 2, 4);
            const Levels image = anyImage(static_cast<std::size_t>(channels) * *rc::gen::inRange<std::size_t>(1, 99));
            ColourJitter made = anyJitter(channels), told = made;
            Levels out = image, scratch(image.size());
            jitterImage(made, channels, out);
            settle(told, channels, image, scratch);
            RC_ASSERT(made == told);
            for (std::size_t i = 0; i < image.size(); ++i)
                RC_ASSERT(jittered(told, {image[i], image[i], image[i]}).red == out[i]);
        }));
    }

    // All orders as often as any other, factors as likely anywhere in their ranges (six standard deviations).
    void choicesAreUniform() {
        constexpr int kCount = 24000, kParts = 10;
        std::map<std::int32_t, int> orders;
        std::array<std::array<int, kParts>, 4> hits{};
        const auto count = [&](std::size_t which, double value, double low, double high) {
            QVERIFY(value >= low - 1e-4 && value <= high + 1e-4);
            ++hits[which][static_cast<std::size_t>(std::clamp((value - low) / (high - low), 0.0, 0.9999) * kParts)];
        };
        for (int id = 0; id < kCount; ++id) {
            const ColourJitter jitter = jitterOf(kAll, 3, 1, 0, id);
            ++orders[jitter.steps];
            count(0, jitter.brightness / double{kJitterOne}, 0.6, 1.4);
            count(1, jitter.contrast / double{kJitterOne}, 0.4, 1.6);
            count(2, jitter.saturation / double{kJitterOne}, 0.2, 1.8);
            count(3, jitter.hue / double{kJitterOne} / 6, -0.1, 0.1);
        }
        QCOMPARE(orders.size(), std::size_t{24});
        for (const auto& [steps, times] : orders) {
            QVERIFY2(std::abs(times - kCount / 24) < 6 * std::sqrt(kCount / 24.0), qPrintable(QString::number(times)));
            std::set<int> different;
            for (int place = 0; place < kJitterSteps; ++place) different.insert(steps >> (4 * place) & 15);
            QCOMPARE(different, (std::set<int>{1, 2, 3, 4}));
        }
        for (const auto& parts : hits)
            for (const int times : parts) QVERIFY(std::abs(times - kCount / kParts) < 6 * std::sqrt(kCount / kParts));
    }

    void choicesDependOnSeedEpochAndSample() {
        QCOMPARE(jitterOf(kAll, 3, 1, 2, 3), jitterOf(kAll, 3, 1, 2, 3));
        const auto of = [](std::uint64_t seed, std::int64_t epoch, std::int64_t id) {
            const ColourJitter jitter = jitterOf(kAll, 3, seed, epoch, id);
            return std::array{jitter.brightness, jitter.contrast, jitter.saturation, jitter.hue};
        };
        QCOMPARE((std::set{of(1, 2, 3), of(2, 2, 3), of(1, 3, 3), of(1, 2, 4)}.size()), std::size_t{4});
    }

    void whatIsOffIsNoStep() {
        for (int id = 0; id < 50; ++id) {
            QCOMPARE(jitterOf({.hue = 0.2}, 3, 1, 0, id).steps, stepsOf({Step::kHue}));
            QCOMPARE(jitterOf({.hue = 0.2}, 1, 1, 0, id).steps, 0);
            const std::int32_t steps = jitterOf(kAll, 1, 1, 0, id).steps;
            QVERIFY(steps == stepsOf({Step::kBrightness, Step::kContrast}) ||
                    steps == stepsOf({Step::kContrast, Step::kBrightness}));
            const ColourJitter wide = jitterOf({.brightness = 3}, 3, 1, 0, id);
            QVERIFY(wide.brightness >= 0 && wide.brightness <= 4 * kJitterOne);
        }
    }

    void settingsComeFromTheSchema() {
        const auto values = ParamValues::from(
            augmentationSchema(),
            {{"jitter_brightness", 0.4}, {"jitter_contrast", 0.6}, {"jitter_saturation", 0.8}, {"jitter_hue", 0.1}},
            "");
        QVERIFY(values.ok());
        QCOMPARE(augmentationFrom(values.value()).jitter, kAll);
        QVERIFY(!ParamValues::from(augmentationSchema(), {{"jitter_hue", 0.6}}, "").ok());
        QVERIFY(!ParamValues::from(augmentationSchema(), {{"jitter_contrast", -0.1}}, "").ok());
    }
};

QTEST_APPLESS_MAIN(TestJitter)
#include "tst_jitter.moc"
