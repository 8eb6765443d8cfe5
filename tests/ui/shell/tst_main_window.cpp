#include <QAbstractSpinBox>
#include <QAccessible>
#include <QComboBox>
#include <QMenuBar>
#include <QTabWidget>

#include "shell_support.h"
#include "tests/ui/queue/made_queue.h"
#include "ui/evaluate/evaluate_page.h"
#include "ui/trials/trials_table.h"

using namespace lockstep;
using namespace lockstep::ui;

// The window as a person uses it, with the real engine.
class TestMainWindow : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { applyTheme(*qApp, ThemeChoice::Light); }

    void init() { m_home = std::make_unique<Home>(); }

    void aNewcomerTrainsThePresetAndFindsItAgain() {
        std::int64_t trial = 0;
        std::size_t steps = 0;
        {
            const auto window = m_home->open();
            QVERIFY(startPreset(*window));
            auto& runs = *window->findChild<OpenRuns*>();
            trial = runs.trials().front();
            RunFeed& feed = *runs.open(trial);
            QTRY_VERIFY_WITH_TIMEOUT(stepsOf(feed) >= 20, kPatience);
            QCOMPARE(feed.state(), RunState::Running);

            feed.pause();
            QTRY_COMPARE_WITH_TIMEOUT(feed.state(), RunState::Paused, kPatience);
            feed.resume();
            QTRY_COMPARE_WITH_TIMEOUT(feed.state(), RunState::Running, kPatience);
            answerWith("Keep running");
            QVERIFY(window->close());
        }
        {
            const auto window = m_home->open();  // the run went on, and is found
            auto& runs = *window->findChild<OpenRuns*>();
            QTRY_COMPARE(runs.trials(), std::vector<std::int64_t>{trial});
            RunFeed& feed = *runs.open(trial);
            QTRY_COMPARE_WITH_TIMEOUT(feed.state(), RunState::Finished, 5 * kPatience);
            QTRY_VERIFY_WITH_TIMEOUT(isWhole(feed, *m_home), kPatience);  // none missing, none doubled
            QVERIFY(feed.record().best(*findMetric("test_accuracy")) > 0.9);
            steps = stepsOf(feed);
            QVERIFY(window->close());  // asks nothing: nothing runs
        }
        const auto query = TrialQuery::open(m_home->places.history());
        QVERIFY(query.ok());
        const auto row = query.value()->find(trial);
        QCOMPARE(row->state, std::string("finished"));
        QCOMPARE(static_cast<std::size_t>(row->step), steps);
    }

    void cancelKeepsTheWindow() {
        const auto window = m_home->open();
        QVERIFY(startPreset(*window));
        auto& runs = *window->findChild<OpenRuns*>();
        RunFeed& feed = *runs.open(runs.trials().front());
        QTRY_VERIFY_WITH_TIMEOUT(stepsOf(feed) >= 1, kPatience);
        answerWith("Cancel");
        QVERIFY(!window->close());
        answerWith("Stop with checkpoint");
        QVERIFY(window->close());
        QTRY_COMPARE_WITH_TIMEOUT(feed.state(), RunState::Stopped, kPatience);
    }

    void noTwoCommandsShareAShortcut() {
        const auto window = m_home->open();
        QMap<QString, QStringList> owners;
        for (const QAction* action : window->findChildren<QAction*>()) {
            for (const QKeySequence& keys : action->shortcuts()) {
                if (action->shortcutContext() == Qt::WindowShortcut && action->isEnabled())
                    owners[keys.toString()] << action->text();
            }
        }
        for (auto it = owners.begin(); it != owners.end(); ++it) {
            QVERIFY2(it.value().size() == 1, qPrintable(it.key() + ": " + it.value().join(", ")));
        }
        QVERIFY(owners.contains("Ctrl+K") && owners.contains("Ctrl+1"));
    }

    // Every command has an id of its own, on every page, and what leads on to another page finds it.
    void commandsHaveIds() {
        const auto window = m_home->open();
        const QMap<QString, QString> ofPages{
            {"train", "train.start"}, {"runs", "run.next"}, {"trials", "trials.star"}, {"queue", "queue.hold"}};
        for (auto page = ofPages.begin(); page != ofPages.end(); ++page) {
            QVERIFY(window->commands().run("page." + page.key()));
            QSet<QString> ids;
            for (const QAction* each : window->commands().commands()) {
                QVERIFY2(!each->objectName().isEmpty(), qPrintable(each->text() + " has no id"));
                QVERIFY2(!ids.contains(each->objectName()), qPrintable(each->objectName() + " is there twice"));
                ids << each->objectName();
            }
            QVERIFY2(ids.contains(page.value()), qPrintable(page.value()));
        }
        for (const QMenu* menu : window->menuBar()->findChildren<QMenu*>()) QVERIFY(!menu->actions().isEmpty());
        QVERIFY(window->commands().run("page.runs"));
        QPushButton* train = buttonWith(*window, "Train something");
        QVERIFY(train);
        train->click();
        QVERIFY(window->commands().find("train.start"));
    }

    // What a person looked at last is what there is to evaluate, whether or not it is the newest.
    void theTrialLookedAtIsEvaluated() {
        Home home;
        for (int i = 0; i < 2; ++i) QVERIFY(home.train(1, 64).waitForFinished(kPatience));
        const auto window = home.open();
        window->openRun(1);
        QVERIFY(window->commands().run("page.evaluate"));
        const auto& page = *window->findChild<EvaluatePage*>();
        QTRY_COMPARE_WITH_TIMEOUT(page.trial(), 1, kPatience);
        window->openRun(2);
        QVERIFY(window->commands().run("page.evaluate"));
        QTRY_COMPARE_WITH_TIMEOUT(page.trial(), 2, kPatience);
    }

    // What a screen reader says and the Tab key finds, on every page.
    void everythingIsNamedAndReachable() {
        m_home->train(100'000);
        QVERIFY(m_home->waitForRun(1));
        const auto window = m_home->open();
        window->openRun(1);
        RunFeed& feed = *window->findChild<OpenRuns*>()->open(1);
        QTRY_VERIFY_WITH_TIMEOUT(feed.state() == RunState::Running && stepsOf(feed) > 5, kPatience);
        QVERIFY(QTest::qWaitForWindowActive(window.get()));
        for (const auto page : {Qt::Key_1, Qt::Key_2, Qt::Key_3, Qt::Key_4, Qt::Key_6}) {
            QTest::keyClick(window.get(), page, Qt::ControlModifier);
            QTest::qWait(1000);  // for what the engine and the history say
            const QSet<QWidget*> reached = reachedByTab();
            for (QWidget* widget : window->findChildren<QWidget*>()) {
                if (!widget->isVisible() || !widget->isEnabled() || !(widget->focusPolicy() & Qt::TabFocus)) continue;
                const QString what = QString("page %1: %2 %3")
                                         .arg(page - Qt::Key_0)
                                         .arg(widget->metaObject()->className(), widget->objectName());
                const auto* heard = QAccessible::queryAccessibleInterface(widget);
                const bool isPart = qobject_cast<QAbstractSpinBox*>(widget->parentWidget()) ||
                                    qobject_cast<QComboBox*>(widget->parentWidget());
                QVERIFY2(isPart || (heard && !heard->text(QAccessible::Name).isEmpty()),
                         qPrintable(what + " has no name"));
                const bool inside = std::any_of(reached.begin(), reached.end(), [&](QWidget* each) {
                    return each == widget || widget->isAncestorOf(each) || each->focusProxy() == widget ||
                           widget->focusProxy() == each;
                });
                QVERIFY2(inside, qPrintable(what + " cannot be reached by Tab"));
            }
        }
        feed.kill();
        QTRY_VERIFY_WITH_TIMEOUT(isFinal(feed.state()), kPatience);
    }

    // A page that is made late shows what the history has told before, and what was saved of it.
    void aLatePageKnowsWhatOthersKnow() {
        test::MadeQueue made(m_home->places);
        const auto trial = made.finish("known before", 0.9);
        QSettings().setValue("evaluate/order", 2);
        const auto window = m_home->open();
        QVERIFY(window->commands().run("page.trials"));
        const auto* table = window->findChild<TrialsTable*>();
        QTRY_COMPARE_WITH_TIMEOUT(table->model()->rowCount(), 1, kPatience);
        QVERIFY(window->commands().run("page.evaluate"));
        const auto& evaluate = *window->findChild<EvaluatePage*>();
        QTRY_COMPARE(evaluate.trial(), trial);
        QCOMPARE(evaluate.findChild<QComboBox*>("classOrder")->currentIndex(), 2);
    }

    void withoutAnEngineTheWindowSaysSo() {
        MainWindow window("/nowhere/lockstep", m_home->places, plainWords);
        window.show();
        QTRY_VERIFY_WITH_TIMEOUT(!textWith(window, "engine.missing").isEmpty(), kPatience);
    }

private:
    // As a newcomer: the one button, and the run it opens.
    static bool startPreset(MainWindow& window) {
        QPushButton* preset = nullptr;
        const auto offered = [&] { return (preset = buttonWith(window, "Train the preset")) && preset->isEnabled(); };
        if (!QTest::qWaitFor(offered, kPatience)) return false;
        preset->click();
        return QTest::qWaitFor([&] { return window.findChild<OpenRuns*>()->trials().size() == 1; }, kPatience);
    }

    static QSet<QWidget*> reachedByTab() {
        QSet<QWidget*> reached;
        for (QWidget* at = QApplication::focusWidget(); at && !reached.contains(at); at = QApplication::focusWidget()) {
            reached << at;
            QTest::keyClick(at, Qt::Key_Tab);
        }
        return reached;
    }

    std::unique_ptr<Home> m_home;
};

QTEST_MAIN(TestMainWindow)
#include "tst_main_window.moc"
