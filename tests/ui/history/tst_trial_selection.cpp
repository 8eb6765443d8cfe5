#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>
#include <set>

#include "ui/history/trial_selection.h"

using namespace lockstep::ui;

class TestTrialSelection : public QObject {
    Q_OBJECT
private slots:
    void eachChangeIsSaidOnce() {
        TrialSelection selection;
        const QSignalSpy filter(&selection, &TrialSelection::filterChanged),
            pinned(&selection, &TrialSelection::pinnedChanged), hovered(&selection, &TrialSelection::hoveredChanged);
        for (int i = 0; i < 2; ++i) {
            selection.setFilter("resnet");
            selection.setPinned({3, 1});
            selection.setHovered(7);
        }
        QCOMPARE(filter.count() + 10 * pinned.count() + 100 * hovered.count(), 111);
        QCOMPARE(selection.filter(), QString("resnet"));
        QCOMPARE(selection.pinned(), std::vector<std::int64_t>({3, 1}));
        QCOMPARE(selection.hovered(), std::optional<std::int64_t>(7));
        selection.setHovered(std::nullopt);
        QCOMPARE(hovered.count(), 2);
    }

    // A page that says what it has just heard does not go round in circles.
    void aPageMayAnswerWithWhatItHeard() {
        TrialSelection selection;
        int heard = 0;
        connect(&selection, &TrialSelection::pinnedChanged, this, [&] {
            ++heard;
            selection.setPinned(selection.pinned());
        });
        selection.setPinned({5});
        QCOMPARE(heard, 1);
    }

    // Their colours: each keeps its own while it is pinned, and the eleventh has none.
    void pinnedTrialsKeepTheirPlaces() {
        TrialSelection selection;
        selection.setPinned({3, 1, 8});
        const auto eight = selection.placeOf(8);
        selection.pin(1, false);
        QCOMPARE(selection.placeOf(8), eight);
        QVERIFY(!selection.placeOf(1));
        for (std::int64_t trial = 20; trial < 30; ++trial) selection.pin(trial, true);
        std::set<int> places;
        for (const auto trial : selection.pinned())
            if (const auto place = selection.placeOf(trial)) places.insert(*place);
        QCOMPARE(places.size(), TrialSelection::kMostPlaces);
        QVERIFY(!selection.placeOf(29));
    }

    void placesComeBackWithThePins() {
        TrialSelection selection;
        for (const std::int64_t trial : {34, 31, 8}) selection.pin(trial, true);
        selection.pin(34, false);
        selection.pin(2, true);  // takes the place that has become free
        const auto places = [](const TrialSelection& of) {
            std::vector<std::optional<int>> all;
            for (const std::int64_t trial : {2, 8, 31}) all.push_back(of.placeOf(trial));
            return all;
        };
        const auto before = places(selection);
        QCOMPARE(before, (std::vector<std::optional<int>>{0, 2, 1}));
        selection.unpin(selection.pinned());
        QVERIFY(selection.pinned().empty());
        selection.steps().undo();
        QCOMPARE(places(selection), before);
        const QTemporaryDir folder;
        QSettings settings(folder.filePath("window.ini"), QSettings::IniFormat);
        selection.save(settings);
        TrialSelection next;
        next.restore(settings);
        QCOMPARE(places(next), before);
    }

    void anEleventhPinIsRefusedAndADoubleClickLeavesNone() {
        TrialSelection selection;
        const QSignalSpy refused(&selection, &TrialSelection::tooMany);
        for (std::int64_t trial = 1; trial <= 11; ++trial) selection.pin(trial, true);
        QCOMPARE(refused.count(), 1);
        QCOMPARE(selection.pinned().size(), TrialSelection::kMostPlaces);
        const int steps = selection.steps().count();
        selection.pin(4, false);
        selection.pin(4, true);  // at once: as the second click of a double click
        QCOMPARE(selection.placeOf(4), std::optional(3));
        QCOMPARE(selection.steps().count(), steps);
        selection.pin(2, false);
        const auto without = selection.pinned();
        selection.pin(5, false);
        selection.pin(5, true);
        QCOMPARE(selection.placeOf(5), std::optional(4));  // not the place of 2
        QCOMPARE(selection.pinned(), without);
        selection.pin(5, false);
        const int before = selection.steps().count();
        selection.pin(77, true);
        selection.pin(77, false);
        QCOMPARE(selection.steps().count(), before);
    }

    void brushesAndPinsAreTakenBackStepByStep() {
        TrialSelection selection;
        const QSignalSpy heard(&selection, &TrialSelection::brushesChanged);
        const AxisBrush narrow{.ranges = {{1, 2}}}, wide{.ranges = {{1, 3}}};
        selection.setScope(3);
        selection.dragBrush("batch", narrow);
        selection.dragBrush("batch", wide);
        selection.brush("batch", wide);
        selection.pin(7, true);
        QCOMPARE(selection.steps().count(), 2);
        selection.steps().undo();
        QVERIFY(selection.pinned().empty());
        QCOMPARE(selection.brushes().at("batch"), wide);
        selection.steps().undo();
        QVERIFY(selection.brushes().empty());  // what was dragged is one step
        selection.steps().redo();
        QCOMPARE(selection.brushes().at("batch"), wide);
        selection.dragBrush("batch", narrow);
        selection.dropDrag();
        QCOMPARE(selection.brushes().at("batch"), wide);
        QVERIFY(heard.count() >= 4);
    }

    void eachSweepHasItsOwnBrushesAndTheNextWindowFindsThem() {
        QTemporaryDir folder;
        QSettings settings(folder.filePath("window.ini"), QSettings::IniFormat);
        TrialSelection selection;
        selection.setScope(3);
        selection.brush("optimizer", {.choices = {"sgd"}, .without = {Absence::NotSet}});
        selection.setScope(4);
        QVERIFY(selection.brushes().empty());
        selection.brush("batch", {.ranges = {{32, 64}}});
        selection.pin(9, true);
        selection.save(settings);
        TrialSelection next;
        next.restore(settings);
        QCOMPARE(next.scope(), 4);
        QCOMPARE(next.brushes(), selection.brushes());
        QCOMPARE(next.pinned(), std::vector<std::int64_t>({9}));
        next.setScope(3);
        QVERIFY(next.brushes().at("optimizer").without.contains(Absence::NotSet));
        QVERIFY(!next.steps().canUndo());
    }
};

QTEST_APPLESS_MAIN(TestTrialSelection)
#include "tst_trial_selection.moc"
