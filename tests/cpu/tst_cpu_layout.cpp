#include <QtTest>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "engine/backend/cpu/cpu_backend.h"
#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/layout.h"
#include "engine/core/error.h"
#include "tests/support/op_cases.h"

using namespace lockstep;
using lockstep::onednn::Desc;

// The layout map: what is written row-major into any layout comes back the same, and the padding is zero.
class tst_cpu_layout : public QObject {
    Q_OBJECT
private slots:
    void roundTrip_data();
    void roundTrip();
    void runsCoverEveryElementOnce_data();
    void runsCoverEveryElementOnce();
    void filtersBecomePanels_data();
    void filtersBecomePanels();
    void aTensorOfAnotherTypeIsRefused();
    void textsNameTheBlocks();
};

namespace {

constexpr int kLanes = 0;

// In blocks of channels, or with sixteen samples side by side.
Value blockedValue(const Shape& shape, int block, DType dtype = DType::F32) {
    const Desc desc =
        block == kLanes ? Desc::sampleLanes(shape.dims(), dtype) : Desc::blockedChannels(shape.dims(), block, dtype);
    return {.name = "x", .type = {shape, dtype}, .layout = cpu::layoutOf(desc, "nchw")};
}

}  // namespace

void tst_cpu_layout::roundTrip_data() {
    QTest::addColumn<int>("channels");
    QTest::addColumn<int>("block");
    QTest::addColumn<bool>("integers");
    for (const int channels : {1, 6, 8, 10, 16, 20, 48}) {
        for (const int block : {kLanes, 8, 16}) {
            for (const bool integers : {false, true})
                QTest::addRow("%d channels by %d%s", channels, block, integers ? ", integers" : "")
                    << channels << block << integers;
        }
    }
}

void tst_cpu_layout::roundTrip() {
    QFETCH(int, channels);
    QFETCH(int, block);
    QFETCH(bool, integers);
    const auto device = makeCpuBackend()->open({"cpu", 0, 1, false, "cpu:0"});
    const Value value = blockedValue({3, channels, 5, 7}, block, integers ? DType::I32 : DType::F32);
    HostTensor tensor(value.type);
    auto bits = std::span(reinterpret_cast<std::int32_t*>(tensor.data()), tensor.bytes() / 4);
    for (std::size_t i = 0; i < bits.size(); ++i) {
        if (integers) bits[i] = static_cast<std::int32_t>(i + 1);
        else tensor.as<float>()[i] = static_cast<float>(i + 1);
    }
    const Buffer buffer = device->allocate(value.bytes());
    std::fill_n(buffer.data(), value.bytes(), std::byte{0x7f});
    device->writeLogical(value, tensor, buffer.data());

    const HostTensor back = device->readLogical(value, buffer.data());
    QVERIFY(std::equal(back.data(), back.data() + back.bytes(), tensor.data()));
    const auto* stored = reinterpret_cast<const std::int32_t*>(buffer.data());
    const auto zeros = std::count(stored, stored + value.bytes() / 4, 0);
    QCOMPARE(static_cast<std::size_t>(zeros), value.bytes() / 4 - bits.size());
}

void tst_cpu_layout::runsCoverEveryElementOnce_data() {
    QTest::addColumn<int>("channels");
    QTest::addColumn<int>("block");
    for (const int channels : {1, 5, 16, 17, 33}) {
        for (const int block : {0, 1, 8, 16}) QTest::addRow("%d channels by %d", channels, block) << channels << block;
    }
}

// Block 0: rows of features. The channel that a run gives an element is the one that the layout map gives it.
void tst_cpu_layout::runsCoverEveryElementOnce() {
    QFETCH(int, channels);
    QFETCH(int, block);
    const Shape shape = block == 0 ? Shape{3, channels} : Shape{3, channels, 5, 3};
    const Value value = block > 1 ? blockedValue(shape, block) : Value{.name = "x", .type = {shape, DType::F32}};
    HostTensor tensor(value.type);
    const auto perChannel = static_cast<std::size_t>(shape.count() / shape[0] / channels);
    for (std::size_t i = 0; i < tensor.as<float>().size(); ++i)
        tensor.as<float>()[i] = static_cast<float>(i / perChannel % static_cast<std::size_t>(channels) + 1);
    const auto device = makeCpuBackend()->open({"cpu", 0, 1, false, "cpu:0"});
    const Buffer buffer = device->allocate(value.bytes());
    device->writeLogical(value, tensor, buffer.data());

    const cpu::ChannelRuns runs = cpu::channelRuns(value);
    std::vector<int> seen(value.bytes() / 4);
    for (std::int64_t n = 0; n < runs.samples; ++n) {
        for (std::int64_t b = 0; b < runs.blocks; ++b) {
            for (std::size_t i = 0; i < runs.length(b); ++i) {
                const std::size_t at = runs.at(n, b) + i;
                ++seen[at];
                const std::int64_t channel = runs.channel(b, static_cast<int>(i % 16));
                const float expected = channel < channels ? static_cast<float>(channel + 1) : 0;
                QCOMPARE(reinterpret_cast<const float*>(buffer.data())[at], expected);
            }
        }
    }
    QVERIFY(std::ranges::all_of(seen, [](int times) { return times == 1; }));
}

void tst_cpu_layout::filtersBecomePanels_data() {
    QTest::addColumn<int>("outputs");
    QTest::addColumn<int>("channels");
    QTest::addColumn<int>("window");
    QTest::addColumn<int>("columnAxis");
    QTest::addColumn<int>("threads");
    for (const int columnAxis : {0, 1}) {
        for (const int threads : {1, 2}) {
            const auto row = [&](int outputs, int channels, int window) {
                QTest::addRow("%d outputs of %d channels, %dx%d, columns %d, %d threads", outputs, channels, window,
                              window, columnAxis, threads)
                    << outputs << channels << window << columnAxis << threads;
            };
            row(32, 64, 1);
            row(96, 32, 3);
            row(128, 160, 3);
        }
    }
}

// By our own kernel; where each element is, and its rounding, the library says.
void tst_cpu_layout::filtersBecomePanels() {
    if (!cpu::bestBf16()) QSKIP("this processor has no instructions for pairs of bf16");
    QFETCH(int, outputs);
    QFETCH(int, channels);
    QFETCH(int, window);
    QFETCH(int, columnAxis);
    QFETCH(int, threads);
    const auto device = makeCpuBackend()->open({"cpu", 0, threads, false, "cpu:0"});
    const Shape shape{outputs, channels, window, window};
    Graph graph;
    const ValueId w = graph.addParameter("w", {shape, DType::F32}, {}, true);
    graph.setLayout(w, cpu::layoutOf(Desc::blockedFilters(shape.dims(), 16, DType::F32), "oihw"));
    Value made{.name = "panels", .type = {shape, DType::BF16}};
    made.layout = cpu::layoutOf(Desc::productPanels(shape.dims(), columnAxis), "oihw");
    const ValueId panels = graph.appendLowered({&cpu::kReorder, {w}, {}, {}, "reorder", "jit"}, {made}).front();
    cpu::Machine machine;
    machine.bf16 = cpu::bestBf16();
    QVERIFY(cpu::makeFilterPanels({machine, graph, graph.nodes().front()}));
    HostTensor tensor({shape, DType::F32});
    const auto values = tensor.as<float>();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i)) * 100;
    std::vector<std::byte> from(graph.value(w).bytes() + 64), to(graph.value(panels).bytes() + 64);
    const auto aligned = [](std::vector<std::byte>& room) {
        return room.data() + (64 - reinterpret_cast<std::uintptr_t>(room.data()) % 64) % 64;
    };
    device->writeLogical(graph.value(w), tensor, aligned(from));
    const std::array<std::byte*, 1> inputs{aligned(from)}, written{aligned(to)};
    device->prepare(graph, graph.nodes().front())->run({.inputs = inputs, .outputs = written});
    const HostTensor read = device->readLogical(graph.value(panels), aligned(to));
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto bits = std::bit_cast<std::uint32_t>(values[i]);
        const std::uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;  // to nearest, ties to even
        std::uint16_t found = 0;
        std::memcpy(&found, read.data() + 2 * i, sizeof found);
        QCOMPARE(std::uint32_t{found}, rounded);
    }
}

void tst_cpu_layout::aTensorOfAnotherTypeIsRefused() {
    const auto device = makeCpuBackend()->open({"cpu", 0, 1, false, "cpu:0"});
    const Value value = blockedValue({2, 3, 4, 4}, 16);
    const Buffer buffer = device->allocate(value.bytes());
    QVERIFY_EXCEPTION_THROWN(device->writeLogical(value, HostTensor({{2, 3, 4, 5}, DType::F32}), buffer.data()),
                             EngineError);
}

void tst_cpu_layout::textsNameTheBlocks() {
    const Shape shape{2, 20, 4, 4};
    QCOMPARE(Desc::blockedChannels(shape.dims(), 16, DType::F32).text("nchw"), std::string("nChw16c"));
    QCOMPARE(Desc::blockedChannels(shape.dims(), 8, DType::F32).text("nchw"), std::string("nChw8c"));
    QCOMPARE(Desc::sampleLanes(shape.dims(), DType::F32).text("nchw"), std::string("Nchw16n"));
    QCOMPARE(Desc::rowMajor(shape.dims(), DType::F32).text("oihw"), std::string("oihw"));
}

QTEST_APPLESS_MAIN(tst_cpu_layout)
#include "tst_cpu_layout.moc"
