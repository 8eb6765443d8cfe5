// A process for the tests to kill, to starve of disk space, and to run beside others.
//   history_helper write FILE TRIALS STEPS    writes; says "trial ID" and "event ID NUMBER" once each is committed
//   history_helper full FOLDER                fills the file system, posts, frees it, compares
//   history_helper locked-out FILE USER       reads and tries to write as another user
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "tests/history/history_support.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

// One write() per line: what the parent reads is whole, and said only after the commit.
void say(const std::string& line) {
    const std::string text = line + "\n";
    if (write(STDOUT_FILENO, text.data(), text.size()) < 0) std::exit(3);
}

int fail(const std::string& why) {
    say(why);
    return 1;
}

void writeTrial(TrialStore& store, int steps) {
    const auto trial = store.createTrial({}, "/runs");
    say("trial " + std::to_string(trial));
    const auto sink = store.sinkFor(trial, store.beginAttempt(trial, 0));
    std::int64_t number = 0;
    const auto acknowledge = [&] {
        if (store.committedEvent(trial) == number) say("event " + std::to_string(trial) + " " + std::to_string(number));
    };
    for (int step = 1; step <= steps; ++step) {
        sink->post(++number, stepOf(step));
        if (step % 10 != 0) continue;
        sink->post(++number, evalOf(step, 0.5));
        acknowledge();
    }
    sink->post(++number, RunFinished{"finished", trial, steps, 1, 0.5, 1, 0.5, 1, 1});
    acknowledge();
}

int write(const std::string& file, int trials, int steps) {
    const auto store = openStore(file);
    if (!store) return fail("not opened");
    for (int i = 0; i < trials; ++i) writeTrial(*store, steps);
    return 0;
}

// Takes every byte that is left.
void fill(const std::string& file) {
    const int fd = open(file.c_str(), O_WRONLY | O_CREAT, 0600);
    const std::string block(4096, 'x');
    while (::write(fd, block.data(), block.size()) > 0) {}
    close(fd);
}

int full(const std::string& folder) {
    const std::string file = folder + "/history.sqlite";
    const auto store = openStore(file);
    if (!store) return fail("not opened");
    std::vector<std::string> troubles;
    store->onTrouble([&](const Problem& problem) { troubles.push_back(problem.code); });
    const auto trial = store->createTrial({}, "/runs");
    const auto sink = store->sinkFor(trial, store->beginAttempt(trial, 0));
    fill(folder + "/filler");
    constexpr std::int64_t kEvents = 4000;
    for (std::int64_t number = 1; number < kEvents; ++number) sink->post(number, stepOf(number));
    sink->post(kEvents, evalOf(kEvents, 0.5));
    store->flush();
    if (store->committedEvent(trial) >= kEvents) return fail("the disk was never full");
    try {
        store->createTrial({}, "/runs");
        return fail("a trial was made on a full disk");
    } catch (const ProblemError& error) {
        if (error.problem().code != "history.full") return fail("code " + error.problem().code);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));          // a retry or two in vain
    if (troubles != std::vector<std::string>{"history.full"})
        return fail("told " + std::to_string(troubles.size()) + " times");
    const auto before = openQuery(file);
    if (!before || !before->find(trial)) return fail("the history is unreadable while the disk is full");
    unlink((folder + "/filler").c_str());
    store->flush();
    const auto events = openQuery(file)->events(trial, 1);
    if (events.size() != kEvents) return fail("kept " + std::to_string(events.size()));
    return ask(file, "PRAGMA integrity_check") == "ok" ? 0 : fail("integrity");
}

int lockedOut(const std::string& file, unsigned user) {
    if (geteuid() == 0 && setuid(user) != 0) return fail("cannot become another user");
    const auto store = TrialStore::open(file);
    if (store.ok()) return fail("it could be written");
    if (store.problems().front().code != "history.unwritable") return fail("code " + store.problems().front().code);
    const auto query = TrialQuery::open(file);
    if (!query.ok()) return fail("reading: " + query.problems().front().code);
    return query.value()->list({}).size() == 1 ? 0 : fail("rows");
}

}  // namespace

int main(int count, char** words) {
    const std::string mode = count > 2 ? words[1] : "";
    try {
        if (mode == "write" && count == 5) return write(words[2], std::atoi(words[3]), std::atoi(words[4]));
        if (mode == "full") return full(words[2]);
        if (mode == "locked-out" && count == 4) return lockedOut(words[2], static_cast<unsigned>(std::atoi(words[3])));
    } catch (const std::exception& error) {
        return fail(error.what());
    }
    return fail("usage");
}
