#include <QtTest>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "engine/backend/host_memory.h"
#include "engine/backend/null/null_backend.h"
#include "engine/collective/collective.h"
#include "engine/core/error.h"

using namespace lockstep;

namespace {

const DeviceChoice kChoice{.backend = "null", .index = 0, .threads = 1, .isVirtual = false, .id = "null:0"};

KernelCall callOn(std::span<std::byte* const> outputs) {
    KernelCall call;
    call.outputs = outputs;
    return call;
}

}  // namespace

class TestNullBackend : public QObject {
    Q_OBJECT
private slots:
    void memoryIsAlignedAndZeroed() {
        const auto device = makeNullBackend()->open(kChoice);
        for (const std::size_t bytes : {0u, 1u, 64u, 100000u}) {
            const Buffer buffer = device->allocate(bytes);
            QCOMPARE(buffer.bytes(), bytes);
            QCOMPARE(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, std::uintptr_t{0});
            QVERIFY(std::all_of(buffer.data(), buffer.data() + bytes, [](std::byte b) { return b == std::byte{0}; }));
        }
    }

    void tooMuchMemoryIsAnError() {
        const auto most = std::numeric_limits<std::size_t>::max();
        QVERIFY_THROWS_EXCEPTION(EngineError, allocateHost(most));
        QVERIFY_THROWS_EXCEPTION(EngineError, allocateHost(most / 2));
    }

    void fillsAreCarriedOut() {
        const auto device = makeNullBackend()->open(kChoice);
        const Buffer buffer = device->allocate(8 * sizeof(double));
        std::byte* const output = buffer.data();
        device->prepareFill(DType::F64, 7, 2.5)->run(callOn({&output, 1}));
        const auto* values = reinterpret_cast<const double*>(output);
        QVERIFY(std::all_of(values, values + 7, [](double value) { return value == 2.5; }));
        QCOMPARE(values[7], 0.0);
        QVERIFY(device->isHostMemory());
    }

    void theGateNeverSkips() {
        const auto device = makeNullBackend()->open(kChoice);
        const Buffer buffer = device->allocate(sizeof(UpdateGate));
        std::byte* const output = buffer.data();
        device->prepareGate({}, 3)->run(callOn({&output, 1}));
        QCOMPARE(reinterpret_cast<const UpdateGate*>(output)->skip, 0.0);
    }

    void kernelsTakeTheirTime() {
        const auto device = makeNullBackend(std::chrono::milliseconds(20))->open(kChoice);
        QElapsedTimer timer;
        timer.start();
        device->prepare(Graph(), Node())->run({});
        QVERIFY(timer.elapsed() >= 19);
    }

    void logicalTensorsComeBackAsWritten() {
        const auto device = makeNullBackend()->open(kChoice);
        Value value;
        value.type = {{2, 3}, DType::F32};
        HostTensor tensor(value.type);
        std::ranges::fill(tensor.as<float>(), 1.5f);
        const Buffer buffer = device->allocate(tensor.bytes());
        device->writeLogical(value, tensor, buffer.data());
        HostTensor back = device->readLogical(value, buffer.data());
        QVERIFY(std::ranges::equal(tensor.as<float>(), back.as<float>()));
        const HostTensor flat({{6}, DType::F32});
        QVERIFY_THROWS_EXCEPTION(EngineError, device->writeLogical(value, flat, buffer.data()));
    }

    void groupsAreLeftToTheHost() { QVERIFY(makeNullBackend()->makeGroup({&kChoice, 1}).empty()); }
};

QTEST_APPLESS_MAIN(TestNullBackend)
#include "tst_null_backend.moc"
