#pragma once
#include <QObject>
#include <QString>
#include <QThread>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/history/trial_query.h"
#include "engine/queue/sweep_results.h"
#include "engine/session/places.h"
#include "engine/spec/kept_checkpoints.h"
#include "ui/history/trial_curves.h"
#include "ui/history/trial_edit.h"
#include "ui/history/trial_groups.h"
#include "ui/history/trial_progress.h"

namespace lockstep {
class TrialService;
}

namespace lockstep::ui {

// What is known of a trial's answers. Not answered where the history cannot be read, see unreadable().
struct TrialEvaluations {
    std::int64_t trial = 0;
    std::optional<TrialSpec> spec;            // empty: it cannot be read
    std::vector<EvalCounts> counts;           // of its own evaluations, by epoch
    std::vector<Evaluation> evaluations;      // those that were asked for, newest first; without their answers
    std::vector<CheckpointFile> checkpoints;  // that are kept, as checkpointsIn() lists them
    bool hadCheckpoint = false;               // it has or had one
    DataKnown known = {};                     // of the data that it was trained on
    std::string checkpointFile = {};          // of the first of those; it may know what `known` does not
    bool hasCheckpoint() const { return !checkpoints.empty(); }
};
using SettingValues = std::unordered_map<std::int64_t, ParamValue>;  // by trial
using DifferingSettings = std::map<std::string, SettingValues>;      // by path

// Reads and writes the history on a thread of its own, so that a locked or slow file holds up no window. Belongs to the
// window's thread, where all signals come; every call returns at once. A history of an older version is brought up to
// date; an absent one is waited for.
class HistoryService : public QObject {
    Q_OBJECT

public:
    explicit HistoryService(Places places, QObject* parent = nullptr);
    ~HistoryService() override;  // waits until the edits are written

    // Looks twice a second whether anything changed, as long as anybody watches: each says true, and later false.
    void setWatching(bool watching);
    // For whoever comes late, what was told last: by rowsRead(), null before it and after absent(), and by
    // unreadable(), empty once it could be read again.
    const std::shared_ptr<const std::vector<TrialRow>>& rows() const { return m_rows; }
    const std::optional<Problem>& refusal() const { return m_refusal; }
    bool isAbsent() const { return m_isAbsent; }
    const std::shared_ptr<const TrialGroups>& groups() const { return m_groups; }  // by groupsRead(); null before it
    void write(const TrialEdits& edits);
    // Removes trials of the trash and their run directories for good; those an engine holds stay.
    void purge(std::vector<std::int64_t> trials);
    void readSpec(std::int64_t trial,
                  std::function<void(const Result<TrialSpec>&)> then);  // `then`: the window's thread
    // TrialQuery::settings; not answered where the history cannot be read, see unreadable().
    void readSettings(std::string path, std::function<void(const SettingValues&)> then);
    // The settings in which trials differ (TrialQuery::differingSettings), and those of `also`, by path; answered as
    // those.
    void readDifferences(std::vector<std::int64_t> trials, std::vector<std::string> also,
                         std::function<void(const DifferingSettings&)> then);
    // What a sweep has come to: the problems of sweepResult(). Of one with thousands of trials in tenths of a second.
    void readSweep(std::int64_t sweep, std::function<void(const Result<SweepResult>&)> then);
    // How these trials went, by one metric of evaluations; answered as those. Trials that have not changed since are
    // not read again.
    void readProgress(std::vector<std::int64_t> trials, std::string metric,
                      std::function<void(const std::shared_ptr<const ProgressOfTrials>&)> then);
    void readEvaluations(std::int64_t trial, std::function<void(const TrialEvaluations&)> then);
    // See comparableTrials().
    void readComparable(std::int64_t trial, std::function<void(const std::vector<std::int64_t>&)> then);
    // With its answers; empty where the history has none of that number.
    void readEvaluation(std::int64_t id, std::function<void(const std::optional<Evaluation>&)> then);
    // Of several requests only the newest is answered.
    void readCurves(CurveRequest request);
    // For what else is asked of the home's trials: `work` on the service's thread, each after the one before, then
    // `then` on the window's, with the problem that it threw. Also where there is no history: that is its own to make.
    using Work = std::function<void(TrialService&)>;
    using Done = std::function<void(const std::optional<Problem>&)>;
    void run(Work work, Done then);

signals:
    // All trials, newest first, the trash included; a trial that lost its engine is "crashed". Never older than an edit
    // handed in before.
    void rowsRead(const std::vector<lockstep::TrialRow>& rows);
    // When they have changed, before the rows that they speak of.
    void groupsRead(const lockstep::ui::TrialGroups& groups);
    void curvesRead(const lockstep::ui::TrialCurves& curves);
    void absent();  // there is no history yet
    // While there is no trial, when the number has changed: so many run folders hold trials that `lockstep import`
    // would bring into the history. None until it is told.
    void orphansCounted(int orphans);
    void unreadable(const lockstep::Problem& problem);  // the history cannot be read; tried again
    void notWritten(const lockstep::Problem& problem);  // edits were refused; the rows are sent again as they are
    // The history is locked, read-only or full: the edits are kept in their order and tried again every second.
    void writeWaits(const lockstep::Problem& problem);
    void writeDone();  // nothing waits any more

private:
    class Worker;

    void tell(std::shared_ptr<const std::vector<TrialRow>> rows);
    void tellAbsent();
    void tellRefusal(const Problem& problem);

    QThread m_thread;
    Worker* m_worker;
    int m_watchers = 0;
    std::shared_ptr<const std::vector<TrialRow>> m_rows;
    std::shared_ptr<const TrialGroups> m_groups;
    std::optional<Problem> m_refusal;
    bool m_isAbsent = false;
    std::uint64_t m_handedIn = 0;
    std::atomic<std::uint64_t> m_curveRequest = 0;
};

}  // namespace lockstep::ui
