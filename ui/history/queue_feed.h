#pragma once
#include <QObject>
#include <QString>
#include <QTimer>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "ui/history/queue_reader.h"

namespace lockstep::ui {

class HistoryService;

// The queue of the home and its sweeps: read whenever the history changes, and changed, both on the history's thread.
// Where it has work and nobody keeps it, a process that does is started, watched or not. Belongs to the window's
// thread, where all answers come; every call returns at once.
class QueueFeed : public QObject {
    Q_OBJECT
public:
    // `engineProgram`: the path of `lockstep`, which starts what is queued. The service outlives the feed.
    QueueFeed(HistoryService* history, const QString& engineProgram, QObject* parent = nullptr);
    ~QueueFeed() override;

    void setWatching(bool watching);  // reads at once, and as long as anything changes
    void readAgain();                 // while it is being read, once more; however often it is asked for
    // What it throws arrives at `then`; the queue is read again in any case.
    using Change = std::function<void(QueueService&)>;
    using Done = std::function<void(const std::optional<Problem>&)>;
    void change(Change what, Done then);

signals:
    // Also where there is no history yet. One that cannot be read is told by HistoryService::unreadable().
    void queueRead(const std::shared_ptr<const lockstep::ui::QueueSnapshot>& queue);

private:
    void keepGoing();
    void take(const std::shared_ptr<const QueueSnapshot>& queue, const std::optional<Problem>& problem);

    HistoryService& m_history;
    const std::filesystem::path m_program;
    std::shared_ptr<QueueReader> m_reader;  // of the history's thread
    QTimer m_look;
    std::optional<std::chrono::steady_clock::time_point> m_startedAt = {};
    bool m_watches = false, m_isReading = false, m_readsAgain = false, m_forgets = false;
};

}  // namespace lockstep::ui
