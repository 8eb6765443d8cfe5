#include <QtTest>

#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <set>
#include <thread>

#include "engine/core/error.h"
#include "tests/support/long_tests.h"
#include "tests/train/faulty_backend.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRanks = 3;
constexpr const char* kModel = "lenet5";
// Long enough for ranks that are merely slow: many runs share the machine.
#ifdef __SANITIZE_THREAD__
constexpr double kTimeout = 2;
#else
constexpr double kTimeout = 0.5;
#endif

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
    double seconds = 0;  // from the fault to the end
    bool happened = false;
    std::vector<int> stuck;
};

// One fault, on one rank, wherever `isHere` says first; both kinds of hooks lead here.
class FaultRun {
public:
    FaultRun(Fault fault, int culprit) : m_fault(fault), m_culprit(culprit) {}

    Outcome atDeviceCall(int number) {
        return run(
            [this, number](int rank, int call, const std::string&) {
                if (rank == m_culprit && call == number) strike();
            },
            {});
    }
    Outcome atProgramStep(std::int64_t step, std::size_t programStep) {
        return run([](int, int, const std::string&) {},
                   [=, this](int rank, std::int64_t s, std::size_t p) {
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
        out.seconds =
            std::chrono::duration<double>(Clock::now().time_since_epoch() - Clock::duration(m_struck.load())).count();
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
    const RunPlan plan =
        planRun(resolved(smallSpec(kModel, "null:" + std::to_string(kRanks))), data.train->info(), data.test->info());
    return plan.ranks.front().training->steps.size();
}

// Where a fault may strike: before a call of the device, or before a step of the program in the third update.
struct Point {
    int culprit = 0;
    bool inProgram = false;
    int number = 0;

    Outcome runOf(FaultRun fault) const {
        return inProgram ? fault.atProgramStep(3, static_cast<std::size_t>(number)) : fault.atDeviceCall(number);
    }
    QString name() const {
        return QString("%1 %2 of rank %3").arg(inProgram ? "program step" : "device call").arg(number).arg(culprit);
    }
};

std::vector<Point> allPoints() {
    std::vector<Point> points;
    const auto calls = deviceCalls();
    const int steps = static_cast<int>(programSteps());
    for (int culprit = 0; culprit < kRanks; ++culprit) {
        for (int call = 0; call < calls[static_cast<std::size_t>(culprit)]; ++call)
            points.push_back({culprit, false, call});
        for (int step = 0; step < steps; ++step) points.push_back({culprit, true, step});
    }
    return points;
}

// Leaves every n-th; which those are of a rank's differs from rank to rank.
void thinOut(std::vector<Point>& points, int n) {
    std::vector<Point> left;
    for (std::size_t i = 0; i < points.size(); i += static_cast<std::size_t>(n)) left.push_back(points[i]);
    points = std::move(left);
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
        std::vector<Point> points = allPoints();
        QVERIFY(points.size() >= 200);
        if (kind == Fault::Hang) thinOut(points, test::rounds(3, 1));
        const auto before = threads();
        std::vector<Outcome> outcomes(points.size());
        {
            // Who hangs is waited for: many at a time.
            std::atomic<std::size_t> next{0};
            std::vector<std::jthread> runners;
            for (int i = 0; i < (kind == Fault::Hang ? 20 : 1); ++i) {
                runners.emplace_back([&] {
                    for (std::size_t at; (at = next++) < points.size();)
                        outcomes[at] = points[at].runOf(FaultRun(kind, points[at].culprit));
                });
            }
        }
        for (std::size_t i = 0; i < points.size(); ++i)
            expectNamed(outcomes[i], kind, points[i].culprit, points[i].name());
        qInfo("%zu points", points.size());
        QTRY_COMPARE(threads(), before);
    }

    // Nobody waits in a collective then.
    void dataThatNeverComes_data() {
        QTest::addColumn<int>("ranks");
        for (const int ranks : {1, 2}) QTest::addRow("%d ranks", ranks) << ranks;
    }

    void dataThatNeverComes() {
        QFETCH(int, ranks);
        TrialSpec spec = smallSpec("mlp", "null:" + std::to_string(ranks));
        spec.timeout = kTimeout;
        Trap trap;
        auto train = std::make_shared<PatternDataset>(34, ImageShape{1, 12, 12}, 4, 1);
        train->beforeRead = [&](std::int64_t index) {
            if (index == 20) trap.hang();
        };
        RunRequest request{.spec = spec, .data = {train, patterns(34, 9).test}, .options = {}, .onEvent = {}};
        request.options.onStuck = [&](const RunFailed&) { trap.open(); };
        const RunFailed failed = run(std::move(request)).result.failed;
        QCOMPARE(failed.kind, std::string("io"));
        QCOMPARE(failed.where, std::string("data"));
        QVERIFY2(failed.what.find("did not come within ") != std::string::npos, failed.what.c_str());
        QVERIFY(failed.rank >= 0 && failed.rank < ranks);
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
