#pragma once
#include <QElapsedTimer>
#include <QObject>
#include <QPointer>
#include <QProcess>
#include <QTimer>
#include <deque>
#include <functional>
#include <optional>

#include "engine/spec/serve_messages.h"

namespace lockstep::ui {

// Its problems are those of the question, or why the engine could not be asked.
template <class Request>
using EngineReply = Reply<typename Request::Answer>;

// Puts questions to a `lockstep serve` of its own: one after another, so that a question that was withdrawn while
// others waited costs nothing; one that is withdrawn after a second of being worked on takes its child along, and
// another child goes on. GUI thread. A child that dies, or that talks rubbish, is started again, once within a
// minute; the question it died of is answered with a problem, those behind it are kept. If it dies again it is
// unavailable until retry().
class EngineService : public QObject {
    Q_OBJECT
public:
    explicit EngineService(QString engineProgram, QObject* parent = nullptr);  // starts with the event loop
    ~EngineService() override;

    const QString& program() const { return m_program; }
    bool isAvailable() const { return m_state == State::Ready; }
    const std::optional<Problem>& problem() const { return m_problem; }  // why it is unavailable

    // The callback is called once, from the event loop, unless the question is withdrawn or the receiver is gone by
    // then.
    template <class Request>
    qint64 ask(const Request& request, QObject* receiver, std::function<void(const EngineReply<Request>&)> take) {
        return put(request, receiver,
                   {[take](const nlohmann::json& reply) { take(replyFrom<typename Request::Answer>(reply)); },
                    [take](const Problem& problem) { take(EngineReply<Request>::refusal(problem)); }});
    }
    void withdraw(qint64 question);

    void retry();                                           // after unavailable()
    void setPatience(int helloSeconds, int answerSeconds);  // the second one: without a word

signals:
    void reading(const lockstep::ServeProgress& progress);  // for the question that is being answered
    void available();
    void unavailable(const lockstep::Problem& problem);  // engine.missing, .not-executable, .other-version, .silent …

private:
    enum class State { Stopped, Greeting, Ready, Unavailable };
    // One of the two is called.
    struct Receiver {
        std::function<void(const nlohmann::json& reply)> take;
        std::function<void(const Problem& problem)> fail;
    };
    struct Question {
        qint64 id = 0;
        QByteArray line;
        QPointer<QObject> owner;
        Receiver receiver;
    };

    qint64 put(const ServeRequest& request, QObject* owner, Receiver receiver);

    void launch();
    void readLines();
    void takeLine(const QByteArray& line);
    void takeHello(const nlohmann::json& hello);
    void sendNext();
    Question popFront();
    void answerFront(const nlohmann::json& reply);
    void failFront(const Problem& problem);
    void childEnded();
    void childFailedToStart();
    void patienceEnded();
    void giveUp(const Problem& problem);
    void refuseRubbish(const QByteArray& line);
    void restartOrGiveUp(const Problem& problem);
    void stopChild();
    void abandonFront();
    Problem problemOf(const char* code, QStringList args = {}) const;

    QString m_program;
    State m_state = State::Stopped;
    QProcess m_process;
    QByteArray m_input;
    std::deque<Question> m_questions;  // the front one is asked while m_asked
    bool m_asked = false;
    qint64 m_lastId = 0;
    QTimer m_patience, m_restart;
    int m_helloSeconds = 15, m_answerSeconds = 300;
    std::deque<qint64> m_crashes;     // on m_clock, ms
    QElapsedTimer m_clock, m_travel;  // m_travel: since the front question was sent
    std::optional<Problem> m_problem;
};

}  // namespace lockstep::ui
