#pragma once
#include <QtTest>

namespace lockstep {

/// Makes a test known to its program, which holds all tests of a folder: `file` is its source, whose name is its own.
/// While static objects are made. Returns true.
bool registerTest(const char* file, int (*run)(int count, char** words));

}  // namespace lockstep

// What QTEST_…MAIN makes of a test: no main(), of which a program has one alone.
#undef QTEST_MAIN_WRAPPER
#define QTEST_MAIN_WRAPPER(TestObject, ...)          \
    static int runTest(int argc, char** argv) {      \
        QTest::Internal::callInitMain<TestObject>(); \
        __VA_ARGS__                                  \
        TestObject test;                             \
        QTEST_SET_MAIN_SOURCE_PATH                   \
        return QTest::qExec(&test, argc, argv);      \
    }                                                \
    [[maybe_unused]] static const bool registered = lockstep::registerTest(__FILE__, runTest);
