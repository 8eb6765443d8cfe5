#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTimer>
#include <QToolButton>

#include "engine/queue/queue_service.h"
#include "page_bench.h"
#include "ui/train/sweep_form.h"

using namespace lockstep::ui;

namespace {

// A page whose queue has a keeper that does nothing.
class Desk {
public:
    explicit Desk(PageBench& bench)
        : m_keeper(bench.file("keeper", "#!/bin/sh\nexit 0\n", true)),
          launcher(m_keeper, lockstep::placesFromEnvironment()),
          page(bench.service.get(), &launcher, explain()) {
        page.resize(1280, 800);
        page.show();
    }
    bool hasForm() const { return !page.spec().isEmpty(); }
    template <class Widget>
    Widget* find(const QString& name) const {
        auto* found = page.findChild<Widget*>(name);
        if (!found) qFatal("the page has no %s", qPrintable(name));
        return found;
    }
    void click(const QString& name) const {
        QTest::mouseClick(find<QAbstractButton>(name), Qt::LeftButton);
        QCoreApplication::processEvents();
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    }
    lockstep::SweepSpec newestSweep() const {
        lockstep::TrialService trials(lockstep::placesFromEnvironment());
        lockstep::QueueService queue(trials, m_keeper.toStdString());
        return lockstep::sweepFromJson(queue.sweeps().front().specJson, "").value();
    }

private:
    const QString m_keeper;

public:
    RunLauncher launcher;
    TrainPage page;
};

}  // namespace

// Varying settings on the page, with the real engine, as a person does it.
class TestTrainSweep : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        m_bench = std::make_unique<PageBench>();
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->hasForm(), 60000);
    }
    void cleanupTestCase() { m_bench.reset(); }

    void init() {
        m_bench->page->setSpec(synthetic());
        settle();
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->page->canStart(), 60000);
        m_bench->page->undoStack()->clear();
    }

    void everyFieldHasItsSwitch() {
        for (const char* path :
             {"dataset", "model", "optimizer", "schedule", "devices", "batch", "accumulation", "learning_rate",
              "optimizer.momentum", "epochs", "seed", "precision", "mode", "augmentation.flip", "validation_share"}) {
            const auto* toggle = m_bench->find<QToolButton>(QString(path) + ".vary");
            QVERIFY2(toggle->isVisibleTo(m_bench->page.get()) && !toggle->isChecked(), path);
            QVERIFY2(!toggle->accessibleName().isEmpty() && (toggle->focusPolicy() & Qt::TabFocus), path);
        }
        QVERIFY(!m_bench->page->findChild<QToolButton*>("title.vary"));
        QVERIFY(!m_bench->shows("Sweep"));
    }

    void numbersNeedNoKeyboard() {
        const auto press = [this](const char* arrow) {
            QTest::mouseClick(m_bench->find<QToolButton>(arrow), Qt::LeftButton);
        };
        press("validation_share.more");
        press("validation_share.more");
        press("epochs.more");
        press("epochs.more");
        press("epochs.less");
        QCOMPARE(m_bench->find<QLineEdit>("validation_share")->text(), QString("0.1"));
        QCOMPARE(m_bench->page->spec()["validation_share"].toDouble(), 0.1);
        QCOMPARE(m_bench->page->spec()["epochs"].toInt(), synthetic()["epochs"].toInt() + 1);
        toggle("epochs");
        QVERIFY(!seen("epochs.more"));
    }

    void theSwitchOpensTheValuesInPlace() {
        QVERIFY(!seen("learning_rate.from") && seen("learning_rate"));
        toggle("learning_rate");
        QVERIFY(seen("learning_rate.from") && seen("learning_rate.to") && seen("learning_rate.scale"));
        QVERIFY(!seen("learning_rate") && !seen("learning_rate.values"));
        QVERIFY(m_bench->shows("3 values") && m_bench->shows("the test samples choose the best"));
        QCOMPARE(start()->text(), QString("Start sweep: 3 trials"));
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->page->canStart(), 60000);
        m_bench->shot("sweep");
        choose("learning_rate.how", 0);
        QVERIFY(!seen("learning_rate.from") && seen("learning_rate.values"));
        auto* values = m_bench->find<QLineEdit>("learning_rate.values");
        values->setFocus();
        values->selectAll();
        QTest::keyClicks(values, "0.1, 0.2,");
        QCOMPARE(values->text(), QString("0.1, 0.2,"));  // nothing typed is taken away
        QCOMPARE(start()->text(), QString("Start sweep: 2 trials"));
        while (m_bench->page->undoStack()->canUndo()) m_bench->page->undoStack()->undo();
        settle();
        QVERIFY(seen("learning_rate") && !seen("learning_rate.values"));
        QVERIFY(!m_bench->find<QToolButton>("learning_rate.vary")->isChecked());
        QCOMPARE(start()->text(), QString("Start training"));
        QCOMPARE(m_bench->page->spec(), synthetic());
    }

    void theButtonCountsTrialsAndSeeds() {
        for (const char* path : {"learning_rate", "batch", "optimizer.momentum"}) toggle(path);
        m_bench->find<QSpinBox>("sweep.repeats")->setValue(3);
        QCOMPARE(start()->text(), QString("Start sweep: 27 trials × 3 seeds"));
        QVERIFY(!m_bench->find<QSpinBox>("batch")->isEnabled());
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->page->canStart(), 60000);
        m_bench->action("Copy as command")->trigger();
        const auto command = QApplication::clipboard()->text();
        QVERIFY2(command.startsWith("lockstep sweep --dataset synthetic --model mlp"), qPrintable(command));
        QVERIFY2(command.contains("--vary batch=64,128,256") && command.endsWith("--method grid --repeats 3"),
                 qPrintable(command));
        choose("sweep.method", 1);
        QCOMPARE(start()->text(), QString("Start sweep: 20 trials × 3 seeds"));
    }

    void aSchedulerHasRungs() {
        toggle("learning_rate");
        QVERIFY(seen("sweep.scheduler") && !seen("sweep.first_rung") && !seen("sweep.rungTable"));
        choose("sweep.scheduler", 1);
        QVERIFY(seen("sweep.first_rung") && seen("sweep.reduction"));
        QVERIFY(m_bench->shows("About 4 of 6 epochs"));  // three cells of two epochs, one of which goes on
        QCOMPARE(m_bench->find<QLabel>("sweep.rungTable")->accessibleName(),
                 QString("Rung 1: epochs 1, cells 3; Rung 2: epochs 2, cells 1"));
        m_bench->shot("sweep-rungs");
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->page->canStart(), 60000);
        m_bench->action("Copy as command")->trigger();
        const auto command = QApplication::clipboard()->text();
        QVERIFY2(command.endsWith("--method grid --scheduler asha"), qPrintable(command));
        auto* first = m_bench->find<QSpinBox>("sweep.first_rung");
        first->setValue(2);
        QVERIFY(m_bench->shows("The lowest rung lies at epoch 2") && !seen("sweep.rungTable"));
        QVERIFY(!start()->isEnabled());
        m_bench->action("Show problem")->trigger();
        QVERIFY(first->hasFocus());
        choose("sweep.scheduler", 0);
        QVERIFY(!seen("sweep.first_rung") && !m_bench->shows("The lowest rung"));
    }

    void wrongValuesBlockTheStart() {
        toggle("learning_rate");
        auto* from = m_bench->find<QLineEdit>("learning_rate.from");
        from->setFocus();
        from->selectAll();
        QTest::keyClicks(from, "5");
        QVERIFY(m_bench->shows("learning_rate goes from 5 to 1"));
        QVERIFY(!start()->isEnabled() && !m_bench->page->canStart());
        m_bench->action("Show problem")->trigger();
        QVERIFY(from->hasFocus());
        toggle("learning_rate");
        QVERIFY(!m_bench->shows("goes from"));
        toggle("epochs");  // what only the engine knows
        auto* values = m_bench->find<QLineEdit>("epochs.values");
        values->setFocus();
        values->selectAll();
        QTest::keyClicks(values, "0, 2");
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->shows("epochs: 0 is outside"), 60000);
        QVERIFY(!start()->isEnabled());
        values->selectAll();
        QTest::keyClicks(values, "1, 2");
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->page->canStart() && start()->isEnabled(), 60000);
        QVERIFY(!m_bench->shows("epochs: 0"));
    }

    void settingsOfTheOtherChoicesAppear() {
        QVERIFY(!seen("optimizer.beta2.vary"));
        toggle("optimizer");
        QVERIFY(seen("optimizer=sgd") && m_bench->find<QCheckBox>("optimizer=sgd")->isChecked());
        m_bench->find<QCheckBox>("optimizer=adamw")->click();
        settle();
        QVERIFY(seen("optimizer.beta2.vary") && !m_bench->find<QWidget>("optimizer.beta2")->isEnabled());
        toggle("optimizer.beta2");
        toggle("optimizer.momentum");
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->page->canStart(), 60000);
        for (const auto& each : m_bench->page->sweep().made()->vary) {
            if (each.path != "optimizer") QCOMPARE(each.when.size(), 1u);
        }
        m_bench->shot("sweep-choices");
        m_bench->find<QCheckBox>("optimizer=adamw")->click();
        settle();
        QVERIFY(!seen("optimizer.beta2.vary"));
        QCOMPARE(m_bench->page->sweep().paths(), (QStringList{"optimizer", "optimizer.momentum"}));
    }

    void theSweepGoesIntoTheQueue() {
        Desk desk(*m_bench);
        auto& launcher = desk.launcher;
        auto& page = desk.page;
        QTRY_VERIFY_WITH_TIMEOUT(desk.hasForm(), 60000);
        page.setSpec(synthetic());
        page.sweep().setVaried("batch", true);
        QTRY_VERIFY_WITH_TIMEOUT(page.canStart(), 60000);
        QSignalSpy queued(&launcher, &RunLauncher::queued), wanted(&page, &Page::commandWanted);
        page.start();
        QTRY_COMPARE_WITH_TIMEOUT(queued.size(), 1, 60000);
        const auto number = queued[0][0].toLongLong();
        const auto* told = page.findChild<QLabel*>("queuedText");
        QVERIFY(told->isVisibleTo(&page));
        QCOMPARE(told->text(), QString("Sweep %1 is in the queue.").arg(number));
        page.findChild<QPushButton*>("showQueue")->click();
        QCOMPARE(wanted.size(), 1);
        QCOMPARE(wanted[0][0].toString(), QString("page.queue"));
        QTRY_VERIFY(!launcher.isBusy());

        const auto sweep = desk.newestSweep();
        QCOMPARE(sweep.vary.size(), 1u);
        QCOMPARE(sweep.trial.model.id, std::string("mlp"));
        page.sweep().setVaried("epochs", true);
        QVERIFY(!told->isVisibleTo(&page));  // another sweep, which is in no queue
    }

    // By mouse and keyboard, from the words that stand there to the history.
    void conditionsAndConstraintsAreStarted() {
        Desk desk(*m_bench);
        QTRY_VERIFY_WITH_TIMEOUT(desk.hasForm(), 60000);
        desk.page.setSpec(synthetic());
        desk.click("batch.vary");
        QVERIFY(!desk.find<QWidget>("batch.when")->isVisibleTo(&desk.page));  // there is nothing to ask about
        for (const char* path : {"epochs", "optimizer"}) desk.click(QString(path) + ".vary");
        QTest::keyClick(desk.find<QCheckBox>("optimizer=adamw"), Qt::Key_Space);
        QCOMPARE(desk.find<QAbstractButton>("batch.when")->text(), QString("Only when…"));
        desk.click("batch.when");
        auto* setting = desk.find<QComboBox>("batch.when.0.setting");
        QCOMPARE(setting->currentText(), QString("Optimizer"));
        QTest::keyClick(setting, Qt::Key_Down);
        QCOMPARE(setting->currentText(), QString("Epochs"));
        QTest::keyClick(setting, Qt::Key_Up);
        QCOMPARE(setting->currentText(), QString("Optimizer"));
        auto* values = desk.find<QPushButton>("batch.when.0.values");
        QCOMPARE(values->text(), QString("sgd ▾"));
        tickInMenu(*values, "adamw");
        QCOMPARE(values->text(), QString("sgd or adamw ▾"));
        tickInMenu(*values, "sgd");  // which is not meant any more
        QCOMPARE(values->text(), QString("adamw ▾"));
        tickInMenu(*values, "adamw");  // one stays
        QCOMPARE(values->text(), QString("adamw ▾"));
        QCOMPARE(desk.find<QAbstractButton>("batch.when")->text(), QString("And when…"));
        desk.click("batch.when");
        QCOMPARE(desk.find<QComboBox>("batch.when.1.setting")->currentText(), QString("Epochs"));
        QCOMPARE(desk.find<QComboBox>("batch.when.1.setting")->count(), 1);  // each is asked about once
        QCOMPARE(setting->count(), 1);
        desk.click("batch.when.1.remove");
        QCOMPARE(desk.page.sweep().variation("batch").when.size(), 1u);

        desk.click("sweep.addConstraint");
        QTest::keyClicks(desk.find<QLineEdit>("sweep.constraints.0"), "batch * epochs <= 384");
        const auto words = QString("Batch: 64, 128, 256, only when Optimizer is adamw");
        QVERIFY2(desk.find<QLabel>("sweep.varied")->text().contains(words),
                 qPrintable(desk.find<QLabel>("sweep.varied")->text()));
        QCOMPARE(desk.find<QLabel>("sweep.constraints.0.cells")->text(), QString("met by 10 of 12 cells"));
        QCOMPARE(desk.find<QPushButton>("startTraining")->text(), QString("Start sweep: 10 trials"));
        QTRY_VERIFY_WITH_TIMEOUT(desk.page.canStart(), 60000);
        const QSignalSpy queued(&desk.launcher, &RunLauncher::queued);
        desk.click("startTraining");
        QTRY_COMPARE_WITH_TIMEOUT(queued.size(), 1, 60000);
        const auto sweep = desk.newestSweep();
        QCOMPARE(sweep.constraints.size(), 1u);
        QCOMPARE(sweep.constraints[0].text(), std::string("batch * epochs <= 384"));
        QCOMPARE(lockstep::wordsOf(sweep.vary[0]), std::string("batch=64,128,256?optimizer=adamw"));

        desk.click("batch.when.0.remove");
        QVERIFY(desk.page.sweep().variation("batch").when.empty());
        QCOMPARE(desk.find<QAbstractButton>("batch.when")->text(), QString("Only when…"));
        desk.click("sweep.constraints.0.remove");
        QVERIFY(desk.page.sweep().constraints().isEmpty());
        QVERIFY(!desk.page.findChild<QLineEdit*>("sweep.constraints.0"));
        QTRY_VERIFY(!desk.launcher.isBusy());
    }

    void aConstraintThatIsWrongIsSaidBelowIt() {
        QApplication::setActiveWindow(m_bench->page.get());
        toggle("batch");
        m_bench->find<QToolButton>("sweep.addConstraint")->click();
        settle();
        auto* line = m_bench->find<QLineEdit>("sweep.constraints.0");
        QVERIFY(line->hasFocus() && !line->accessibleName().isEmpty());
        QVERIFY(m_bench->page->sweep().problems().empty());  // a blank one says nothing
        QTest::keyClicks(line, "batch >");
        const auto told = QString(
            "Constraint 1: \"batch >\" is not understood at character 8, where a number or a "
            "setting was expected");
        QVERIFY2(m_bench->shows(told), qPrintable(m_bench->visibleText()));
        QVERIFY(!start()->isEnabled());
        m_bench->find<QToolButton>("batch.vary")->setFocus();
        m_bench->action("Show problem")->trigger();
        QVERIFY(line->hasFocus());
        m_bench->shot("sweep-constraint");
        QTest::keyClick(line, Qt::Key_End);  // all of it was selected
        QTest::keyClicks(line, "= 128");
        QVERIFY(!m_bench->shows("is not understood"));
        QVERIFY(m_bench->shows("met by 2 of 3 cells"));
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->page->canStart() && start()->isEnabled(), 60000);
        QTest::keyClicks(line, "0");
        QVERIFY(m_bench->shows("None of the 3 cells fulfils") && !start()->isEnabled());
        QVERIFY(m_bench->shows("met by 0 of 3 cells"));
    }

    void aSweepsFileFillsTheForm() {
        const auto file = m_bench->file(
            "sweep.json",
            "{\"version\": 1, \"method\": \"grid\", \"trials\": 0, \"vary\": {\"batch\": [32, 64]},"
            " \"trial\": {\"dataset\": \"synthetic\", \"model\": \"mlp\", \"devices\": \"cpu:2\", \"epochs\": 1}}");
        m_bench->page->openSpecFile(file);
        settle();
        QCOMPARE(start()->text(), QString("Start sweep: 2 trials"));
        QCOMPARE(m_bench->find<QLineEdit>("batch.values")->text(), QString("32, 64"));
        QCOMPARE(m_bench->page->spec()["epochs"].toInt(), 1);
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->page->canStart(), 60000);
    }

private:
    // What is new is shown now, and what is gone is gone.
    static void settle() {
        QCoreApplication::processEvents();
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    }
    static void tickInMenu(QPushButton& button, const QString& words) {
        QTimer::singleShot(50, &button, [&] {
            for (QAction* each : button.menu()->actions()) {
                if (each->text() == words) button.menu()->setActiveAction(each);
            }
            QTest::keyClick(button.menu(), Qt::Key_Return);
            button.menu()->close();  // where it has none of these words
        });
        QTest::keyClick(&button, Qt::Key_Space);
        settle();
    }
    bool seen(const QString& name) const {
        const auto* widget = m_bench->page->findChild<QWidget*>(name);
        return widget && widget->isVisibleTo(m_bench->page.get());
    }
    void toggle(const QString& path) const {
        m_bench->find<QToolButton>(path + ".vary")->click();
        settle();
    }
    void choose(const QString& name, int index) const {
        auto* box = m_bench->find<QComboBox>(name);
        box->setCurrentIndex(index);
        emit box->activated(index);
        settle();
    }
    QPushButton* start() const { return m_bench->find<QPushButton>("startTraining"); }

    std::unique_ptr<PageBench> m_bench;
};

QTEST_MAIN(TestTrainSweep)
#include "tst_train_sweep.moc"
