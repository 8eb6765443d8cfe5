#include <qcustomplot.h>

#include <unistd.h>
#include <QApplication>
#include <QDropEvent>
#include <QElapsedTimer>
#include <QMimeData>
#include <QMouseEvent>
#include <QSettings>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QWheelEvent>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "tests/bench/bench_times.h"
#include "tests/bench/parallel_bench.h"
#include "ui/plot/plot_view.h"
#include "ui/shell/main_window.h"
#include "ui/style/theme.h"
#include "ui/style/update_pace.h"
#include "ui/train/train_page.h"
#include "ui/trials/trials_table.h"

// How fast the window is, on an idle machine with a display (`xvfb-run -s "-screen 0 1920x1080x24"`):
//   lockstep_window_bench paint    12 curves of a million points at 1600 x 500: preparing and painting while zooming
//   and panning
//   lockstep_window_bench input    50 curves that grow by 200 steps a second for 60 s: how late input is handled
//   lockstep_window_bench curves   50 and 200 curves of 100,000 points with bands: the same, and full detail after it
//   lockstep_window_bench parallel [N]    a sweep of N trials, or 1,000: until the Compare page shows it, and the
//   frames of a brush
//   lockstep_window_bench drop FOLDER     a folder of images is dropped on the Train page: until its card shows them,
//   and how long the window was busy at a stretch meanwhile
//   lockstep_window_bench start FOLDER    from the start of the process to the table of the trials in FOLDER
using namespace lockstep;
using namespace lockstep::ui;
using test::Clock, test::report, test::since;

namespace {

// That this thread has had the processor, in milliseconds: also on a machine that does something else besides.
double processorTime() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

// A loss as they are: it falls, it trembles.
class Walk {
public:
    explicit Walk(unsigned seed) : m_random(seed), m_level(2 + 0.1 * seed) {}
    double next() {
        m_level *= 0.999999;
        return m_level * (1 + 0.1 * m_noise(m_random));
    }

private:
    std::mt19937 m_random;
    std::normal_distribution<double> m_noise;
    double m_level;
};

std::vector<PlotSeries> seriesOf(std::size_t count, std::vector<std::shared_ptr<Curve>>& curves) {
    std::vector<PlotSeries> series;
    for (std::size_t i = 0; i < count; ++i) {
        curves.push_back(std::make_shared<Curve>());
        const auto index = static_cast<std::int64_t>(i);
        series.push_back({QString("trial %1").arg(i + 1), curves.back(), index, seriesMarker(index), 469, true});
    }
    return series;
}

void waitUntilShown(QWidget& widget) {
    widget.show();
    if (!QTest::qWaitForWindowExposed(&widget)) std::puts("the window did not appear");
}

// As a person would: from all of it nearer and nearer, along it, and back.
void navigate(QCustomPlot& canvas, int frame) {
    const int at = frame % 50;
    if (at == 0) return QTest::keyClick(&canvas, Qt::Key_Home);
    if (at > 20) return QTest::keyClick(&canvas, at % 10 < 5 ? Qt::Key_Right : Qt::Key_Left);
    QWheelEvent notch(QPointF(800, 200), canvas.mapToGlobal(QPointF(800, 200)), {}, {0, 120}, Qt::NoButton, {},
                      Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(&canvas, &notch);
}

int paint() {
    PlotView plot({"Loss", "nothing", {}, {}, {}});
    plot.resize(1600, 500);
    std::vector<std::shared_ptr<Curve>> curves;
    plot.setSeries(seriesOf(12, curves));
    plot.setSmoothing(0.9);
    for (std::size_t i = 0; i < curves.size(); ++i) {
        Walk walk(static_cast<unsigned>(i));
        for (int step = 1; step <= 1'000'000; ++step) curves[i]->append(step, step * 0.005, walk.next());
    }
    waitUntilShown(plot);
    auto* canvas = plot.findChild<QCustomPlot*>();
    std::vector<double> smoothed, plain;
    for (const double smoothing : {0.9, 0.0}) {
        plot.setSmoothing(smoothing);
        while (plot.model().smoothing()) QTest::qWait(10);  // once in a curve's life
        for (int frame = 0; frame < 200; ++frame) {
            const auto begun = Clock::now();
            navigate(*canvas, frame);
            canvas->replot(QCustomPlot::rpImmediateRefresh);
            (smoothing > 0 ? smoothed : plain).push_back(since(begun));
        }
    }
    report("12 curves of 1,000,000 points", plain);
    report("the same, smoothed over their ghosts", smoothed);
    return 0;
}

// Means, each with a band around it.
std::vector<PlotSeries> bandedSeries(std::size_t count, int points) {
    std::vector<std::shared_ptr<Curve>> curves;
    auto series = seriesOf(count, curves);
    for (std::size_t i = 0; i < count; ++i) {
        auto low = std::make_shared<Curve>(Curve::alongside(*curves[i])),
             high = std::make_shared<Curve>(Curve::alongside(*curves[i]));
        Walk walk(static_cast<unsigned>(i));
        for (int step = 1; step <= points; ++step) {
            const double value = walk.next();
            curves[i]->append(step, step * 0.005, value);
            low->appendValue(0.9 * value), high->appendValue(1.1 * value);
        }
        series[i].band = PlotBand{low, high};
    }
    return series;
}

void manyCurves(std::size_t count) {
    PlotView plot({"Loss", "nothing", {}, {}, {}});
    plot.resize(1600, 500);
    plot.setSeries(bandedSeries(count, 100'000));
    waitUntilShown(plot);
    QTest::qWait(500);
    auto* canvas = plot.findChild<QCustomPlot*>();
    std::vector<double> moving, computing, rested;
    for (int frame = 0; frame < 200; ++frame) {
        const auto begun = Clock::now();
        const double spent = processorTime();
        navigate(*canvas, frame);
        canvas->replot(QCustomPlot::rpImmediateRefresh);
        moving.push_back(since(begun));
        computing.push_back(processorTime() - spent);
        QCoreApplication::processEvents();  // what the canvas had queued
        if (frame % 10 != 9) continue;
        const auto left = Clock::now();
        while (plot.isMoving()) QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents, 5);
        canvas->replot(QCustomPlot::rpImmediateRefresh);
        rested.push_back(since(left));
        QCoreApplication::processEvents();
    }
    report(qPrintable(QString("%1 curves of 100,000 points with bands, while moving").arg(count)), moving);
    report("of that, on the processor", computing);
    report("in full detail, after the last movement", rested);
}

int curves() {
    for (const std::size_t count : {50, 200}) manyCurves(count);
    return 0;
}

// Handles what the other thread posts, and notes how late.
class Clicked : public QObject {
public:
    std::vector<double> delays;
    void post(QObject* to) {
        QMetaObject::invokeMethod(
            this,
            [this, to, posted = Clock::now()] {
                QMouseEvent move(QEvent::MouseMove, QPointF(200 + delays.size() % 400, 150), QPointF(), Qt::NoButton,
                                 Qt::NoButton, {});
                QCoreApplication::sendEvent(to, &move);
                delays.push_back(since(posted));
            },
            Qt::QueuedConnection);
    }
};

int input(double seconds) {
    PlotView plot({"Loss", "nothing", {}, {}, {}});
    plot.resize(1600, 500);
    std::vector<std::shared_ptr<Curve>> curves;
    plot.setSeries(seriesOf(50, curves));
    plot.setSmoothing(0.9);
    waitUntilShown(plot);
    std::vector<Walk> walks;
    for (unsigned i = 0; i < 50; ++i) walks.emplace_back(i);
    int step = 0;
    UpdatePace pace;
    QTimer steps, updates;
    QObject::connect(&steps, &QTimer::timeout, [&] {
        ++step;
        for (std::size_t i = 0; i < curves.size(); ++i) curves[i]->append(step, step * 0.005, walks[i].next());
    });
    QObject::connect(&updates, &QTimer::timeout, [&] {
        plot.refresh();
        updates.setInterval(pace.next());
    });
    steps.setTimerType(Qt::PreciseTimer);
    steps.start(5);
    updates.start(UpdatePace::kShortest);
    Clicked clicked;
    std::atomic<bool> over = false;
    QWidget* canvas = plot.findChild<QCustomPlot*>();
    std::thread hand([&] {
        while (!over) {
            clicked.post(canvas);
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    });
    QTimer::singleShot(static_cast<int>(1000 * seconds), qApp, &QCoreApplication::quit);
    QCoreApplication::exec();
    over = true;
    hand.join();
    std::printf("%d steps of 50 curves in %.0f s\n", step, seconds);
    report("input waited, and was answered after", clicked.delays);
    return 0;
}

// Since the kernel made this process.
double ageOfProcess() {
    std::ifstream stat("/proc/self/stat");
    std::string text((std::istreambuf_iterator<char>(stat)), {});
    std::istringstream fields(text.substr(text.rfind(')') + 2));
    std::string field;
    for (int i = 3; i <= 22; ++i) fields >> field;
    double uptime = 0;
    std::ifstream("/proc/uptime") >> uptime;
    return 1000 * (uptime - std::stod(field) / static_cast<double>(sysconf(_SC_CLK_TCK)));
}

std::unique_ptr<MainWindow> windowOf(const QString& home, int page) {
    qputenv("LOCKSTEP_HOME", home.toUtf8());
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, home);
    QSettings().setValue("window/page", page);
    const auto explain = [](const Problem& problem) { return Explanation{QString::fromStdString(problem.code), {}}; };
    return std::make_unique<MainWindow>(QCoreApplication::applicationDirPath() + "/../bin/lockstep",
                                        preparePlaces(placesFromEnvironment()).value(), explain);
}

void send(QWidget& to, const QMimeData& data) {
    const auto at = to.rect().center();
    QDragEnterEvent enter(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&to, &enter);
    QDropEvent event(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&to, &event);
}

int drop(const QString& folder) {
    QTemporaryDir home;
    const auto window = windowOf(home.path(), 0);
    waitUntilShown(*window);
    auto* page = window->findChild<TrainPage*>();
    QElapsedTimer patience;
    patience.start();
    while (page->spec().isEmpty() && patience.elapsed() < 60'000)
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents, 50);
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(folder)});
    QElapsedTimer sinceDrop, sinceTick;
    sinceDrop.start(), sinceTick.start();
    qint64 longest = 0;
    QTimer ticks;
    QObject::connect(&ticks, &QTimer::timeout, [&] { longest = std::max(longest, sinceTick.restart()); });
    ticks.start(1);
    send(*page, data);
    const auto isTaken = [&] { return page->spec()["dataset"].toObject()["path"].toString() == folder; };
    while (!(isTaken() && page->canStart()) && sinceDrop.elapsed() < 300'000)
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents, 50);
    std::printf("the folder is taken after %.1f s; at a stretch the window was busy for %lld ms at most\n",
                1e-3 * static_cast<double>(sinceDrop.elapsed()), static_cast<long long>(longest));
    return isTaken() ? 0 : 1;
}

int start(const QString& home) {
    const auto made = windowOf(home, 2);
    MainWindow& window = *made;
    waitUntilShown(window);
    const double shown = ageOfProcess();
    auto* table = window.findChild<TrialsTable*>();
    while (!table || table->model()->rowCount() == 0)
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents, 50);
    window.grab();
    std::printf("the window is shown after %.0f ms, its %d trials after %.0f ms\n", shown, table->model()->rowCount(),
                ageOfProcess());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QApplication application(argc, argv);
    QCoreApplication::setOrganizationName("lockstep");
    QCoreApplication::setApplicationName("studio");
    applyTheme(application, ThemeChoice::Light);
    const QString what = application.arguments().value(1);
    if (what == "paint") return paint();
    if (what == "curves") return curves();
    if (what == "input") return input(application.arguments().value(2, "60").toDouble());
    if (what == "parallel") return test::parallelBench(application.arguments().value(2, "1000").toInt());
    if (what == "drop" && argc > 2) return drop(application.arguments()[2]);
    if (what == "start" && argc > 2) return start(application.arguments()[2]);
    std::puts(
        "lockstep_window_bench paint | curves | input [SECONDS] | parallel [N] | drop FOLDER | start FOLDER (made by "
        "lockstep_make_history)");
    return 2;
}
