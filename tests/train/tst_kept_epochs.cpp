#include <sys/wait.h>
#include <unistd.h>

#include <QtTest>
#include <algorithm>
#include <csignal>
#include <filesystem>

#include "engine/core/disk_use.h"
#include "engine/core/error.h"
#include "engine/train/checkpoint_keeper.h"
#include "engine/train/disk_need.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;
namespace fs = std::filesystem;

namespace {

constexpr int kEpochs = 8;

// A rate at which the accuracy goes up and down, so that the best epochs are not the latest.
TrialSpec restlessSpec(const std::string& kept) {
    TrialSpec spec = smallSpec("mlp", "reference:2");
    spec.epochs = kEpochs;
    spec.learningRate = 1.5;
    spec.schedule = {"constant", {}};
    spec.keepCheckpoints = kept;
    return spec;
}

RunRequest requestIn(const fs::path& folder, const TrialSpec& spec) {
    RunRequest request{.spec = spec, .data = patterns(36, 24), .options = {}, .onEvent = {}};
    request.options.checkpointFolder = folder;
    return request;
}

std::vector<std::string> rolesIn(const fs::path& folder) {
    std::vector<std::string> roles;
    for (const auto& each : checkpointsIn(folder)) roles.push_back(each.role);
    return roles;
}

// By the evaluations alone: the K best of them, the earlier of equal ones, in the order of a folder.
std::vector<std::string> expectedRoles(const std::vector<EvalDone>& evaluations, std::size_t best) {
    std::vector<EvalDone> order = evaluations;
    std::ranges::stable_sort(order, std::greater(), &EvalDone::accuracy);
    order.resize(std::min(best, order.size()));
    std::ranges::sort(order, {}, &EvalDone::epoch);
    std::vector<std::string> roles{"last"};
    for (const EvalDone& each : order) roles.push_back("epoch-" + std::to_string(each.epoch));
    return roles;
}

Checkpoint readFrom(const fs::path& folder, const std::string& role) {
    auto read = readCheckpoint(folder / (role + ".safetensors"));
    if (!read.ok()) qFatal("%s", read.problems().front().code.c_str());
    return std::move(read).value();
}

struct Folder {
    fs::path path() const { return folder.path().toStdString(); }
    QTemporaryDir folder;
};

}  // namespace

class TestKeptEpochs : public QObject {
    Q_OBJECT
private slots:
    void theBestEpochsStay_data() {
        QTest::addColumn<int>("best");
        for (const int best : {2, 3, 5, 20}) QTest::addRow("best:%d", best) << best;
    }
    void theBestEpochsStay() {
        QFETCH(int, best);
        const Folder folder;
        std::size_t most = 0;
        RunRequest request = requestIn(folder.path(), restlessSpec("best:" + std::to_string(best)));
        request.onEvent = [&](const TrainEvent& event, RunControl&) {
            if (std::holds_alternative<CheckpointWritten>(event)) most = std::max(most, rolesIn(folder.path()).size());
        };
        const Run out = run(std::move(request));
        QCOMPARE(out.result.outcome, RunResult::Outcome::Finished);
        const auto evaluations = out.recorder.all<EvalDone>();
        QCOMPARE(rolesIn(folder.path()), expectedRoles(evaluations, static_cast<std::size_t>(best)));
        QVERIFY(most <= static_cast<std::size_t>(best) + 2);  // the last and, until the worst goes, one more
        for (const FoundCheckpoint& each : findCheckpoints(folder.path())) {
            const EvalDone& done = evaluations[static_cast<std::size_t>(each.epoch - 1)];
            QCOMPARE(*each.score, (CheckpointScore{"test_accuracy", done.accuracy}));
            QCOMPARE(each.step, done.step);
        }
        const std::string role = bestRole(findCheckpoints(folder.path()));
        const auto first = std::ranges::max_element(evaluations, {}, &EvalDone::accuracy);
        QCOMPARE(role, epochRole(first->epoch));
        const auto spread = std::ranges::minmax_element(evaluations, {}, &EvalDone::accuracy);
        QVERIFY(spread.max->accuracy > spread.min->accuracy && first->epoch < kEpochs);  // or the test proves nothing
    }

    void lastIsTheNewestAlone() {
        const Folder folder;
        QCOMPARE(run(requestIn(folder.path(), restlessSpec("last"))).result.outcome, RunResult::Outcome::Finished);
        QCOMPARE(rolesIn(folder.path()), (std::vector<std::string>{"last"}));
        QCOMPARE(readFrom(folder.path(), "last").epoch, std::int64_t{kEpochs});
        QVERIFY(bestRole(findCheckpoints(folder.path())).empty());
    }

    void unlessSaidItIsTheBestAndTheLast() {
        const Folder folder;
        TrialSpec spec = restlessSpec("");
        spec.keepCheckpoints = TrialSpec{}.keepCheckpoints;
        const Run out = run(requestIn(folder.path(), spec));
        QCOMPARE(rolesIn(folder.path()), (std::vector<std::string>{"last", "best"}));
        const auto evaluations = out.recorder.all<EvalDone>();
        const auto first = std::ranges::max_element(evaluations, {}, &EvalDone::accuracy);
        QCOMPARE(readFrom(folder.path(), "best").step, first->step);
    }

    // Of a language model the lowest loss counts, and its scores say so.
    void aLanguageModelKeepsItsLowestLosses() {
        const Folder folder;
        TrialSpec spec = smallSpec("gpt", "reference:1");
        spec.epochs = 5;
        spec.sampleLength = 0;
        spec.learningRate = 1;
        spec.keepCheckpoints = "best:2";
        RunRequest request{.spec = spec, .data = dataFor("gpt", 24, 8), .options = {}, .onEvent = {}};
        request.options.checkpointFolder = folder.path();
        auto evaluations = run(std::move(request)).recorder.all<EvalDone>();
        QCOMPARE(evaluations.size(), std::size_t{5});
        for (EvalDone& each : evaluations) each.accuracy = -each.loss;
        QCOMPARE(rolesIn(folder.path()), expectedRoles(evaluations, 2));
        QCOMPARE(readFrom(folder.path(), "last").score->metric, std::string("test_loss"));
    }

    // From whichever is kept: the same bits at the end, and the same epochs kept.
    void aResumeFromAnyIsExact() {
        const Folder whole;
        const TrialSpec spec = restlessSpec("best:3");
        run(requestIn(whole.path(), spec));
        const auto kept = rolesIn(whole.path());
        for (const std::string& role : kept) {
            const Folder copy;
            fs::copy(whole.path(), copy.path(), fs::copy_options::recursive);
            RunRequest request = requestIn(copy.path(), spec);
            request.options.resumeFrom = readFrom(copy.path(), role);
            QCOMPARE(run(std::move(request)).result.outcome, RunResult::Outcome::Finished);
            QVERIFY(sameBits(readFrom(copy.path(), "last").tensors, readFrom(whole.path(), "last").tensors));
            QCOMPARE(rolesIn(copy.path()), kept);
        }
    }

    // SIGKILL when an epoch's own file is on the disk, and neither the last is written nor the worst removed.
    void aKillBetweenWritingAndRemovingLeavesOneMore() {
        const Folder whole, killed;
        const TrialSpec spec = restlessSpec("best:2");
        run(requestIn(whole.path(), spec));
        const auto written = rolesIn(whole.path());
        const pid_t child = ::fork();
        if (child == 0) {
            RunRequest request = requestIn(killed.path(), spec);
            request.onEvent = [&](const TrainEvent& event, RunControl&) {
                const auto* done = std::get_if<CheckpointWritten>(&event);
                if (done && done->role == written.back()) ::kill(::getpid(), SIGKILL);
            };
            run(std::move(request));
            ::_exit(1);
        }
        int status = 0;
        QCOMPARE(::waitpid(child, &status, 0), child);
        QVERIFY(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        QCOMPARE(rolesIn(killed.path()).size(), std::size_t{4});  // last, two, and one more
        RunRequest request = requestIn(killed.path(), spec);
        request.options.resumeFrom = readFrom(killed.path(), written.back());
        QVERIFY(request.options.resumeFrom->step > readFrom(killed.path(), "last").step);
        QCOMPARE(run(std::move(request)).result.outcome, RunResult::Outcome::Finished);
        QCOMPARE(rolesIn(killed.path()), written);
        QVERIFY(sameBits(readFrom(killed.path(), "last").tensors, readFrom(whole.path(), "last").tensors));
    }

    void aCheckpointThatCannotGoIsAWarning() {
        const Folder folder;
        const TrialSpec spec = restlessSpec("best:2");
        RunRequest request = requestIn(folder.path(), spec);
        int made = 0;
        request.onEvent = [&](const TrainEvent& event, RunControl&) {
            const auto* done = std::get_if<CheckpointWritten>(&event);
            if (!done || done->role != "epoch-1" || ++made > 1) return;
            fs::remove(done->file);  // in its place something that unlink() refuses
            fs::create_directories(fs::path(done->file) / "full");
        };
        const Run out = run(std::move(request));
        QCOMPARE(out.result.outcome, RunResult::Outcome::Finished);
        const auto messages = out.recorder.all<Message>();
        QVERIFY(std::ranges::any_of(messages, [](const Message& each) {
            return each.level == "warning" && each.text.code == "checkpoint.not-removed";
        }));
    }

    // What lies in the folder of a run that begins anew is not its own.
    void anEarlierRunsEpochsAreReplaced() {
        const Folder folder;
        TrialSpec longer = restlessSpec("best:3");
        run(requestIn(folder.path(), longer));
        longer.seed = 5;
        longer.epochs = 2;
        run(requestIn(folder.path(), longer));
        QCOMPARE(rolesIn(folder.path()), (std::vector<std::string>{"last", "epoch-1", "epoch-2"}));
    }

    // Before the run it is known what its files will weigh.
    void theNeedIsWhatTheFilesWeigh_data() {
        QTest::addColumn<QString>("optimizer");
        QTest::addColumn<double>("averages");
        QTest::addColumn<QString>("frozen");
        QTest::newRow("momentum") << "sgd" << 0.0 << "";
        QTest::newRow("two states") << "adamw" << 0.0 << "";
        QTest::newRow("averages") << "adamw" << 0.9 << "";
        QTest::newRow("frozen") << "adamw" << 0.0 << "dense1";
    }
    void theNeedIsWhatTheFilesWeigh() {
        QFETCH(QString, optimizer);
        QFETCH(double, averages);
        QFETCH(QString, frozen);
        const Folder folder;
        TrialSpec spec = smallSpec("mlp", "reference:2");
        spec.model.params["width"] = std::int64_t{600};
        spec.optimizer.id = optimizer.toStdString();
        spec.averageDecay = averages;
        spec.frozen = frozen.toStdString();
        spec.epochs = 1;
        const RunRequest request = requestIn(folder.path(), spec);
        const auto settled = resolved(spec);
        const auto plan = planRun(settled, request.data.train->info(), request.data.test->info());
        run(request);
        const double each = static_cast<double>(diskNeed(settled, plan).each);
        const double file = static_cast<double>(fs::file_size(folder.path() / "last.safetensors"));
        QVERIFY2(each >= file && each < 1.02 * file, qPrintable(QString("%1 for %2").arg(each).arg(file)));
    }

    void itCountsTheFiles() {
        const auto needOf = [](const char* kept, std::int64_t epochs) {
            TrialSpec spec = restlessSpec(kept);
            spec.epochs = epochs;
            const auto settled = resolved(spec);
            const auto data = patterns(36, 24);
            return diskNeed(settled, planRun(settled, data.train->info(), data.test->info()));
        };
        QCOMPARE(needOf("last", 9).kept, std::int64_t{1});
        QCOMPARE(needOf("last", 9).most, std::int64_t{2});
        QCOMPARE(needOf("best:1", 9).kept, std::int64_t{2});
        QCOMPARE(needOf("best:1", 9).most, std::int64_t{3});
        QCOMPARE(needOf("best:3", 9).kept, std::int64_t{4});
        QCOMPARE(needOf("best:3", 9).most, std::int64_t{6});
        QCOMPARE(needOf("best:300", 9).kept, std::int64_t{10});
        QCOMPARE(needOf("best:300", 9).most, std::int64_t{11});
    }

    void aDiskThatIsTooSmallIsSaid() {
        constexpr std::uint64_t kMega = 1'000'000;
        const auto problemOf = [](const DiskNeed& need, const DiskRoom& room) {
            const auto problem = shortOfDisk(need, room);
            return problem ? problem->code + " " + (problem->args.size() > 5 ? problem->args[5] : "") : std::string();
        };
        const DiskNeed need{100 * kMega, 4, 6};  // best:3
        const auto room = [&](std::uint64_t available, std::uint64_t taken = 0) {
            return DiskRoom{"/x", available * kMega, 10'000 * kMega, taken * kMega};  // 100 MB stay free
        };
        QCOMPARE(problemOf(need, room(700)), std::string());
        QCOMPARE(problemOf(need, room(699)), std::string("run.disk best:2"));
        QCOMPARE(problemOf(need, room(599)), std::string("run.disk best:1"));
        QCOMPARE(problemOf(need, room(399)), std::string("run.disk last"));
        QCOMPARE(problemOf(need, room(299)), std::string("run.disk-at-any-number "));
        QCOMPARE(problemOf(need, room(300, 400)), std::string());           // a resume has most of it there already
        QCOMPARE(shortOfDisk(need, room(699))->args[2], std::string("6"));  // as many as its bytes are of
        QVERIFY(!heavyOnDisk(need, DiskRoom{"/x", 500'000 * kMega, 900'000 * kMega, 0}));
        const DiskRoom crowded{"/x", 399'000 * kMega, 900'000 * kMega, 0};
        QCOMPARE(heavyOnDisk(need, crowded)->code, std::string("run.heavy-checkpoints"));
        QCOMPARE(heavyOnDisk(need, crowded)->args[1], std::string("4"));
        QCOMPARE(heavyOnDisk(DiskNeed{400 * kMega, 1, 2}, crowded)->code, std::string("run.heavy-checkpoint"));
    }

    // What the remedy names fits.
    void theRemedyFits() {
        for (std::int64_t best : {2, 3, 10, 100}) {
            for (std::uint64_t available = 0; available < 100; ++available) {
                const DiskRoom room{"/x", available, 100, 0};
                const auto problem = shortOfDisk({1, 1 + best, 3 + best}, room);
                if (!problem || problem->code != "run.disk") continue;
                const auto kept = parseKept(problem->args.at(5));
                QVERIFY(kept.ok() && kept.value().best < best);
                const std::int64_t k = kept.value().best;
                QVERIFY(!shortOfDisk({1, 1 + k, 2 + k + (k > 1 ? 1 : 0)}, room));
            }
        }
    }

    void aRunThatDoesNotFitDoesNotBegin() {
        const Folder folder;
        TrialSpec spec = restlessSpec("best:1000000");
        spec.epochs = 1'000'000;
        spec.model.params["width"] = std::int64_t{2000};
        const Run out = run(requestIn(folder.path(), spec));
        QCOMPARE(out.result.outcome, RunResult::Outcome::Failed);
        QCOMPARE(out.result.failed.kind, std::string("run.disk"));
        QVERIFY(out.recorder.all<RunStarted>().empty());
        QCOMPARE(problemIn(out.result.failed)->field, folder.path().string());
    }
};

QTEST_APPLESS_MAIN(TestKeptEpochs)
#include "tst_kept_epochs.moc"
