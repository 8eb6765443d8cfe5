#include <QtTest>

#include <atomic>
#include <thread>

#include "engine/train/bandwidth_meter.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

// Updates of 100 samples by one rank: so long for training, so long waiting, and a loader of such a rate.
struct Updates {
    BandwidthMeter meter;
    std::vector<std::pair<std::int64_t, std::string>> changes = {};
    std::int64_t step = 0;

    explicit Updates(BindingChanged about = {}) : meter(about) {}
    void add(int count, double compute, double wait, double loading, double coreWait = 0) {
        for (int i = 0; i < count; ++i) {
            const RankPace pace{{compute, 0, wait}, coreWait, loading, 0, 1, 100};
            meter.add(100, {&pace, 1});
            if (const auto change = meter.change(++step)) changes.emplace_back(step, change->binding);
        }
    }
};

bool isNear(double value, double wanted, double share = 0.02) { return std::abs(value - wanted) <= share * wanted; }

BindingChanged seenAs(const char* binding, double loading, double training, bool haveProcessors) {
    BindingChanged seen;
    seen.binding = binding;
    seen.loading = loading, seen.training = training, seen.reached = std::min(loading, training);
    seen.loaderThreads = 2, seen.devices = 2, seen.cores = 16;
    seen.haveProcessors = haveProcessors;
    return seen;
}

// A pattern dataset of which every 16th read takes so long.
DatasetSplits throttledPatterns(const std::atomic<int>& milliseconds) {
    const DatasetSplits all = patterns(320, 16);
    const auto train = std::make_shared<PatternDataset>(dynamic_cast<const PatternDataset&>(*all.train));
    train->beforeRead = [&milliseconds, reads = std::make_shared<std::atomic<int>>(0)](std::int64_t) {
        if (const int each = milliseconds; (*reads)++ % 16 == 0 && each > 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(each));
    };
    return {train, all.test};
}

}  // namespace

// How fast samples are made and how fast they are trained on, and which of the two binds.
class TstBandwidths : public QObject {
    Q_OBJECT

private slots:
    void whatBindsFollowsFromThreeNumbers() {
        QCOMPARE(bindingOf({100, 300, 99}), Binding::Loading);
        QCOMPARE(bindingOf({300, 100, 99}), Binding::Training);
        QCOMPARE(bindingOf({100, 105, 95}), Binding::Even);
        QCOMPARE(bindingOf({100, 100, 50}), Binding::Cores);
        QCOMPARE(bindingOf({1000, 100, 80}), Binding::Cores);
        QCOMPARE(bindingOf({400'000, 360, 230}),
                 Binding::Training);  // what another program takes is nobody's fault here
        QVERIFY(isNear(Bandwidths{300, 150, 0}.shared(), 100, 1e-9));
    }

    void aRateIsOfTheLatestBatches() {
        LoadingRate rate;
        QCOMPARE(rate.perSecond(), 0.0);
        LoadPace pace{.samples = 0, .seconds = 0, .threads = 2};
        for (int i = 0; i < 5; ++i) {  // 100 samples of a thread per second
            pace.samples += 50, pace.seconds += 0.5;
            rate.add(pace);
        }
        QVERIFY(isNear(rate.perSecond(), 200, 1e-9));
        rate.add(pace);  // nothing new
        QVERIFY(isNear(rate.perSecond(), 200, 1e-9));
        for (int i = 0; i < 20; ++i) {
            pace.samples += 50, pace.seconds += 5;
            rate.add(pace);
        }
        QVERIFY(isNear(rate.perSecond(), 20, 0.5));
    }

    void trainingIsWhatIsLeftWithoutWaiting() {
        Updates run;
        run.add(50, 0.1, 0.1, 5000, 0.02);
        const Bandwidths now = run.meter.now();
        QVERIFY(isNear(now.loading, 5000) && isNear(now.training, 100 / 0.08) && isNear(now.reached, 500));
    }

    // Readers that share the cores take of the time that training would have for itself.
    void whatReadersTakeIsGivenBack() {
        BindingChanged about;
        about.cores = 2;
        const RankPace pace{{0.1, 0, 0}, 0, 1000, 0.001, 1, 100};  // 0.1 s of one core
        const auto training = [&](int computing, double wait) {
            BandwidthMeter meter(about, computing);
            RankPace now = pace;
            now.load.wait = wait;
            for (int i = 0; i < 10; ++i) meter.add(100, {&now, 1});
            return meter.now().training;
        };
        QVERIFY(isNear(training(2, 0), 100 / 0.05));
        QVERIFY(isNear(training(2, 0.04), 100 / 0.07));
        QVERIFY(isNear(training(1, 0), 1000));  // the other core is theirs
        QVERIFY(isNear(training(0, 0), 1000));  // of cards
    }

    void allRanksWaitForTheSlowest() {
        BindingChanged about;
        about.devices = 2, about.cores = 8;
        BandwidthMeter meter(about);
        const RankPace paces[] = {{{0.1, 0.3, 0}, 0, 1000, 0, 1, 50}, {{0.1, 0, 0.3}, 0, 125, 0, 1, 50}};
        for (int i = 0; i < 20; ++i) meter.add(100, paces);
        QVERIFY(isNear(meter.now().loading, 250));
        QVERIFY(isNear(meter.now().training, 1000));
        QVERIFY(isNear(meter.now().reached, 250));
    }

    void moreThreadsThanCoresAreAsGoodAsThese() {
        BindingChanged about;
        about.cores = 2;
        BandwidthMeter meter(about);
        const RankPace pace{{1, 0, 0}, 0, 800, 0.01, 8, 100};
        for (int i = 0; i < 9; ++i) meter.add(100, {&pace, 1});
        QCOMPARE(meter.now().loading, 0.0);  // nothing is known yet
        QCOMPARE(meter.now().training, 0.0);
        meter.add(100, {&pace, 1});
        QVERIFY(isNear(meter.now().loading, 200));
    }

    // However little else is reached meanwhile.
    void whatIsHeldBinds() {
        BindingChanged about;
        about.limit = 200;
        Updates run(about);
        run.add(30, 0.1, 0.6, 200);
        QCOMPARE(run.changes.size(), std::size_t{1});
        QCOMPARE(run.changes[0].second, std::string("loading"));
    }

    void theVerdictFlipsWithinTwentyUpdates() {
        Updates run;
        run.add(30, 0.01, 0, 50'000);
        QCOMPARE(run.changes.size(), std::size_t{1});
        QCOMPARE(run.changes[0].second, std::string("training"));
        QVERIFY(run.changes[0].first <= 20);
        run.add(20, 0.01, 0.09, 1'000);
        QCOMPARE(run.changes.back().second, std::string("loading"));
        run.add(20, 0.01, 0, 50'000);
        QCOMPARE(run.changes.back().second, std::string("training"));
    }

    void whatComesAndGoesIsToldOfNowAndThen() {
        Updates run;
        for (int i = 0; i < 500; ++i) run.add(20, 0.01, 0, 50'000), run.add(20, 0.01, 0.09, 1'000);
        QVERIFY2(run.changes.size() >= 10 && run.changes.size() < 60, qPrintable(QString::number(run.changes.size())));
    }

    void theWordsKnowWhatWouldHelp() {
        Problem said = verdictOf(seenAs("loading", 400, 1000, true));  // a thread makes 200, two devices take 1000
        QCOMPARE(said.code, std::string("bandwidth.loading-threads"));
        QCOMPARE(said.args.at(3), std::string("5"));
        QCOMPARE(verdictOf(seenAs("loading", 400, 1000, false)).code, std::string("bandwidth.loading"));
        QCOMPARE(verdictOf(seenAs("loading", 100, 10'000, true)).code, std::string("bandwidth.loading"));  // no cores
        said = verdictOf(seenAs("training", 800, 400, true));  // 16 cores make 3200, a device takes 200
        QCOMPARE(said.code, std::string("bandwidth.training-until"));
        QCOMPARE(said.args.at(3), std::string("17"));
        QCOMPARE(verdictOf(seenAs("training", 800, 400, false)).code, std::string("bandwidth.training"));
        QCOMPARE(verdictOf(seenAs("cores", 300, 150, false)).args.at(3), std::string("100 samples/s"));
        BindingChanged limited = seenAs("loading", 400, 1000, true);
        limited.limit = 400;
        QCOMPARE(verdictOf(limited).code, std::string("bandwidth.loading-limited"));
    }

    // The same in a run, whose samples become slow to make and quick again.
    void aRunSaysWhatBindsIt() {
        std::atomic<int> milliseconds{0};
        TrialSpec spec = smallSpec("mlp", "reference:1");
        spec.batch = 16;
        spec.epochs = 8;         // of 20 updates
        spec.loaderThreads = 1;  // two would make twice as many
        RunRequest request{.spec = spec, .data = throttledPatterns(milliseconds), .options = {}, .onEvent = {}};
        request.options.beforeStep = [](int, std::int64_t, std::size_t programStep) {
            if (programStep == 0) std::this_thread::sleep_for(std::chrono::milliseconds(8));
        };
        request.onEvent = [&](const TrainEvent& event, RunControl&) {
            const auto* done = std::get_if<StepDone>(&event);
            if (done && done->step == 44) milliseconds = 40;
            if (done && done->step == 104) milliseconds = 0;
        };
        const Run out = run(std::move(request));
        std::vector<std::pair<std::int64_t, std::string>> changes;
        for (const BindingChanged& each : out.recorder.all<BindingChanged>())
            changes.emplace_back(each.step, each.binding);
        const auto after = [&](std::int64_t step, const char* binding) {
            return std::ranges::any_of(changes, [&](const auto& each) {
                return each.second == binding && each.first > step && each.first <= step + 20;
            });
        };
        QVERIFY(!changes.empty() && changes[0].second == "training" && changes[0].first <= 20);
        QVERIFY(after(44, "loading"));
        QVERIFY(after(104, "training"));
        const auto steps = out.recorder.all<StepDone>();
        QVERIFY2(isNear(steps[90].loadingRate, 400, 0.15), qPrintable(QString::number(steps[90].loadingRate)));
        const double training = steps[90].trainingRate;
        QVERIFY2(training > 2 * steps[90].loadingRate && training < 2000, qPrintable(QString::number(training)));
    }

    void aLimitHoldsTheRun() {
        TrialSpec spec = smallSpec("mlp", "reference:2");
        spec.batch = 16;
        spec.epochs = 2;
        spec.loaderLimit = 800;
        RunRequest request{.spec = spec, .data = patterns(480, 16), .options = {}, .onEvent = {}};
        const Run out = run(std::move(request));
        QCOMPARE(out.result.outcome, RunResult::Outcome::Finished);
        const double rate = out.result.finished.trainSamplesPerSecond;
        QVERIFY2(rate < 900 && rate > 600, qPrintable(QString::number(rate)));
        const auto changes = out.recorder.all<BindingChanged>();
        QCOMPARE(changes.front().binding, std::string("loading"));
        QCOMPARE(changes.front().limit, 800.0);
        QVERIFY2(isNear(changes.front().loading, 800, 0.05), qPrintable(QString::number(changes.front().loading)));
    }
};

QTEST_GUILESS_MAIN(TstBandwidths)
#include "tst_bandwidths.moc"
