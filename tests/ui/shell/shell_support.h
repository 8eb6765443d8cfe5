#pragma once
#include <QApplication>
#include <QLabel>
#include <QMessageBox>
#include <QProcess>
#include <QPushButton>
#include <QSettings>
#include <QTemporaryDir>
#include <QtTest>
#include <memory>

#include "engine/history/trial_query.h"
#include "engine/session/lease.h"
#include "ui/controllers/open_runs.h"
#include "ui/style/theme.h"
#include "ui/views/main_window.h"

namespace lockstep::ui {

constexpr int kPatience = 60'000;

inline Explanation plainWords(const Problem& problem) {
    return {QString::fromStdString(problem.field + ": " + problem.code), QString()};
}

// What a person sees of a window: buttons and texts by their words.
inline QPushButton* buttonWith(const QWidget& window, const QString& text) {
    for (QPushButton* button : window.findChildren<QPushButton*>()) {
        if (button->text().contains(text) && button->isVisible()) return button;
    }
    return nullptr;
}

inline QString textWith(const QWidget& window, const QString& part) {
    for (const QLabel* label : window.findChildren<QLabel*>()) {
        if (label->isVisible() && label->text().contains(part)) return label->text();
    }
    return {};
}

// Presses the button of the message box that is about to open.
inline void answerWith(const QString& text) {
    QTimer::singleShot(200, qApp, [text] {
        auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
        if (!box) return;
        for (QAbstractButton* button : box->buttons()) {
            if (button->text().remove('&') == text) return button->click();
        }
        box->reject();
    });
}

inline std::size_t stepsOf(const RunFeed& feed) { return feed.record().curve(RunCurve::Loss)->size(); }

// Every step of the record once and in order, and all that the history has.
inline bool isWhole(const RunFeed& feed, const Places& places) {
    const auto query = TrialQuery::open(places.history());
    if (!query.ok()) return false;
    const auto points = query.value()->series(feed.trial(), "loss");
    const Curve& seen = *feed.record().curve(RunCurve::Loss);
    if (feed.record().missing() != 0 || points.size() != seen.size()) return false;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const auto step = static_cast<double>(i + 1);
        if (seen.x(CurveAxis::Step, i) != step || static_cast<double>(points[i].step) != step || seen.value(i) != points[i].value)
            return false;
    }
    return true;
}

// A home of its own, and runs of the real engine in it.
class Home {
public:
    explicit Home(const QString& folder = {}) {
        const QString path = folder.isEmpty() ? m_folder.path() : folder;
        qputenv("LOCKSTEP_HOME", path.toUtf8());
        QSettings::setDefaultFormat(QSettings::IniFormat);
        QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, path + "/config");
        QCoreApplication::setOrganizationName("lockstep");
        QCoreApplication::setApplicationName("studio");
        places = preparePlaces(placesFromEnvironment()).value();
    }
    ~Home() {
        for (auto& process : m_processes) {
            process->kill();
            process->waitForFinished();
        }
    }

    QProcess& start(const QString& program, const QStringList& arguments) {
        m_processes.push_back(std::make_unique<QProcess>());
        QProcess& process = *m_processes.back();
        process.setStandardOutputFile(QProcess::nullDevice());
        process.setStandardErrorFile(QProcess::nullDevice());
        process.start(program, arguments);
        process.waitForStarted();
        return process;
    }
    // Some hundred steps a second; an epoch has samples / 32.
    QProcess& train(int epochs, int samples = 512) {
        return start(LOCKSTEP_PROGRAM, {"train", "--dataset", "synthetic", "--model", "mlp", "--devices", "cpu:2", "--batch", "32",
                                        "--epochs", QString::number(epochs), "--set", QString("dataset.samples=%1").arg(samples)});
    }
    bool waitForRun(std::int64_t trial) const {
        return QTest::qWaitFor([&] { return std::filesystem::exists(places.socket(trial)); }, kPatience);
    }
    std::unique_ptr<MainWindow> open(const Explain& explain = plainWords) const {
        auto window = std::make_unique<MainWindow>(LOCKSTEP_PROGRAM, places, explain);
        window->show();
        window->activateWindow();                          // a bare X server has no window manager to do it
        return window;
    }

    Places places;

private:
    QTemporaryDir m_folder;
    std::vector<std::unique_ptr<QProcess>> m_processes;
};

}  // namespace lockstep::ui
