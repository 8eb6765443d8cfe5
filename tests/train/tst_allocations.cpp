#include <QtTest>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/train/train_fixture.h"

// Every allocation of this program passes here: operator new counts by thread, malloc counts what is large.

namespace {

thread_local std::int64_t ownAllocations = 0;
thread_local bool watched = false;
thread_local std::size_t largestWatched = 0;
thread_local std::size_t programStep = 0, largestAt = 0;         // where a rank is, and was at its largest allocation

void seen(std::size_t bytes) {
    if (!watched || bytes <= largestWatched) return;
    largestWatched = bytes;
    largestAt = programStep;
}

}  // namespace

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t bytes) {
    seen(bytes);
    return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
    seen(count * bytes);
    return __libc_calloc(count, bytes);
}
void* realloc(void* at, std::size_t bytes) {
    seen(bytes);
    return __libc_realloc(at, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
    seen(bytes);
    return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    seen(bytes);
    return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t bytes) {
    seen(bytes);
    *out = __libc_memalign(alignment, bytes);
    return *out ? 0 : ENOMEM;
}
}

void* operator new(std::size_t bytes) {
    ++ownAllocations;
    if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
    throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    ++ownAllocations;
    if (void* memory = memalign(static_cast<std::size_t>(alignment), bytes ? bytes : 1)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

using namespace lockstep;

namespace {

class Silent final : public EventSink {
public:
    void post(std::int64_t, const TrainEvent&) override {}
};

struct Seen {
    std::atomic<std::int64_t> allocations{0}, steps{0};
    std::atomic<std::size_t> largest{0}, largestAt{0};

    // The program step during which the largest allocation was made, for the message of a failure.
    QString where(const TrialSpec& spec) const {
        const DatasetSplits data = patterns(100, 9);
        const RunPlan plan = planRun(resolved(spec), data.train->info(), data.test->info());
        return QString("%1: %2 bytes around \"%3\"")
            .arg(QString::fromStdString(spec.model.id))
            .arg(largest.load())
            .arg(QString::fromStdString(plan.ranks.front().training->steps[largestAt].name));
    }
};

// Counts on every rank from the end of update 3 to the end of the epoch's last but one: loading, the step, its report.
void watch(const TrialSpec& spec, Seen& total) {
    RunOptions options;
    TraceBoard trace;
    options.trace = &trace;
    options.beforeStep = [](int, std::int64_t, std::size_t index) { programStep = index; };
    options.afterStep = [&](int, std::int64_t step, Replica&) {
        if (watched) {
            total.allocations += ownAllocations;
            ++total.steps;
            if (largestWatched > total.largest) {
                total.largest = largestWatched;
                total.largestAt = largestAt;
            }
        }
        watched = step >= 3 && step < 10;
        ownAllocations = 0;
        largestWatched = 0;
    };
    RunControl control;
    Silent sink;
    const RunResult result = runTrial(resolved(spec), patterns(100, 9), options, control, {&sink});
    QCOMPARE(result.outcome, RunResult::Outcome::Finished);
}

}  // namespace

class TstAllocations : public QObject {
    Q_OBJECT

private slots:
    void aStepAllocatesNothing_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("devices");
        for (const char* model : {"mlp", "lenet5", "fashion-cnn"}) {
            QTest::addRow("%s null", model) << model << "null:3";
            QTest::addRow("%s reference", model) << model << "reference:2";
            QTest::addRow("%s reference alone", model) << model << "reference:1";
        }
    }

    void aStepAllocatesNothing() {
        QFETCH(QString, model);
        QFETCH(QString, devices);
        Seen total;
        TrialSpec spec = smallSpec(model.toStdString(), devices.toStdString());
        spec.epochs = 1;
        watch(spec, total);
        QVERIFY(total.steps >= 7);
        QCOMPARE(total.allocations, 0);
        QVERIFY2(total.largest == 0, qPrintable(total.where(spec)));
    }

    void librariesAllocateNothingLarge_data() {
        QTest::addColumn<QString>("model");
        for (const char* model : {"mlp", "lenet5", "fashion-cnn"}) QTest::newRow(model) << model;
    }

    // oneDNN's execute makes a few small allocations of its own.
    void librariesAllocateNothingLarge() {
        if (!hasCpuBackend()) QSKIP("this build has no CPU backend");
        QFETCH(QString, model);
        Seen total;
        TrialSpec spec = smallSpec(model.toStdString(), "cpu:2x1");
        spec.epochs = 1;
        watch(spec, total);
        QVERIFY(total.steps >= 14);
        QVERIFY2(total.largest < 4096, qPrintable(total.where(spec)));
    }
};

QTEST_APPLESS_MAIN(TstAllocations)
#include "tst_allocations.moc"
