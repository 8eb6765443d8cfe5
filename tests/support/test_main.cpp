#include "tests/support/test_main.h"

#include <cstdio>
#include <filesystem>
#include <map>
#include <string>

namespace lockstep {
namespace {

using Run = int (*)(int count, char** words);

std::map<std::string, Run>& tests() {
    static std::map<std::string, Run> all;
    return all;
}

}  // namespace

bool registerTest(const char* file, Run run) {
    return tests().emplace(std::filesystem::path(file).stem().string(), run).second;
}

}  // namespace lockstep

// tests_<folder> TEST [arguments of Qt Test…]
int main(int count, char** words) {
    const auto& tests = lockstep::tests();
    if (const auto test = count < 2 ? tests.end() : tests.find(words[1]); test != tests.end()) {
        words[1] = words[0];
        return test->second(count - 1, words + 1);
    }
    std::fprintf(stderr, "Which test? The first argument names it:\n");
    for (const auto& [name, run] : tests) std::fprintf(stderr, "  %s\n", name.c_str());
    return 2;
}
