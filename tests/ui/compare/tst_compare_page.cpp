#include <QAction>
#include <QClipboard>
#include <QComboBox>
#include <QLineEdit>
#include <QToolButton>

#include "tests/ui/compare/compare_desktop.h"
#include "ui/compare/compare_card.h"
#include "ui/compare/compare_view.h"
#include "ui/style/theme.h"

using namespace lockstep;
using namespace lockstep::ui;
using test::CompareDesktop;

class TestComparePage : public QObject {
    Q_OBJECT
private slots:
    void init() { QStandardPaths::setTestModeEnabled(true); }

    void aSweepIsListedTheBestFirst() {
        CompareDesktop desktop;
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 10);
        QCOMPARE(desktop.cell(0, 0), QString("#8"));
        QCOMPARE(desktop.cell(0, 1), QString("81.00 %"));
        QCOMPARE(desktop.cell(9, 1), QString("failed"));
    }

    void aBrushNarrowsTheListAndIsTakenBack() {
        CompareDesktop desktop;
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 10);
        desktop.selection->brush("metric.test_accuracy", {.ranges = {{0.5, 0.615}}});
        QCOMPARE(desktop.rows(), 4);
        QTRY_VERIFY(desktop.page->findChild<QToolButton*>("chip.metric.test_accuracy"));
        desktop.page->undoStack()->undo();
        QCOMPARE(desktop.rows(), 10);
        desktop.page->undoStack()->redo();
        QTest::mouseClick(desktop.page->findChild<QToolButton*>("chip.metric.test_accuracy"), Qt::LeftButton);
        QTRY_COMPARE(desktop.rows(), 10);
    }

    void failedTrialsAreToggledAndTheirCountStays() {
        CompareDesktop desktop;
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 10);
        auto* failed = desktop.page->findChild<QToolButton*>("outcome.2");
        QVERIFY(failed->text().contains("2"));
        QTest::mouseClick(failed, Qt::LeftButton);
        QCOMPARE(desktop.rows(), 8);
        QVERIFY(failed->text().contains("2"));
    }

    void aTrialThatIsPinnedByItsMarkIsPinnedForAll() {
        CompareDesktop desktop;
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 10);
        const QRect cell = desktop.list().visualRect(desktop.list().model()->index(0, 0));
        QTest::mouseClick(desktop.list().viewport(), Qt::LeftButton, {}, {cell.left() + 10, cell.center().y()});
        QVERIFY(desktop.selection->placeOf(8));
        QTest::mouseMove(desktop.list().viewport(), cell.center());
        QTRY_COMPARE(desktop.selection->hovered(), std::optional<std::int64_t>(8));
    }

    void aHistoryThatGrowsIsFollowed() {
        CompareDesktop desktop;
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 10);
        desktop.made->finish("", 0.99, GroupPlace{1, 4, 2});
        QTRY_COMPARE_WITH_TIMEOUT(desktop.cell(0, 1), QString("99.00 %"), 10'000);
        QCOMPARE(desktop.rows(), 11);
    }

    void trialsOfTheListAreComparedToo() {
        CompareDesktop desktop;
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 10);
        desktop.selection->setScope(0);
        desktop.selection->setListed({1, 2, 3});
        QTRY_COMPARE(desktop.rows(), 3);
        auto* scope = desktop.page->findChild<QComboBox*>("compareScope");
        QCOMPARE(scope->currentData().toLongLong(), 0);
        desktop.selection->setScope(1);
        QTRY_COMPARE(desktop.rows(), 10);
        QCOMPARE(scope->currentData().toLongLong(), 1);
    }

    void aSweepHasAReport() {
        CompareDesktop desktop;
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 10);
        const auto commands = desktop.page->commands();
        const auto action = [&](const char* id) {
            return *std::ranges::find(commands, QString(id), &QAction::objectName);
        };
        QTRY_VERIFY(action("compare.report")->isEnabled());
        const QSignalSpy asked(desktop.page.get(), &ComparePage::reportRequested);
        action("compare.report")->trigger();
        QCOMPARE(asked.size(), 1);
        QCOMPARE(asked.front().front().toLongLong(), 1);
        action("compare.copy-report-command")->trigger();
        QCOMPARE(QApplication::clipboard()->text(), QString("lockstep report 1"));
        desktop.selection->setScope(0);
        QVERIFY(!action("compare.report")->isEnabled() && !action("compare.copy-report-command")->isEnabled());
    }

    // Over a field, too: it leaves the wheel to the page until it has the focus.
    void theWheelScrollsThePage() {
        CompareDesktop desktop;
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 10);
        auto* box = desktop.page->findChild<QComboBox*>("scatterX");
        const auto turned = [&] {
            box->setCurrentIndex(0);
            const QPointF at(5, 5);
            QWheelEvent turn(at, box->mapToGlobal(at), {}, {0, -120}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase,
                             false);
            QApplication::sendEvent(box, &turn);
            return std::pair(turn.isAccepted(), box->currentIndex());
        };
        QCOMPARE(turned(), std::pair(false, 0));
        box->setFocus();
        QCOMPARE(turned(), std::pair(true, 1));
    }

    void noTrialsAreAnEmptyPage() {
        CompareDesktop desktop(false);
        desktop.open(0);
        QTRY_VERIFY(desktop.page->emptyState().has_value());
    }

    // A click on a column's head sorts by it, a second one the other way; a third: the best first.
    void theListIsSortedByItsColumns() {
        CompareDesktop desktop;
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 10);
        CompareList& list = desktop.list();
        list.selectRow(0);
        const auto chosen = list.chosen();
        const auto click = [&](int column) {
            QHeaderView& header = *list.horizontalHeader();
            QTest::mouseClick(header.viewport(), Qt::LeftButton, {},
                              {header.sectionViewportPosition(column) + header.sectionSize(column) / 2, 5});
        };
        click(1);
        QCOMPARE(desktop.cell(0, 1), QString("50.00 %"));
        QCOMPARE(desktop.cell(7, 1), QString("81.00 %"));
        QCOMPARE(desktop.cell(9, 1), QString("failed"));
        QCOMPARE(list.chosen(), chosen);
        desktop.selection->brush("metric.test_accuracy", {.ranges = {{0.55, 0.9}}});
        QTRY_COMPARE(desktop.rows(), 6);
        QCOMPARE(desktop.cell(0, 1), QString("60.00 %"));
        desktop.selection->clearBrushes();
        click(1);
        QTRY_COMPARE(desktop.cell(0, 1), QString("81.00 %"));
        QCOMPARE(desktop.cell(9, 1), QString("failed"));
        click(0);
        QCOMPARE(desktop.cell(0, 0), QString("#1"));
        click(0), click(0);
        QCOMPARE(desktop.cell(0, 1), QString("81.00 %"));
        QCOMPARE(desktop.cell(1, 1), QString("80.00 %"));
    }

    // What every view writes can be read again; each says in words what it shows.
    void everyViewIsSavedAndHasWords() {
        CompareDesktop desktop;
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 10);
        for (CompareCard* card : desktop.page->findChildren<CompareCard*>()) {
            if (!card->view().emptyText().isEmpty()) continue;
            QVERIFY2(!card->view().summary().isEmpty(), qPrintable(card->view().title()));
            for (const QString ending : {"png", "svg", "csv"}) {
                const QString file = desktop.folder.filePath("view." + ending);
                // Importance and curves come from other threads.
                QTRY_VERIFY2(card->saveTo(file) && QFileInfo(file).size() > 50, qPrintable(card->view().title()));
            }
            QVERIFY(!QImage(desktop.folder.filePath("view.png")).isNull());
            QFile svg(desktop.folder.filePath("view.svg"));
            QVERIFY(svg.open(QIODevice::ReadOnly));
            QXmlStreamReader reader(&svg);
            while (!reader.atEnd()) reader.readNext();
            QVERIFY2(!reader.hasError(), qPrintable(reader.errorString()));
            QVERIFY(!card->saveTo("/no/such/folder/view.png"));
        }
    }

    void theNextWindowFindsScopeBrushesAndTarget() {
        CompareDesktop desktop;
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 10);
        desktop.selection->brush("metric.test_accuracy", {.ranges = {{0.5, 0.615}}});
        desktop.page->findChild<QLineEdit*>("compareTarget")->setText("88 %");
        QSettings settings(desktop.folder.filePath("window.ini"), QSettings::IniFormat);
        desktop.page->save(settings);
        desktop.open(0);
        desktop.page->restore(settings);
        QTRY_COMPARE(desktop.rows(), 4);
        QCOMPARE(desktop.page->findChild<QLineEdit*>("compareTarget")->text(), QString("88 %"));
    }
};

QTEST_MAIN(TestComparePage)
#include "tst_compare_page.moc"
