#pragma once
#include <QObject>
#include <QString>
#include <atomic>
#include <memory>
#include <thread>

#include "engine/core/result.h"

namespace lockstep::ui {

// Unpacks an archive into a folder of its own below `home`, in a thread; an archive that was unpacked before, and has
// not changed since, is only looked up. Regular files and folders are written, below that folder and nowhere else;
// links and devices are left out. What is unfinished is removed. One archive at a time: the next one cancels the one
// before. GUI thread; signals come from the event loop.
class ArchiveUnpacker : public QObject {
    Q_OBJECT
public:
    explicit ArchiveUnpacker(QString home, QObject* parent = nullptr);
    ~ArchiveUnpacker() override;  // cancels and waits

    void unpack(const QString& archive);
    void cancel();  // nothing is signalled afterwards
    bool isBusy() const { return m_busy; }

signals:
    void progressed(int percent);  // of the archive's bytes
    // `folder` holds the data: where the archive has a single folder on top, that one.
    void unpacked(const QString& archive, const QString& folder);
    void failed(const QString& archive, const lockstep::Problem& problem);

private:
    void finish(const QString& archive, const Result<QString>& outcome);
    void join();

    QString m_home;
    bool m_busy = false;
    std::thread m_worker;
    std::shared_ptr<std::atomic<bool>> m_cancelled;
};

}  // namespace lockstep::ui
