#include <dlfcn.h>

#include <QtTest>

#include "engine/backend/module.h"
#include "engine/ops/all_ops.h"

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

    // Ops are known by their address. Where program and module both export one, the loader takes the program's for
    // both.
    void opsAreThoseOfTheProgram() {
        void* const module = dlopen(LOCKSTEP_CUDA_MODULE, RTLD_NOW | RTLD_LOCAL);
        QVERIFY2(module, dlerror());
        for (const OpDef* op : kAllOps) {
            const std::string name(op->name);
            Dl_info found{};
            QVERIFY2(dladdr(op, &found) != 0 && found.dli_saddr == op,
                     qPrintable("not exported here: " + QString::fromStdString(name)));
            QVERIFY2(dlsym(module, found.dli_sname), qPrintable("not exported there: " + QString::fromStdString(name)));
        }
    }
};

QTEST_APPLESS_MAIN(TestCudaModule)
#include "tst_cuda_module.moc"
