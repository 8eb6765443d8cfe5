#include "ui/compare/compare_measures.h"

#include <QPointer>

#include "ui/compare/time_to_target.h"

namespace lockstep::ui {

namespace {

const CompareAxis* objectiveOf(const CompareScene& scene) {
    const CompareTable& table = *scene.table;
    return table.objective && table.axes[*table.objective].metric ? &table.axes[*table.objective] : nullptr;
}

}  // namespace

CompareMeasures::CompareMeasures(HistoryService* history, CompareFeed* feed, QObject* parent)
    : QObject(parent), m_history(*history), m_feed(*feed) {}

void CompareMeasures::setScene(const SharedScene& scene) {
    const bool isKnown = m_scene && m_scene->table == scene->table && m_scene->target == scene->target;
    m_scene = scene;
    if (isKnown) return;
    const CompareAxis* objective = objectiveOf(*scene);
    std::vector<std::int64_t> trials;
    for (const ComparedTrial& each : scene->table->trials) trials.push_back(each.trial);
    m_history.readProgress(std::move(trials), objective ? std::string(objective->metric->key) : std::string(),
                           [measures = QPointer(this), scene](const std::shared_ptr<const ProgressOfTrials>& progress) {
                               if (measures) measures->take(scene, *progress);
                           });
}

void CompareMeasures::take(const SharedScene& scene, const ProgressOfTrials& progress) {
    if (scene->table != m_scene->table || scene->target != m_scene->target) return;
    const CompareAxis* objective = objectiveOf(*scene);
    std::map<std::int64_t, double> seconds, bytes;
    std::map<std::int64_t, std::string> tasks;
    for (const auto& [trial, each] : progress) {
        tasks[trial] = each->worlds.task;
        if (each->worlds.bytesPerDevice() > 0) bytes[trial] = static_cast<double>(each->worlds.bytesPerDevice());
        if (!objective || !scene->target) continue;
        if (const auto* reached = firstReaching(each->evaluations, *scene->target, objective->better))
            seconds[trial] = reached->seconds;
    }
    m_feed.setMeasured(kTimeToTarget, std::move(seconds));
    m_feed.setMeasured(kMemory, std::move(bytes));
    m_feed.setTasks(std::move(tasks));
}

}  // namespace lockstep::ui
