#include "ui/train/run_launcher.h"

#include <QJsonDocument>
#include <utility>

#include "engine/core/error.h"
#include "engine/queue/queue_service.h"
#include "engine/spec/trial_spec.h"
#include "engine/trials/trial_service.h"

namespace lockstep::ui {

namespace {

constexpr int kLookMs = 50;

}  // namespace

RunLauncher::RunLauncher(QString engineProgram, Places places, QObject* parent)
    : QObject(parent), m_program(engineProgram.toStdString()), m_places(std::move(places)) {
    m_pool.setMaxThreadCount(1);
    m_timer.setInterval(kLookMs);
    connect(&m_timer, &QTimer::timeout, this, &RunLauncher::look);
    clearOldLaunches(m_places);
}

void RunLauncher::start(const QJsonObject& spec) {
    const auto read = trialSpecFromJson(QJsonDocument(spec).toJson().toStdString(), "");
    if (!read.ok()) return emit failed(read.problems());
    opened();
    inBackground([this, spec = read.value()]() -> Answer {
        const auto prepared = preparePlaces(m_places);
        if (!prepared.ok()) return refuse(prepared.problems());
        TrialService trials(m_places);
        const auto trial = trials.create(spec);
        try {
            return launch(trial, Launch::Kind::Begin);
        } catch (const ProblemError&) {
            trials.discard(trial);
            throw;
        }
    });
}

void RunLauncher::queue(const SweepSpec& sweep) {
    opened();
    inBackground([this, sweep]() -> Answer {
        const auto prepared = preparePlaces(m_places);
        if (!prepared.ok()) return refuse(prepared.problems());
        TrialService trials(m_places);
        const qint64 number = QueueService(trials, m_program).addSweep(sweep);
        return [this, number] {
            emit queued(number);
            closed();
        };
    });
}

void RunLauncher::resume(qint64 trial) { resumeAs(trial, Launch::Kind::Resume); }
void RunLauncher::resumeWithChangedData(qint64 trial) { resumeAs(trial, Launch::Kind::ResumeChanged); }

// A second click while the first is on its way means the same.
void RunLauncher::resumeAs(qint64 trial, Launch::Kind kind) {
    if (!m_resuming.insert(trial).second) return;
    opened();
    inBackground([this, trial, kind] {
        try {
            return launch(trial, kind);
        } catch (const ProblemError& error) {
            return Answer([this, trial, answer = refuse({error.problem()})] {
                m_resuming.erase(trial);
                answer();
            });
        }
    });
}

// Answers come in the order of the work; what it throws is a refusal.
void RunLauncher::inBackground(std::function<Answer()> work) {
    m_pool.start([this, work = std::move(work)] {
        Answer answer;
        try {
            answer = work();
        } catch (const ProblemError& error) {
            answer = refuse({error.problem()});
        } catch (const EngineError& error) {
            answer = refuse({{error.where(), "home.unwritable", {error.what()}}});
        }
        QMetaObject::invokeMethod(this, std::move(answer), Qt::QueuedConnection);
    });
}

RunLauncher::Answer RunLauncher::launch(qint64 trial, Launch::Kind kind) {
    return [this, launch = Launch(m_program, m_places, trial, kind)] {
        m_launches.push_back(launch);
        m_timer.start();
    };
}

RunLauncher::Answer RunLauncher::refuse(const Problems& problems) {
    return [this, problems] {
        emit failed(problems);
        closed();
    };
}

void RunLauncher::look() {
    std::vector<Launch> open;
    for (auto& launch : std::exchange(m_launches, {})) {  // a listener may launch the next run
        if (const auto outcome = launch.look()) end(launch, *outcome);
        else open.push_back(std::move(launch));
    }
    m_launches.insert(m_launches.end(), open.begin(), open.end());
    if (m_launches.empty()) m_timer.stop();
}

void RunLauncher::end(const Launch& launch, const Launch::Outcome& outcome) {
    m_resuming.erase(launch.trial());
    if (outcome.problems.empty()) {
        emit started(launch.trial());
        return closed();
    }
    if (outcome.hasChangedData()) {
        emit dataChanged(launch.trial(), outcome.problems);
        return closed();
    }
    inBackground(
        [this, trial = launch.trial(), outcome, discards = launch.kind() == Launch::Kind::Begin && !outcome.failed] {
            if (discards) TrialService(m_places).discard(trial);
            return refuse(outcome.problems);
        });
}

void RunLauncher::opened() {
    if (++m_open == 1) emit busyChanged(true);
}

void RunLauncher::closed() {
    if (--m_open == 0) emit busyChanged(false);
}

}  // namespace lockstep::ui
