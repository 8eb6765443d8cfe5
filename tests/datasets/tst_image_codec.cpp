#include <zlib.h>

#include <QtTest>
#include <algorithm>

#include "dataset_files.h"
#include "datasets/cut_picture.h"
#include "datasets/exif.h"
#include "datasets/image_codec.h"
#include "engine/core/random.h"
#include "image_files.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

// What a JPEG's Exif segment holds as a chunk behind the header.
Bytes pngWithExif(const Bytes& png, const Bytes& jpeg) {
    const Bytes mark{'E', 'x', 'i', 'f', 0, 0};
    const auto tiff = std::ranges::search(jpeg, mark).end();
    const std::size_t length = (std::size_t{jpeg[4]} << 8 | jpeg[5]) - 8;
    Bytes chunk{'e', 'X', 'I', 'f'};
    chunk.insert(chunk.end(), tiff, tiff + static_cast<std::ptrdiff_t>(length));
    const auto number = [](unsigned long value) {
        return Bytes{static_cast<std::uint8_t>(value >> 24), static_cast<std::uint8_t>(value >> 16),
                     static_cast<std::uint8_t>(value >> 8), static_cast<std::uint8_t>(value)};
    };
    constexpr std::ptrdiff_t kBehindHeader = 8 + 25;
    Bytes out(png.begin(), png.begin() + kBehindHeader);
    for (const Bytes& each : {number(length), chunk, number(crc32(0, chunk.data(), static_cast<uInt>(chunk.size())))})
        out.insert(out.end(), each.begin(), each.end());
    out.insert(out.end(), png.begin() + kBehindHeader, png.end());
    return out;
}

struct Decoded {
    Picture picture;
    std::string code;
};

Decoded decode(const Bytes& bytes, const DecodeWish& wish = {}) {
    try {
        DecodedPart part;
        decodeImage(bytes, "x.jpg", wish, part);
        return {std::move(part.picture), ""};
    } catch (const ProblemError& error) {
        return {{}, error.problem().code};
    }
}

// All of it as fast as a picture of that side can be had.
DecodeWish reducedTo(int channels, int side) {
    DecodeWish wish{.channels = channels, .height = side, .width = side};
    wish.part = [](const PictureSize& size) {
        return PictureBox{0, 0, static_cast<double>(size.width), static_cast<double>(size.height)};
    };
    wish.decode = Decode::Fast;
    return wish;
}

Bytes square(const Picture& picture, int size, int channels) {
    Bytes out(static_cast<std::size_t>(size * size * channels));
    const ImageRule rule{.size = size, .channels = channels};
    const auto decode = [&](const DecodeWish& wish, DecodedPart& into) {
        into.view = picture.view();
        into.box = wish.part({picture.channels, picture.height, picture.width});
    };
    cutPicture(
        decode, rule, [&](int height, int width) { return rule.middle(height, width); }, out);
    return out;
}

int largestDifference(const Bytes& a, const Bytes& b) {
    if (a.size() != b.size()) return 256;
    int largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
    return largest;
}

}  // namespace

class TestImageCodec : public QObject {
    Q_OBJECT
private slots:
    void jpegDecodes() {
        const Decoded colour = decode(jpeg(20, 12));
        QCOMPARE(colour.code, std::string());
        QCOMPARE(colour.picture.width, 20);
        QCOMPARE(colour.picture.height, 12);
        QVERIFY(largestDifference(colour.picture.pixels, gradient(20, 12, 3)) <= 6);
        const Decoded grey = decode(jpeg(20, 12, false), {1});
        QVERIFY(largestDifference(grey.picture.pixels, gradient(20, 12, 1)) <= 4);
        QCOMPARE(sizeOfImage(jpeg(20, 12, false), "x").channels, 1);
        QCOMPARE(sizeOfImage(jpeg(20, 12), "x").channels, 3);
        QCOMPARE(decode(jpeg(20, 12, true, TJFLAG_PROGRESSIVE)).code, std::string());
    }

    void largeJpegsAreDecodedAtAReducedScale() {
        const Decoded out = decode(jpeg(400, 300), reducedTo(3, 60));
        QCOMPARE(out.picture.height, 150);
        QCOMPARE(out.picture.width, 200);
        QCOMPARE(decode(jpeg(400, 300), reducedTo(3, 300)).picture.height, 300);
        QCOMPARE(decode(jpeg(40, 30), reducedTo(3, 300)).picture.height, 30);
    }

    // Fine patterns, too, which a decoder that reduces alone would leave sharp.
    void reducedPicturesAreThoseOfTheFilter_data() {
        QTest::addColumn<int>("size");
        for (const int size : {48, 95, 120, 180, 224}) QTest::addRow("%d", size) << size;
    }

    void reducedPicturesAreThoseOfTheFilter() {
        QFETCH(int, size);
        const CounterRng rng(7, 0, 0, 0);
        Bytes noise(480 * 480 * 3);
        for (std::size_t i = 0; i < noise.size(); ++i)
            noise[i] = static_cast<std::uint8_t>(
                128 + 40 * std::clamp(rng.normal(static_cast<std::uint32_t>(i / 3)), -3.0, 3.0));
        const Bytes file = jpegOf(noise, 480, 480, TJPF_RGB, 0);
        const auto cut = [&](Decode how) {
            Bytes out(static_cast<std::size_t>(size * size * 3));
            const ImageRule rule{.size = size, .channels = 3};
            const auto decode = [&](DecodeWish wish, DecodedPart& into) {
                wish.decode = how;
                decodeImage(file, "x.jpg", wish, into);
            };
            cutPicture(
                decode, rule, [&](int height, int width) { return rule.middle(height, width); }, out);
            return out;
        };
        const Bytes fast = cut(Decode::Fast), exact = cut(Decode::Exact);
        double sum = 0;
        for (std::size_t i = 0; i < fast.size(); ++i) sum += std::abs(fast[i] - exact[i]);
        const double mean = sum / static_cast<double>(fast.size());
        QVERIFY2(mean <= 2, qPrintable(QString::number(mean)));
    }

    // Inks of Adobe's programs, which store 255 where there is none of one.
    void printsBecomeColours() {
        const auto seen = [](std::vector<std::uint8_t> inks, int channels) {
            Bytes pixels;
            for (int i = 0; i < 16 * 16; ++i) pixels.insert(pixels.end(), inks.begin(), inks.end());
            const Bytes file = jpegOf(pixels, 16, 16, TJPF_CMYK);
            const Decoded out = decode(file, {.channels = channels});
            if (!out.code.empty() || sizeOfImage(file, "").channels != 3) return Bytes();
            return Bytes(out.picture.pixels.begin(), out.picture.pixels.begin() + channels);
        };
        QVERIFY(largestDifference(seen({255, 0, 0, 255}, 3), {255, 0, 0}) <= 3);
        QVERIFY(largestDifference(seen({255, 0, 128, 128}, 3), {128, 0, 64}) <= 3);
        QVERIFY(largestDifference(seen({255, 255, 255, 255}, 3), {255, 255, 255}) <= 3);
        QVERIFY(largestDifference(seen({255, 0, 0, 255}, 1), {76}) <= 3);
    }

    // A letter F, two pixels a stroke, whose eight ways to lie are all different; stored as it was held, seen upright.
    void everyOrientationIsMadeUpright_data() {
        QTest::addColumn<int>("orientation");
        QTest::addColumn<QString>("stored");
        QTest::newRow("as it is") << 1 << "###/#../##./#..";
        QTest::newRow("mirrored") << 2 << "###/..#/.##/..#";
        QTest::newRow("upside down") << 3 << "..#/.##/..#/###";
        QTest::newRow("upside down, mirrored") << 4 << "#../##./#../###";
        QTest::newRow("transposed") << 5 << "####/#.#./#...";
        QTest::newRow("a quarter to the left") << 6 << "#.../#.#./####";
        QTest::newRow("transversed") << 7 << "...#/.#.#/####";
        QTest::newRow("a quarter to the right") << 8 << "####/.#.#/...#";
        QTest::newRow("no such number") << 9 << "###/#../##./#..";
    }
    void everyOrientationIsMadeUpright() {
        QFETCH(int, orientation);
        QFETCH(QString, stored);
        constexpr int kDot = 16;  // two blocks of a JPEG: nothing blurs between dots
        const QStringList rows = stored.split('/');
        const int width = kDot * static_cast<int>(rows[0].size()), height = kDot * static_cast<int>(rows.size());
        Bytes pixels;
        for (int y = 0; y < height; ++y) {
            for (int x = 0; x < width; ++x) pixels.push_back(rows[y / kDot][x / kDot] == '#' ? 255 : 0);
        }
        const Bytes plain = jpegOf(pixels, width, height, TJPF_GRAY);
        const Bytes lossless = pngOf(pixels, width, height, PNG_COLOR_TYPE_GRAY);
        for (const auto& [isPng, littleEndian] :
             {std::pair{false, true}, {false, false}, {true, true}, {true, false}}) {
            const Bytes file = isPng ? pngWithExif(lossless, withExif(plain, orientation, littleEndian))
                                     : withExif(plain, orientation, littleEndian);
            const Decoded out = decode(file, {1});
            QCOMPARE(out.code, std::string());
            QString seen;
            for (int y = 0; y < out.picture.height; y += kDot) {
                if (y > 0) seen += '/';
                for (int x = 0; x < out.picture.width; x += kDot) {
                    const auto at = static_cast<std::size_t>(y * out.picture.width + x);
                    seen += out.picture.pixels[at] > 128 ? '#' : '.';
                }
            }
            QCOMPARE(seen, QString("###/#../##./#.."));
            const PictureSize size = sizeOfImage(file, "");
            QCOMPARE(size.height, 4 * kDot);
            QCOMPARE(size.width, 3 * kDot);
            if (isPng) continue;
            // At a reduced scale, too.
            const Decoded small = decode(file, reducedTo(1, 12));
            QCOMPARE(small.picture.height, 32);
            QCOMPARE(small.picture.width, 24);
        }
        QCOMPARE(decode(withExif(plain, orientation, true, 0x10f), {1}).picture.width, width);  // of another tag
    }

    void exifThatMakesNoSenseIsPassedOver() {
        const Bytes whole = withExif(jpeg(32, 16), 6);
        QCOMPARE(exifOrientation(whole), 6);
        QCOMPARE(exifOrientation(jpeg(32, 16)), 1);
        QCOMPARE(exifOrientation({}), 1);
        // Within the segment: any byte changed, and any end.
        for (std::size_t at = 2; at < 38; ++at) {
            for (const int value : {0x00, 0x7f, 0xff}) {
                Bytes damaged = whole;
                damaged[at] = static_cast<std::uint8_t>(value);
                const int orientation = exifOrientation(damaged);
                QVERIFY(orientation >= 1 && orientation <= 8);
            }
            QVERIFY(exifOrientation(std::span(whole).first(at)) == 1);
        }
    }

    void pngOfEveryKindDecodes() {
        const Bytes rgb = gradient(9, 7, 3), grey = gradient(9, 7, 1);
        QCOMPARE(decode(png(9, 7)).picture.pixels, rgb);
        QCOMPARE(decode(png(9, 7, false)).picture.pixels, grey);
        QCOMPARE(decode(pngOf(rgb, 9, 7, PNG_COLOR_TYPE_RGB, 8, PNG_INTERLACE_ADAM7)).picture.pixels, rgb);
        Bytes alpha, deep, palette;
        for (std::size_t i = 0; i < rgb.size(); ++i) {
            alpha.push_back(rgb[i]);
            if (i % 3 == 2) alpha.push_back(static_cast<std::uint8_t>(i));
            deep.push_back(rgb[i]);
            deep.push_back(rgb[i]);
        }
        for (const std::uint8_t value : grey)
            palette.insert(palette.end(), {value, static_cast<std::uint8_t>(255 - value), 7});
        QCOMPARE(decode(pngOf(alpha, 9, 7, PNG_COLOR_TYPE_RGB_ALPHA)).picture.pixels, rgb);
        QCOMPARE(decode(pngOf(deep, 9, 7, PNG_COLOR_TYPE_RGB, 16)).picture.pixels, rgb);
        QCOMPARE(decode(pngOf(grey, 9, 7, PNG_COLOR_TYPE_PALETTE)).picture.pixels, palette);
        QCOMPARE(decode(pngOf(Bytes(7 * 2, 0xaa), 9, 7, PNG_COLOR_TYPE_GRAY, 1)).picture.pixels[0], 255);
    }

    void everyTruncationIsAProblem() {
        for (const Bytes& whole :
             {jpeg(24, 24), jpeg(24, 24, false, TJFLAG_PROGRESSIVE), png(24, 24), png(5, 40, false)}) {
            for (std::size_t size = 0; size < whole.size(); ++size) {
                const Decoded out = decode(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
                QVERIFY2(!out.code.empty(), qPrintable(QString("%1 of %2 bytes").arg(size).arg(whole.size())));
            }
            const Bytes half(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(whole.size() - 12));
            QCOMPARE(decode(half).code, std::string("image.truncated"));
        }
    }

    // A flipped bit may give another picture (a JPEG has no checksum), but never a crash, and never other pixels from a
    // PNG.
    void bitFlipsAreSurvived() {
        for (const Bytes& whole : {withExif(jpeg(16, 16), 6), png(16, 16)}) {
            const Picture intact = decode(whole).picture;
            for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
                Bytes flipped = whole;
                flipped[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
                const Decoded out = decode(flipped);
                QVERIFY(!out.code.empty() || out.picture.pixels.size() >= 1);
                if (whole[0] == 0x89 && out.code.empty()) QCOMPARE(out.picture.pixels, intact.pixels);
            }
        }
    }

    void bombsAreRefusedBeforeAnythingIsAllocated() {
        Bytes bytes = jpeg(16, 16);
        for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
            if (bytes[i] == 0xff && bytes[i + 1] == 0xc0) bytes[i + 5] = bytes[i + 7] = 0xff;
        }
        QCOMPARE(decode(bytes).code, std::string("image.too-large"));
        const Bytes rows = pngOf(Bytes(12'500 * 1000), 100'000, 1000, PNG_COLOR_TYPE_GRAY, 1);
        QVERIFY(rows.size() < 20'000);
        QCOMPARE(decode(rows).code, std::string("image.too-large"));
        QCOMPARE(decode(Bytes{}).code, std::string("image.empty"));
        QCOMPARE(decode(Bytes{'G', 'I', 'F', '8'}).code, std::string("image.not-an-image"));
    }

    void fittingPicturesStayExact() {
        const Bytes pixels = gradient(10, 10, 3);
        const Bytes planar = square({3, 10, 10, pixels}, 10, 3);
        for (std::size_t i = 0; i < 100; ++i) {
            for (std::size_t c = 0; c < 3; ++c) QCOMPARE(planar[c * 100 + i], pixels[i * 3 + c]);
        }
    }

    void theCentreIsTaken() {
        Bytes pixels(30 * 10, 0);  // 30 wide, 10 high: the middle third is white
        for (int y = 0; y < 10; ++y) std::fill_n(pixels.begin() + y * 30 + 10, 10, std::uint8_t{255});
        QCOMPARE(square({1, 10, 30, pixels}, 10, 1), Bytes(100, 255));
    }

    void scalingKeepsMeansAndConstants() {
        for (const int size : {1, 3, 8, 17, 40, 100}) {
            QCOMPARE(square({1, 33, 47, Bytes(33 * 47, 77)}, size, 1),
                     Bytes(static_cast<std::size_t>(size * size), 77));
            const Bytes out = square({1, 64, 64, gradient(64, 64, 1)}, size, 1);
            double sum = 0;
            for (const std::uint8_t pixel : out) sum += pixel;
            QVERIFY2(std::abs(sum / static_cast<double>(out.size()) - 78.7) < 3, qPrintable(QString::number(size)));
        }
    }

    void greyAndColourConvert() {
        QCOMPARE(square({3, 1, 1, {255, 0, 0}}, 1, 1), Bytes{76});
        QCOMPARE(square({3, 1, 1, {0, 255, 0}}, 1, 1), Bytes{150});
        QCOMPARE(square({1, 1, 1, {9}}, 1, 3), (Bytes{9, 9, 9}));
    }
};

QTEST_APPLESS_MAIN(TestImageCodec)
#include "tst_image_codec.moc"
