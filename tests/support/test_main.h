#pragma once
#include <QtTest>

// Included before each test (tests/CMakeLists.txt): what QTEST_…MAIN makes is called LOCKSTEP_TEST, the test's name and
// _main, so that one program holds all tests of a folder.
#undef QTEST_MAIN_WRAPPER
#define QTEST_MAIN_WRAPPER(TestObject, ...)          \
    int LOCKSTEP_TEST(int argc, char** argv);        \
    int LOCKSTEP_TEST(int argc, char** argv) {       \
        QTest::Internal::callInitMain<TestObject>(); \
        __VA_ARGS__                                  \
        TestObject test;                             \
        QTEST_SET_MAIN_SOURCE_PATH                   \
        return QTest::qExec(&test, argc, argv);      \
    }
