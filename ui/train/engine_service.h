#pragma once
#include <QElapsedTimer>
#include <QJsonObject>
#include <QObject>
#include <QPointer>
#include <QProcess>
#include <QTimer>
#include <deque>
#include <functional>
#include <optional>

#include "ui/train/problem_list.h"

namespace lockstep::ui {

struct EngineAnswer {
    QJsonObject json;
    Problems problems;  // of the question, or why the engine could not be asked
    bool ok() const { return problems.empty(); }
};

// Puts questions to a `lockstep serve` of its own: one after another, so that a question that was withdrawn while
// others waited costs nothing; one that is withdrawn after a second of being worked on takes its child along, and
// another child goes on. GUI thread. A child that dies, or that talks rubbish, is started again, once within a
// minute; the question it died of is answered with a problem, those behind it are kept. If it dies again it is
// unavailable until retry().
class EngineService : public QObject {
    Q_OBJECT
public:
    using Answer = std::function<void(const EngineAnswer& answer)>;

    explicit EngineService(QString engineProgram, QObject* parent = nullptr);  // starts with the event loop
    ~EngineService() override;

    const QString& program() const { return m_program; }
    bool isAvailable() const { return m_state == State::Ready; }
    const std::optional<Problem>& problem() const { return m_problem; }  // why it is unavailable

    // The callback is called once, from the event loop, unless the question is withdrawn or the receiver is gone by
    // then.
    qint64 ask(const QString& request, QJsonObject arguments, QObject* receiver, Answer answer);
    void withdraw(qint64 question);

    void retry();  // after unavailable()
    void setPatience(int helloSeconds, int answerSeconds);

signals:
    void available();
    void unavailable(const lockstep::Problem& problem);  // engine.missing, .not-executable, .other-version, .silent …

private:
    enum class State { Stopped, Greeting, Ready, Unavailable };
    struct Question {
        qint64 id = 0;
        QByteArray line;
        QPointer<QObject> receiver;
        Answer answer;
    };

    void launch();
    void readLines();
    void takeLine(const QByteArray& line);
    void takeHello(const QJsonObject& hello);
    void sendNext();
    void answerFront(const EngineAnswer& answer);
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
