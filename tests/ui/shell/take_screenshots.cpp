#include <QCheckBox>
#include <QDialog>
#include <QDir>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QTableView>
#include <QToolButton>
#include <cstdio>

#include "app/words.h"
#include "shell_support.h"
#include "tests/bench/made_sweep.h"
#include "tests/ui/queue/made_queue.h"
#include "ui/compare/compare_card.h"
#include "ui/compare/compare_page.h"
#include "ui/compare/compare_view.h"
#include "ui/compare/parallel_view.h"
#include "ui/evaluate/evaluate_page.h"
#include "ui/plot/plot_view.h"
#include "ui/run/run_page.h"
#include "ui/timeline/timeline_view.h"
#include "ui/train/find_dialog.h"
#include "ui/train/train_page.h"
#include "ui/trials/trials_table.h"

// lockstep_screenshots FOLDER [SCENE…]: pictures of every page, empty, live and finished, light and dark, of a window
// of 1280 x 800, for people to look at. With QT_SCALE_FACTOR=2 and a screen of 2560 x 1600 they are of 2560 x 1600
// pixels. Takes two minutes; makes the folder, and exits with 1 where a picture could not be written.
using namespace lockstep;
using namespace lockstep::ui;

namespace {

constexpr int kTrain = 0, kRuns = 1, kTrials = 2, kCompare = 3, kEvaluate = 4, kQueue = 5;

Explanation inWords(const Problem& problem) {
    static const Words words;
    return {QString::fromStdString(words.what(problem)), QString::fromStdString(words.remedy(problem))};
}

bool until(const std::function<bool()>& holds) { return QTest::qWaitFor(holds, kPatience); }

class Photographer {
public:
    explicit Photographer(QString folder) : m_folder(std::move(folder)) {}
    void shoot(QWidget& window, const QString& name) {
        for (const auto theme : {ThemeChoice::Light, ThemeChoice::Dark}) {
            applyTheme(*qApp, theme);
            QTest::qWait(1200);
            const QString file =
                QString("%1/%2-%3.png").arg(m_folder, name, theme == ThemeChoice::Dark ? "dark" : "light");
            const bool isWritten = window.screen()->grabWindow(window.winId()).save(file);
            std::puts(qPrintable(isWritten ? file : "not written: " + file));
            m_isComplete = m_isComplete && isWritten;
        }
        applyTheme(*qApp, ThemeChoice::Light);
    }
    bool isComplete() const { return m_isComplete; }

private:
    QString m_folder;
    bool m_isComplete = true;
};

void page(MainWindow& window, int row) {
    window.findChild<QListWidget*>("navigation")->setCurrentRow(row);
    QTest::qWait(300);
}

void showTimeline(MainWindow& window, bool shown) {
    window.findChild<TimelineDock*>()->setVisible(shown);
    QTest::qWait(shown ? 2000 : 300);
}

void scrollDown(MainWindow& window) {
    for (auto* area : window.findChildren<QScrollArea*>())
        if (area->isVisible()) area->verticalScrollBar()->setValue(area->verticalScrollBar()->maximum());
}

void empty(Photographer& camera) {
    Home home;
    const auto window = home.open(inWords);
    page(*window, kTrain);
    until([&] {
        return buttonWith(*window, "Train the preset") && buttonWith(*window, "Train the preset")->isEnabled();
    });
    QTest::qWait(3000);
    camera.shoot(*window, "train-empty");
    scrollDown(*window);
    camera.shoot(*window, "train-empty-below");
    page(*window, kRuns);
    camera.shoot(*window, "runs-empty");
    page(*window, kTrials);
    camera.shoot(*window, "trials-empty");
    page(*window, kQueue);
    camera.shoot(*window, "queue-empty");
    page(*window, kRuns);
    showTimeline(*window, true);
    camera.shoot(*window, "timeline-empty");
}

QStringList fashion(int epochs, const QString& devices, const QStringList& more) {
    return QStringList{"train", "--preset", "fashion", "--epochs", QString::number(epochs), "--devices", devices} +
           more;
}

void live(Photographer& camera) {
    Home home;
    home.start(LOCKSTEP_PROGRAM, fashion(5, "cpu:2", {}));
    home.waitForRun(1);
    const auto window = home.open(inWords);
    window->openRun(1);
    RunFeed& feed = *window->findChild<OpenRuns*>()->open(1);
    until([&] { return feed.record().evaluations().size() >= 2; });
    camera.shoot(*window, "runs-live");
    showTimeline(*window, true);
    camera.shoot(*window, "timeline-live");
    showTimeline(*window, false);
    page(*window, kTrials);
    camera.shoot(*window, "trials-live");
    page(*window, kTrain);
    camera.shoot(*window, "train-live");
    feed.stop();
    until([&] { return isFinal(feed.state()); });
}

void freeSpace(Photographer& camera, MainWindow& window) {
    for (auto* action : window.findChildren<QAction*>())
        if (action->objectName() == "trials.disk") action->trigger();
    QDialog* dialog = nullptr;
    if (!until([&] { return (dialog = window.findChild<QDialog*>("diskDialog")) && dialog->isVisible(); })) return;
    QTest::qWait(1500);
    camera.shoot(*dialog, "trials-disk");
    dialog->accept();
    QTest::qWait(300);
}

void finished(Photographer& camera) {
    Home home;
    for (const int seed : {1, 2, 3}) {
        home.start(LOCKSTEP_PROGRAM, fashion(2, seed == 3 ? "cpu:4" : "cpu:2", {"--seed", QString::number(seed)}))
            .waitForFinished(-1);
    }
    QProcess& killed = home.start(LOCKSTEP_PROGRAM, fashion(5, "cpu:2", {"--set", "learning_rate=0.02"}));
    home.waitForRun(4);
    const auto window = home.open(inWords);
    window->openRun(4);
    RunFeed& feed = *window->findChild<OpenRuns*>()->open(4);
    until([&] { return !feed.record().checkpoints().empty(); });
    killed.kill();
    until([&] { return feed.state() == RunState::Crashed; });
    camera.shoot(*window, "runs-crashed");
    window->openRun(3);
    QTest::qWait(1000);
    camera.shoot(*window, "runs-finished");
    showTimeline(*window, true);
    camera.shoot(*window, "timeline-finished");
    showTimeline(*window, false);
    page(*window, kTrials);
    auto* table = window->findChild<TrialsTable*>();
    until([&] { return table->model()->rowCount() == 4; });
    table->selectAll();
    QTest::qWait(1000);
    camera.shoot(*window, "trials-finished");
    freeSpace(camera, *window);
    page(*window, kTrain);
    QTest::qWait(3000);
    camera.shoot(*window, "train-finished");
}

// What one trial gets wrong, another beside it, and an image that is asked about; then 200 classes.
void evaluated(Photographer& camera) {
    Home home;
    const auto run = [&](const QStringList& words) { home.start(LOCKSTEP_PROGRAM, words).waitForFinished(-1); };
    run({"train", "--dataset", "synthetic", "--set", "dataset.classes=200", "--set", "dataset.noise=4", "--set",
         "dataset.samples=40000", "--set", "dataset.test_samples=10000", "--model", "mlp", "--epochs", "3", "--devices",
         "cpu:1"});
    run({"train", "--dataset", "fashion-mnist", "--model", "mlp", "--epochs", "2", "--devices", "cpu:1"});
    run({"train", "--dataset", "fashion-mnist", "--model", "lenet5", "--epochs", "3", "--devices", "cpu:1"});
    for (const char* trial : {"1", "2", "3"}) run({"evaluate", trial});
    const auto window = home.open(inWords);
    page(*window, kEvaluate);
    auto* matrix = window->findChild<QAbstractScrollArea*>("confusionMatrix");
    auto* samples = window->findChild<QListWidget*>("sampleList");
    if (!until([&] { return matrix->isVisible() && samples->count() > 10; })) return camera.shoot(*window, "evaluate");
    const QString picture = qEnvironmentVariable("LOCKSTEP_HOME") + "/boot.png";
    samples->item(0)->icon().pixmap(64, 64).save(picture);
    QMimeData dropped;
    dropped.setUrls({QUrl::fromLocalFile(picture)});
    auto* evaluate = window->findChild<EvaluatePage*>();
    QDragEnterEvent enter({10, 10}, Qt::CopyAction, &dropped, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(evaluate, &enter);
    QDropEvent drop({10, 10}, Qt::CopyAction, &dropped, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(evaluate, &drop);
    QTest::qWait(2000);
    camera.shoot(*window, "evaluate");
    auto* beside = window->findChild<QComboBox*>("besideTrial");
    until([&] { return beside->count() > 1; });
    beside->setCurrentIndex(1);
    emit beside->activated(1);
    until([&] { return window->findChild<QPushButton*>("beside1")->isVisible(); });
    QTest::mouseClick(window->findChild<QPushButton*>("beside1"), Qt::LeftButton);
    camera.shoot(*window, "evaluate-beside");
    window->findChild<QTabWidget*>("evaluateTabs")->setCurrentIndex(1);
    auto* source = window->findChild<QComboBox*>("source");
    source->setCurrentIndex(source->count() - 1);
    emit source->activated(source->count() - 1);
    camera.shoot(*window, "evaluate-epochs");
    window->findChild<EvaluatePage*>()->openTrial(1);
    QTest::qWait(2000);
    camera.shoot(*window, "evaluate-200");
    window->resize(1024, 640);
    camera.shoot(*window, "evaluate-200-small");
}

// Of a history that is made up: nothing trains.
void queue(Photographer& camera) {
    Home home;
    test::MadeQueue made(home.places);
    made.keep();
    const auto ended = made.sweep("first look", 3);
    for (const std::int64_t cell : {0, 1, 2})
        made.finish("first look", 0.88 + 0.01 * static_cast<double>(cell), GroupPlace{ended, cell, 0});
    made.queue().setGroupState(ended, GroupState::Finished);
    const auto active = made.sweep("how wide, how fast", 6);
    for (const std::int64_t cell : {0, 1, 2})
        made.finish("", 0.9 + 0.006 * static_cast<double>(cell), GroupPlace{active, cell, 0});
    made.fail("", GroupPlace{active, 3, 0});
    made.run("", 4, GroupPlace{active, 4, 0});
    const auto next = made.wait("", {}, GroupPlace{active, 5, 0});
    made.wait("the whole set, overnight");
    QueueEntry later;
    later.after = next;
    made.wait("with the best of the sweep", later);
    QueueEntry held;
    held.held = true;
    made.wait("needs the large disk", held);
    const auto window = home.open(inWords);
    page(*window, kQueue);
    auto* table = window->findChild<QTableView*>("queueTable");
    until([&] { return table->model()->rowCount() == 5; });
    table->selectRow(1);
    camera.shoot(*window, "queue");
    table->selectRow(2);
    QTimer::singleShot(0, window.get(), [&] {
        QTest::qWait(500);
        camera.shoot(*QApplication::activeModalWidget(), "queue-after");
        qobject_cast<QDialog*>(QApplication::activeModalWidget())->reject();
    });
    for (auto* each : window->findChildren<QAction*>("queue.after")) each->trigger();
    page(*window, kTrials);
    for (auto* each : window->findChildren<QAction*>("trials.group")) each->trigger();
    QTest::qWait(1500);
    camera.shoot(*window, "trials-grouped");
    page(*window, kQueue);
    window->findChild<QPushButton*>("showEndedSweeps")->click();
    QTest::qWait(300);
    camera.shoot(*window, "queue-ended");
    window->resize(1024, 640);
    camera.shoot(*window, "queue-small");
}

// A made sweep: brushed and pinned, then its axes alone.
void compare(Photographer& camera) {
    Home home;
    test::makeSweep(home.places.history(), {.trials = 400});
    const auto window = home.open(inWords);
    page(*window, kCompare);
    window->findChild<ComparePage*>()->showSweep(1);
    auto& view = *window->findChild<ParallelView*>();
    if (!until([&] { return !view.plot().axes.empty(); })) return camera.shoot(*window, "compare");
    camera.shoot(*window, "compare");
    TrialSelection& selection = view.selection();
    selection.brush("learning_rate", {.ranges = {{1e-3, 1e-1}}});
    selection.brush("model", {.choices = {"fashion-cnn", "lenet5"}});
    const auto trialAt = [&](std::size_t rank) {
        return view.scene()->table->trials[view.scene()->ranking[rank]].trial;
    };
    for (const std::size_t rank : {0, 1, 5}) selection.pin(trialAt(rank), true);
    window->findChild<QToolButton*>("parallelEnlarge")->click();
    selection.setHovered(trialAt(9));
    camera.shoot(*window, "compare-parallel");
    selection.clearBrushes();
    view.setBestShare(0.1);
    camera.shoot(*window, "compare-parallel-best");
    window->findChild<QToolButton*>("parallelEnlarge")->click();
    window->resize(1024, 640);
    camera.shoot(*window, "compare-small");
}

// Each view of it by itself, large and small, with a target and pinned trials.
void compareViews(Photographer& camera) {
    Home home;
    test::makeSweep(home.places.history(), {.trials = 60});
    const auto window = home.open(inWords);
    page(*window, kCompare);
    window->findChild<ComparePage*>()->showSweep(1);
    auto& view = *window->findChild<ParallelView*>();
    until([&] { return view.scene() && !view.scene()->importance.empty(); });
    for (const std::size_t rank : {0, 1, 5})
        view.selection().pin(view.scene()->table->trials[view.scene()->ranking[rank]].trial, true);
    auto* target = window->findChild<QLineEdit*>("compareTarget");
    target->setText("85 %");
    emit target->editingFinished();
    for (const QSize& size : {QSize(1280, 800), QSize(1024, 640)}) {
        window->resize(size);
        for (auto* card : window->findChildren<CompareCard*>()) {
            if (!card->view().isOffered()) continue;
            auto* enlarge = card->findChild<QToolButton*>(card->view().fileName() + "Enlarge");
            enlarge->click();
            QTest::qWait(600);
            camera.shoot(*window, QString("compare-%1-%2").arg(card->view().fileName()).arg(size.width()));
            enlarge->click();
        }
    }
}

// A form that asks for a sweep.
void sweep(Photographer& camera) {
    Home home;
    const auto window = home.open(inWords);
    page(*window, kTrain);
    const auto toggle = [&](const char* path) { return window->findChild<QToolButton*>(QString(path) + ".vary"); };
    until([&] { return toggle("learning_rate") && toggle("optimizer.momentum"); });
    for (const char* path : {"learning_rate", "optimizer.momentum", "batch", "optimizer"}) toggle(path)->click();
    const auto press = [&](const char* name) { window->findChild<QAbstractButton*>(name)->click(); };
    press("optimizer=adamw");
    QTest::qWait(500);
    press("batch.when");
    press("sweep.addConstraint");
    auto* constraint = window->findChild<QLineEdit*>("sweep.constraints.0");
    QTest::keyClicks(constraint, "batch / devices >= 64");
    QTest::qWait(4000);
    const auto scrollTo = [&](QWidget* widget) {
        for (auto* each : window->findChildren<QScrollArea*>())
            if (each->isAncestorOf(widget)) each->ensureWidgetVisible(widget, 0, 300);
    };
    scrollTo(toggle("learning_rate"));
    camera.shoot(*window, "train-sweep");
    scrollTo(window->findChild<QWidget*>("batch.when.0.setting"));
    camera.shoot(*window, "train-sweep-condition");
    press("sweep.addConstraint");
    QTest::keyClicks(window->findChild<QLineEdit*>("sweep.constraints.1"), "batch * learning_rate >");
    scrollTo(constraint);
    camera.shoot(*window, "train-sweep-constraint");
    press("sweep.constraints.1.remove");
    window->resize(1024, 640);
    QTest::qWait(300);
    scrollTo(window->findChild<QWidget*>("sweep.method"));
    camera.shoot(*window, "train-sweep-small");
}

// What finds a learning rate and a batch: while it measures, with what it found, and where nothing is to be found.
void find(Photographer& camera) {
    Home home;
    const auto window = home.open(inWords);
    page(*window, kTrain);
    const auto button = [&](const char* path) { return window->findChild<QToolButton*>(QString(path) + ".find"); };
    until([&] { return button("learning_rate") && button("learning_rate")->isEnabled(); });
    auto* train = window->findChild<TrainPage*>();
    train->setSpec({{"dataset", "fashion-mnist"}, {"model", "lenet5"}, {"devices", "cpu:2"}, {"batch", 64}});
    QTest::qWait(3000);
    camera.shoot(*window, "train-find");
    const auto opened = [&](const char* path) {
        button(path)->click();
        auto* dialog = window->findChild<FindDialog*>();
        until([&] { return dialog->isVisible(); });
        return dialog;
    };
    const auto press = [](const QDialog& dialog, const char* name) { dialog.findChild<QPushButton*>(name)->click(); };
    const auto isDone = [](const QDialog& dialog) { return dialog.findChild<QPushButton*>("findAgain")->isEnabled(); };
    FindDialog* dialog = opened("learning_rate");
    const auto again = [&](int updates) {
        until([&] { return isDone(*dialog); });
        dialog->findChild<QSpinBox*>("findUpdates")->setValue(updates);
        press(*dialog, "findAgain");
    };
    again(100'000);
    until([&] { return dialog->findChild<PlotView*>()->summary().contains("points"); });
    QTest::qWait(500);
    camera.shoot(*dialog, "find-rate-live");
    press(*dialog, "findCancel");
    again(200);
    until([&] { return isDone(*dialog); });
    camera.shoot(*dialog, "find-rate");
    dialog->findChild<QLineEdit*>("findFrom")->setText("1000");
    dialog->findChild<QLineEdit*>("findTo")->setText("1e5");
    press(*dialog, "findAgain");
    until([&] { return isDone(*dialog); });
    camera.shoot(*dialog, "find-rate-refused");
    dialog->reject();
    QTest::qWait(300);
    dialog = opened("batch");
    until([&] { return dialog->findChild<PlotView*>()->summary().contains("2 points"); });
    camera.shoot(*dialog, "find-batch-live");
    until([&] { return isDone(*dialog); });
    dialog->findChild<QCheckBox*>("findFewer")->setChecked(true);
    press(*dialog, "findAgain");
    until([&] { return isDone(*dialog); });
    camera.shoot(*dialog, "find-batch");
    dialog->reject();
}

}  // namespace

int main(int argc, char** argv) {
    QApplication application(argc, argv);
    if (argc < 2)
        return std::puts("lockstep_screenshots FOLDER [empty live finished evaluated queue sweep compare views find]") <
                       0
                   ? 1
                   : 2;
    applyTheme(application, ThemeChoice::Light);
    const QString folder = application.arguments()[1];
    QDir().mkpath(folder);
    Photographer camera(folder);
    const QStringList scenes = application.arguments().mid(2);
    const auto wanted = [&](const char* scene) { return scenes.isEmpty() || scenes.contains(scene); };
    if (wanted("empty")) empty(camera);
    if (wanted("live")) live(camera);
    if (wanted("finished")) finished(camera);
    if (wanted("evaluated")) evaluated(camera);
    if (wanted("queue")) queue(camera);
    if (wanted("sweep")) sweep(camera);
    if (wanted("compare")) compare(camera);
    if (wanted("views")) compareViews(camera);
    if (wanted("find")) find(camera);
    return camera.isComplete() ? 0 : 1;
}
