#include <QAbstractItemModelTester>
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QInputDialog>
#include <QLineEdit>
#include <QMainWindow>
#include <QMenu>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QSignalSpy>
#include <QSortFilterProxyModel>
#include <QToolButton>
#include <QtTest>
#include <algorithm>

#include "tests/history/history_support.h"
#include "tests/ui/trials/trials_desktop.h"
#include "ui/style/theme.h"

using namespace lockstep;
using namespace lockstep::ui;
using test::Desktop;
namespace fs = std::filesystem;

namespace {

using Mode = QAbstractItemModelTester::FailureReportingMode;

// Answers the next dialog once it is there; `answer` gets it.
template <class Dialog, class Answer>
void whenAsked(Answer&& answer) {
    auto* timer = new QTimer(qApp);
    QObject::connect(timer, &QTimer::timeout, qApp, [timer, answer] {
        auto* dialog = qobject_cast<Dialog*>(QApplication::activeModalWidget());
        if (!dialog) return;
        timer->deleteLater();
        timer->stop();
        answer(*dialog);
    });
    timer->start(10);
}

void press(QMessageBox& box, const QString& text) {
    for (auto* button : box.buttons())
        if (button->text().remove('&') == text) return button->click();
    box.reject();
}

std::vector<std::int64_t> finishedTrials(const Desktop& desktop, int count) {
    const auto store = test::openStore(desktop.places.history());
    std::vector<std::int64_t> trials;
    for (int i = 0; i < count; ++i) {
        trials.push_back(store->createTrial({}, desktop.places.runs()));
        store->setState(trials.back(), RunState::Finished);
    }
    return trials;
}

}  // namespace

// What a person does on the page of trials, by mouse and by keys.
class TestTrialsManners : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { applyTheme(*qApp, ThemeChoice::Light); }

    void modelsKeepTheirWord() {
        Desktop desktop({12, 20, 1});
        desktop.open();
        auto* proxy = qobject_cast<QSortFilterProxyModel*>(desktop.table().model());
        const QAbstractItemModelTester rows(proxy->sourceModel(), Mode::QtTest), shown(proxy, Mode::QtTest),
            differences(desktop.settings().model(), Mode::QtTest);
        QTRY_VERIFY(desktop.rows() > 6);
        desktop.table().sortByColumn(kBestColumn, Qt::AscendingOrder);
        desktop.select(0);
        QTRY_VERIFY(desktop.settings().model()->rowCount() > 10);
        desktop.action("Star").trigger();
        desktop.action("Archive").trigger();
        desktop.table().selectAll();
        QTRY_COMPARE(desktop.settings().model()->columnCount(), desktop.rows());
        desktop.action("Delete").trigger();
        QCOMPARE(desktop.rows(), 0);
        while (desktop.page->undoStack()->canUndo()) desktop.page->undoStack()->undo();
        QVERIFY(desktop.rows() > 6);
        QTest::keyClicks(desktop.page->findChild<QLineEdit*>(), "mlp");
        QTRY_VERIFY(desktop.rows() < 12);
        test::openStore(desktop.places.history())->createTrial({}, desktop.places.runs());
        QTRY_COMPARE(proxy->sourceModel()->rowCount(), 13);
    }

    void tagsOfSeveralAreTypedOnce() {
        Desktop desktop;
        const auto trials = finishedTrials(desktop, 2);
        test::openStore(desktop.places.history())->setTags(trials[0], {"mine", "old"});
        test::openStore(desktop.places.history())->setTags(trials[1], {"old"});
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 2);
        desktop.table().setFocus();
        desktop.table().selectAll();
        QString offered;
        whenAsked<QInputDialog>([&](QInputDialog& dialog) {
            offered = dialog.textValue();
            dialog.setTextValue("new, thesis,, new");
            dialog.accept();
        });
        QTest::keyClick(&desktop.table(), Qt::Key_T, Qt::ControlModifier);
        QCOMPARE(offered, QString("old"));  // what both have
        const auto query = test::openQuery(desktop.places.history());
        using Tags = std::vector<std::string>;
        QTRY_COMPARE(query->find(trials[1])->tags, (Tags{"new", "thesis"}));
        QTRY_COMPARE(query->find(trials[0])->tags, (Tags{"mine", "new", "thesis"}));  // its own stays
        whenAsked<QInputDialog>([](QInputDialog& dialog) { dialog.reject(); });
        desktop.action("Tags…").trigger();
        QCOMPARE(desktop.page->undoStack()->count(), 1);
        desktop.page->undoStack()->undo();
        QTRY_COMPARE(query->find(trials[0])->tags, (Tags{"mine", "old"}));
    }

    void theTrashIsEmptiedOnlyWhenMeant() {
        Desktop desktop;
        const auto trials = finishedTrials(desktop, 3);
        for (const auto trial : trials) fs::create_directories(desktop.places.run(trial));
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 3);
        desktop.select(0);
        desktop.action("Delete").trigger();
        auto& shelf = *desktop.page->findChild<QComboBox*>();
        shelf.setCurrentIndex(2);
        QCOMPARE(desktop.rows(), 1);
        whenAsked<QMessageBox>([](QMessageBox& box) { press(box, "Cancel"); });
        desktop.action("Empty trash…").trigger();
        QTest::qWait(50);
        QCOMPARE(desktop.rows(), 1);
        QString asked;
        whenAsked<QMessageBox>([&](QMessageBox& box) {
            asked = box.text() + box.informativeText();
            press(box, "Remove for good");
        });
        desktop.action("Empty trash…").trigger();
        QVERIFY(asked.contains("1 trial") && asked.contains("cannot be undone"));
        QTRY_COMPARE(desktop.rows(), 0);
        const auto query = test::openQuery(desktop.places.history());
        QVERIFY(!query->find(trials[2]) && query->find(trials[0]));
        QVERIFY(!fs::exists(desktop.places.run(trials[2])) && fs::exists(desktop.places.run(trials[0])));
        desktop.page->undoStack()->undo();  // the deletion of what is gone: nothing happens
        QTest::qWait(50);
        QVERIFY(!query->find(trials[2]));
    }

    void deletingAndArchivingAreUndoneByKeys() {
        Desktop desktop;
        finishedTrials(desktop, 3);
        desktop.open();
        QMainWindow window;  // has the keys, as the studio's window does
        auto *undo = desktop.page->undoStack()->createUndoAction(&window),
             *redo = desktop.page->undoStack()->createRedoAction(&window);
        undo->setShortcut(QKeySequence::Undo);
        redo->setShortcut(QKeySequence::Redo);
        window.addActions({undo, redo});
        window.setCentralWidget(desktop.page.get());
        const auto handBack = qScopeGuard([&] { window.takeCentralWidget()->setParent(nullptr); });
        window.show();
        window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        QTRY_COMPARE(desktop.rows(), 3);
        auto& table = desktop.table();
        table.setFocus();
        QTest::keyClick(&table, Qt::Key_Down);
        QTest::keyClick(&table, Qt::Key_Up);
        QTest::keyClick(&table, Qt::Key_A, Qt::ControlModifier | Qt::ShiftModifier);
        QCOMPARE(desktop.rows(), 2);
        QTest::keyClick(&table, Qt::Key_Delete);  // the next row is selected
        QCOMPARE(desktop.rows(), 1);
        QTest::keySequence(&table, QKeySequence::Undo);
        QCOMPARE(desktop.rows(), 2);
        QTest::keySequence(&table, QKeySequence::Undo);
        QCOMPARE(desktop.rows(), 3);
        QTest::keySequence(&table, QKeySequence::Redo);
        QCOMPARE(desktop.rows(), 2);
    }

    void twoAreComparedAndSeedsAreBanded() {
        Desktop desktop({6, 60, 1});
        desktop.open();
        QTRY_VERIFY(desktop.rows() > 3);
        auto& settings = *desktop.settings().model();
        desktop.table().selectAll();
        QTRY_COMPARE(settings.columnCount(), desktop.rows());
        const auto all = desktop.plot().model().series();
        QVERIFY(all.size() > 3);
        for (const auto& series : all) QVERIFY(series.name.startsWith(QString("#%1 ").arg(series.key)) && !series.band);
        auto& bySeeds = *desktop.page->findChild<QCheckBox*>("bySeeds");
        bySeeds.setChecked(true);
        QTRY_VERIFY(desktop.plot().model().series().size() < all.size());
        const auto& groups = desktop.plot().model().series();
        QVERIFY(std::any_of(groups.begin(), groups.end(), [](const auto& series) { return series.band.has_value(); }));
        desktop.select(0);
        desktop.table().selectionModel()->select(desktop.table().model()->index(desktop.rows() - 1, 0),
                                                 QItemSelectionModel::Select | QItemSelectionModel::Rows);
        QTRY_COMPARE(settings.columnCount(), 2);
        QVERIFY(desktop.says("Differences between 2 trials"));
        QVERIFY(settings.rowCount() > 0);
        for (int row = 0; row < settings.rowCount(); ++row)
            QVERIFY(settings.index(row, 0).data() != settings.index(row, 1).data());
        for (auto* box : desktop.page->findChildren<QComboBox*>())
            if (box->accessibleName() == "Quantity of the curves") box->setCurrentText("Loss, test and train");
        QTRY_COMPARE(desktop.plot().model().series().size(), std::size_t{4});
        const auto& both = desktop.plot().model().series();
        QVERIFY(!both[0].dashed && both[1].dashed && both[0].color == both[1].color);
    }

    void titleAndNoteByKeys() {
        Desktop desktop;
        const auto trials = finishedTrials(desktop, 1);
        desktop.open();
        desktop.page->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(desktop.page.get()));
        QTRY_COMPARE(desktop.rows(), 1);
        auto& table = desktop.table();
        table.setFocus();
        desktop.select(0);
        QTest::keyClick(&table, Qt::Key_F2);
        QVERIFY(QApplication::focusWidget() && qobject_cast<QLineEdit*>(QApplication::focusWidget()));
        QTest::keyClicks(QApplication::focusWidget(), "wide net");
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
        const auto query = test::openQuery(desktop.places.history());
        QTRY_COMPARE(query->find(trials[0])->title, std::string("wide net"));
        table.setFocus();
        QTest::keyClick(&table, Qt::Key_E, Qt::ControlModifier);
        QVERIFY(desktop.page->findChild<QPlainTextEdit*>()->hasFocus());
        QTest::keyClicks(QApplication::focusWidget(), "good");
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
        QTRY_COMPARE(query->find(trials[0])->note, std::string("good"));
        table.setFocus();
        QTest::keyClick(&table, Qt::Key_F, Qt::ControlModifier);
        QVERIFY(desktop.page->findChild<QLineEdit*>()->hasFocus());
    }

    void actionsAreListedAndNamed() {
        Desktop desktop;
        finishedTrials(desktop, 1);
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 1);
        QStringList keys;
        for (const auto* action : desktop.page->commands()) {
            QVERIFY(!action->text().isEmpty());
            QVERIFY2(!action->toolTip().isEmpty(), qPrintable(action->text()));
            if (action->shortcut().isEmpty()) continue;
            QVERIFY2(!keys.contains(action->shortcut().toString()), qPrintable(action->text()));
            keys << action->shortcut().toString();
        }
        for (const auto* button : desktop.page->findChildren<QToolButton*>()) {
            if (!button->isVisible() || button->objectName() == "qt_toolbar_ext_button") continue;
            QVERIFY2(!button->accessibleName().isEmpty() || !button->text().isEmpty(), qPrintable(button->toolTip()));
            QVERIFY2(button->focusPolicy() & Qt::TabFocus, qPrintable(button->text()));
        }
        desktop.select(0);
        QString menuSaid;
        QTimer::singleShot(100, qApp, [&] {
            if (auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget())) {
                for (const auto* action : menu->actions()) menuSaid += action->text() + '|';
                menu->close();
            }
        });
        QContextMenuEvent byKey(QContextMenuEvent::Keyboard, {}, desktop.table().mapToGlobal(QPoint()));
        QApplication::sendEvent(desktop.table().viewport(), &byKey);
        QTRY_VERIFY(menuSaid.contains("Clone the trial into the form|") && menuSaid.contains("Columns|"));
    }
};

QTEST_MAIN(TestTrialsManners)
#include "tst_trials_manners.moc"
