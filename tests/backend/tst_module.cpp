#include <QtTest>

#include <fstream>

#include "engine/backend/module.h"

using namespace lockstep;
namespace fs = std::filesystem;

namespace {

fs::path module(const std::string& name) { return fs::path(LOCKSTEP_TEST_MODULES) / (name + ".so"); }

Problem problemOf(const fs::path& file) {
    const auto result = openBackendModule(file);
    return result.ok() ? Problem{} : result.problems().front();
}

}  // namespace

class TestModule : public QObject {
    Q_OBJECT
private slots:
    void aMissingFileIsNamed() {
        const Problem problem = problemOf("/nowhere/lockstep_cuda.so");
        QCOMPARE(problem.code, std::string("backend.module-missing"));
        QCOMPARE(problem.field, std::string("/nowhere/lockstep_cuda.so"));
        QCOMPARE(problem.args.at(0), problem.field);
    }

    void aFileThatIsNoLibraryIsBroken() {
        const QTemporaryDir folder;
        const fs::path file = fs::path(folder.path().toStdString()) / "lockstep_cuda.so";
        std::ofstream(file) << "not a library";
        const Problem problem = problemOf(file);
        QCOMPARE(problem.code, std::string("backend.module-broken"));
        QVERIFY(problem.args.at(1).find("lockstep_cuda.so") != std::string::npos);
    }

    void aFolderIsBroken() { QCOMPARE(problemOf("/tmp").code, std::string("backend.module-broken")); }

    void aLibraryWithoutTheEntryIsBroken() {
        const Problem problem = problemOf(module("module_without_entry"));
        QCOMPARE(problem.code, std::string("backend.module-broken"));
        QVERIFY(problem.args.at(1).find("lockstep_backend_open") != std::string::npos);
    }

    void reasonsArriveWithTheirKind_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("code");
        QTest::addColumn<QString>("reason");
        QTest::newRow("no driver") << "module_no_driver"
                                   << "backend.no-driver"
                                   << "the driver is asleep";
        QTest::newRow("no device") << "module_no_device"
                                   << "backend.no-device"
                                   << "the driver reports no card";
        QTest::newRow("other") << "module_other_reason"
                               << "backend.module-broken"
                               << "it is Sunday";
        QTest::newRow("abi") << "module_other_abi"
                             << "backend.module-broken"
                             << "it was built for another version of this program";
    }
    void reasonsArriveWithTheirKind() {
        QFETCH(QString, name);
        QFETCH(QString, code);
        QFETCH(QString, reason);
        const Problem problem = problemOf(module(name.toStdString()));
        QCOMPARE(problem.code, code.toStdString());
        QCOMPARE(problem.args.at(1), reason.toStdString());
    }

    void aWorkingModuleGivesItsBackend() {
        const auto result = openBackendModule(module("module_working"));
        QVERIFY(result.ok());
        QCOMPARE(result.value()->name(), std::string_view("null"));
        QCOMPARE(result.value()->devices().size(), std::size_t{1});
    }

    void aRelativePathIsTakenFromHere() {
        const fs::path before = fs::current_path();
        fs::current_path(LOCKSTEP_TEST_MODULES);
        QVERIFY(openBackendModule("module_working.so").ok());
        fs::current_path(before);
    }
};

QTEST_APPLESS_MAIN(TestModule)
#include "tst_module.moc"
