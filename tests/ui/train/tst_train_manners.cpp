#include <QAbstractItemModelTester>
#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QAccessible>
#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSpinBox>
#include <QToolButton>

#include "page_bench.h"
#include "ui/train/layer_table.h"

using namespace lockstep::ui;

// Tooltips, names, tabulator, undo, shortcuts and models of the whole page.
class TestTrainManners : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        m_bench = std::make_unique<PageBench>();
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->hasForm(), 60000);
        for (const char* fold : {"moreSettings", "faultSettings"}) m_bench->find<QToolButton>(fold)->setChecked(true);
    }
    void cleanupTestCase() { m_bench.reset(); }

    void init() {
        m_bench->page->setSpec(synthetic());
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->page->canStart(), 60000);
        m_bench->page->undoStack()->clear();
    }

    void editorsExplainThemselves_data() {
        QTest::addColumn<QString>("optimizer");
        QTest::addColumn<QString>("schedule");
        QTest::addColumn<QString>("dataset");
        QTest::addColumn<QString>("mode");
        QTest::newRow("usual") << "sgd"
                               << "cosine"
                               << "fashion-mnist"
                               << "fast";
        QTest::newRow("others") << "adamw"
                                << "step"
                                << "image-folder"
                                << "reproducible";
        QTest::newRow("more") << "sgd"
                              << "one-cycle"
                              << "cifar100"
                              << "fast";
    }
    void editorsExplainThemselves() {
        QFETCH(QString, optimizer);
        QFETCH(QString, schedule);
        QFETCH(QString, dataset);
        QFETCH(QString, mode);
        m_bench->page->setSpec(
            {{"optimizer", optimizer}, {"schedule", schedule}, {"dataset", dataset}, {"mode", mode}});
        QCoreApplication::processEvents();  // fields that are new are shown now
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        int seen = 0;
        for (auto* each : editors()) {
            const auto help = each->toolTip();
            const auto who = each->objectName() + " / " + each->accessibleName() + ": " + help;
            QVERIFY2(help.contains("Default: "), qPrintable(who));
            QVERIFY2(help.contains("Range: ") || help.contains("One of: "), qPrintable(who));
            QVERIFY2(help.section('\n', 0, 0).size() > 8, qPrintable(who));
            QVERIFY2(!nameOf(each).isEmpty(), qPrintable(who));
            QVERIFY2(each->focusPolicy() & Qt::TabFocus, qPrintable(who));
            ++seen;
        }
        QVERIFY2(seen > 25, qPrintable(QString::number(seen)));
    }

    void theTabulatorReachesEverythingInTheEyesOrder() {
        QTest::qWait(50);  // the order is made once the form stands
        const auto chain = tabChain();
        for (auto* each : m_bench->page->findChildren<QWidget*>()) {
            if (!(each->focusPolicy() & Qt::TabFocus) || !each->isVisibleTo(m_bench->page.get()) || !each->isEnabled())
                continue;
            if (each->focusProxy() || each->inherits("QScrollBar") || each->objectName().startsWith("qt_")) continue;
            QVERIFY2(chain.contains(each), qPrintable(each->metaObject()->className() + (' ' + each->objectName())));
            QVERIFY2(!nameOf(each).isEmpty(), qPrintable(each->metaObject()->className() + (' ' + each->objectName())));
        }
        // Within a column downwards, and the columns one after the other.
        const QStringList order{"dataset",
                                "dataset.path",
                                "augmentation.crop_padding",
                                "augmentation.cutout",
                                "model",
                                "weights",
                                "frozen",
                                "devices",
                                "batch",
                                "shares",
                                "batch_norm",
                                "optimizer",
                                "optimizer.momentum",
                                "learning_rate",
                                "learning_rate_rule",
                                "schedule",
                                "title",
                                "epochs",
                                "moreSettings",
                                "loader_threads",
                                "faultSettings",
                                "checkpoint_minutes",
                                "keep_checkpoints",
                                "link_latency",
                                "startTraining"};
        qsizetype last = -1;
        for (const auto& name : order) {
            const auto at = chain.indexOf(m_bench->find<QWidget>(name));
            QVERIFY2(at > last, qPrintable(name));
            last = at;
        }
    }

    void anotherChoiceKeepsTheOrder() {
        auto spec = m_bench->page->spec();
        spec["optimizer"] = "adamw";
        m_bench->page->setSpec(spec);
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        const auto place = [&](const char* name) { return tabChain().indexOf(m_bench->find<QWidget>(name)); };
        QTRY_VERIFY(place("optimizer") < place("optimizer.beta1") && place("optimizer.beta1") < place("schedule"));
    }

    void everyEditIsOneStep() {
        auto& history = *m_bench->page->undoStack();
        auto* epochs = m_bench->find<QLineEdit>("epochs");
        auto* seed = m_bench->find<QLineEdit>("seed");
        const auto type = [](QLineEdit* line, const char* text) {
            line->setFocus();
            line->selectAll();
            QTest::keyClicks(line, text);
        };
        type(epochs, "12");
        type(seed, "345");
        type(epochs, "7");  // the field was left in between
        QCOMPARE(history.count(), 3);
        m_bench->find<QCheckBox>("augmentation.flip")->click();
        m_bench->find<QCheckBox>("augmentation.flip")->click();
        QCOMPARE(history.count(), 5);  // two decisions, however quick
        QList<QPushButton*> tiles;
        for (auto* button : m_bench->page->findChildren<QPushButton*>()) {
            if (button->accessibleName().startsWith("CPU ")) tiles << button;
        }
        QVERIFY(tiles.size() >= 4);
        tiles[3]->click();
        tiles[0]->click();
        QCOMPARE(history.count(), 7);
        while (history.canUndo()) history.undo();
        QCOMPARE(m_bench->page->spec(), synthetic());
        QCOMPARE(epochs->text(), QString("2"));
        while (history.canRedo()) history.redo();
        QCOMPARE(epochs->text(), QString("7"));
        QCOMPARE(m_bench->page->spec()["devices"].toString(), QString("cpu:1"));
    }

    // Ctrl+Z within a field is the form's, not the field's own.
    void undoIsTheForms() {
        auto* undo = m_bench->page->undoStack()->createUndoAction(m_bench->page.get());
        undo->setShortcut(QKeySequence::Undo);
        m_bench->page->addAction(undo);
        auto* epochs = m_bench->find<QLineEdit>("epochs");
        m_bench->find<QCheckBox>("augmentation.flip")->click();
        epochs->setFocus();
        QTest::keyClick(epochs, Qt::Key_Z, Qt::ControlModifier);
        QVERIFY(!m_bench->page->undoStack()->canUndo());
        QVERIFY(!m_bench->find<QCheckBox>("augmentation.flip")->isChecked());
        delete undo;
    }

    void theEquationHoldsWhileItIsEdited() {
        const auto numbers = [&] {
            QList<int> found;
            for (const char* name : {"Per device", "Devices", "Accumulation", "Global batch"})
                found << spin(name)->value();
            return found;
        };
        QCOMPARE(numbers(), (QList<int>{64, 2, 1, 128}));
        spin("Devices")->setValue(8);
        QCOMPARE(numbers(), (QList<int>{16, 8, 1, 128}));
        spin("Accumulation")->setValue(4);
        QCOMPARE(numbers(), (QList<int>{4, 8, 4, 128}));
        spin("Per device")->setValue(10);
        QCOMPARE(numbers(), (QList<int>{10, 8, 4, 320}));
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->page->canStart(), 60000);
        auto* mode = m_bench->find<QComboBox>("mode");
        mode->setFocus();
        QTest::keyClicks(mode, "r");  // reproducible: 8 shards, one for each of 8 devices
        QTRY_COMPARE(m_bench->page->spec()["mode"].toString(), QString("reproducible"));
        QCOMPARE(numbers(), (QList<int>{40, 8, 1, 320}));
        QVERIFY(!spin("Accumulation")->isEnabled());
        spin("Devices")->setValue(2);
        QCOMPARE(numbers(), (QList<int>{40, 2, 4, 320}));
        auto* shards = m_bench->find<QLineEdit>("shards");
        shards->setFocus();
        shards->selectAll();
        QTest::keyClicks(shards, "16");
        QCOMPARE(numbers(), (QList<int>{20, 2, 8, 320}));
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->page->canStart(), 60000);
    }

    void actionsAreNamedAndDoNotClash() {
        QSet<QKeySequence> keys;
        for (auto* action : m_bench->page->commands()) {
            QVERIFY(action && !action->text().isEmpty());
            for (const auto& key : action->shortcuts()) {
                QVERIFY2(!keys.contains(key), qPrintable(key.toString()));
                keys << key;
            }
        }
        QVERIFY(keys.contains(QKeySequence("Ctrl+Return")));
        QVERIFY(m_bench->action("Start training")->isEnabled() && !m_bench->action("Show problem")->isEnabled());
        m_bench->action("Reset the form")->trigger();
        QVERIFY(m_bench->page->spec()["epochs"].toInt() == 5);
        m_bench->page->undoStack()->undo();
        QCOMPARE(m_bench->page->spec(), synthetic());
    }

    void modelsAreSound() {
        LayerTable layers;
        QAbstractItemModelTester strict(&layers, QAbstractItemModelTester::FailureReportingMode::QtTest);
        layers.setLayers({{"norm", "batch_norm_train", "16x28x28", 14400}, {"relu", "relu", "16x28x28", 0}});
        QCOMPARE(layers.index(0, LayerTable::kOperation).data().toString(), QString("batch norm"));
        QCOMPARE(layers.index(0, LayerTable::kOutput).data().toString(), QString("16 × 28 × 28"));
        QCOMPARE(layers.index(0, LayerTable::kParameters).data().toString(), QString("14,400"));
        QCOMPARE(layers.index(1, LayerTable::kParameters).data().toString(), QString("–"));
        layers.setLayers({});
        QCOMPARE(layers.rowCount(), 0);
        std::vector<std::unique_ptr<QAbstractItemModelTester>> testers;
        const auto watch = [&](QAbstractItemModel* model) {
            testers.push_back(std::make_unique<QAbstractItemModelTester>(
                model, QAbstractItemModelTester::FailureReportingMode::QtTest));
        };
        for (auto* view : m_bench->page->findChildren<QAbstractItemView*>()) {
            if (view->model()) watch(view->model());
        }
        for (auto* box : m_bench->page->findChildren<QComboBox*>()) watch(box->model());
        QVERIFY(testers.size() > 5);
        auto spec = synthetic();
        spec["model"] = "lenet5";
        m_bench->page->setSpec(spec);
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->page->canStart(), 60000);
    }

private:
    QList<QWidget*> editors() const {
        QList<QWidget*> found;
        for (auto* each : m_bench->page->findChildren<QWidget*>()) {
            const bool editor = qobject_cast<QLineEdit*>(each) || qobject_cast<QAbstractSpinBox*>(each) ||
                                qobject_cast<QComboBox*>(each) || qobject_cast<QCheckBox*>(each);
            if (editor && each->isVisibleTo(m_bench->page.get()) && !each->objectName().startsWith("qt_"))
                found << each;
        }
        return found;
    }

    static QString nameOf(QWidget* widget) {
        auto* accessible = QAccessible::queryAccessibleInterface(widget);
        return accessible ? accessible->text(QAccessible::Name) : QString();
    }

    QList<QWidget*> tabChain() const {
        QList<QWidget*> chain;
        auto* first = m_bench->find<QWidget>("dataset");
        for (auto* each = first;;) {
            chain << each;
            each = each->nextInFocusChain();
            if (each == first || chain.size() > 1000) return chain;
        }
    }

    QSpinBox* spin(const QString& name) const {
        for (auto* each : m_bench->page->findChildren<QSpinBox*>()) {
            if (each->accessibleName() == name) return each;
        }
        qFatal("no number called %s", qPrintable(name));
    }

    std::unique_ptr<PageBench> m_bench;
};

QTEST_MAIN(TestTrainManners)
#include "tst_train_manners.moc"
