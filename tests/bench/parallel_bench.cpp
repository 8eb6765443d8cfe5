#include "tests/bench/parallel_bench.h"

#include <QCoreApplication>
#include <QMouseEvent>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "tests/bench/bench_times.h"
#include "tests/bench/made_sweep.h"
#include "ui/compare/compare_page.h"
#include "ui/compare/parallel_view.h"

namespace lockstep::test {

using namespace lockstep::ui;

namespace {

constexpr int kWidth = 1600, kHeight = 500, kFrames = 400;

Explanation asCode(const Problem& problem) { return {QString::fromStdString(problem.code), {}}; }

void handleAll() {
    QCoreApplication::sendPostedEvents();
    QCoreApplication::processEvents();
}

void send(QWidget& to, QEvent::Type type, QPointF at) {
    const bool isMove = type == QEvent::MouseMove;
    QMouseEvent event(type, at, to.mapToGlobal(at), isMove ? Qt::NoButton : Qt::LeftButton,
                      type == QEvent::MouseButtonRelease ? Qt::NoButton : Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&to, &event);
}

// How long each frame took, and how much of it this thread worked: on a busy machine it waits between.
struct Frames {
    std::vector<double> passed, worked;
    template <class Work>
    void add(const Work& work) {
        const auto begun = Clock::now();
        const double before = threadMilliseconds();
        work();
        worked.push_back(threadMilliseconds() - before);
        passed.push_back(since(begun));
    }
    void tell(const std::string& what) const {
        report(what.c_str(), passed);
        report("  of the processor", worked);
    }
};

std::size_t axisOf(const ParallelView& view, const std::string& key) {
    const auto& axes = view.plot().axes;
    return static_cast<std::size_t>(std::ranges::find(axes, key, [](const auto& each) { return each.axis().key; }) -
                                    axes.begin());
}

// Up and down the axis, from its foot to its head and back: at every moment another set of trials, from none to all.
Frames dragBrush(ParallelView& view, const std::string& key) {
    const ParallelLayout layout = view.plot().layout;
    const QPointF foot(layout.x[axisOf(view, key)], layout.plot.bottom());
    send(view, QEvent::MouseButtonPress, foot);
    Frames frames;
    for (int frame = 0; frame < kFrames; ++frame) {
        const double part = 0.5 - 0.5 * std::cos(0.1 * frame);
        frames.add([&] {
            send(view, QEvent::MouseMove, foot - QPointF(0, 5 + part * (layout.plot.height() - 5)));
            handleAll();
        });
    }
    send(view, QEvent::MouseButtonRelease, QPointF(foot.x(), layout.plot.center().y()));
    handleAll();
    return frames;
}

void onThePage(const Places& places) {
    TrialSelection selection;
    selection.setScope(1);
    HistoryService history(places);
    const auto begun = Clock::now();
    ComparePage page(&history, &selection, asCode);
    page.resize(1920, 1080);
    page.show();
    auto& view = *page.findChild<ParallelView*>();
    while (view.plot().axes.empty()) QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents, 50);
    handleAll();
    page.grab();
    std::printf("the page is shown after %.0f ms\n", since(begun));
    view.setFixedSize(kWidth, kHeight);
    page.resize(kWidth + 400, 1080);
    handleAll();
    dragBrush(view, "learning_rate").tell("a brush is dragged on the page");
}

void byItself(const Places& places) {
    TrialSelection selection;
    selection.setScope(1);
    HistoryService history(places);
    CompareFeed feed(&history, &selection);
    ParallelView view(&selection);
    view.resize(kWidth, kHeight);
    view.show();
    std::shared_ptr<const CompareTable> table;
    const auto makeScene = [&] {
        auto scene = std::make_shared<CompareScene>();
        scene->table = table;
        scene->passes = table->passing(selection.brushes());
        scene->ranking = view.scene() ? view.scene()->ranking : table->ranking();
        view.setScene(scene);
    };
    QObject::connect(&feed, &CompareFeed::tableMade, &view, [&](const auto& made, const auto&) {
        table = made;
        makeScene();
    });
    QObject::connect(&selection, &TrialSelection::brushesChanged, &view, makeScene);
    history.setWatching(true);
    feed.setFollowing(true);
    while (view.plot().axes.empty()) QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents, 50);
    history.setWatching(false);
    handleAll();
    for (const char* key : {"learning_rate", "metric.test_accuracy"}) {
        dragBrush(view, key).tell(std::string("a brush is dragged on ") + key + ", the view by itself");
        selection.clearBrushes();
    }
    Frames others;
    for (int frame = 0; frame < 20; ++frame)
        others.add([&] {
            view.resize(kWidth + frame % 2, kHeight);
            handleAll();
        });
    others.tell("it has another width");
    Frames lit;
    for (int frame = 0; frame < kFrames; ++frame)
        lit.add([&] {
            selection.setHovered(1 + frame % static_cast<int>(table->trials.size()));
            handleAll();
        });
    lit.tell("a trial is lit");
}

}  // namespace

int parallelBench(int trials) {
    QTemporaryDir folder;
    const std::filesystem::path base = folder.path().toStdString();
    const auto places = preparePlaces({base, base / "cache", base / "sockets", base / "config"});
    if (!places.ok() || trials < 2) return 2;
    makeSweep(places.value().history(), {.trials = trials});
    std::printf("%d trials\n", trials);
    onThePage(places.value());
    byItself(places.value());
    return 0;
}

}  // namespace lockstep::test
