#include <QtTest>
#include <cmath>

#include "tests/history/history_support.h"
#include "tests/ui/compare/compare_facts.h"
#include "ui/compare/curve_lines.h"
#include "ui/compare/stretch_feed.h"
#include "ui/compare/target_list.h"
#include "ui/plot/plot_view.h"

using namespace lockstep;
using namespace lockstep::ui;
using namespace lockstep::test;

namespace {

std::vector<EvaluationPoint> evaluationsOf(const std::vector<double>& values) {
    std::vector<EvaluationPoint> points;
    for (const double value : values) {
        const auto epoch = static_cast<std::int64_t>(points.size()) + 1;
        points.push_back({100 * epoch, epoch, 6400.0 * epoch, 10.0 * epoch, 20.0 * epoch, value});
    }
    return points;
}

// Twelve settings with two seeds each, trials 1 to 24, better by the setting; those of the last were stopped.
CompareFacts twelveSettings() {
    CompareFacts facts;
    SweepResult sweep;
    sweep.group.id = 1;
    sweep.objective = findMetric("validation_accuracy");
    sweep.spec.vary = {{"learning_rate", NumberRange{.low = 0.001, .high = 1}}};
    for (std::int64_t id = 1; id <= 24; ++id) {
        const std::int64_t cell = (id - 1) / 2;
        const double accuracy = 0.3 + 0.05 * static_cast<double>(cell) + (id % 2 == 0 ? 0.02 : 0);
        TrialRow row = madeRow(id, accuracy, cell == 11 ? "stopped" : "finished");
        if (cell == 11) row.epoch = 3;
        facts.settings["learning_rate"][id] = 0.01 * static_cast<double>(cell + 1);
        if (id % 2 == 1) sweep.cells.push_back({.number = cell, .settings = {}, .trials = {id, id + 1}});
        facts.rows.push_back(row);
    }
    facts.sweep = std::move(sweep);
    return facts;
}

MemberCurve memberOf(const std::vector<double>& values) {
    return curveOfEvaluations({TrialWorlds{64, {{0, 2, 100, 6400, 0}}}, evaluationsOf(values)});
}

}  // namespace

class TestCurves : public QObject {
    Q_OBJECT
private slots:
    void theTargetIsReachedByTheFirstEvaluationAtOrPastIt() {
        const auto points = evaluationsOf({0.5, 0.8, 0.7, 0.9});
        QCOMPARE(firstReaching(points, 0.8, Better::Higher)->step, std::int64_t{200});
        QCOMPARE(firstReaching(points, 0.81, Better::Higher)->step, std::int64_t{400});
        QCOMPARE(firstReaching(points, 0.7, Better::Lower)->step, std::int64_t{100});
        QVERIFY(!firstReaching(points, 0.95, Better::Higher) && !firstReaching(points, 0.4, Better::Lower));
        QVERIFY(!firstReaching(points, 0.8, Better::Neither) && !firstReaching({}, 0.8, Better::Higher));
    }

    void amountsAreInTheUnitOfTheAxis() {
        const auto point = evaluationsOf({0.5, 0.6})[1];
        QCOMPARE(amountAt(point, PlotAxis::Step), 200.0);
        QCOMPARE(amountAt(point, PlotAxis::Epoch), 2.0);
        QCOMPARE(amountAt(point, PlotAxis::Epoch, 50), 4.0);
        QCOMPARE(amountAt(point, PlotAxis::Samples), 12'800.0);
        QCOMPARE(amountAt(point, PlotAxis::Time), 20.0);
        QCOMPARE(amountAt(point, PlotAxis::DeviceTime), 40.0);
    }

    void theMedianCountsThoseThatNeverGotThere() {
        const TargetRun fast{10, 60, true}, slow{30, 60, true}, never{{}, 60, true}, running{{}, 20, false};
        const auto medianOf = [](std::vector<TargetRun> runs) { return summaryOf(runs).median; };
        QCOMPARE(medianOf({slow, fast, slow}), std::optional(30.0));
        QCOMPARE(medianOf({slow, fast}), std::optional(20.0));
        QCOMPARE(medianOf({fast, never, slow}), std::optional(30.0));
        QVERIFY(!medianOf({fast, never}) && !medianOf({never, fast, never}) && !medianOf({}));
        QCOMPARE(medianOf({fast, running}), std::optional(10.0));  // nothing can be said of it yet
        const auto summary = summaryOf(std::vector{fast, never, running});
        QVERIFY(summary.reached == 1 && summary.unreached == 1 && summary.underWay == 1 && summary.budget == 60);
        QVERIFY(isEarlier(summaryOf(std::vector{slow}), summaryOf(std::vector{never})));
        QVERIFY(isEarlier(summaryOf(std::vector{fast}), summaryOf(std::vector{slow})));
        const TargetRun failed{{}, 0, true};
        QVERIFY(isEarlier(summaryOf(std::vector{never}), summaryOf(std::vector{failed})));
        QVERIFY(!isEarlier(summaryOf(std::vector{failed}), summaryOf(std::vector{never})));
    }

    void theTimeToTheTargetIsThatOfSql() {
        const Folder folder;
        const auto store = openStore(folder.file());
        std::vector<std::int64_t> trials;
        for (int i = 0; i < 6; ++i) {
            trials.push_back(store->createTrial({}, folder.runs()));
            const auto sink = store->sinkFor(trials.back(), store->beginAttempt(trials.back(), 0));
            for (int epoch = 1; epoch <= 5; ++epoch) sink->post(epoch, evalOf(100 * epoch, 0.15 * epoch + 0.02 * i));
        }
        // One goes on from its second epoch, and is slower from there.
        const auto again = store->sinkFor(trials[5], store->beginAttempt(trials[5], 200));
        for (int epoch = 3; epoch <= 6; ++epoch) {
            EvalDone done = evalOf(100 * epoch, 0.1 * epoch + 0.1);
            done.seconds += 50;
            again->post(10 + epoch, done);
        }
        const auto progress = openQuery(folder.file())->evaluationSeries(trials, "test_accuracy");
        int reached = 0;
        for (const double target : {0.3, 0.6, 0.7, 0.8, 0.85}) {
            for (const auto trial : trials) {
                const auto number = [&](const char* what) {
                    return ask(folder.file(), std::string("SELECT coalesce(") + what +
                                                  ", 'never') FROM event e WHERE kind = 'eval_done' AND trial = " +
                                                  std::to_string(trial) +
                                                  " AND json_extract(json, '$.accuracy') >= " + std::to_string(target) +
                                                  " AND attempt = (SELECT max(o.attempt) FROM event o"
                                                  " WHERE o.trial = e.trial AND o.step = e.step)");
                };
                const auto* found = firstReaching(progress.at(trial), target, Better::Higher);
                QCOMPARE(found ? QByteArray::number(found->step) : QByteArray("never"),
                         QByteArray::fromStdString(number("min(step)")));
                if (!found) continue;
                ++reached;
                QCOMPARE(found->seconds, std::stod(number("min(json_extract(json, '$.seconds'))")));
            }
        }
        QVERIFY(reached > 5 && reached < 30);
    }

    void theRankingSaysWhoReachedItAndWhen() {
        CompareFacts facts = twelveSettings();
        auto scene = std::make_shared<CompareScene>(*sceneOf(facts));
        scene->target = 0.6;
        TrialSelection selection;
        const auto groups = curveGroups(*scene, selection);
        ProgressOfTrials progress;
        for (std::int64_t id = 1; id <= 24; ++id) {
            TrialProgress each;
            const double end = facts.rows[static_cast<std::size_t>(id - 1)].bestAccuracy.value();
            if (id < 21 || id > 22) each.evaluations = evaluationsOf({0.3 * end, 0.8 * end, end});
            progress.emplace(id, std::make_shared<const TrialProgress>(each));
        }
        const auto ranking = rankedByTarget(*scene, groups, progress, PlotAxis::Time);
        QCOMPARE(ranking.size(), std::size_t{11});  // one was not evaluated
        QCOMPARE(ranking.front().summary.median, std::optional(20.0));
        QCOMPARE(targetText(ranking.front(), PlotAxis::Time), QString("after 20 s"));
        QVERIFY(!ranking.back().summary.median);
        QCOMPARE(targetText(ranking.back(), PlotAxis::Time), QString("> budget (30 s)"));
        scene->target.reset();
        QVERIFY(rankedByTarget(*scene, groups, progress, PlotAxis::Time).empty());
    }

    void groupsAreRankedByTheirMeansAndTheTenBestHaveColours() {
        TrialSelection selection;
        const auto groups = curveGroups(*sceneOf(twelveSettings()), selection);
        QCOMPARE(groups.size(), std::size_t{12});
        QCOMPARE(groups[0].group, std::int64_t{21});
        QCOMPARE(groups[0].objective, 0.81);
        QCOMPARE(groups[0].rows, (std::vector<std::size_t>{20, 21}));
        QCOMPARE(groups[0].lead, std::size_t{21});
        QVERIFY(groups[0].name.startsWith("#22 (2 seeds) learning_rate="));
        QVERIFY(groups[9].isColoured() && !groups[10].isColoured());
        QVERIFY(groups[11].isCutShort && groups[11].group == 23);  // better than all, but not at its end
        QSet<int> looks;
        for (const CurveGroup& group : groups)
            if (group.isColoured()) looks << group.look();
        QVERIFY(looks.size() == 10 && *std::ranges::min_element(looks) == 10);  // pinned ones have those below
    }

    void pinnedGroupsHaveTheirOwnColours() {
        TrialSelection selection;
        selection.setPinned({7, 1, 2});
        const auto groups = curveGroups(*sceneOf(twelveSettings()), selection);
        const auto of = [&](std::int64_t group) { return *std::ranges::find(groups, group, &CurveGroup::group); };
        QCOMPARE(of(7).look(), *selection.placeOf(7));
        QVERIFY(of(7).apart.empty());
        QVERIFY(!of(1).isColoured());  // of two that are pinned each has a curve, and the mean is grey
        QCOMPARE(of(1).apart, (std::map<std::size_t, int>{{0, *selection.placeOf(1)}, {1, *selection.placeOf(2)}}));
    }

    // As in every other view; the name says of how many seeds it is.
    void aMeanIsOfTheSeedsThatABrushLeaves() {
        TrialSelection selection;
        const auto scene = sceneOf(twelveSettings(), {{"metric.validation_accuracy", {.ranges = {{0.61, 0.68}}}}});
        const auto groups = curveGroups(*scene, selection);
        QCOMPARE(scene->passing(), std::size_t{3});
        QCOMPARE(groups.size(), std::size_t{2});
        QCOMPARE(groups[0].objective, 0.66);
        QVERIFY(groups[0].name.startsWith("#16 (2 seeds) "));
        QCOMPARE(groups[1].objective, 0.62);
        QCOMPARE(groups[1].lead, std::size_t{13});  // the one that passes
        QCOMPARE(groups[1].rows, (std::vector<std::size_t>{13}));
        QVERIFY(groups[1].name.startsWith("#14 (1 of 2 seeds) "));
        selection.pin(13, true);
        QCOMPARE(curveGroups(*scene, selection)[1].rows.size(), std::size_t{2});  // pinned ones are always shown
    }

    void linesAreMeansWithBandsAndTheOthersGrey() {
        TrialSelection selection;
        const auto scene = sceneOf(twelveSettings());
        const auto groups = curveGroups(*scene, selection);
        std::map<std::int64_t, MemberCurve> members;
        for (std::int64_t id = 1; id <= 24; ++id) members[id] = memberOf({0.1, 0.2, id % 2 == 0 ? 0.4 : 0.2});
        members[3] = {};
        const auto curveOf = [&](std::int64_t trial) { return members[trial]; };
        CurveLines maker;
        auto lines = maker.make(*scene, groups, {}, curveOf);
        QCOMPARE(lines.series.size(), std::size_t{10});
        QCOMPARE(lines.behind.size(), std::size_t{2});
        const PlotSeries& best = lines.series[0];
        QVERIFY(best.key == 22 && best.stepsPerEpoch == 100 && best.samplesPerStep == 64 && !best.endsOpen);
        QCOMPARE(best.curve->value(2), 0.3);
        QCOMPARE(best.band->high->value(2), 0.3 + std::sqrt(0.02));
        QCOMPARE(best.curve->x(CurveAxis::DeviceSeconds, 2), 60.0);
        QCOMPARE(best.band->meaning, QString("standard deviation of 2 seeds"));
        QVERIFY(lines.behind[1].endsOpen && lines.behind[1].color < 0 && !lines.behind[1].band);
        QVERIFY(!maker.lineOf(3)->band);  // of one seed
        const auto kept = best.curve;
        lines = maker.make(*scene, groups, {BandKind::Deviation, true, false}, curveOf);
        QVERIFY(lines.series[0].curve == kept);
        QCOMPARE(lines.behind.size(), std::size_t{2 + 19});  // and those members that have a curve
        QVERIFY(lines.behind[0].color < 0 && lines.behind.back().color >= 0);
        QVERIFY(!maker.make(*scene, groups, {std::nullopt, false, false}, curveOf).series[0].band);
        lines = maker.make(*scene, groups, {BandKind::Extremes, false, false}, curveOf);
        QVERIFY(lines.series[0].band->low->value(2) == 0.2 && lines.series[0].band->high->value(2) == 0.4);
        lines = maker.make(*scene, groups, {BandKind::StandardError, false, false}, curveOf);
        QCOMPARE(lines.series[0].band->high->value(2), 0.3 + 0.1);
    }

    void thousandsOfTrialsAreDrawn() {
        CompareFacts facts;
        std::map<std::int64_t, MemberCurve> members;
        for (std::int64_t id = 1; id <= 9'000; ++id) {
            facts.rows.push_back(madeRow(id, 0.0001 * static_cast<double>(id % 7'000)));
            facts.settings["learning_rate"][id] = 0.01 * static_cast<double>(id / 3);
            members[id] = memberOf({0.1, 0.2, 0.3, 0.4, 0.00005 * static_cast<double>(id)});
        }
        const auto scene = sceneOf(facts);
        QElapsedTimer clock;
        clock.start();
        const auto groups = curveGroups(*scene, TrialSelection());
        CurveLines maker;
        auto lines = maker.make(*scene, groups, {}, [&](std::int64_t trial) { return members[trial]; });
        const auto made = clock.restart();
        QCOMPARE(lines.series.size() + lines.behind.size(), std::size_t{3001});
        PlotView plot({"Accuracy", "", {}, {}, {}});
        plot.resize(900, 380);
        plot.show();
        plot.setBehind(std::move(lines.behind));
        plot.setSeries(std::move(lines.series));
        QVERIFY(!plot.grab().isNull());
        const auto drawn = clock.elapsed();
        qInfo("9000 trials: lines in %lld ms, drawn in %lld ms", static_cast<long long>(made),
              static_cast<long long>(drawn));
    }

    void stretchesKeepTheirExtremes() {
        const std::vector<SeriesStretch> stretches{{10, 10, 1, 2, 4, 3}, {20, 10, 2, 1, 5, 2.5}, {21, 1, 2.1, 3, 3, 3}};
        const MemberCurve member = curveOfStretches(stretches, {64, {{0, 4, 10, 640, 0}}});
        QCOMPARE(member.curve->size(), std::size_t{3});
        QCOMPARE(member.measured->size(), std::size_t{5});
        QCOMPARE(member.measured->extremes(CurveAxis::Step, 0, 30), (std::pair<double, double>(1, 5)));
        QCOMPARE(member.curve->x(CurveAxis::DeviceSeconds, 1), 8.0);
        QVERIFY(!curveOfStretches(std::span(stretches).last(1), {}).measured);
    }

    void detailIsReadOfWhatIsMagnified() {
        const StepRange whole{0, 100'000};
        const auto isRange = [](const std::optional<StepRange>& range, std::int64_t from, std::int64_t to) {
            return range && range->from == from && range->to == to;
        };
        QVERIFY(!StretchFeed::detailFor({0, 60'000}, whole, std::nullopt));
        const auto part = StretchFeed::detailFor({20'000, 30'000}, whole, std::nullopt);
        QVERIFY(isRange(part, 10'000, 40'000));
        QVERIFY(isRange(StretchFeed::detailFor({22'000, 32'000}, whole, part), 10'000, 40'000));  // a small movement
        QVERIFY(isRange(StretchFeed::detailFor({35'000, 45'000}, whole, part), 25'000, 55'000));
        QVERIFY(isRange(StretchFeed::detailFor({20'000, 21'000}, whole, part), 19'000, 22'000));
        QVERIFY(!StretchFeed::detailFor({0, 100'000}, whole, part));
    }
};

QTEST_MAIN(TestCurves)
#include "tst_curves.moc"
