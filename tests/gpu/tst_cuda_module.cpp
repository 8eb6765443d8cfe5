#include <QtTest>

#include "engine/backend/module.h"

using namespace lockstep;

// On a machine with a card the module lists it; on one without it says what is missing. Both are results, neither is
// silent.
class TestCudaModule : public QObject {
    Q_OBJECT
private slots:
    void opensOrSaysWhyNot() {
        const auto backend = openBackendModule(LOCKSTEP_CUDA_MODULE);
        if (!backend.ok()) {
            const Problem& reason = backend.problems().front();
            QVERIFY2(reason.code == "backend.no-driver" || reason.code == "backend.no-device", reason.code.c_str());
            QVERIFY(!reason.args.empty());
            return;
        }
        const auto devices = backend.value()->devices();
        QVERIFY(!devices.empty());
        QCOMPARE(devices.front().id, std::string("cuda:0"));
        QVERIFY(devices.front().memoryBytes > 0);
        QVERIFY(!backend.value()->hostMemory());
    }
};

QTEST_APPLESS_MAIN(TestCudaModule)
#include "tst_cuda_module.moc"
