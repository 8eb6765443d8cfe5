#include "ui/history/engine_service.h"

#include <QFileInfo>
#include <nlohmann/json.hpp>

namespace lockstep::ui {

namespace {

constexpr std::size_t kMostCrashes = 2;
constexpr qint64 kCrashWindowMs = 60'000;
constexpr int kRestartMs = 200;
constexpr int kWorthWaitingMs = 1000;
constexpr qsizetype kLongestLine = qsizetype{64} << 20;

QByteArray lineOf(qint64 id, const ServeRequest& request) {
    return QByteArray::fromStdString(questionLine(id, request)) + '\n';
}

}  // namespace

EngineService::EngineService(QString engineProgram, QObject* parent)
    : QObject(parent), m_program(std::move(engineProgram)) {
    m_clock.start();
    m_patience.setSingleShot(true);
    m_restart.setSingleShot(true);
    m_process.setStandardErrorFile(QProcess::nullDevice());
    connect(&m_process, &QProcess::readyReadStandardOutput, this, &EngineService::readLines);
    connect(&m_process, &QProcess::finished, this, &EngineService::childEnded);
    connect(&m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart) childFailedToStart();
    });
    connect(&m_patience, &QTimer::timeout, this, &EngineService::patienceEnded);
    connect(&m_restart, &QTimer::timeout, this, &EngineService::launch);
    m_restart.start(0);
}

EngineService::~EngineService() {
    m_process.disconnect(this);
    if (m_process.state() == QProcess::NotRunning) return;
    m_process.closeWriteChannel();  // serve ends with its input
    if (m_asked || !m_process.waitForFinished(300)) stopChild();
}

void EngineService::setPatience(int helloSeconds, int answerSeconds) {
    m_helloSeconds = helloSeconds;
    m_answerSeconds = answerSeconds;
}

qint64 EngineService::put(const ServeRequest& request, QObject* owner, Receiver receiver) {
    const qint64 id = ++m_lastId;
    m_questions.push_back({id, lineOf(id, request), owner, std::move(receiver)});
    QTimer::singleShot(0, this, &EngineService::sendNext);
    return id;
}

void EngineService::withdraw(qint64 question) {
    for (auto it = m_questions.begin(); it != m_questions.end(); ++it) {
        if (it->id != question) continue;
        const bool travelling = it == m_questions.begin() && m_asked;
        if (!travelling) m_questions.erase(it);
        else if (m_travel.elapsed() < kWorthWaitingMs) it->owner = nullptr;  // its answer is waited for and dropped
        else abandonFront();
        return;
    }
}

// A form that is changed while a large dataset is read would wait for the end of it.
void EngineService::abandonFront() {
    m_questions.pop_front();
    m_asked = false;
    m_patience.stop();
    m_state = State::Stopped;
    stopChild();
    m_restart.start(0);
}

void EngineService::retry() {
    if (m_state != State::Unavailable) return;
    sendNext();  // those still open are the last child's
    m_crashes.clear();
    m_problem.reset();
    m_state = State::Stopped;
    m_restart.start(0);
}

void EngineService::launch() {
    const QFileInfo file(m_program);
    if (!file.isFile()) return giveUp(problemOf("engine.missing"));
    if (!file.isExecutable()) return giveUp(problemOf("engine.not-executable"));
    m_input.clear();
    m_state = State::Greeting;
    m_patience.start(m_helloSeconds * 1000);
    m_process.start(m_program, {"serve", "--progress"});
    m_process.write(lineOf(0, HelloRequest{}));
}

void EngineService::readLines() {
    m_input += m_process.readAllStandardOutput();
    for (qsizetype end = m_input.indexOf('\n'); end >= 0; end = m_input.indexOf('\n')) {
        const QByteArray line = m_input.left(end);
        m_input.remove(0, end + 1);
        takeLine(line);
        if (m_state != State::Greeting && m_state != State::Ready) return;
    }
    if (m_input.size() > kLongestLine) refuseRubbish(m_input);
}

void EngineService::takeLine(const QByteArray& line) {
    const auto reply = nlohmann::json::parse(line.begin(), line.end(), nullptr, false);
    if (!reply.is_object()) return refuseRubbish(line);
    if (m_state == State::Greeting) return takeHello(reply);
    const auto id = reply.find("id");
    if (!m_asked || m_questions.empty() || id == reply.end() || *id != m_questions.front().id) return;
    if (const auto progress = progressFrom(reply)) {
        m_patience.start();
        if (m_questions.front().owner) emit reading(*progress);
        return;
    }
    m_patience.stop();
    answerFront(reply);
    sendNext();
}

void EngineService::takeHello(const nlohmann::json& hello) {
    const auto version = QString::fromStdString(replyFrom<HelloAnswer>(hello).answer.version);
    if (version != QStringLiteral(LOCKSTEP_VERSION)) {
        stopChild();
        return giveUp(problemOf("engine.other-version", {version.isEmpty() ? "?" : version, LOCKSTEP_VERSION}));
    }
    m_patience.stop();
    m_state = State::Ready;
    emit available();
    sendNext();
}

void EngineService::sendNext() {
    while (m_state == State::Unavailable && !m_questions.empty()) failFront(*m_problem);
    if (m_state != State::Ready || m_asked) return;
    while (!m_questions.empty() && !m_questions.front().owner) m_questions.pop_front();
    if (m_questions.empty()) return;
    m_asked = true;
    m_travel.start();
    m_patience.start(m_answerSeconds * 1000);
    m_process.write(m_questions.front().line);
}

// The question leaves the queue before its callback runs, which may ask the next one.
EngineService::Question EngineService::popFront() {
    Question question = std::move(m_questions.front());
    m_questions.pop_front();
    m_asked = false;
    return question;
}

void EngineService::answerFront(const nlohmann::json& reply) {
    const Question question = popFront();
    if (question.owner) question.receiver.take(reply);
}

void EngineService::failFront(const Problem& problem) {
    const Question question = popFront();
    if (question.owner) question.receiver.fail(problem);
}

void EngineService::childEnded() {
    if (m_state != State::Greeting && m_state != State::Ready) return;
    const bool crashed = m_process.exitStatus() == QProcess::CrashExit;
    const auto how = crashed ? tr("it crashed") : tr("exit status %1").arg(m_process.exitCode());
    restartOrGiveUp(problemOf("engine.ended", {how}));
}

// Of a child that cannot even greet, another start would be no better.
void EngineService::refuseRubbish(const QByteArray& line) {
    const auto problem = problemOf("engine.rubbish", {QString::fromUtf8(line.left(60)).simplified()});
    const bool greeting = m_state == State::Greeting;
    m_state = State::Stopped;
    stopChild();
    if (greeting) giveUp(problem);
    else restartOrGiveUp(problem);
}

void EngineService::restartOrGiveUp(const Problem& problem) {
    m_state = State::Stopped;
    m_patience.stop();
    m_crashes.push_back(m_clock.elapsed());
    while (m_crashes.back() - m_crashes.front() > kCrashWindowMs) m_crashes.pop_front();
    if (m_crashes.size() >= kMostCrashes) return giveUp(problem);
    m_restart.start(kRestartMs);
    if (m_asked) failFront(problem);
}

void EngineService::childFailedToStart() { giveUp(problemOf("engine.cannot-start", {m_process.errorString()})); }

void EngineService::patienceEnded() {
    const bool greeting = m_state == State::Greeting;
    const auto problem = problemOf("engine.silent", {QString::number(greeting ? m_helloSeconds : m_answerSeconds)});
    m_state = State::Stopped;
    stopChild();
    if (greeting) return giveUp(problem);
    m_restart.start(kRestartMs);
    if (m_asked) failFront(problem);
}

void EngineService::giveUp(const Problem& problem) {
    m_state = State::Unavailable;
    m_problem = problem;
    m_patience.stop();
    m_restart.stop();
    emit unavailable(problem);
    QTimer::singleShot(0, this, &EngineService::sendNext);
}

void EngineService::stopChild() {
    const bool blocked = m_process.blockSignals(true);
    m_process.kill();
    m_process.waitForFinished(2000);
    m_process.blockSignals(blocked);
}

Problem EngineService::problemOf(const char* code, QStringList args) const {
    Problem problem{m_program.toStdString(), code, {}};
    for (const auto& arg : args) problem.args.push_back(arg.toStdString());
    return problem;
}

}  // namespace lockstep::ui
