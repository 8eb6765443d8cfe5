#include <QtTest>

#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <set>
#include <thread>

#include "engine/core/error.h"
#include "tests/train/faulty_backend.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRanks = 3;
constexpr const char* kModel = "lenet5";
constexpr double kTimeout = 0.15;

// Holds whoever hangs until the run has noticed.
class Trap {
public:
    void hang() {
        std::unique_lock lock(m_mutex);
        m_sprung.wait(lock, [&] { return m_open; });
    }
    void open() {
        const std::lock_guard lock(m_mutex);
        m_open = true;
        m_sprung.notify_all();
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_sprung;
    bool m_open = false;
};

enum class Fault { Throw, Hang, OutOfMemory };

struct Outcome {
    Run run;
    double seconds = 0;                            // from the fault to the end
    bool happened = false;
    std::vector<int> stuck;
};

// One fault, on one rank, wherever `isHere` says first; both kinds of hooks lead here.
class FaultRun {
public:
    FaultRun(Fault fault, int culprit) : m_fault(fault), m_culprit(culprit) {}

    Outcome atDeviceCall(int number) {
        return run([this, number](int rank, int call, const std::string&) {
            if (rank == m_culprit && call == number) strike();
        }, {});
    }
    Outcome atProgramStep(std::int64_t step, std::size_t programStep) {
        return run([](int, int, const std::string&) {}, [=, this](int rank, std::int64_t s, std::size_t p) {
            if (rank == m_culprit && s == step && p == programStep) strike();
        });
    }

private:
    Outcome run(const BeforeDeviceCall& before, const std::function<void(int, std::int64_t, std::size_t)>& beforeStep) {
        TrialSpec spec = smallSpec(kModel, "null:" + std::to_string(kRanks));
        spec.timeout = kTimeout;
        spec.onLostDevice = "stop";
        ResolvedSpec faulty = resolved(spec);
        const auto backend = makeFaultyBackend(*faulty.backend, before);
        faulty.backend = backend.get();
        RunOptions options;
        options.beforeStep = beforeStep;
        options.onStuck = [&](const RunFailed&) { m_trap.open(); };
        RunControl control;
        Outcome out;
        out.run.result = runTrial(faulty, patterns(34, 9), options, control, {&out.run.recorder});
        out.happened = m_struck.load() != 0;
        out.seconds = std::chrono::duration<double>(Clock::now().time_since_epoch() - Clock::duration(m_struck.load())).count();
        return out;
    }

    void strike() {
        if (m_struck.exchange(Clock::now().time_since_epoch().count()) != 0) return;
        if (m_fault == Fault::Hang) return m_trap.hang();
        if (m_fault == Fault::OutOfMemory) throw std::bad_alloc();
        throw EngineError(EngineError::Kind::Device, "here", "the card fell off the bus");
    }

    Fault m_fault;
    int m_culprit;
    Trap m_trap;
    std::atomic<Clock::rep> m_struck{0};
};

std::array<int, kRanks> deviceCalls() {
    std::array<int, kRanks> calls{};
    TrialSpec spec = smallSpec(kModel, "null:" + std::to_string(kRanks));
    spec.epochs = 1;
    ResolvedSpec counted = resolved(spec);
    const auto backend = makeFaultyBackend(*counted.backend, [&](int rank, int number, const std::string&) {
        calls[static_cast<std::size_t>(rank)] = number + 1;
    });
    counted.backend = backend.get();
    RunControl control;
    Recorder recorder;
    runTrial(counted, patterns(34, 9), {}, control, {&recorder});
    return calls;
}

std::size_t programSteps() {
    const auto data = patterns(34, 9);
    const RunPlan plan = planRun(resolved(smallSpec(kModel, "null:" + std::to_string(kRanks))), data.train->info(),
                                 data.test->info());
    return plan.ranks.front().training->steps.size();
}

// Of this process.
qsizetype threads() { return QDir("/proc/self/task").entryList(QDir::Dirs | QDir::NoDotAndDotDot).size(); }

void expectNamed(const Outcome& out, Fault fault, int culprit, const QString& where) {
    QVERIFY2(out.happened, qPrintable(where));
    QCOMPARE(out.run.result.outcome, RunResult::Outcome::Failed);
    const RunFailed& failed = out.run.result.failed;
    QVERIFY2(failed.rank == culprit, qPrintable(where + ", said to be rank " + QString::number(failed.rank)));
    QVERIFY2(out.seconds < kTimeout + 1, qPrintable(where + ", after " + QString::number(out.seconds) + " s"));
    const auto posted = out.run.recorder.all<RunFailed>();
    QCOMPARE(posted.size(), std::size_t{1});
    QVERIFY(std::holds_alternative<RunFailed>(out.run.recorder.events.back()));
    QVERIFY2(failed.sequence >= 0, qPrintable(where));
    QVERIFY2(failed.collective.empty() == failed.waiting.empty(), qPrintable(where));
    if (fault != Fault::Hang) return;
    QCOMPARE(failed.kind, std::string("collective"));
    QVERIFY2(!failed.collective.empty(), qPrintable(where));
    QVERIFY2(failed.waiting.size() == kRanks - 1, qPrintable(where));
    for (const int rank : failed.waiting) QVERIFY(rank != culprit);
}

}  // namespace

// A fault on one rank, wherever it strikes, ends all ranks in time and is named.
class TstHang : public QObject {
    Q_OBJECT

private slots:
    void wherever_data() {
        QTest::addColumn<int>("fault");
        QTest::newRow("throws") << static_cast<int>(Fault::Throw);
        QTest::newRow("hangs") << static_cast<int>(Fault::Hang);
        QTest::newRow("out of memory") << static_cast<int>(Fault::OutOfMemory);
    }

    void wherever() {
        QFETCH(int, fault);
        const auto kind = static_cast<Fault>(fault);
        const int stride = kind == Fault::Hang ? 17 : 1;
        const auto calls = deviceCalls();
        const auto before = threads();
        int points = 0;
        for (int culprit = 0; culprit < kRanks; ++culprit) {
            for (int call = 0; call < calls[static_cast<std::size_t>(culprit)]; call += stride, ++points)
                expectNamed(FaultRun(kind, culprit).atDeviceCall(call), kind, culprit,
                            QString("device call %1 of rank %2").arg(call).arg(culprit));
            for (std::size_t at = 0; at < programSteps(); at += static_cast<std::size_t>(stride), ++points)
                expectNamed(FaultRun(kind, culprit).atProgramStep(3, at), kind, culprit,
                            QString("program step %1 of rank %2").arg(at).arg(culprit));
        }
        qInfo("%d points", points);
        QTRY_COMPARE(threads(), before);
        QVERIFY(kind == Fault::Hang ? points >= 24 : points >= 200);
    }

    void aPausedRunDoesNotHang() {
        TrialSpec spec = smallSpec("mlp", "null:3");
        spec.timeout = kTimeout;
        RunRequest request{.spec = spec, .data = patterns(34, 9), .options = {}, .onEvent = {}};
        std::jthread person;
        request.onEvent = [&](const TrainEvent& event, RunControl& control) {
            if (const auto* done = std::get_if<StepDone>(&event); done && done->step == 2) control.pause();
            const auto* state = std::get_if<StateChanged>(&event);
            if (!state || state->state != "paused") return;
            person = std::jthread([&control] {
                std::this_thread::sleep_for(std::chrono::duration<double>(4 * kTimeout));
                control.resume();
            });
        };
        QCOMPARE(run(std::move(request)).result.outcome, RunResult::Outcome::Finished);
    }
};

QTEST_GUILESS_MAIN(TstHang)
#include "tst_hang.moc"
