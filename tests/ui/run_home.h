#pragma once
#include <QCoreApplication>
#include <QProcess>
#include <QSettings>
#include <QTemporaryDir>
#include <QtTest>
#include <filesystem>
#include <memory>
#include <vector>

#include "engine/history/trial_query.h"
#include "engine/session/places.h"
#include "ui/run/run_feed.h"

namespace lockstep::ui {

// A home of its own, also for settings, and runs of the real engine in it, which end with it. LOCKSTEP_PROGRAM: its
// path.
class RunHome {
public:
    explicit RunHome(const QString& folder = {}) {
        const QString path = folder.isEmpty() ? m_folder.path() : folder;
        qputenv("LOCKSTEP_HOME", path.toUtf8());
        QSettings::setDefaultFormat(QSettings::IniFormat);
        QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, path + "/config");
        QCoreApplication::setOrganizationName("lockstep");
        QCoreApplication::setApplicationName("studio");
        places = placesFromEnvironment();
    }
    ~RunHome() {
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
        return start(LOCKSTEP_PROGRAM,
                     {"train", "--dataset", "synthetic", "--model", "mlp", "--devices", "cpu:2", "--batch", "32",
                      "--epochs", QString::number(epochs), "--set", QString("dataset.samples=%1").arg(samples)});
    }
    bool waitForRun(std::int64_t trial) const {
        return QTest::qWaitFor([&] { return std::filesystem::exists(places.socket(trial)); }, 60'000);
    }
    std::unique_ptr<TrialQuery> query() const { return std::move(TrialQuery::open(places.history())).value(); }

    Places places;

private:
    QTemporaryDir m_folder;
    std::vector<std::unique_ptr<QProcess>> m_processes;
};

inline std::size_t stepsOf(const RunFeed& feed) { return feed.record().curve("loss")->size(); }

// Every step of the record once and in order, and all that the history has.
inline bool isWhole(const RunFeed& feed, const RunHome& home) {
    const auto points = home.query()->series(feed.trial(), "loss");
    const Curve& seen = *feed.record().curve("loss");
    if (feed.record().missing() != 0 || points.size() != seen.size()) return false;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const auto step = static_cast<double>(i + 1);
        if (seen.x(CurveAxis::Step, i) != step || static_cast<double>(points[i].step) != step ||
            seen.value(i) != points[i].value)
            return false;
    }
    return true;
}

}  // namespace lockstep::ui
