#include <QApplication>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QSettings>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QtTest>

#include "engine/history/trial_query.h"
#include "ui/controllers/open_runs.h"
#include "ui/style/theme.h"
#include "ui/views/main_window.h"

using namespace lockstep;
using namespace lockstep::ui;

namespace {

constexpr int kPatience = 60'000;

Explanation plainWords(const Problem& problem) {
    return {QString::fromStdString(problem.field + ": " + problem.code), QString()};
}

QPushButton* buttonWith(const QWidget& window, const QString& text) {
    for (QPushButton* button : window.findChildren<QPushButton*>()) {
        if (button->text().contains(text) && button->isVisible()) return button;
    }
    return nullptr;
}

std::size_t stepsOf(const RunFeed& feed) { return feed.record().curve(RunCurve::Loss)->size(); }

}  // namespace

// The window as a person uses it, with the real engine.
class TestMainWindow : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        QSettings::setDefaultFormat(QSettings::IniFormat);
        QCoreApplication::setOrganizationName("lockstep");
        QCoreApplication::setApplicationName("studio-test");
        applyTheme(*qApp, ThemeChoice::Light);
    }

    void init() {
        m_home = std::make_unique<QTemporaryDir>();
        qputenv("LOCKSTEP_HOME", m_home->path().toUtf8());
        QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_home->path());
        m_places = preparePlaces(placesFromEnvironment()).value();
    }

    void aNewcomerTrainsThePresetAndFindsItAgain() {
        std::int64_t trial = 0;
        std::size_t steps = 0;
        {
            const auto window = open();
            QPushButton* preset = nullptr;
            QTRY_VERIFY_WITH_TIMEOUT((preset = buttonWith(*window, "Train the preset")) && preset->isEnabled(), kPatience);
            preset->click();
            auto& runs = *window->findChild<OpenRuns*>();
            QTRY_COMPARE_WITH_TIMEOUT(runs.trials().size(), std::size_t{1}, kPatience);
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
            const auto window = open();                    // the run went on, and is found
            auto& runs = *window->findChild<OpenRuns*>();
            QTRY_COMPARE(runs.trials(), std::vector<std::int64_t>{trial});
            RunFeed& feed = *runs.open(trial);
            QTRY_VERIFY_WITH_TIMEOUT(stepsOf(feed) >= 20, kPatience);
            feed.stop();
            QTRY_COMPARE_WITH_TIMEOUT(feed.state(), RunState::Stopped, kPatience);
            steps = stepsOf(feed);
            QVERIFY(window->close());                      // asks nothing: nothing runs
        }
        const auto query = TrialQuery::open(m_places.history());
        QVERIFY(query.ok());
        const auto row = query.value()->find(trial);
        QCOMPARE(row->state, std::string("stopped"));
        QCOMPARE(static_cast<std::size_t>(row->step), steps);      // none missing, none doubled
    }

    void cancelKeepsTheWindow() {
        const auto window = open();
        QPushButton* preset = nullptr;
        QTRY_VERIFY_WITH_TIMEOUT((preset = buttonWith(*window, "Train the preset")) && preset->isEnabled(), kPatience);
        preset->click();
        auto& runs = *window->findChild<OpenRuns*>();
        QTRY_COMPARE_WITH_TIMEOUT(runs.trials().size(), std::size_t{1}, kPatience);
        RunFeed& feed = *runs.open(runs.trials().front());
        QTRY_VERIFY_WITH_TIMEOUT(stepsOf(feed) >= 1, kPatience);
        answerWith("Cancel");
        QVERIFY(!window->close());
        answerWith("Stop with checkpoint");
        QVERIFY(window->close());
        QTRY_COMPARE_WITH_TIMEOUT(feed.state(), RunState::Stopped, kPatience);
    }

    void noTwoCommandsShareAShortcut() {
        const auto window = open();
        QMap<QString, QStringList> owners;
        for (const QAction* action : window->findChildren<QAction*>()) {
            for (const QKeySequence& keys : action->shortcuts()) {
                if (action->shortcutContext() == Qt::WindowShortcut) owners[keys.toString()] << action->text();
            }
        }
        for (auto it = owners.begin(); it != owners.end(); ++it) {
            QVERIFY2(it.value().size() == 1, qPrintable(it.key() + ": " + it.value().join(", ")));
        }
        QVERIFY(owners.contains("Ctrl+K") && owners.contains("Ctrl+1"));
    }

    void withoutAnEngineTheWindowSaysSo() {
        MainWindow window("/nowhere/lockstep", m_places, plainWords);
        window.show();
        QTRY_VERIFY_WITH_TIMEOUT(!textWith(window, "engine.missing").isEmpty(), kPatience);
    }

private:
    std::unique_ptr<MainWindow> open() {
        auto window = std::make_unique<MainWindow>(LOCKSTEP_PROGRAM, m_places, plainWords);
        window->show();
        return window;
    }

    // Presses the button of the message box that is about to open.
    void answerWith(const QString& text) {
        QTimer::singleShot(200, this, [text] {
            auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
            if (!box) return;
            for (QAbstractButton* button : box->buttons()) {
                if (button->text().remove('&') == text) return button->click();
            }
            box->reject();
        });
    }

    static QString textWith(const QWidget& window, const QString& part) {
        for (const QLabel* label : window.findChildren<QLabel*>()) {
            if (label->text().contains(part)) return label->text();
        }
        return {};
    }

    std::unique_ptr<QTemporaryDir> m_home;
    Places m_places;
};

QTEST_MAIN(TestMainWindow)
#include "tst_main_window.moc"
