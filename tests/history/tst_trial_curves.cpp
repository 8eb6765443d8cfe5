#include <QtTest>
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/history/database.h"
#include "engine/history/event_writer.h"
#include "engine/history/series_level.h"
#include "tests/bench/made_history.h"
#include "tests/history/history_support.h"

using namespace lockstep;
using namespace lockstep::test;
namespace fs = std::filesystem;

// What pictures of many trials are drawn from: evaluations of all, series of steps in stretches.
class tst_TrialCurves : public QObject {
    Q_OBJECT
private slots:
    void stretchesHaveExtremesAndMeans();
    void stretchesOfStretchesAreTheSame();
    void evaluationsOfAllTrialsAreThoseOfEach();
    void whatAResumeTookBackIsLeftOut();
    void amountsFollowWhatTheRunSaid();
    void runsThatSaidNothingCountBatches();
    void aMetricThatFollowsFromAnotherIsDerived();
    void aShortSeriesIsReadAsItIs();
    void aLongSeriesThatEndsIsKeptInStretches();
    void aTrialThatGoesOnDropsItsLevels();
    void levelsThatAreBehindAreNotBelieved();
    void olderHistoriesAreGivenLevels();
    void aPartIsReadInDetail();
    void evaluationsOfTenThousandTrialsAreReadAtOnce();
};

namespace {

constexpr int kLong = 40'000;

RunStarted startOf(std::int64_t firstStep, int devices) {
    RunStarted started;
    started.firstStep = firstStep;
    for (int i = 0; i < devices; ++i) started.devices.push_back("cpu:" + std::to_string(i));
    started.stepsPerEpoch = 100, started.trainSamples = 12'345;
    started.bytesPerDevice = 7'000'000;
    return started;
}

// A trial with so many steps, in one transaction.
std::int64_t longTrial(const Folder& folder, TrialStore& store, int steps, bool ends) {
    const auto trial = store.createTrial({}, folder.runs());
    const auto attempt = store.beginAttempt(trial, 0);
    const auto database = openForWriting(folder.file(), migrations());
    SQLite::Transaction transaction(*database, SQLite::TransactionBehavior::IMMEDIATE);
    std::vector<PostedEvent> events;
    for (int step = 1; step <= steps; ++step) {
        StepDone done = stepOf(step, 0);
        done.loss = step == 77 ? std::numeric_limits<double>::quiet_NaN() : std::sin(step * 0.37) + 5.0 / step + 2;
        events.push_back({trial, attempt, step, done});
    }
    if (ends) events.push_back({trial, attempt, steps + 1, RunFinished{"finished", trial, steps}});
    writeEvents(*database, events, {});
    transaction.commit();
    return trial;
}

std::string levelsIn(const Folder& folder) { return ask(folder.file(), "SELECT count(*) FROM series_level"); }

bool isSame(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// By the plain statement, from the series itself.
void compareWithSeries(const std::vector<SeriesStretch>& stretches, const std::vector<SeriesPoint>& series) {
    std::size_t next = 0;
    for (const SeriesStretch& each : stretches) {
        double low = 1e300, high = -1e300, sum = 0;
        std::int64_t count = 0;
        for (; next < series.size() && series[next].step <= each.step; ++next) {
            if (!std::isfinite(series[next].value)) continue;
            low = std::min(low, series[next].value), high = std::max(high, series[next].value);
            sum += series[next].value, ++count;
        }
        QCOMPARE(each.count, count);
        QCOMPARE(each.seconds, series[next - 1].seconds);
        QVERIFY(each.low == low && each.high == high);
        QVERIFY(std::abs(each.mean - sum / static_cast<double>(count)) < 1e-9);
    }
    QCOMPARE(next, series.size());
}

}  // namespace

void tst_TrialCurves::stretchesHaveExtremesAndMeans() {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<SeriesPoint> points{{1, 0.1, 4}, {2, 0.2, nan}, {3, 0.3, 2}, {4, 0.4, nan}, {5, 0.5, 7}};
    const auto stretches = inStretches(points, 3);
    QCOMPARE(stretches.size(), std::size_t{2});
    QVERIFY((stretches[0] == SeriesStretch{3, 2, 0.3, 2, 4, 3}));
    QVERIFY((stretches[1] == SeriesStretch{5, 1, 0.5, 7, 7, 7}));
    const auto single = inStretches(points, 1);
    QVERIFY(single.size() == 5 && single[1].count == 0 && std::isnan(single[1].mean));
    QVERIFY(inStretches(std::span<const SeriesPoint>(), 4).empty());
}

void tst_TrialCurves::stretchesOfStretchesAreTheSame() {
    std::vector<SeriesPoint> points;
    for (int i = 0; i < 1003; ++i)
        points.push_back({i, i * 0.5, i % 10 == 0 ? std::numeric_limits<double>::infinity() : std::cos(i)});
    const auto direct = inStretches(points, 32), twice = inStretches(inStretches(points, 8), 4);
    QCOMPARE(direct.size(), twice.size());
    for (std::size_t i = 0; i < direct.size(); ++i) {
        QVERIFY(direct[i].step == twice[i].step && direct[i].count == twice[i].count);
        QVERIFY(direct[i].low == twice[i].low && direct[i].high == twice[i].high);
        QVERIFY(std::abs(direct[i].mean - twice[i].mean) < 1e-12);
    }
}

void tst_TrialCurves::evaluationsOfAllTrialsAreThoseOfEach() {
    const Folder folder;
    const auto store = openStore(folder.file());
    std::vector<std::int64_t> trials;
    for (int i = 0; i < 5; ++i) {
        const auto trial = store->createTrial({}, folder.runs());
        const auto sink = store->sinkFor(trial, store->beginAttempt(trial, 0));
        std::int64_t number = 0;
        sink->post(++number, startOf(0, 1));
        for (int epoch = 1; epoch <= i; ++epoch) {
            EvalDone done = evalOf(100 * epoch, 0.1 * epoch + 0.01 * i);
            if (i % 2 == 1) done.split = Split::Validation;
            sink->post(++number, done);
        }
        trials.push_back(trial);
    }
    const auto query = openQuery(folder.file());
    for (const std::string metric : {"test_accuracy", "validation_accuracy", "test_loss", "train_loss"}) {
        const auto found = query->evaluationSeries(trials, metric);
        for (const auto trial : trials) {
            const auto series = query->series(trial, metric);
            const auto points = found.find(trial);
            QCOMPARE(points == found.end() ? std::size_t{0} : points->second.size(), series.size());
            for (std::size_t i = 0; i < series.size(); ++i) {
                const EvaluationPoint& point = points->second[i];
                QVERIFY(point.step == series[i].step && point.seconds == series[i].seconds);
                QVERIFY(point.value == series[i].value && point.epoch == point.step / 100);
            }
        }
    }
    QVERIFY(query->evaluationSeries({}, "test_loss").empty());
    QVERIFY(query->evaluationSeries(trials, "loss").empty());  // of steps
    QVERIFY(query->evaluationSeries(trials, "no such").empty());
    const std::int64_t some[] = {trials[2], 99};
    QCOMPARE(query->evaluationSeries(some, "test_accuracy").size(), std::size_t{1});
}

void tst_TrialCurves::whatAResumeTookBackIsLeftOut() {
    const Folder folder;
    const auto store = openStore(folder.file());
    const auto trial = store->createTrial({}, folder.runs());
    const auto first = store->sinkFor(trial, store->beginAttempt(trial, 0));
    first->post(1, startOf(0, 1));
    for (int epoch = 1; epoch <= 4; ++epoch) first->post(1 + epoch, evalOf(100 * epoch, 0.9));
    const auto second = store->sinkFor(trial, store->beginAttempt(trial, 200));
    second->post(6, startOf(200, 1));
    second->post(7, evalOf(300, 0.5));
    const auto points = openQuery(folder.file())->evaluationSeries(std::span(&trial, 1), "test_accuracy").at(trial);
    QCOMPARE(points.size(), std::size_t{3});
    QVERIFY(points[1].value == 0.9 && points[2].step == 300 && points[2].value == 0.5);
}

// One device for two epochs, then, from the end of the first on, three.
void tst_TrialCurves::amountsFollowWhatTheRunSaid() {
    const Folder folder;
    const auto store = openStore(folder.file());
    const auto trial = store->createTrial({}, folder.runs());
    const auto first = store->sinkFor(trial, store->beginAttempt(trial, 0));
    first->post(1, startOf(0, 1));
    for (const int step : {100, 200}) first->post(1 + step, evalOf(step, 0.5));
    const auto second = store->sinkFor(trial, store->beginAttempt(trial, 100));
    second->post(301, startOf(100, 3));
    for (const int step : {200, 300}) second->post(301 + step, evalOf(step, 0.6));
    const auto query = openQuery(folder.file());
    const auto points = query->evaluationSeries(std::span(&trial, 1), "test_accuracy").at(trial);
    QCOMPARE(points.size(), std::size_t{3});
    QCOMPARE(points[0].samples, 12'345.0);
    QCOMPARE(points[2].samples, 3 * 12'345.0);
    QCOMPARE(points[0].deviceSeconds, 1.0);
    QCOMPARE(points[1].deviceSeconds, 1.0 + 3 * 1.0);
    QCOMPARE(points[2].deviceSeconds, 1.0 + 3 * 2.0);
    const TrialWorlds worlds = query->worlds(std::span(&trial, 1)).at(trial);
    QCOMPARE(worlds.all.size(), std::size_t{2});
    QVERIFY(worlds.bytesPerDevice() == 7'000'000 && worlds.stepsPerEpoch() == 100);
    QVERIFY(worlds.devicesAt(100) == 1 && worlds.devicesAt(101) == 3);
}

void tst_TrialCurves::runsThatSaidNothingCountBatches() {
    const Folder folder;
    const auto store = openStore(folder.file());
    TrialSpec spec;
    spec.batch = 64;
    const auto trial = store->createTrial(spec, folder.runs());
    store->sinkFor(trial, store->beginAttempt(trial, 0))->post(1, evalOf(100, 0.5));
    const auto query = openQuery(folder.file());
    const auto points = query->evaluationSeries(std::span(&trial, 1), "test_accuracy").at(trial);
    QVERIFY(points[0].samples == 6400 && points[0].deviceSeconds == 1);
    QVERIFY(query->worlds(std::span(&trial, 1)).at(trial).bytesPerDevice() == 0);
}

void tst_TrialCurves::aMetricThatFollowsFromAnotherIsDerived() {
    const Folder folder;
    const auto store = openStore(folder.file());
    const auto trial = longTrial(folder, *store, 3000, false);
    store->sinkFor(trial, 1)->post(5000, evalOf(3000, 0.5, 2));
    const auto query = openQuery(folder.file());
    QCOMPARE(query->evaluationSeries(std::span(&trial, 1), "test_perplexity").at(trial)[0].value, std::exp(2));
    const auto losses = query->decimatedSeries(trial, "loss", 100),
               derived = query->decimatedSeries(trial, "perplexity", 100);
    QCOMPARE(losses.size(), derived.size());
    QVERIFY(derived[5].low == std::exp(losses[5].low) && derived[5].high == std::exp(losses[5].high));
}

void tst_TrialCurves::aShortSeriesIsReadAsItIs() {
    const Folder folder;
    const auto store = openStore(folder.file());
    const auto trial = longTrial(folder, *store, 1500, true);
    const auto query = openQuery(folder.file());
    const auto series = query->series(trial, "loss");
    const auto whole = query->decimatedSeries(trial, "loss", 1500);
    QCOMPARE(whole.size(), series.size());
    for (std::size_t i = 0; i < series.size(); ++i)
        QVERIFY(whole[i].step == series[i].step && isSame(whole[i].mean, series[i].value));
    const auto some = query->decimatedSeries(trial, "loss", 200);
    QVERIFY(some.size() <= 200 && some.size() > 100);
    compareWithSeries(some, series);
    QVERIFY(query->decimatedSeries(trial, "no such", 200).empty());
    QCOMPARE(levelsIn(folder), std::string("0"));
}

void tst_TrialCurves::aLongSeriesThatEndsIsKeptInStretches() {
    const Folder folder;
    const auto store = openStore(folder.file());
    const auto running = longTrial(folder, *store, kLong, false), ended = longTrial(folder, *store, kLong, true);
    const auto query = openQuery(folder.file());
    const auto levels = [&](std::int64_t trial) {
        return ask(folder.file(), "SELECT count(DISTINCT metric) || ' ' || count(*) FROM series_level WHERE trial = " +
                                      std::to_string(trial));
    };
    QCOMPARE(levels(running), std::string("0 0"));
    QCOMPARE(levels(ended), std::string("7 14"));
    const auto series = query->series(ended, "loss");
    for (const std::size_t points : {50, 1000, 2048}) {
        const auto stretches = query->decimatedSeries(ended, "loss", points);
        QVERIFY(stretches.size() <= points + 1 && stretches.size() > points / 4);
        compareWithSeries(stretches, series);
        QVERIFY(stretches.back().count <= 1 && stretches.back().step == series.back().step);
        QVERIFY(isSame(stretches.back().mean, series.back().value));  // whatever part of it is seen
    }
    // Read from there, and not from the series.
    ask(folder.file(), "UPDATE series_value SET data = zeroblob(length(data)) WHERE metric = 'loss'");
    QVERIFY(query->decimatedSeries(ended, "loss", 1000).front().mean > 1);
    QCOMPARE(query->decimatedSeries(running, "loss", 1000).front().mean, 0.0);
}

void tst_TrialCurves::aTrialThatGoesOnDropsItsLevels() {
    const Folder folder;
    const auto store = openStore(folder.file());
    const auto trial = longTrial(folder, *store, kLong, true);
    QVERIFY(levelsIn(folder) != "0");
    store->beginAttempt(trial, 39'000);
    QCOMPARE(levelsIn(folder), std::string("0"));
    const auto sink = store->sinkFor(trial, 2);
    for (int step = 39'001; step <= 39'100; ++step) sink->post(50'000 + step, stepOf(step, 0));
    sink->post(100'000, StateChanged{"stopped", 39'100});
    const auto stretches = openQuery(folder.file())->decimatedSeries(trial, "loss", 1000);
    QCOMPARE(stretches.back().step, std::int64_t{39'100});
    QVERIFY(levelsIn(folder) != "0");
    store->deleteTrial(trial, true);
    QCOMPARE(levelsIn(folder), std::string("0"));
}

void tst_TrialCurves::levelsThatAreBehindAreNotBelieved() {
    const Folder folder;
    const auto store = openStore(folder.file());
    const auto trial = longTrial(folder, *store, kLong, true);
    store->sinkFor(trial, 1)->post(kLong + 2, stepOf(kLong + 1, 0));
    store->flush();
    QVERIFY(levelsIn(folder) != "0");
    QCOMPARE(openQuery(folder.file())->decimatedSeries(trial, "loss", 1000).back().step, std::int64_t{kLong + 1});
}

// A history of version 9: its ended trials are read whole until somebody adds what they lack.
void tst_TrialCurves::olderHistoriesAreGivenLevels() {
    const Folder folder;
    const auto store = openStore(folder.file());
    const auto ended = longTrial(folder, *store, kLong, true), running = longTrial(folder, *store, kLong, false);
    const auto brief = longTrial(folder, *store, 100, true);
    const auto before = openQuery(folder.file())->decimatedSeries(ended, "loss", 500);
    ask(folder.file(),
        "ALTER TABLE evaluation DROP COLUMN precision; DROP TABLE series_level; PRAGMA user_version = 9");
    const auto older = TrialQuery::open(folder.file());
    QVERIFY(!older.ok() && older.problems().front().code == "history.older");
    const auto newer = openStore(folder.file());
    const auto query = openQuery(folder.file());
    QCOMPARE(levelsIn(folder), std::string("0"));
    compareWithSeries(query->decimatedSeries(ended, "loss", 500), query->series(ended, "loss"));
    const std::vector<std::int64_t> all{ended, running, brief, 99};
    QCOMPARE(query->withoutLevels(all), std::vector<std::int64_t>{ended});
    QCOMPARE(newer->addLevels(all), 1);
    QCOMPARE(newer->addLevels(all), 0);
    QVERIFY(query->withoutLevels(all).empty());
    const auto after = query->decimatedSeries(ended, "loss", 500);
    QVERIFY(std::ranges::equal(before, after));
}

void tst_TrialCurves::aPartIsReadInDetail() {
    const Folder folder;
    const auto store = openStore(folder.file());
    const auto trial = longTrial(folder, *store, kLong, true);
    const auto part = openQuery(folder.file())->decimatedSeries(trial, "loss", 4000, StepRange{20'000, 20'600});
    QVERIFY(part.front().step <= 20'000 && part.back().step >= 20'600 && part.size() < 2000);
    for (const SeriesStretch& each : part) QCOMPARE(each.count, std::int64_t{1});
    QVERIFY(openQuery(folder.file())->decimatedSeries(trial, "loss", 100, StepRange{50'000, 60'000}).empty());
}

void tst_TrialCurves::evaluationsOfTenThousandTrialsAreReadAtOnce() {
    const Folder folder;
    makeHistory(folder.file(), {.trials = 10'000, .steps = 5});
    std::vector<std::int64_t> trials;
    for (std::int64_t trial = 1; trial <= 10'000; ++trial) trials.push_back(trial);
    const auto query = openQuery(folder.file());
    QElapsedTimer clock;
    clock.start();
    const auto found = query->evaluationSeries(trials, "test_accuracy");
    const auto took = clock.elapsed();
    qInfo("evaluations of %zu trials in %lld ms", found.size(), static_cast<long long>(took));
    QCOMPARE(found.size(), trials.size());
    QCOMPARE(found.at(77).size(), std::size_t{5});
}

QTEST_APPLESS_MAIN(tst_TrialCurves)
#include "tst_trial_curves.moc"
