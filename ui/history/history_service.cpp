#include "ui/history/history_service.h"

#include <QTimer>
#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "engine/core/error.h"
#include "engine/history/run_folders.h"
#include "engine/session/lease.h"
#include "engine/spec/kept_checkpoints.h"
#include "engine/trials/judged_state.h"
#include "engine/trials/trial_service.h"
#include "ui/history/comparable_trials.h"
#include "ui/history/curve_reader.h"
#include "ui/history/group_reader.h"
#include "ui/history/progress_reader.h"

namespace lockstep::ui {

namespace {

constexpr int kLookMilliseconds = 500, kRetryMilliseconds = 1000;

using Rows = std::vector<TrialRow>;

// What goes away by itself, or when somebody does something about it.
bool passes(const Problem& problem) {
    return problem.code == "history.busy" || problem.code == "history.full" || problem.code == "history.unwritable";
}

Rows allRows(const TrialQuery& query) {
    auto rows = query.list({});
    auto trash = query.list({.deleted = true});
    const auto middle = static_cast<std::ptrdiff_t>(rows.size());
    rows.insert(rows.end(), std::make_move_iterator(trash.begin()), std::make_move_iterator(trash.end()));
    std::inplace_merge(rows.begin(), rows.begin() + middle, rows.end(),
                       [](const TrialRow& a, const TrialRow& b) { return a.id > b.id; });
    return rows;
}

// What is wrong with the sweep alone is the answer; what is wrong with the history is thrown.
Result<SweepResult> answerOf(const TrialQuery& query, std::int64_t sweep) {
    try {
        return sweepResult(query, sweep);
    } catch (const ProblemError& error) {
        if (error.problem().code.starts_with("history.")) throw;
        return error.problem();
    }
}

}  // namespace

// None where that cannot be told: whoever imports them is told why.
int countOrphans(const Places& places) {
    try {
        return static_cast<int>(std::ranges::count_if(
            runFolders(places.runs()), [&](std::int64_t trial) { return holdsTrial(places.run(trial)); }));
    } catch (const std::filesystem::filesystem_error&) {
        return 0;
    }
}

// Lives on the service's thread.
class HistoryService::Worker : public QObject {
public:
    Worker(HistoryService& service, Places places)
        : m_service(service), m_trials(std::move(places)), m_timer(this), m_retry(this) {
        m_timer.setInterval(kLookMilliseconds);
        m_retry.setInterval(kRetryMilliseconds);
        m_retry.setSingleShot(true);
        connect(&m_timer, &QTimer::timeout, this, [this] { look(); });
        connect(&m_retry, &QTimer::timeout, this, [this] { writeWaiting(); });
    }

    void watch(bool watching) {
        if (!watching) return m_timer.stop();
        m_timer.start();
        look();
    }

    void write(const TrialEdits& edits, std::uint64_t handled) {
        m_handled = handled;
        m_waiting.push_back(edits);
        if (!m_retry.isActive()) writeWaiting();
    }

    // In their order; what cannot be written now holds up those behind it.
    void writeWaiting() {
        while (!m_waiting.empty()) {
            try {
                if (const auto refused = applyAll(m_waiting.front(), m_trials))
                    say([this, problem = *refused] { emit m_service.notWritten(problem); });
            } catch (const ProblemError& error) {
                m_trials.close();
                if (passes(error.problem())) {
                    if (std::exchange(m_waitsFor, error.problem()) != error.problem())
                        say([this, problem = error.problem()] { emit m_service.writeWaits(problem); });
                    m_retry.start();
                    return look();
                }
                say([this, problem = error.problem()] { emit m_service.notWritten(problem); });
            }
            m_waiting.pop_front();
        }
        if (std::exchange(m_waitsFor, std::nullopt)) say([this] { emit m_service.writeDone(); });
        m_version.reset();  // sent even when the write failed: what is shown must be true
        look();
    }

    void purge(const std::vector<std::int64_t>& trials, std::uint64_t handled) {
        attempt([&] {
            for (const auto trial : trials) {
                if (Lease::isHeld(m_trials.places().lease(trial))) continue;
                if (const auto left = m_trials.purge(trial)) throw ProblemError(*left);
            }
        });
        m_handled = handled;
        m_version.reset();
        look();
    }

    template <class Then>
    void readSpec(std::int64_t trial, Then&& then) {
        guarded([&] {
            open();
            say([then, spec = m_trials.query().spec(trial)] { then(spec); });
        });
    }

    template <class Then>
    void readSettings(const std::string& path, Then&& then) {
        guarded([&] {
            open();
            say([then, values = m_trials.query().settings(path)] { then(values); });
        });
    }

    template <class Then>
    void readDifferences(const std::vector<std::int64_t>& trials, const std::vector<std::string>& also, Then&& then) {
        guarded([&] {
            open();
            const TrialQuery& query = m_trials.query();
            auto found = std::make_shared<DifferingSettings>();
            for (const auto& path : query.differingSettings(trials)) found->emplace(path, query.settings(path));
            for (const auto& path : also)
                if (!found->contains(path)) found->emplace(path, query.settings(path));
            say([then, found] { then(*found); });
        });
    }

    template <class Then>
    void readSweep(std::int64_t sweep, Then&& then) {
        guarded([&] {
            open();
            say([then, found = std::make_shared<const Result<SweepResult>>(answerOf(m_trials.query(), sweep))] {
                then(*found);
            });
        });
    }

    template <class Then>
    void readProgress(const std::vector<std::int64_t>& trials, const std::string& metric, Then&& then) {
        guarded([&] {
            open();
            say([then, found = std::make_shared<const ProgressOfTrials>(
                           m_progress.read(m_trials.query(), m_rows, trials, metric))] { then(found); });
        });
    }

    template <class Then>
    void readEvaluations(std::int64_t trial, Then&& then) {
        guarded([&] {
            open();
            const TrialQuery& query = m_trials.query();
            const auto spec = query.spec(trial);
            auto found = std::make_shared<TrialEvaluations>();
            found->trial = trial;
            if (spec.ok()) found->spec = spec.value();
            found->counts = query.counts(trial);
            found->evaluations = query.evaluations(trial);
            found->known = query.known(trial);
            const auto folder = m_trials.places().run(trial) / "checkpoints";
            found->checkpoints = checkpointsIn(folder);
            found->hadCheckpoint = found->hasCheckpoint() || checkpointsFreedAt(folder) || query.wroteCheckpoint(trial);
            if (found->hasCheckpoint())
                found->checkpointFile = (folder / checkpointName(found->checkpoints.front().role)).string();
            say([then, found] { then(*found); });
        });
    }

    template <class Then>
    void readComparable(std::int64_t trial, Then&& then) {
        guarded([&] {
            open();
            say([then, found = comparableTrials(m_trials, trial)] { then(found); });
        });
    }

    template <class Then>
    void readEvaluation(std::int64_t id, Then&& then) {
        guarded([&] {
            open();
            say([then, found = m_trials.query().evaluation(id)] { then(found); });
        });
    }

    void readCurves(const CurveRequest& asked, std::uint64_t request) {
        const auto overtaken = [this, request] { return request != m_service.m_curveRequest; };
        if (overtaken() || !m_version) return;
        guarded([&] {
            open();
            auto curves = m_curves.read(m_trials.query(), asked, overtaken);
            if (!curves) return;
            say([this, curves = std::make_shared<const TrialCurves>(std::move(*curves)), request] {
                if (request == m_service.m_curveRequest) emit m_service.curvesRead(*curves);
            });
        });
    }

    void run(const Work& work, const Done& then) {
        if (problemOf([this] { open(); })) close();  // what `work` opens then is another file
        say([then, problem = problemOf([&] { work(m_trials); })] { then(problem); });
    }

private:
    template <class Words>
    void say(Words&& words) {
        QMetaObject::invokeMethod(&m_service, std::forward<Words>(words), Qt::QueuedConnection);
    }

    void look() {
        guarded([&] {
            open();
            const TrialQuery& query = m_trials.query();
            const auto version = query.dataVersion();
            const bool changed = version != m_version;
            if (changed) {
                readGroups(query);
                m_rows = allRows(query);
            }
            m_version = version;
            const bool crashed = judge(m_rows, query, m_trials.places());
            m_refusal.reset();
            if (m_rows.empty()) sayOrphans();
            if (!changed && !crashed) return;
            say([this, rows = std::make_shared<const Rows>(rowsToBe()), handled = m_handled] {
                if (handled == m_service.m_handedIn) m_service.tell(rows);  // else newer ones follow
            });
        });
    }

    void readGroups(const TrialQuery& query) {
        TrialGroups now = m_groupReader.read(query);
        if (m_groups == now) return;
        m_groups = std::move(now);
        say([this, groups = std::make_shared<const TrialGroups>(*m_groups)] {
            m_service.m_groups = groups;
            emit m_service.groupsRead(*groups);
        });
    }

    // At each look while there are no trials: folders of trials that were removed go after their rows.
    void sayOrphans() {
        const int orphans = countOrphans(m_trials.places());
        if (orphans == std::exchange(m_orphans, orphans)) return;
        say([this, orphans] { emit m_service.orphansCounted(orphans); });
    }

    // With what waits to be written.
    Rows rowsToBe() const {
        Rows rows = m_rows;
        for (const auto& edits : m_waiting) {
            for (const auto& edit : edits) {
                const auto at =
                    std::lower_bound(rows.begin(), rows.end(), edit.trial,
                                     [](const TrialRow& row, std::int64_t trial) { return row.id > trial; });
                if (at != rows.end() && at->id == edit.trial) apply(edit, *at);
            }
        }
        return rows;
    }

    // What was read from another file counts no more.
    void open() {
        if (m_trials.open()) forget();
    }

    void close() {
        m_trials.close();
        forget();
    }

    void forget() {
        m_version.reset();
        m_groups.reset();
        m_curves.forget();
        m_groupReader.forget();
        m_progress.forget();
    }

    // Reading: the same refusal is said once.
    template <class Work>
    void guarded(Work&& work) {
        try {
            work();
        } catch (const ProblemError& error) {
            close();
            const bool isAbsent = error.problem().code == "history.absent";
            if (isAbsent) sayOrphans();
            if (std::exchange(m_refusal, error.problem()) == error.problem()) return;
            if (!isAbsent) return say([this, problem = error.problem()] { m_service.tellRefusal(problem); });
            say([this] { m_service.tellAbsent(); });
        }
    }

    template <class Work>
    void attempt(Work&& work) {
        try {
            work();
        } catch (const ProblemError& error) {
            m_trials.close();
            say([this, problem = error.problem()] { emit m_service.notWritten(problem); });
        }
    }

    // What is no problem of the history's comes from the disk.
    template <class Action>
    std::optional<Problem> problemOf(Action&& action) const {
        try {
            action();
            return std::nullopt;
        } catch (const ProblemError& error) {
            return error.problem();
        } catch (const EngineError& error) {
            return Problem{error.where(), "home.unwritable", {error.what()}};
        } catch (const std::exception& error) {
            return Problem{m_trials.places().data.string(), "home.unwritable", {error.what()}};
        }
    }

    HistoryService& m_service;
    TrialService m_trials;
    QTimer m_timer, m_retry;
    std::deque<TrialEdits> m_waiting;
    std::optional<Problem> m_waitsFor;
    std::optional<std::int64_t> m_version;
    std::optional<Problem> m_refusal;
    int m_orphans = 0;
    Rows m_rows;
    CurveReader m_curves;
    std::optional<TrialGroups> m_groups;  // as they were said
    GroupReader m_groupReader;
    ProgressReader m_progress;
    std::uint64_t m_handled = 0;
};

HistoryService::HistoryService(Places places, QObject* parent)
    : QObject(parent), m_worker(new Worker(*this, std::move(places))) {
    m_worker->moveToThread(&m_thread);
    connect(&m_thread, &QThread::finished, m_worker, &QObject::deleteLater);
    m_thread.setObjectName("history");
    m_thread.start();
}

HistoryService::~HistoryService() {
    ++m_curveRequest;
    // What was asked before is done, and what waited is tried once more.
    QMetaObject::invokeMethod(
        m_worker, [worker = m_worker] { worker->writeWaiting(); }, Qt::BlockingQueuedConnection);
    m_thread.quit();
    m_thread.wait();
}

void HistoryService::tell(std::shared_ptr<const std::vector<TrialRow>> rows) {
    m_rows = std::move(rows);
    m_refusal.reset();
    m_isAbsent = false;
    emit rowsRead(*m_rows);
}

void HistoryService::tellAbsent() {
    m_rows.reset();
    m_refusal.reset();
    m_isAbsent = true;
    emit absent();
}

void HistoryService::tellRefusal(const Problem& problem) {
    m_refusal = problem;
    m_isAbsent = false;
    emit unreadable(problem);
}

void HistoryService::setWatching(bool watching) {
    const bool before = m_watchers > 0;
    m_watchers += watching ? 1 : -1;
    if (before == (m_watchers > 0)) return;
    QMetaObject::invokeMethod(m_worker, [worker = m_worker, watching] { worker->watch(watching); });
}

void HistoryService::write(const TrialEdits& edits) {
    const auto number = ++m_handedIn;
    QMetaObject::invokeMethod(m_worker, [worker = m_worker, edits, number] { worker->write(edits, number); });
}

void HistoryService::purge(std::vector<std::int64_t> trials) {
    const auto number = ++m_handedIn;
    QMetaObject::invokeMethod(
        m_worker, [worker = m_worker, trials = std::move(trials), number] { worker->purge(trials, number); });
}

void HistoryService::readSpec(std::int64_t trial, std::function<void(const Result<TrialSpec>&)> then) {
    QMetaObject::invokeMethod(m_worker,
                              [worker = m_worker, trial, then = std::move(then)] { worker->readSpec(trial, then); });
}

void HistoryService::readSettings(std::string path, std::function<void(const SettingValues&)> then) {
    QMetaObject::invokeMethod(m_worker, [worker = m_worker, path = std::move(path), then = std::move(then)] {
        worker->readSettings(path, then);
    });
}

void HistoryService::readDifferences(std::vector<std::int64_t> trials, std::vector<std::string> also,
                                     std::function<void(const DifferingSettings&)> then) {
    QMetaObject::invokeMethod(m_worker, [worker = m_worker, trials = std::move(trials), also = std::move(also),
                                         then = std::move(then)] { worker->readDifferences(trials, also, then); });
}

void HistoryService::readSweep(std::int64_t sweep, std::function<void(const Result<SweepResult>&)> then) {
    QMetaObject::invokeMethod(m_worker,
                              [worker = m_worker, sweep, then = std::move(then)] { worker->readSweep(sweep, then); });
}

void HistoryService::readProgress(std::vector<std::int64_t> trials, std::string metric,
                                  std::function<void(const std::shared_ptr<const ProgressOfTrials>&)> then) {
    QMetaObject::invokeMethod(m_worker, [worker = m_worker, trials = std::move(trials), metric = std::move(metric),
                                         then = std::move(then)] { worker->readProgress(trials, metric, then); });
}

void HistoryService::readEvaluations(std::int64_t trial, std::function<void(const TrialEvaluations&)> then) {
    QMetaObject::invokeMethod(
        m_worker, [worker = m_worker, trial, then = std::move(then)] { worker->readEvaluations(trial, then); });
}

void HistoryService::readComparable(std::int64_t trial, std::function<void(const std::vector<std::int64_t>&)> then) {
    QMetaObject::invokeMethod(
        m_worker, [worker = m_worker, trial, then = std::move(then)] { worker->readComparable(trial, then); });
}

void HistoryService::readEvaluation(std::int64_t id, std::function<void(const std::optional<Evaluation>&)> then) {
    QMetaObject::invokeMethod(m_worker,
                              [worker = m_worker, id, then = std::move(then)] { worker->readEvaluation(id, then); });
}

void HistoryService::readCurves(CurveRequest request) {
    const auto number = ++m_curveRequest;
    QMetaObject::invokeMethod(
        m_worker, [worker = m_worker, request = std::move(request), number] { worker->readCurves(request, number); });
}

void HistoryService::run(Work work, Done then) {
    QMetaObject::invokeMethod(
        m_worker, [worker = m_worker, work = std::move(work), then = std::move(then)] { worker->run(work, then); });
}

}  // namespace lockstep::ui
