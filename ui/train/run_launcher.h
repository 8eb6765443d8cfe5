#pragma once
#include <QJsonObject>
#include <QObject>
#include <QThreadPool>
#include <QTimer>
#include <functional>
#include <set>
#include <vector>

#include "engine/search/sweep_spec.h"
#include "engine/session/places.h"
#include "engine/trials/launch.h"
#include "ui/train/problem_list.h"

namespace lockstep::ui {

// Starts runs that outlive the window: makes the trial's row, then an engine of its own runs it; or hands a sweep to
// the queue, which does so for its trials. GUI thread; the history and the new process are waited for on another.
class RunLauncher : public QObject {
    Q_OBJECT
public:
    RunLauncher(QString engineProgram, Places places, QObject* parent = nullptr);

    void start(const QJsonObject& spec);
    void queue(const SweepSpec& sweep);
    void resume(qint64 trial);  // nothing happens where it is on its way already
    void resumeWithChangedData(qint64 trial);
    bool isBusy() const { return m_open > 0; }  // some run has neither started nor failed yet
    const Places& places() const { return m_places; }

signals:
    void busyChanged(bool busy);
    void started(qint64 trial);  // it runs
    void queued(qint64 sweep);   // it is written down, and somebody keeps the queue
    // It was refused, and nothing is left of a trial that was to begin; or the engine failed, and its row says so.
    void failed(const std::vector<lockstep::Problem>& problems);
    // It was not resumed, for its data are no longer those of its checkpoint; resumeWithChangedData() would.
    void dataChanged(qint64 trial, const std::vector<lockstep::Problem>& problems);

private:
    using Answer = std::function<void()>;  // on the GUI thread
    void inBackground(std::function<Answer()> work);
    void resumeAs(qint64 trial, Launch::Kind kind);
    Answer launch(qint64 trial, Launch::Kind kind);
    Answer refuse(const Problems& problems);
    void look();
    void end(const Launch& launch, const Launch::Outcome& outcome);
    void opened();
    void closed();

    const std::filesystem::path m_program;
    const Places m_places;
    std::vector<Launch> m_launches;
    std::set<qint64> m_resuming;  // trials
    int m_open = 0;  // runs that have neither started nor failed: launches, and those on their way to be one
    QTimer m_timer;
    QThreadPool m_pool;  // last: its threads use the others
};

}  // namespace lockstep::ui
