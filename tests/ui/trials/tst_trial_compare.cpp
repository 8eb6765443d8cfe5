#include <QAbstractItemModelTester>
#include <QtTest>
#include <cmath>
#include <limits>

#include "ui/history/command_text.h"
#include "ui/history/compared_curves.h"
#include "ui/history/spec_diff.h"
#include "ui/trials/trial_actions.h"
#include "ui/trials/trials_page_state.h"

using namespace lockstep;
using namespace lockstep::ui;

namespace {

TrialSpec specOf(std::uint64_t seed, double rate = 0.1) {
    TrialSpec spec;
    spec.seed = seed;
    spec.learningRate = rate;
    return spec;
}

TrialCurve curveOf(std::int64_t trial, const TrialSpec& spec, const std::vector<SeriesPoint>& points) {
    auto curve = std::make_shared<Curve>();
    for (const auto& point : points) curve->append(static_cast<double>(point.step), point.seconds, point.value);
    return {trial, spec, curve, nullptr, 0};
}

TrialRow rowIn(const std::string& state) {
    TrialRow row;
    row.id = 1;
    row.state = state;
    return row;
}

}  // namespace

class TestTrialCompare : public QObject {
    Q_OBJECT
private slots:
    // Differences of specs
    void onlyDifferencesAreKept();
    void absentFieldsAreNotEmptyOnes();
    void theDiffModel();
    // Groups and bands
    void groupsDifferInSeedAndTitleAlone();
    void theBandIsMeanAndSampleDeviation();
    void bandsAreOfThreeKinds();
    void curvesMeetOnTheUnionOfSteps();
    void strangeCurvesDoNoHarm();
    void comparedCurvesHaveNamesAndColours();
    void meansOfSeedsAreKept();
    void twoCurvesOfATrialShareItsColour();
    // What may be done, what is said
    void actions_data();
    void actions();
    void actionsOfSeveral();
    void theCommandSaysTheSpec();
    void emptyPagesSayWhatToDo();
};

void TestTrialCompare::onlyDifferencesAreKept() {
    const std::vector<TrialSpec> specs{specOf(1, 0.1), specOf(1, 0.1), specOf(2, 0.3)};
    const auto fields = differencesOf(specs);
    QCOMPARE(fields.size(), std::size_t{2});
    QVERIFY((fields[0] == SpecField{"learning_rate", {"0.1", "0.1", "0.3"}}));
    QVERIFY((fields[1] == SpecField{"seed", {"1", "1", "2"}}));
    QVERIFY(differencesOf(std::vector<TrialSpec>{specOf(1), specOf(1)}).empty());
    QVERIFY(differencesOf({}).empty());
}

void TestTrialCompare::absentFieldsAreNotEmptyOnes() {
    auto first = specOf(1), second = specOf(1);
    second.model.params["width"] = std::int64_t{64};
    second.model.params["activation"] = std::string();
    const std::vector<TrialSpec> specs{first, second};
    const auto fields = differencesOf(specs);
    QCOMPARE(fields.size(), std::size_t{2});
    QCOMPARE(fields[0].key, QString("model.activation"));
    QVERIFY(fields[0].values[0].isNull() && !fields[0].values[1].isNull());
    QCOMPARE(fields[1].values, (QStringList{QString(), "64"}));
    QCOMPARE(fieldsOf(specs)[3].key, QString("model"));  // between its neighbours in the file
}

void TestTrialCompare::theDiffModel() {
    SpecDiffModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    const std::vector<TrialSpec> two{specOf(1), specOf(2)};
    model.show(two, {"#1", "#2"});
    QCOMPARE(model.rowCount(), 1);
    QCOMPARE(model.index(0, 1).data().toString(), QString("2"));
    QCOMPARE(model.headerData(0, Qt::Vertical, Qt::DisplayRole).toString(), QString("Seed"));
    QCOMPARE(model.headerData(0, Qt::Vertical, Qt::ToolTipRole).toString(), QString("Seed (seed)"));
    auto slow = specOf(1), other = specOf(1);
    slow.linkBandwidth = 100;
    slow.batchNorm = "synchronised";
    slow.onLostDevice = "stop";
    slow.model.id = "resnet18-cifar";
    slow.optimizer.params["momentum"] = 0.5;
    model.show(std::vector<TrialSpec>{slow, other}, {"#1", "#2"});
    QStringList names;
    for (int row = 0; row < model.rowCount(); ++row)
        names << model.headerData(row, Qt::Vertical, Qt::DisplayRole).toString();
    QCOMPARE(names, (QStringList{"Model", "Optimizer: momentum", "Batch norm", "Lost device", "Simulated bandwidth"}));
    model.show(std::span(two).first(1), {"#1"});
    QVERIFY(model.rowCount() > 10);
    model.show({}, {});
    QCOMPARE(model.rowCount(), 0);
}

void TestTrialCompare::groupsDifferInSeedAndTitleAlone() {
    std::vector<TrialSpec> specs{specOf(1), specOf(1, 0.3), specOf(2), specOf(3, 0.3), specOf(1)};
    specs[2].title = "another name";
    using Groups = std::vector<std::vector<std::size_t>>;
    QVERIFY((seedGroups(specs) == Groups{{0, 2, 4}, {1, 3}}));
    QVERIFY(seedGroups({}).empty());
    // A person's own words and numbers keep them apart as they are.
    specs[1].optimizer.params["momentum"] = 0.9;
    specs[3].optimizer.params["momentum"] = 0.9000000000000001;
    QCOMPARE(seedGroups(specs).size(), std::size_t{3});
}

void TestTrialCompare::theBandIsMeanAndSampleDeviation() {
    const std::vector<CurvePoints> curves{{{1, 2}, {1, 10}}, {{1, 2}, {2, 10}}, {{1, 2}, {6, 10}}};
    const auto band = bandOf(curves);
    QCOMPARE(band.x, (std::vector<double>{1, 2}));
    QCOMPARE(band.mean, (std::vector<double>{3, 10}));
    QCOMPARE(band.deviation[0], std::sqrt(7.0));  // (4 + 1 + 9) / 2
    QCOMPARE(band.deviation[1], 0.0);
    QCOMPARE(band.count, (std::vector<int>{3, 3}));
    QCOMPARE(band.low, (std::vector<double>{1, 10}));
    QCOMPARE(band.high, (std::vector<double>{6, 10}));
}

void TestTrialCompare::bandsAreOfThreeKinds() {
    std::vector<std::shared_ptr<const Curve>> members;
    for (const double value : {1.0, 2.0, 6.0}) {
        auto curve = std::make_shared<Curve>();
        curve->append(Curve::Place{10, 2 * value, 4 * value}, value);
        members.push_back(curve);
    }
    const auto edges = [&](BandKind kind) {
        const MeanCurve made = meanOf(members, kind);
        return std::pair(made.band.low->value(0), made.band.high->value(0));
    };
    const double deviation = std::sqrt(7.0), error = std::sqrt(7.0 / 3);
    QCOMPARE(edges(BandKind::Deviation), std::pair(3 - deviation, 3 + deviation));
    QCOMPARE(edges(BandKind::Extremes), std::pair(1.0, 6.0));
    QVERIFY(std::abs(edges(BandKind::StandardError).second - 3 - error) < 1e-12);
    const auto mean = meanOf(members, BandKind::Deviation).mean;
    QVERIFY(mean->x(CurveAxis::Seconds, 0) == 6 && mean->x(CurveAxis::DeviceSeconds, 0) == 12);
}

void TestTrialCompare::curvesMeetOnTheUnionOfSteps() {
    const std::vector<CurvePoints> curves{{{0, 10}, {0, 100}}, {{5, 20}, {50, 50}}};
    const auto band = bandOf(curves);
    QCOMPARE(band.x, (std::vector<double>{0, 5, 10, 20}));
    QCOMPARE(band.mean, (std::vector<double>{0, 50, 75, 50}));
    QCOMPARE(band.count, (std::vector<int>{1, 2, 2, 1}));  // neither is continued beyond its ends
    QCOMPARE(band.deviation[0], 0.0);
    QCOMPARE(band.deviation[2], std::sqrt(2 * 25.0 * 25.0));
}

void TestTrialCompare::strangeCurvesDoNoHarm() {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<CurvePoints> curves{{{1, 2, 3}, {1, nan, 3}}, {{}, {}}, {{2}, {4}}, {{5, 5}, {1, 2}}};
    const auto band = bandOf(curves);
    QCOMPARE(band.x, (std::vector<double>{1, 2, 3, 5}));
    QCOMPARE(band.mean, (std::vector<double>{1, 3, 3, 1}));  // 2 between 1 and 3, and 4
    QVERIFY(bandOf({}).x.empty());
}

void TestTrialCompare::comparedCurvesHaveNamesAndColours() {
    std::vector<TrialCurve> trials{curveOf(9, specOf(2), {{1, 0, 0.5}}), curveOf(4, specOf(1), {{1, 0, 0.7}}),
                                   curveOf(7, specOf(1, 0.3), {{1, 0, 0.9}}), curveOf(8, specOf(1, 0.9), {})};
    trials[2].spec.title = "fast";
    const auto& percent = comparedMetric("test_accuracy");
    QVERIFY(percent.percent);
    CurveComparison comparison;
    const auto single = comparison.compare(trials, percent, false);
    QCOMPARE(single.size(), std::size_t{3});  // one has no points
    QCOMPARE(single[2].name, QString("#7 fast"));
    QVERIFY(single[0].curve == trials[0].curve && !single[0].band);
    const auto grouped = comparison.compare(trials, percent, true);
    QCOMPARE(grouped.size(), std::size_t{2});
    QCOMPARE(grouped[0].series, std::int64_t{4});
    QCOMPARE(grouped[0].name, QString("#4, #9"));
    QCOMPARE(grouped[0].curve->value(0), 0.6);
    QCOMPARE(grouped[0].band->high->value(0), 0.6 + std::sqrt(0.02));
    QCOMPARE(grouped[0].band->low->value(0), 0.6 - std::sqrt(0.02));
}

// The mean has the members' mean time, and what did not change is not made again.
void TestTrialCompare::meansOfSeedsAreKept() {
    std::vector<TrialCurve> trials{curveOf(4, specOf(1), {{1, 10, 1}, {3, 30, 3}}),
                                   curveOf(9, specOf(2), {{1, 20, 3}, {3, 60, 5}})};
    CurveComparison comparison;
    const auto& loss = comparedMetric("test_loss");
    const auto first = comparison.compare(trials, loss, true);
    QCOMPARE(first[0].curve->x(CurveAxis::Seconds, 1), 45.0);
    QCOMPARE(first[0].curve->value(1), 4.0);
    QVERIFY(comparison.compare(trials, loss, true)[0].curve == first[0].curve);
    trials[1] = curveOf(9, specOf(2), {{1, 20, 3}, {3, 60, 5}, {4, 80, 6}});
    QVERIFY(comparison.compare(trials, loss, true)[0].curve != first[0].curve);
}

void TestTrialCompare::twoCurvesOfATrialShareItsColour() {
    std::vector<TrialCurve> trials{curveOf(4, specOf(1), {{1, 0, 0.5}})};
    trials[0].second = curveOf(4, specOf(1), {{1, 0, 0.6}}).curve;
    const auto both = CurveComparison().compare(trials, comparedMetric("both_losses"), false);
    QCOMPARE(both.size(), std::size_t{2});
    QVERIFY(!both[0].second && both[1].second && both[0].series == 4 && both[1].series == 4);
    QCOMPARE(both[0].name, QString("#4 · test"));
    QCOMPARE(both[1].name, QString("#4 · train"));
}

void TestTrialCompare::actions_data() {
    QTest::addColumn<QString>("state");
    QTest::addColumn<bool>("resume");
    QTest::addColumn<bool>("trash");
    for (const char* live : {"queued", "preparing", "running", "paused", "stopping"})
        QTest::newRow(live) << live << false << false;
    for (const char* over : {"stopped", "failed", "cancelled", "crashed"}) QTest::newRow(over) << over << true << true;
    QTest::newRow("finished") << "finished" << false << true;
}

void TestTrialCompare::actions() {
    QFETCH(QString, state);
    QFETCH(bool, resume);
    QFETCH(bool, trash);
    auto row = rowIn(state.toStdString());
    const TrialRow* selected[] = {&row};
    const auto can = actionsFor(selected);
    QVERIFY(can.open && can.clone && can.copyCommand && can.star && can.tag && can.archive && !can.restore &&
            !can.unarchive);
    QCOMPARE(can.resume, resume);
    QCOMPARE(can.trash, trash);
    row.deleted = true;
    const auto thrown = actionsFor(selected);
    QVERIFY(thrown.restore && thrown.clone && !thrown.trash && !thrown.resume && !thrown.star && !thrown.archive);
}

void TestTrialCompare::actionsOfSeveral() {
    auto done = rowIn("finished"), live = rowIn("running");
    done.star = done.archived = true;
    const TrialRow* both[] = {&done, &live};
    auto can = actionsFor(both);
    QVERIFY(!can.open && !can.clone && !can.resume && !can.copyCommand);
    QVERIFY(can.star && !can.starred && can.trash && can.archive && !can.unarchive);
    live.star = live.archived = true;
    can = actionsFor(both);
    QVERIFY(can.starred && can.unarchive && !can.archive);
    QVERIFY(!actionsFor({}).star && !actionsFor({}).restore);
}

void TestTrialCompare::theCommandSaysTheSpec() {
    TrialSpec spec;
    spec.title = "Anna's";
    spec.dataPath = "/data/my set";
    spec.optimizer = {"adamw", {{"beta1", 0.9}}};
    spec.augmentation = {{"flip", true}, {"crop", std::int64_t{4}}};
    spec.model.params = {{"kind", std::string("3")}};
    spec.learningRate = 1e-5;
    spec.shards = 4;
    QCOMPARE(trainCommand(spec),
             QString("lockstep train --dataset fashion-mnist --data '/data/my set' --model fashion-cnn"
                     " --set 'model.kind=\"3\"' --optimizer adamw --set optimizer.beta1=0.9 --title 'Anna'\\''s'"
                     " --lr 1e-05 --set augmentation.crop=4 --set augmentation.flip=true --set shards=4"));
}

void TestTrialCompare::emptyPagesSayWhatToDo() {
    const auto way = [](const TrialsPageState& at) { return emptyTrials(at)->ways.front().command; };
    TrialsPageState now;
    QVERIFY(emptyTrials(now)->ways.isEmpty());  // still reading
    now.unreadable = Explanation{"It is damaged", "Move it away"};
    QVERIFY(emptyTrials(now)->text.contains("Move it away"));
    now.unreadable.reset();
    now.loaded = true;
    QCOMPARE(way(now), QString("page.train"));
    QCOMPARE(emptyTrials(now)->title, QString("No trials yet"));
    now.orphans = 1200;  // of a history that was lost
    QCOMPARE(emptyTrials(now)->title, QString("No trials in the history"));
    QVERIFY(emptyTrials(now)->text.contains("1,200 run folders") &&
            emptyTrials(now)->text.contains("`lockstep import`"));
    now.total = 12;
    QCOMPARE(emptyTrials(now)->title, QString("No current trials"));
    now.filter = " resnet ";
    QCOMPARE(emptyTrials(now)->title, QString("No trial matches “resnet”"));
    QCOMPARE(way(now), QString(kClearFilter));
    now.filter.clear();
    now.shelf = Shelf::Trash;
    QCOMPARE(way(now), QString(kShowCurrent));
    now.shown = 1234;
    now.selected = 2;
    QVERIFY(!emptyTrials(now));
    QCOMPARE(countText(now), QString("1,234 trials, 2 selected"));
}

QTEST_GUILESS_MAIN(TestTrialCompare)
#include "tst_trial_compare.moc"
