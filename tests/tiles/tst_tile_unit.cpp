#include <QtTest>

#include <array>
#include <cstring>
#include <vector>

#include "tests/tiles/tile_unit.h"

using namespace lockstep::tiles;

namespace {

using Code = std::array<std::uint8_t, 6>;

constexpr Code kConfigure{0xC4, 0xE2, 0x78, 0x49, 0x00};               // LDTILECFG [rax]
constexpr Code kRelease{0xC4, 0xE2, 0x78, 0x49, 0xC0};                 // TILERELEASE
constexpr Code kClear2{0xC4, 0xE2, 0x7B, 0x49, 0xD0};                  // TILEZERO tmm2
constexpr Code kLoad0{0xC4, 0xE2, 0x7B, 0x4B, 0x04, 0x08};             // TILELOADD tmm0, [rax+rcx]
constexpr Code kLoad1{0xC4, 0xE2, 0x7B, 0x4B, 0x0C, 0x08};             // TILELOADD tmm1, [rax+rcx]
constexpr Code kLoadWithoutIndex{0xC4, 0xE2, 0x7B, 0x4B, 0x04, 0x20};  // TILELOADD tmm0, [rax]
constexpr Code kStore2{0xC4, 0xE2, 0x7A, 0x4B, 0x14, 0x08};            // TILESTORED [rax+rcx], tmm2
constexpr Code kMultiply201{0xC4, 0xE2, 0x72, 0x5C, 0xD0};             // TDPBF16PS tmm2, tmm0, tmm1
constexpr Code kMultiply001{0xC4, 0xE2, 0x72, 0x5C, 0xC0};             // TDPBF16PS tmm0, tmm0, tmm1
constexpr Code kMultiply203{0xC4, 0xE2, 0x62, 0x5C, 0xD0};             // TDPBF16PS tmm2, tmm0, tmm3

// The operand of LDTILECFG: 3 rows of 2 pairs times 2 rows of 5 columns.
struct Config {
    std::uint8_t palette = 1, startRow = 0, reserved[14] = {};
    std::uint16_t rowBytes[16] = {8, 20, 20};
    std::uint8_t rows[16] = {3, 2, 3};
};

class Processor {
public:
    bool runs(const Code& code, const void* at = nullptr, std::size_t stride = 0) {
        m_registers[REG_RAX] = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(at));
        m_registers[REG_RCX] = static_cast<greg_t>(stride);
        return m_unit.execute(code.data(), m_registers) > 0;
    }

private:
    TileUnit m_unit{};
    gregset_t m_registers{};
};

std::uint16_t bf16(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return static_cast<std::uint16_t>(bits >> 16);
}

}  // namespace

// What stands in for a processor with tiles refuses what such a one refuses.
class TestTileUnit : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl"))
            QSKIP("it is built for AVX-512, which this processor has not");
    }

    void pairsAreMultiplied() {
        std::vector<std::uint16_t> a, b;
        for (int i = 0; i < 3 * 4; ++i) a.push_back(bf16(static_cast<float>(i - 5)));
        for (int i = 0; i < 2 * 10; ++i) b.push_back(bf16(static_cast<float>(7 - i)));
        std::vector<float> c(3 * 5, 100), expected;
        for (int row = 0; row < 3; ++row) {
            for (int column = 0; column < 5; ++column) {
                int sum = 0;
                for (int depth = 0; depth < 4; ++depth)
                    sum += (row * 4 + depth - 5) * (7 - (depth / 2 * 10 + column * 2 + depth % 2));
                expected.push_back(static_cast<float>(sum));
            }
        }
        Processor processor;
        const Config config;
        QVERIFY(processor.runs(kConfigure, &config));
        QVERIFY(processor.runs(kLoad0, a.data(), 8) && processor.runs(kLoad1, b.data(), 20));
        QVERIFY(processor.runs(kClear2) && processor.runs(kMultiply201) && processor.runs(kStore2, c.data(), 20));
        QCOMPARE(c, expected);
    }

    void invalidConfigurationsAreRefused() {
        Processor processor;
        const auto isTaken = [&](auto&& change) {
            Config config;
            change(config);
            return processor.runs(kConfigure, &config);
        };
        QVERIFY(isTaken([](Config&) {}));
        QVERIFY(!isTaken([](Config& c) { c.palette = 2; }));
        QVERIFY(!isTaken([](Config& c) { c.reserved[13] = 1; }));
        QVERIFY(!isTaken([](Config& c) { c.rows[0] = 17; }));
        QVERIFY(!isTaken([](Config& c) { c.rowBytes[0] = 68; }));
        QVERIFY(!isTaken([](Config& c) { c.rows[3] = 4; }));
        QVERIFY(!isTaken([](Config& c) { c.rows[2] = 0; }));
        QVERIFY(!isTaken([](Config& c) { c.rows[8] = 1, c.rowBytes[8] = 4; }));
    }

    void tilesThatDoNotFitAreRefused() {
        Processor processor;
        std::array<std::uint8_t, 1024> bytes{};
        QVERIFY(!processor.runs(kLoad0, bytes.data(), 64) && !processor.runs(kClear2));  // before a configuration
        Config config;
        QVERIFY(processor.runs(kConfigure, &config));
        QVERIFY(!processor.runs(kLoadWithoutIndex, bytes.data()));
        QVERIFY(processor.runs(kMultiply201));
        QVERIFY(!processor.runs(kMultiply001));  // sums that are an operand
        QVERIFY(!processor.runs(kMultiply203));  // a tile that is not configured
        for (const int tile : {0, 1, 2}) {
            config = {};
            config.rows[tile] += 1;
            QVERIFY(processor.runs(kConfigure, &config) && !processor.runs(kMultiply201));
            config = {};
            config.rowBytes[tile] = static_cast<std::uint16_t>(config.rowBytes[tile] + 4);
            QVERIFY(processor.runs(kConfigure, &config) && !processor.runs(kMultiply201));
        }
        QVERIFY(processor.runs(kRelease) && !processor.runs(kClear2));
    }
};

QTEST_APPLESS_MAIN(TestTileUnit)
#include "tst_tile_unit.moc"
