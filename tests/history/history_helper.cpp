// A process for the tests to kill, to starve of disk space, and to run beside others.
//   history_helper write FILE TRIALS STEPS    writes trials, with checkpoints; says "trial ID", "event ID NUMBER" and
//                                             "checkpoint ID STEP" once each is committed, "trouble …" when it is not
//   history_helper full FOLDER                fills the file system, posts, frees it, compares
//   history_helper locked-out FILE USER       reads and tries to write as another user
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>

#include "engine/core/error.h"
#include "tests/history/history_support.h"
#include "tests/history/writing.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

// One call per line: what the parent reads is whole, and said only after the commit. Not write(): it may fail in tests.
void say(const std::string& line) {
    std::string text = line + "\n";
    const iovec piece{text.data(), text.size()};
    if (writev(STDOUT_FILENO, &piece, 1) < 0) std::exit(3);
}

void sayTrouble(const Problem& problem) {
    std::string line = "trouble " + problem.code + " " + problem.field;
    for (const std::string& each : problem.args) line += " " + each;
    say(line);
}

int fail(const std::string& why) {
    say(why);
    return 1;
}

// LOCKSTEP_TEST_WAIT names a thread: before that writes anything, says "waiting TID" and goes on after a line of input.
void awaitTracer(const std::string& thread) {
    const char* const wanted = std::getenv("LOCKSTEP_TEST_WAIT");
    if (!wanted || thread != wanted) return;
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    std::string id = std::to_string(getpid());
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        if (thread == "store" && task.path().filename() != id) id = task.path().filename();
    }
    say("waiting " + id);
    char answer = 0;
    if (read(STDIN_FILENO, &answer, 1) < 0) std::exit(3);
}

// One trial, as a run writes it.
class TrialWriter {
public:
    TrialWriter(TrialStore& store, const std::filesystem::path& history)
        : m_store(store),
          m_trial(store.createTrial({}, history.parent_path() / "runs")),
          m_checkpoint(checkpointFile(history, m_trial)) {
        say("trial " + std::to_string(m_trial));
        m_sink = store.sinkFor(m_trial, store.beginAttempt(m_trial, 0));
        store.setState(m_trial, RunState::Running);
    }

    void write(int steps) {
        for (int step = 1; step <= steps; ++step) {
            m_sink->post(++m_number, stepOf(step));
            if (step % 10 != 0) continue;
            post("event", evalOf(step, 0.5), m_number + 1);
            std::filesystem::create_directories(m_checkpoint.parent_path());
            writeCheckpoint(m_checkpoint, checkpointOf(m_trial, step));
            post("checkpoint", CheckpointWritten{step, 1, m_checkpoint.string(), "last"}, step);
        }
        post("event", RunFinished{"finished", m_trial, steps, 1, 0.5, 1, 0.5, 1, 1}, m_number + 1);
    }

    bool committed() const { return m_store.committedEvent(m_trial) == m_number; }

private:
    void post(const std::string& what, const TrainEvent& event, std::int64_t said) {
        m_sink->post(++m_number, event);
        if (committed()) say(what + " " + std::to_string(m_trial) + " " + std::to_string(said));
    }

    TrialStore& m_store;
    std::int64_t m_trial, m_number = 0;
    std::filesystem::path m_checkpoint;
    std::shared_ptr<EventSink> m_sink;
};

int write(const std::string& file, int trials, int steps) {
    awaitTracer("main");
    const auto opened = TrialStore::open(file);
    if (!opened.ok()) throw ProblemError(opened.problems().front());
    TrialStore& store = *opened.value();
    awaitTracer("store");
    store.onTrouble(sayTrouble);
    bool committed = true;
    for (int i = 0; i < trials; ++i) {
        TrialWriter writer(store, file);
        writer.write(steps);
        if (!writer.committed()) store.flush();
        committed = committed && writer.committed();
    }
    return committed ? 0 : 1;
}

// Takes every byte that is left.
void fill(const std::string& file) {
    const int fd = open(file.c_str(), O_WRONLY | O_CREAT, 0600);
    const std::string block(4096, 'x');
    while (::write(fd, block.data(), block.size()) > 0) {
    }
    close(fd);
}

std::string codeOfOpening(const std::string& file) {
    const auto store = TrialStore::open(file);
    return store.ok() ? "" : store.problems().front().code;
}

int full(const std::string& folder) {
    const std::string file = folder + "/history.sqlite";
    const auto store = openStore(file);
    if (!store) return fail("not opened");
    std::vector<std::string> troubles;
    store->onTrouble([&](const Problem& problem) { troubles.push_back(problem.code); });
    const auto trial = store->createTrial({}, folder + "/runs");
    const auto sink = store->sinkFor(trial, store->beginAttempt(trial, 0));
    const std::string another = folder + "/other.sqlite";
    openStore(another);
    fill(folder + "/filler");
    if (codeOfOpening(another) != "history.full") return fail("opened then: " + codeOfOpening(another));
    constexpr std::int64_t kEvents = 4000;
    for (std::int64_t number = 1; number < kEvents; ++number) sink->post(number, stepOf(number));
    sink->post(kEvents, evalOf(kEvents, 0.5));
    store->flush();
    if (store->committedEvent(trial) >= kEvents) return fail("the disk was never full");
    try {
        store->createTrial({}, folder + "/runs");
        return fail("a trial was made on a full disk");
    } catch (const ProblemError& error) {
        if (error.problem().code != "history.full") return fail("code " + error.problem().code);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));  // a retry or two in vain
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
    } catch (const ProblemError& error) {
        sayTrouble(error.problem());
        return 1;
    } catch (const std::exception& error) {
        return fail(std::string("trouble ") + error.what());
    }
    return fail("usage");
}
