#include "ui/history/queue_feed.h"

#include <QPointer>
#include <utility>

#include "ui/history/history_service.h"

namespace lockstep::ui {

namespace {

using namespace std::chrono_literals;

constexpr auto kLookForKeeper = 3s;
constexpr auto kStartAgain = 15s;  // one that could not stay would be started for ever

}  // namespace

QueueFeed::QueueFeed(HistoryService* history, const QString& engineProgram, QObject* parent)
    : QObject(parent),
      m_history(*history),
      m_program(engineProgram.toStdString()),
      m_reader(std::make_shared<QueueReader>()) {
    const auto follow = [this] {
        if (m_watches) readAgain();
    };
    connect(history, &HistoryService::rowsRead, this, follow);
    connect(history, &HistoryService::absent, this, follow);
    connect(&m_look, &QTimer::timeout, this, &QueueFeed::keepGoing);
    m_look.start(kLookForKeeper);
    keepGoing();
}

QueueFeed::~QueueFeed() { setWatching(false); }

// The history may be watched already, and then says nothing until it changes.
void QueueFeed::setWatching(bool watching) {
    if (std::exchange(m_watches, watching) == watching) return;
    m_history.setWatching(watching);
    if (!watching) return;
    m_forgets = true;
    readAgain();
}

void QueueFeed::readAgain() {
    if (std::exchange(m_isReading, true)) {
        m_readsAgain = true;
        return;
    }
    auto queue = std::make_shared<QueueSnapshot>();
    m_history.run(
        [reader = m_reader, queue, forgets = std::exchange(m_forgets, false)](TrialService& trials) {
            if (forgets) reader->forget();
            *queue = reader->read(trials);
        },
        [feed = QPointer(this), queue](const std::optional<Problem>& problem) {
            if (feed) feed->take(queue, problem);
        });
}

// Where that fails, the page says that nobody starts what waits.
void QueueFeed::keepGoing() {
    const auto now = std::chrono::steady_clock::now();
    if (m_startedAt && now - *m_startedAt < kStartAgain) return;
    const auto hasStarted = std::make_shared<bool>(false);
    m_history.run([program = m_program,
                   hasStarted](TrialService& trials) { *hasStarted = QueueService(trials, program).keepGoing(); },
                  [feed = QPointer(this), hasStarted, now](const std::optional<Problem>&) {
                      if (feed && *hasStarted) feed->m_startedAt = now;
                  });
}

void QueueFeed::take(const std::shared_ptr<const QueueSnapshot>& queue, const std::optional<Problem>& problem) {
    m_isReading = false;
    if (std::exchange(m_readsAgain, false)) readAgain();
    if (!problem || problem->code == "history.absent") emit queueRead(queue);
}

void QueueFeed::change(Change what, Done then) {
    const auto work = [what = std::move(what), program = m_program](TrialService& trials) {
        QueueService queue(trials, program);
        what(queue);
    };
    m_history.run(work, [feed = QPointer(this), then = std::move(then)](const std::optional<Problem>& problem) {
        if (!feed) return;
        feed->readAgain();
        then(problem);
    });
}

}  // namespace lockstep::ui
