#include <QtTest>

#include "engine/backend/cuda/cuda_backend.h"

using namespace lockstep;

namespace {

std::vector<DeviceFacts> factsOf(int cards, const std::string& library) {
    std::vector<DeviceFacts> facts;
    for (const DeviceInfo& info : cuda::CudaBackend(cards, {.nvml = library}).devices()) facts.push_back(info.facts);
    return facts;
}

using Links = std::vector<std::pair<std::string, std::string>>;

}  // namespace

class TestNvml : public QObject {
    Q_OBJECT

private slots:
    void sensorsAreRead() {
        const auto facts = factsOf(2, LOCKSTEP_FAKE_NVML);
        QCOMPARE(facts.size(), std::size_t{2});
        QCOMPARE(facts[1].freeBytes, std::size_t{11} << 30);
        QCOMPARE(facts[1].driver, std::string("580.65.06"));
        QCOMPARE(facts[1].bus, std::string("0000:01:00.0"));
        QVERIFY(facts[0].celsius == 40 && facts[1].celsius == 41);
        QVERIFY(facts[1].busyPercent == 12 && facts[1].watts == 95 && facts[1].mostWatts == 700);
    }

    void linksAreNamed() {
        const auto facts = factsOf(3, LOCKSTEP_FAKE_NVML);
        QVERIFY(facts[0].links == (Links{{"cuda:1", "NVLink"}, {"cuda:2", "PCIe across sockets"}}));
        QVERIFY(facts[1].links == (Links{{"cuda:0", "NVLink"}, {"cuda:2", "PCIe across sockets"}}));
    }

    void whatACardDoesNotSayStaysUnknown() {
        const auto facts = factsOf(4, LOCKSTEP_FAKE_NVML);
        QVERIFY(!facts[2].watts && !facts[2].mostWatts && facts[2].celsius == 42);
        QVERIFY(!facts[3].celsius && facts[3].freeBytes == 0 && facts[3].links.empty());  // not in the library
        QCOMPARE(facts[3].bus, std::string("0000:03:00.0"));
    }

    void withoutTheLibraryThereAreCardsAllTheSame() {
        const auto infos = cuda::CudaBackend(2, {.nvml = "/nowhere/libnvidia-ml.so.1"}).devices();
        QCOMPARE(infos.size(), std::size_t{2});
        QVERIFY(!infos[0].name.empty() && infos[0].memoryBytes > 0 && !infos[0].facts.celsius);
        QCOMPARE(infos[0].facts.freeBytes, std::size_t{0});
    }
};

QTEST_APPLESS_MAIN(TestNvml)
#include "tst_nvml.moc"
