#include <QComboBox>
#include <QLineEdit>
#include <QScrollArea>
#include <QSlider>
#include <QToolButton>

#include "tests/ui/compare/compare_desktop.h"
#include "ui/compare/race_text.h"
#include "ui/compare/race_view.h"
#include "ui/compare/race_window.h"

using namespace lockstep;
using namespace lockstep::ui;
using test::CompareDesktop;
using test::MadeQueue;

namespace {

constexpr double kTarget = 0.88;

// Six cells with three trials each: some come past the target late, some early, some never; some are slow and have many
// devices, so that every clock has an order of its own.
class RaceDesktop : public CompareDesktop {
public:
    RaceDesktop() : CompareDesktop(false) {
        const std::int64_t sweep = made->sweep("race", 6);
        for (std::int64_t cell = 0; cell < 6; ++cell)
            for (std::int64_t repeat = 0; repeat < 3; ++repeat)
                made->train(training(cell, repeat), GroupPlace{sweep, cell, repeat});
    }
    static MadeQueue::Training training(std::int64_t cell, std::int64_t repeat) {
        MadeQueue::Training training{.secondsEach = 4.0 + 5.0 * static_cast<double>((cell * 4 + repeat) % 6),
                                     .devices = static_cast<std::size_t>(1 + cell % 3)};
        const double most = 0.85 + 0.011 * static_cast<double>(cell) + 0.004 * static_cast<double>(repeat);
        const double pace = 0.3 + 0.2 * static_cast<double>((cell * 5 + 3) % 6);
        for (int epoch = 1; epoch <= 10; ++epoch) {
            const double dip = epoch % 4 == 0 ? 0.01 : 0;
            training.accuracies.push_back(most - 0.3 * std::exp(-pace * epoch) - dip);
        }
        return training;
    }

    void openRace() {
        open();
        QTRY_COMPARE(rows(), 18);
        QTRY_COMPARE(view().player().race().runners().size(), std::size_t(10));
    }
    void setTarget(const QString& text) {
        auto* field = page->findChild<QLineEdit*>("compareTarget");
        field->setFocus();
        field->setText(text);
        QTest::keyClick(field, Qt::Key_Return);
    }
    RaceView& view() const { return *page->findChild<RaceView*>(); }
    RacePlayer& player() const { return view().player(); }
    template <class Widget>
    Widget& control(const char* name) const {
        return *view().findChild<Widget*>(name);
    }
    void pin(const std::vector<std::int64_t>& trials) {
        for (const std::int64_t each : trials) selection->pin(each, true);
    }
    std::vector<std::int64_t> order() const {
        std::vector<std::int64_t> trials;
        for (const RunnerState& each : player().standing())
            trials.push_back(player().race().runners()[each.runner].trial);
        return trials;
    }
    void choose(PlotAxis clock) {
        auto& box = control<QComboBox>("raceClock");
        box.setCurrentIndex(box.findData(static_cast<int>(clock)));
        emit box.activated(box.currentIndex());
    }
};

// What `lockstep show --json --metric test_accuracy` tells of a trial, by a plain scan.
struct Told {
    std::int64_t trial = 0;
    std::optional<double> reached = std::nullopt;  // by the clock
    double atFinish = 0, best = 0;
};

Told told(const TrialQuery& query, std::int64_t trial, PlotAxis clock) {
    Told told{.trial = trial};
    const auto devices = static_cast<double>(query.started(trial)->devices.size());
    for (const SeriesPoint& each : query.series(trial, "test_accuracy")) {
        told.best = std::max(told.best, each.value);
        if (told.reached || each.value < kTarget) continue;
        told.atFinish = each.value;
        const auto step = static_cast<double>(each.step);
        if (clock == PlotAxis::Step) told.reached = step;
        if (clock == PlotAxis::Epoch) told.reached = step / 100;
        if (clock == PlotAxis::Samples) told.reached = step * ((99 * 128 + 64) / 100.0);
        if (clock == PlotAxis::Time) told.reached = each.seconds;
        if (clock == PlotAxis::DeviceTime) told.reached = each.seconds * devices;
    }
    return told;
}

std::vector<Told> finishes(const TrialQuery& query, std::vector<std::int64_t> trials, PlotAxis clock) {
    std::ranges::sort(trials);
    std::vector<Told> all;
    for (const std::int64_t trial : trials) all.push_back(told(query, trial, clock));
    std::ranges::stable_sort(all, [](const Told& a, const Told& b) {
        if (a.reached.has_value() != b.reached.has_value()) return a.reached.has_value();
        if (a.reached != b.reached) return a.reached < b.reached;
        return a.reached ? a.atFinish > b.atFinish : a.best > b.best;
    });
    return all;
}

QStringList csvOf(const std::vector<Told>& finishes) {
    const auto number = [](double value) { return QString::number(value, 'g', 17); };
    QStringList lines{"place,trial,reached_at,value"};
    for (const Told& each : finishes)
        lines << QString("%1,%2,%3,%4")
                     .arg(lines.size())
                     .arg(each.trial)
                     .arg(each.reached ? number(*each.reached) : QString(), number(each.best));
    return lines;
}

}  // namespace

class TestRaceView : public QObject {
    Q_OBJECT
private slots:
    void init() { QStandardPaths::setTestModeEnabled(true); }

    // By every clock, of trials of which some never come to the target.
    void orderAndTimesAreThoseThatTheHistoryTells() {
        RaceDesktop desktop;
        desktop.openRace();
        desktop.setTarget("88 %");
        const std::vector<std::int64_t> pinned{1, 2, 5, 7, 9, 11, 14, 16, 17, 18};
        desktop.pin(pinned);
        QTRY_COMPARE(desktop.player().race().runners().size(), pinned.size());
        QTRY_VERIFY(std::ranges::count(desktop.order(), 1) == 1);
        const auto query = std::move(TrialQuery::open(desktop.places.history())).value();
        std::set<QStringList> orders;
        for (const PlotAxis clock : kRaceClocks) {
            desktop.choose(clock);
            const auto expected = csvOf(finishes(*query, pinned, clock));
            const auto shown = [&] {
                desktop.view().settle();  // it may be out of sight
                return QString(desktop.view().csv()).split("\r\n", Qt::SkipEmptyParts);
            };
            QTRY_COMPARE(shown(), expected);          // the trials may be read anew
            QVERIFY(expected.back().contains(",,"));  // it stays short of the target, and is last
            orders.insert(expected);
        }
        QCOMPARE(orders.size(), kRaceClocks.size());
        const QString budget = raceFinishText(desktop.player().race(), desktop.player().standing().back().runner);
        QVERIFY2(budget.startsWith("> "), qPrintable(budget));
    }

    void withoutPinsTheTenBestRunAndEndAsTheyAreRanked() {
        RaceDesktop desktop;
        desktop.openRace();
        std::vector<std::int64_t> ranked;
        for (int row = 0; row < 10; ++row) ranked.push_back(desktop.cell(row, 0).mid(1).toLongLong());
        QCOMPARE(desktop.order(), ranked);
        desktop.pin({3});
        QTest::qWait(50);
        QCOMPARE(desktop.player().race().runners().size(), std::size_t(10));  // one alone is no race
        desktop.pin({4});
        QTRY_COMPARE(desktop.player().race().runners().size(), std::size_t(2));
        desktop.selection->unpin(desktop.selection->pinned());
        desktop.selection->brush("metric.test_accuracy", {.ranges = {{0, 0.88}}});
        QTRY_VERIFY(desktop.player().race().runners().size() == 10 && desktop.player().race().goal() < 0.88);
    }

    void itIsPlayedToItsEnd() {
        RaceDesktop desktop;
        desktop.openRace();
        const auto result = desktop.order();
        QVERIFY(desktop.player().isOver());
        auto& speed = desktop.control<QComboBox>("raceSpeed");
        speed.setCurrentIndex(speed.findText("×32"));
        emit speed.activated(speed.currentIndex());
        desktop.view().setFocus();
        QTest::keyClick(&desktop.view(), Qt::Key_Space);
        QVERIFY(desktop.player().isPlaying());
        QVERIFY(!desktop.player().isOver());
        QTRY_VERIFY(!desktop.player().isPlaying());
        QVERIFY(desktop.player().isOver());
        QCOMPARE(desktop.order(), result);
        QCOMPARE(desktop.control<QSlider>("raceSlider").value(), desktop.control<QSlider>("raceSlider").maximum());
    }

    void itStandsWhereItIsScrubbedTo() {
        RaceDesktop desktop;
        desktop.openRace();
        auto& slider = desktop.control<QSlider>("raceSlider");
        slider.setValue(slider.maximum() / 2);
        QCOMPARE(desktop.player().at(), 5.0);  // epochs of ten
        const auto query = std::move(TrialQuery::open(desktop.places.history())).value();
        for (const RunnerState& state : desktop.player().standing()) {
            const auto series = query->series(desktop.player().race().runners()[state.runner].trial, "test_accuracy");
            QCOMPARE(state.value, series[4].value);
            QVERIFY(state.best >= state.value);
        }
        desktop.view().setFocus();
        QTest::keyClick(&desktop.view(), Qt::Key_Right);
        QCOMPARE(desktop.player().at(), 5.1);
        QTest::keyClick(&desktop.view(), Qt::Key_Home);
        QCOMPARE(slider.value(), 0);
        for (const auto& line : QString(desktop.view().csv()).split("\r\n", Qt::SkipEmptyParts).mid(1))
            QVERIFY(line.endsWith(",,"));  // neither reached nor evaluated yet
        QTest::keyClick(&desktop.view(), Qt::Key_End);
        QVERIFY(desktop.player().isOver());
        desktop.choose(PlotAxis::Time);
        QVERIFY(desktop.player().isOver());  // by another clock the result stays the result
        QSettings settings(desktop.folder.filePath("window.ini"), QSettings::IniFormat);
        desktop.page->save(settings);
        desktop.openRace();
        desktop.page->restore(settings);
        QTRY_COMPARE(desktop.player().race().rules().clock, PlotAxis::Time);
    }

    void lanesMoveCalmlyUnlessLessMotionIsAskedFor() {
        RaceDesktop desktop;
        desktop.openRace();
        const auto isSettled = [&] {
            const auto to = desktop.player().settled();
            return std::ranges::equal(desktop.player().drawn(), to, [](const auto& a, const auto& b) {
                return a.lane == b.lane && a.value == b.value && a.best == b.best;
            });
        };
        QTRY_VERIFY(isSettled());
        desktop.player().seek(0);
        QVERIFY(!isSettled());
        QTRY_VERIFY(isSettled());
        desktop.player().setMotionReduced(true);
        desktop.player().seek(desktop.player().race().end());
        QVERIFY(isSettled());
    }

    void thePictureIsThatOfTheMoment() {
        RaceDesktop desktop;
        desktop.openRace();
        const auto picture = [&] {
            QImage image(640, 320, QImage::Format_RGB32);
            image.fill(Qt::white);
            QPainter painter(&image);
            desktop.view().paintPicture(painter, image.rect());
            return image;
        };
        const QImage result = picture();
        desktop.player().seek(2);
        QVERIFY(picture() != result);
        desktop.player().seek(desktop.player().race().end());
        QCOMPARE(picture(), result);
    }

    void aLaneIsPinnedAndOpened() {
        RaceDesktop desktop;
        desktop.openRace();
        QTRY_COMPARE(desktop.player().drawn().front().lane, 0.0);
        QSignalSpy opened(desktop.page.get(), &ComparePage::openRequested);
        const QPoint at(desktop.view().width() / 2, desktop.view().height() / 3);
        desktop.page->findChild<QScrollArea*>("compareCards")->ensureWidgetVisible(&desktop.view());
        const auto isHovered = [&] {
            for (const int aside : {1, 0}) QTest::mouseMove(&desktop.view(), at + QPoint(aside, 0));
            return desktop.selection->hovered().has_value();
        };
        QTRY_VERIFY(isHovered());
        const auto trial = *desktop.selection->hovered();
        QTest::mouseClick(&desktop.view(), Qt::LeftButton, {}, at);
        QVERIFY(desktop.selection->placeOf(trial));
        QTest::mouseDClick(&desktop.view(), Qt::LeftButton, {}, at);
        QCOMPARE(opened.size(), 1);
        QCOMPARE(opened.front().front().toLongLong(), trial);
    }

    void theLargeViewOpensPlaysAndCloses() {
        RaceDesktop desktop;
        desktop.openRace();
        const auto windows = [&] { return desktop.page->findChildren<RaceWindow*>(); };
        QTest::mouseClick(&desktop.control<QToolButton>("raceLarge"), Qt::LeftButton);
        QCOMPARE(windows().size(), 1);
        RaceWindow& large = *windows().front();
        QVERIFY(large.isVisible() && large.isFullScreen());
        QVERIFY(QTest::qWaitForWindowExposed(&large));
        QTest::keyClick(&large, Qt::Key_Space);
        QVERIFY(desktop.player().isPlaying());
        QTest::keyClick(&large, Qt::Key_Space);
        QVERIFY(!desktop.player().isPlaying());
        QTest::keyClick(&large, Qt::Key_Escape);
        QTRY_VERIFY(windows().isEmpty());
        QVERIFY(desktop.page->isVisible());
        desktop.page->activateWindow();
        desktop.view().setFocus();
        QTest::keyClick(&desktop.view(), Qt::Key_F11);
        QCOMPARE(windows().size(), 1);
        QTest::keyClick(windows().front(), Qt::Key_F11);
        QTRY_VERIFY(windows().isEmpty());
    }

    // The card that had nothing to show finds what comes later.
    void aRaceBeginsWithTheFirstEvaluation() {
        CompareDesktop desktop(false);
        const std::int64_t sweep = desktop.made->sweep("race", 1);
        desktop.made->wait("", {}, GroupPlace{sweep, 0, 0});
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 1);
        auto& view = *desktop.page->findChild<RaceView*>();
        QTRY_VERIFY(view.isHidden());
        desktop.made->train({.accuracies = {0.4, 0.6, 0.5}}, GroupPlace{sweep, 0, 1});
        desktop.made->train({.accuracies = {0.5, 0.55}, .outcome = "stopped"}, GroupPlace{sweep, 0, 2});
        QTRY_VERIFY_WITH_TIMEOUT(view.isVisible() && view.player().race().runners().size() == 2, 10'000);
        const auto states = view.player().standing();
        QCOMPARE(states.front().best, 0.6);
        QCOMPARE(states.front().value, 0.5);
        QCOMPARE(view.player().race().runners()[states.back().runner].fate, RunnerFate::Stopped);
    }
};

QTEST_MAIN(TestRaceView)
#include "tst_race_view.moc"
