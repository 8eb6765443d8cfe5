#include <QtTest>

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "tests/support/malloc_hook.h"
#include "tests/train/train_fixture.h"

// Every allocation of this program passes here, whichever thread makes it: operator new counts those that are ours,
// malloc notes the largest.

namespace {

std::atomic<bool> watched = false;
std::atomic<std::int64_t> ownAllocations = 0;
std::atomic<std::size_t> largest = 0, largestAt = 0;  // in bytes, and the program step it was made in
thread_local std::size_t programStep = 0;

// oneDNN's execute makes a few small allocations of its own.
bool isLibrary(void* caller) {
    Dl_info info{};
    return dladdr(caller, &info) != 0 && std::strstr(info.dli_fname, "libdnnl") != nullptr;
}

void count(void* caller) {
    if (watched && !isLibrary(caller)) ++ownAllocations;
}

}  // namespace

void lockstep::onAllocation(std::size_t bytes) noexcept {
    if (!watched) return;
    std::size_t before = largest;
    while (bytes > before && !largest.compare_exchange_weak(before, bytes)) {
    }
    if (bytes > before) largestAt = programStep;
}

void* operator new(std::size_t bytes) {
    count(__builtin_return_address(0));
    if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
    throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    count(__builtin_return_address(0));
    if (void* memory = std::aligned_alloc(static_cast<std::size_t>(alignment), bytes ? bytes : 1)) return memory;
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

// Small images take the small networks, larger ones those that run at their full width.
struct Task {
    TrialSpec spec;
    DatasetSplits data;
};

// An optimizer's name stands for it on a network that has convolutions and norms.
Task smallTask(const QString& name, const QString& devices) {
    const bool isOptimizer = findUpdateRule(name.toStdString()) != nullptr;
    const std::string model = isOptimizer ? "fashion-cnn" : name.toStdString();
    Task task{smallSpec(model, devices.toStdString()), dataFor(model, 100, 9)};
    if (isOptimizer) task.spec.optimizer.id = name.toStdString();
    if (isOptimizer) task.spec.augmentation["mixup"] = task.spec.augmentation["cutmix"] = 0.4;
    return task;
}

Task fullTask(const QString& model, const QString& devices) {
    Task task = smallTask(model, devices);
    task.spec.model.params.clear();
    const bool isDeep = model == "resnet18-cifar", isToken = model == "gpt";
    if (isToken) task.spec.model.params["layers"] = std::int64_t{2};
    task.spec.batch = isDeep ? 4 : 16;
    const std::int64_t samples = 13 * task.spec.batch;
    const ImageShape image = isDeep ? ImageShape{3, 32, 32} : ImageShape{1, 28, 28};
    task.data = isToken ? dataFor(model.toStdString(), samples, 5) : patterns(samples, 5, image, 10);
    return task;
}

// The program step during which the largest allocation was made, for the message of a failure.
QString where(const Task& task) {
    const RunPlan plan = planRun(resolved(task.spec), task.data.train->info(), task.data.test->info());
    return QString("%1: %2 bytes around \"%3\"")
        .arg(QString::fromStdString(task.spec.model.id))
        .arg(largest.load())
        .arg(QString::fromStdString(plan.ranks.front().training->steps[largestAt].name));
}

// Watches from the end of update 3 to the end of update 10 of 13: loading, the step, its report.
void watch(Task& task) {
    task.spec.epochs = 1;
    ownAllocations = 0;
    largest = 0;
    int steps = 0;
    RunOptions options;
    TraceBoard trace;
    options.trace = &trace;
    options.beforeStep = [](int, std::int64_t, std::size_t index) { programStep = index; };
    options.afterStep = [&](int rank, std::int64_t step, Replica&) {
        if (rank != 0) return;
        if (watched) ++steps;
        watched = step >= 3 && step < 10;
    };
    RunControl control;
    Silent sink;
    const RunResult result = runTrial(resolved(task.spec), task.data, options, control, {&sink});
    QCOMPARE(result.outcome, RunResult::Outcome::Finished);
    QCOMPARE(steps, 7);
}

}  // namespace

class TstAllocations : public QObject {
    Q_OBJECT

private slots:
    void aStepAllocatesNothing_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("devices");
        for (const char* model : {"mlp", "lenet5", "fashion-cnn", "vit", "gpt", "text-encoder"}) {
            QTest::addRow("%s null", model) << model << "null:3";
            QTest::addRow("%s reference", model) << model << "reference:2";
            QTest::addRow("%s reference alone", model) << model << "reference:1";
        }
        for (const char* optimizer : {"lars", "muon"}) QTest::newRow(optimizer) << optimizer << "reference:2";
    }

    void aStepAllocatesNothing() {
        QFETCH(QString, model);
        QFETCH(QString, devices);
        Task task = smallTask(model, devices);
        watch(task);
        QCOMPARE(ownAllocations, 0);
        QVERIFY2(largest == 0, qPrintable(where(task)));
    }

    void librariesAllocateNothingLarge_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("devices");
        for (const char* model : {"mlp", "lenet5", "fashion-cnn", "resnet18-cifar", "vit", "gpt"}) {
            QTest::addRow("%s alone", model) << model << "cpu:1";
            QTest::addRow("%s", model) << model << "cpu:2x1";
        }
        for (const char* optimizer : {"lars", "muon"}) QTest::newRow(optimizer) << optimizer << "cpu:2x1";
    }

    void librariesAllocateNothingLarge() {
        if (!hasCpuBackend()) QSKIP("this build has no CPU backend");
        QFETCH(QString, model);
        QFETCH(QString, devices);
        Task task = fullTask(model, devices);
        watch(task);
        QCOMPARE(ownAllocations, 0);
        QVERIFY2(largest < 4096, qPrintable(where(task)));
    }
};

QTEST_APPLESS_MAIN(TstAllocations)
#include "tst_allocations.moc"
