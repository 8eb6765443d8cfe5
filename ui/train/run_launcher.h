#pragma once
#include <QJsonObject>
#include <QObject>
#include <QTimer>
#include <vector>

#include "engine/session/places.h"
#include "ui/train/problem_list.h"

namespace lockstep::ui {

// Starts runs that outlive the window: `lockstep train` or `lockstep resume` in a session of its own. Its output goes
// to a file below the places' data folder; from there the launcher learns the trial, or what prevented it. GUI thread.
class RunLauncher : public QObject {
    Q_OBJECT
public:
    RunLauncher(QString engineProgram, Places places, QObject* parent = nullptr);

    void start(const QJsonObject& spec);
    void resume(qint64 trial);
    bool isBusy() const { return !m_launches.empty(); }  // some run has neither started nor failed yet
    const Places& places() const { return m_places; }

signals:
    void busyChanged(bool busy);
    void started(qint64 trial);  // it runs; its output is now <run directory>/output-N.log
    void failed(const std::vector<lockstep::Problem>& problems);

private:
    struct Launch {
        qint64 process = 0;
        QString spec, log;
        qint64 read = 0;  // bytes of the log taken so far
    };
    enum class Outcome { Open, Over };

    void run(QStringList arguments, Launch launch);
    void look();
    Outcome look(Launch& launch);
    Outcome takeLine(const Launch& launch, const QByteArray& line);
    Outcome begun(const Launch& launch, const QJsonObject& event);
    Outcome goesOn(const Launch& launch, qint64 trial);
    Outcome fail(const Launch& launch, const Problems& problems, bool keepLog);
    QString newFile(const QString& ending) const;
    Problems prepareFolder() const;
    bool write(const QString& path, const QJsonObject& spec);  // false: failed() has said why
    Problem silentEnd(const Launch& launch) const;
    void clearLeftOvers() const;

    QString m_program;
    Places m_places;
    QString m_folder;
    std::vector<Launch> m_launches;
    QTimer m_timer;
};

}  // namespace lockstep::ui
