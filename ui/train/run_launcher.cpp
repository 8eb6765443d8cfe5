#include "ui/train/run_launcher.h"

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QProcess>
#include <QUuid>
#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/spec/train_event.h"
#include "ui/train/disk_room.h"

namespace lockstep::ui {

namespace {

constexpr int kLookMs = 50;
constexpr int kKeepDays = 7;
constexpr qint64 kFullBelow = 1 << 20;

// A child that has ended and waits for init to notice counts as gone.
bool isAlive(qint64 process) {
    QFile status(QString("/proc/%1/stat").arg(process));
    if (!status.open(QIODevice::ReadOnly)) return false;
    const QByteArray line = status.readAll();
    const qsizetype name = line.lastIndexOf(')');  // the program's name may hold anything
    const char state = name >= 0 && name + 2 < line.size() ? line[name + 2] : 'X';
    return state != 'Z' && state != 'X';
}

Problem problemOf(const QString& field, const char* code, const QString& arg) {
    return {field.toStdString(), code, {arg.toStdString()}};
}

// Written for people, without the marks of the terminal.
QString lastWords(const QString& log) {
    QFile file(log);
    if (!file.open(QIODevice::ReadOnly)) return {};
    QString last;
    for (const auto& line : QString::fromUtf8(file.readAll()).split('\n', Qt::SkipEmptyParts)) {
        if (!line.startsWith('{')) last = line.trimmed();
    }
    return last.isEmpty() ? QStringLiteral("it said nothing") : last;
}

Problem problemOfFailure(const QByteArray& line) {
    const auto event = eventFromJsonLine(line.trimmed().toStdString());
    if (!event.ok()) return event.problems().front();
    const auto& failed = std::get<RunFailed>(event.value().event);
    if (auto problem = problemIn(failed)) return *problem;
    return {failed.where, "run.failed." + failed.kind, {failed.what, "The run"}};
}

}  // namespace

RunLauncher::RunLauncher(QString engineProgram, Places places, QObject* parent)
    : QObject(parent),
      m_program(std::move(engineProgram)),
      m_places(std::move(places)),
      m_folder(QString::fromStdString((m_places.data / "launches").string())) {
    m_timer.setInterval(kLookMs);
    connect(&m_timer, &QTimer::timeout, this, qOverload<>(&RunLauncher::look));
    clearLeftOvers();
}

void RunLauncher::start(const QJsonObject& spec) {
    Launch launch;
    launch.spec = newFile(".json");
    const auto unwritable = prepareFolder();
    if (!unwritable.empty()) return emit failed(unwritable);
    if (!write(launch.spec, spec)) return;
    run({"train", "--spec", launch.spec, "--json", "--no-steps"}, launch);
}

// Not synced to the disk, which may take long: the engine reads it at once, and nobody afterwards.
bool RunLauncher::write(const QString& path, const QJsonObject& spec) {
    QFile file(path);
    const auto json = QJsonDocument(spec).toJson();
    if (file.open(QIODevice::WriteOnly) && file.write(json) == json.size() && file.flush()) return true;
    const Problem problem = problemOf(m_folder, "launch.unwritable", file.errorString());
    file.close();
    QFile::remove(path);  // the file's own remove() gives up where closing fails
    emit failed({problem});
    return false;
}

void RunLauncher::resume(qint64 trial) {
    const auto unwritable = prepareFolder();
    if (!unwritable.empty()) return emit failed(unwritable);
    run({"resume", QString::number(trial), "--json", "--no-steps"}, {});
}

void RunLauncher::run(QStringList arguments, Launch launch) {
    launch.log = newFile(".log");
    QProcess process;  // startDetached makes a session of its own
    process.setProgram(m_program);
    process.setArguments(arguments);
    process.setWorkingDirectory(QDir::homePath());
    process.setStandardInputFile(QProcess::nullDevice());
    process.setStandardOutputFile(launch.log, QIODevice::Append);
    process.setStandardErrorFile(launch.log, QIODevice::Append);
    if (!process.startDetached(&launch.process)) {
        const char* code = QFileInfo(m_program).isFile() ? "engine.cannot-start" : "engine.missing";
        fail(launch, {problemOf(m_program, code, process.errorString())}, false);
        return;
    }
    m_launches.push_back(launch);
    m_timer.start();
    if (m_launches.size() == 1) emit busyChanged(true);
}

void RunLauncher::look() {
    auto launches = std::exchange(m_launches, {});  // a listener may launch the next run
    std::vector<Launch> open;
    for (auto& launch : launches) {
        if (look(launch) == Outcome::Open) open.push_back(launch);
    }
    m_launches.insert(m_launches.end(), open.begin(), open.end());
    if (!m_launches.empty()) return;
    m_timer.stop();
    emit busyChanged(false);
}

RunLauncher::Outcome RunLauncher::look(Launch& launch) {
    const bool alive = isAlive(launch.process);  // before reading: nothing is written after its end
    QFile file(launch.log);
    if (file.open(QIODevice::ReadOnly) && file.seek(launch.read)) {
        for (QByteArray line; (line = file.readLine()).endsWith('\n');) {
            launch.read += line.size();
            if (takeLine(launch, line) == Outcome::Over) return Outcome::Over;
        }
    }
    if (alive) return Outcome::Open;
    return fail(launch, {silentEnd(launch)}, true);
}

// On a full disk the last words could not be written either.
Problem RunLauncher::silentEnd(const Launch& launch) const {
    if (const auto left = roomIn(m_folder); left && *left < kFullBelow)
        return problemOf(m_folder, "launch.disk-full", QString("%1 KiB").arg(*left / 1024));
    return problemOf(launch.log, "launch.ended", lastWords(launch.log));
}

RunLauncher::Outcome RunLauncher::takeLine(const Launch& launch, const QByteArray& line) {
    const auto json = QJsonDocument::fromJson(line).object();
    const auto event = json["event"].toString();
    if (event == "run_started") return begun(launch, json);
    if (json["resumed"].toBool()) return goesOn(launch, json["trial"].toInteger());
    if (event == "run_failed") return fail(launch, {problemOfFailure(line)}, true);
    const auto problems = problemsFrom(json["problems"].toArray());
    return problems.empty() ? Outcome::Open : fail(launch, problems, false);
}

RunLauncher::Outcome RunLauncher::begun(const Launch& launch, const QJsonObject& event) {
    const qint64 trial = event["trial"].toInteger();
    const auto folder = QString::fromStdString(m_places.run(trial).string());
    if (!launch.spec.isEmpty()) QFile::remove(launch.spec);
    QFile::rename(launch.log, QString("%1/output-%2.log").arg(folder).arg(event["attempt"].toInteger(1)));
    emit started(trial);
    return Outcome::Over;
}

// It was paused, and runs in its own process.
RunLauncher::Outcome RunLauncher::goesOn(const Launch& launch, qint64 trial) {
    QFile::remove(launch.log);
    emit started(trial);
    return Outcome::Over;
}

RunLauncher::Outcome RunLauncher::fail(const Launch& launch, const Problems& problems, bool keepLog) {
    if (!launch.spec.isEmpty()) QFile::remove(launch.spec);
    if (!keepLog) QFile::remove(launch.log);
    emit failed(problems);
    return Outcome::Over;
}

QString RunLauncher::newFile(const QString& ending) const {
    return m_folder + '/' + QUuid::createUuid().toString(QUuid::WithoutBraces) + ending;
}

Problems RunLauncher::prepareFolder() const {
    if (QDir().mkpath(m_folder) && QFileInfo(m_folder).isWritable()) return {};
    return {problemOf(m_folder, "launch.unwritable", QString::fromLocal8Bit(std::strerror(errno)))};
}

// Of runs that failed, and of windows that were closed while they launched one.
void RunLauncher::clearLeftOvers() const {
    const auto oldest = QDateTime::currentDateTime().addDays(-kKeepDays);
    for (const auto& file : QDir(m_folder).entryInfoList(QDir::Files)) {
        if (file.lastModified() < oldest) QFile::remove(file.filePath());
    }
}

}  // namespace lockstep::ui
