#include <QAccessible>
#include <QApplication>
#include <QClipboard>
#include <QDropEvent>
#include <QJsonDocument>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QProcess>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QToolButton>
#include <QtTest>

#include "page_bench.h"

using namespace lockstep::ui;

// The page with the real engine, as a person uses it. LOCKSTEP_SHOTS names a folder for pictures of its states.
class TestTrainPage : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        m_bench = std::make_unique<PageBench>();
        m_page = m_bench->page.get();
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->hasForm(), 60000);
    }

    void cleanupTestCase() { m_bench.reset(); }

    void theFirstFormCanStart() {
        m_page->setHomeIsEmpty(true);
        const auto* welcome = m_page->findChild<QPushButton*>("startPreset");
        QVERIFY(welcome->isVisible());
        QTest::qWait(1500);
        m_bench->shot("empty");
        m_page->setHomeIsEmpty(false);
        QVERIFY(!welcome->isVisible());
        m_page->setSpec(synthetic());
        QTRY_VERIFY_WITH_TIMEOUT(m_page->canStart(), 60000);
    }

    void aDatasetWithoutItsPathShowsNothingOfTheLastOne() {
        const auto shown = [this](const QString& words) {
            int count = 0;
            for (const auto* label : m_page->findChildren<QLabel*>())
                count += label->isVisible() && label->text().contains(words);
            return count;
        };
        m_page->setSpec(synthetic());
        QTRY_VERIFY_WITH_TIMEOUT(m_page->canStart() && shown("test samples") == 1, 60000);
        auto spec = synthetic();
        spec["dataset"] = "image-folder";
        m_page->setSpec(spec);
        QTRY_VERIFY_WITH_TIMEOUT(shown("needs a file or folder") == 1 && shown("test samples") == 0, 60000);
        QCOMPARE(shown("There is no dataset"), 0);
    }

    void aNarrowPageHasOneColumn() {
        m_page->setSpec(synthetic());
        QTRY_VERIFY_WITH_TIMEOUT(m_page->canStart(), 60000);
        const auto size = m_page->size();
        const auto* scroll = m_page->findChild<QScrollArea*>();
        const auto fits = [&] { return scroll->widget()->width() <= scroll->viewport()->width(); };
        const auto place = [&](const char* name) {
            return m_page->findChild<QWidget*>(name)->mapTo(scroll->widget(), QPoint());
        };
        const auto isAside = [&] { return place("devices").x() > place("dataset.path").x(); };
        QVERIFY(fits() && isAside());
        m_page->resize(660, 600);
        QTRY_VERIFY(fits() && !isAside() && place("devices").y() > place("dataset.path").y());
        m_page->resize(size);
        QTRY_VERIFY(fits() && isAside());
    }

    void aFilledForm() {
        if (!QFileInfo::exists("/usr/share/datasets/fashion-mnist")) QSKIP("dataset-fashion-mnist is not installed");
        m_page->setSpec({{"dataset", "fashion-mnist"},
                         {"model", "fashion-cnn"},
                         {"devices", "cpu:4"},
                         {"batch", 130},
                         {"schedule", "one-cycle"},
                         {"augmentation", QJsonObject{{"flip", true}, {"crop_padding", 3}, {"cutout", 8}}}});
        QTRY_VERIFY_WITH_TIMEOUT(m_page->canStart(), 60000);
        QTest::qWait(3000);
        m_bench->shot("filled");
        for (auto* area : m_page->findChildren<QScrollArea*>()) {
            area->verticalScrollBar()->setValue(100000);
        }
        QTest::qWait(100);
        m_bench->shot("filled-below");
        applyTheme(*qApp, ThemeChoice::Dark);
        QTest::qWait(100);
        m_bench->shot("filled-dark");
        applyTheme(*qApp, ThemeChoice::Light);
        for (auto* area : m_page->findChildren<QScrollArea*>()) {
            area->verticalScrollBar()->setValue(0);
        }
    }

    void problemsAreLiveAndBlockTheStart() {
        m_page->setSpec(synthetic());
        QTRY_VERIFY_WITH_TIMEOUT(m_page->canStart(), 60000);
        auto* epochs = m_page->findChild<QLineEdit*>("epochs");
        QVERIFY(epochs);
        epochs->setFocus();
        epochs->selectAll();
        QTest::keyClicks(epochs, "0");
        QVERIFY(!m_page->canStart());
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->shows("epochs: 0 is outside"), 30000);
        auto strange = m_page->spec();
        strange["tomorrow"] = 1;
        strange["devices"] = "tpu:3";
        strange["learning_rate"] = "fast";
        m_page->setSpec(strange);
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->shows("tomorrow"), 30000);
        QTest::qWait(500);
        m_bench->shot("problems");
        QVERIFY(!m_page->findChild<QPushButton*>("startTraining")->isEnabled());
        QCOMPARE(m_page->spec()["tomorrow"].toInt(), 1);
        while (m_page->undoStack()->canUndo()) m_page->undoStack()->undo();
        QTRY_VERIFY_WITH_TIMEOUT(!m_bench->shows("tomorrow"), 30000);
    }

    void settingsAppearWhereTheyMeanSomething() {
        m_page->setSpec(synthetic());
        QTRY_VERIFY_WITH_TIMEOUT(m_page->canStart(), 60000);
        const auto shown = [&](const char* path) {
            QCoreApplication::processEvents();  // fields that are new are shown now
            QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
            const auto* editor = m_page->findChild<QWidget*>(path);
            return editor && editor->isVisibleTo(m_page);
        };
        const auto set = [&](const char* path, const QJsonValue& value) {
            auto spec = m_page->spec();
            spec[path] = value;
            m_page->setSpec(spec);
        };
        QVERIFY(shown("shares") && shown("batch_norm") && shown("learning_rate_rule") && !shown("learning_rate_batch"));
        for (const char* path : {"checkpoint_minutes", "keep_checkpoints", "check_every", "on_lost_device",
                                 "on_non_finite", "timeout", "link_bandwidth", "link_latency"})
            QVERIFY2(!shown(path), path);
        set("learning_rate_rule", "linear");
        QVERIFY(shown("learning_rate_batch"));
        set("mode", "reproducible");
        QVERIFY(!shown("shares") && !shown("batch_norm") && shown("shards"));
        set("shares", "2,1");  // wrong there, and not hidden
        QVERIFY(shown("shares"));
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->shows("shares: "), 30000);
        set("shares", "");
        set("mode", "fast");
        set("devices", "cpu:1");
        QTRY_VERIFY_WITH_TIMEOUT(!shown("shares"), 30000);  // no longer wrong
        set("timeout", 0);                                  // no problem stays folded away
        QTRY_VERIFY_WITH_TIMEOUT(shown("timeout") && m_bench->shows("timeout: "), 30000);
        m_page->findChild<QToolButton*>("faultSettings")->setChecked(false);
    }

    void weightsAreChosenAndChecked() {
        m_page->setSpec(synthetic());
        QTRY_VERIFY_WITH_TIMEOUT(m_page->canStart(), 60000);
        auto* weights = m_page->findChild<QLineEdit*>("weights");
        QVERIFY(weights && m_page->findChild<QPushButton*>("weights.choose"));
        QVERIFY(!m_page->findChild<QWidget*>("new_head"));
        weights->setFocus();
        QTest::keyClicks(weights, "/nowhere/w.safetensors");
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->shows("the weights /nowhere/w.safetensors cannot be read"), 30000);
        QVERIFY(m_page->findChild<QWidget*>("new_head") && !m_page->canStart());
        weights->clear();
        emit weights->textEdited("");
        auto* frozen = m_page->findChild<QLineEdit*>("frozen");
        frozen->setFocus();
        QTest::keyClicks(frozen, "stem");
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->shows("mlp has no layer \"stem\""), 30000);
        QTest::keyClicks(frozen, "\b\b\b\bdense1");
        QTRY_VERIFY_WITH_TIMEOUT(m_page->canStart(), 30000);
        QCOMPARE(m_page->spec()["frozen"].toString(), QString("dense1"));
    }

    void theCurveFollowsTheRule() {
        SpecForm form;
        FormAnswers answers(*m_bench->service, form);
        QTRY_VERIFY_WITH_TIMEOUT(answers.hasCatalog(), 60000);
        const auto highest = [&] {
            double high = 0;
            for (const double rate : answers.curve().rates) high = std::max(high, rate);
            return high;
        };
        auto spec = synthetic();
        spec["batch"] = 128;
        spec["learning_rate"] = 0.1;
        spec["schedule"] = "constant";
        form.setSpec(spec, "a spec");
        QTRY_VERIFY_WITH_TIMEOUT(std::abs(highest() - 0.1) < 1e-9, 60000);
        spec["learning_rate_rule"] = "linear";
        spec["learning_rate_batch"] = 32;
        form.setSpec(spec, "a rule");
        QTRY_VERIFY_WITH_TIMEOUT(std::abs(highest() - 0.4) < 1e-9, 60000);
    }

    // Nothing to compare with: for people to look at.
    void pictures() {
        if (!qEnvironmentVariableIsSet("LOCKSTEP_SHOTS")) QSKIP("LOCKSTEP_SHOTS names no folder");
        picture("eight-devices", {{"devices", "cpu:8"}, {"mode", "reproducible"}});
        picture("uneven", {{"shares", "2,1"}, {"learning_rate_rule", "linear"}});
        for (const char* fold : {"moreSettings", "faultSettings"})
            m_page->findChild<QToolButton*>(fold)->setChecked(true);
        picture("folds", {}, true);
        applyTheme(*qApp, ThemeChoice::Dark);
        picture("folds-dark", {}, true);
        applyTheme(*qApp, ThemeChoice::Light);
        for (const char* fold : {"moreSettings", "faultSettings"})
            m_page->findChild<QToolButton*>(fold)->setChecked(false);
        picture("resnet", {{"model", "resnet18-cifar"}}, true);
        const auto deep = QString("/a folder with a long name/").repeated(6);
        picture("long-paths", {{"dataset", QJsonObject{{"id", "image-folder"}, {"path", deep}}}});
        m_page->setSpec(synthetic());
        QTRY_VERIFY_WITH_TIMEOUT(m_page->canStart(), 60000);
    }

    void theCommandMeansTheSameSpec() {
        m_page->setSpec({{"title", "a \"quoted\" name's"},
                         {"dataset", QJsonObject{{"id", "synthetic"}}},
                         {"model", "lenet5"},
                         {"optimizer", QJsonObject{{"id", "adamw"}}},
                         {"learning_rate", 1e-05},
                         {"seed", 77},
                         {"augmentation", QJsonObject{{"flip", true}}},
                         {"bucket_bytes", 8192}});
        QPushButton* copy = nullptr;
        for (auto* button : m_page->findChildren<QPushButton*>())
            copy = button->text() == "Copy as command" ? button : copy;
        copy->click();
        auto command = QApplication::clipboard()->text();
        QVERIFY(command.startsWith("lockstep train "));
        const auto fromCommand = printed("exec " LOCKSTEP_PROGRAM + command.mid(8));
        QFile file(m_bench->folder.filePath("spec.json"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QJsonDocument(m_page->spec()).toJson());
        file.close();
        QVERIFY(!fromCommand.isEmpty());
        QCOMPARE(fromCommand, printed("exec " LOCKSTEP_PROGRAM " train --spec " + file.fileName()));
    }

    // Which what is measured would only disturb.
    void theButtonStartsARun() {
        m_page->setSpec(synthetic());
        QTRY_VERIFY_WITH_TIMEOUT(m_page->canStart(), 60000);
        m_bench->action("Measure the precisions")->trigger();
        QVERIFY(m_bench->shows("by turns"));
        QSignalSpy started(m_bench->launcher.get(), &RunLauncher::started);
        QTest::mouseClick(m_page->findChild<QPushButton*>("startTraining"), Qt::LeftButton);
        QVERIFY(!m_bench->shows("by turns"));
        QTRY_COMPARE_WITH_TIMEOUT(started.size(), 1, 120000);
        QTRY_VERIFY_WITH_TIMEOUT(m_page->canStart(), 30000);  // the next one, if wanted
    }

private:
    static QByteArray printed(const QString& command) {
        QProcess shell;
        shell.start("/bin/sh", {"-c", command + " --print-spec"});
        shell.waitForFinished();
        return shell.readAllStandardOutput();
    }

    void picture(const QString& name, const QJsonObject& differing, bool below = false) const {
        auto spec = synthetic();
        for (auto it = differing.begin(); it != differing.end(); ++it) spec[it.key()] = it.value();
        m_page->setSpec(spec);
        QTest::qWait(2500);
        auto* bar = m_page->findChild<QScrollArea*>()->verticalScrollBar();
        bar->setValue(below ? bar->maximum() : 0);
        QTest::qWait(100);
        m_bench->shot(name);
    }

    std::unique_ptr<PageBench> m_bench;
    TrainPage* m_page = nullptr;
};

QTEST_MAIN(TestTrainPage)
#include "tst_train_page.moc"
