#include "ui/compare/compare_table.h"

#include <QCoreApplication>
#include <QLocale>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "engine/spec/metric_text.h"
#include "ui/compare/setting_axis.h"
#include "ui/history/sweep_words.h"
#include "ui/plot/run_text.h"
#include "ui/style/plain_text.h"

namespace lockstep::ui {

namespace {

struct CompareTableText {
    Q_DECLARE_TR_FUNCTIONS(CompareTableText)
};

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// What the row of a trial says of a run as a whole, beside the metrics of its evaluations.
struct RowMeasure {
    const char* key;
    const char* name;
    Better better;
    std::optional<double> (*value)(const TrialRow&);
};
constexpr RowMeasure kMeasures[] = {
    {"metric.samples_per_second", QT_TRANSLATE_NOOP("CompareTableText", "Samples/s"), Better::Higher,
     [](const TrialRow& row) { return row.samplesPerSecond; }},
    {"metric.seconds", QT_TRANSLATE_NOOP("CompareTableText", "Duration"), Better::Lower,
     [](const TrialRow& row) { return row.seconds; }},
    {"metric.epoch", QT_TRANSLATE_NOOP("CompareTableText", "Epochs trained"), Better::Neither,
     [](const TrialRow& row) { return std::optional(static_cast<double>(row.epoch)); }},
    {kTimeToTarget, QT_TRANSLATE_NOOP("CompareTableText", "Time to target"), Better::Lower, nullptr},
    {kMemory, QT_TRANSLATE_NOOP("CompareTableText", "Memory"), Better::Lower, nullptr},
};

RunState stateOf(const TrialRow& row) { return runStateFrom(row.state).value_or(RunState::Crashed); }

// Why a trial has no value of what is measured.
Absence absenceOf(const TrialRow& row) {
    if (row.failure.starts_with("non-finite")) return Absence::Diverged;
    if (row.state == "failed" || row.state == "crashed") return Absence::Failed;
    return isFinal(stateOf(row)) ? Absence::NotSet : Absence::NotYet;
}

class TableMaker {
public:
    explicit TableMaker(const CompareFacts& facts) : m_facts(facts), m_rows(facts.rows) {
        std::ranges::sort(m_rows, {}, &TrialRow::id);
        if (!facts.sweep) return;
        for (const CellResult& cell : facts.sweep->cells)
            for (const std::int64_t trial : cell.trials) m_cells.emplace(trial, cell.number);
    }

    CompareTable make() {
        addSettings();
        addMetrics();
        addMeasures();
        for (const TrialRow& row : m_rows) addTrial(row);
        findObjective();
        return std::move(m_table);
    }

private:
    const Dimension* dimensionAt(const std::string& path) const {
        if (!m_facts.sweep) return nullptr;
        const auto& vary = m_facts.sweep->spec.vary;
        const auto found = std::ranges::find(vary, path, &Dimension::path);
        return found == vary.end() ? nullptr : &*found;
    }

    void addSetting(const std::string& path) {
        const auto found = m_facts.settings.find(path);
        static const SettingValues none;
        const SettingValues& values = found == m_facts.settings.end() ? none : found->second;
        m_table.axes.push_back(settingAxis(path, m_rows, values, dimensionAt(path)));
    }

    // A seed alone makes repeats, unless it is what was searched.
    void addSettings() {
        if (m_facts.sweep) {
            for (const Dimension& each : m_facts.sweep->spec.vary) addSetting(each.path);
            return;
        }
        for (const auto& [path, values] : m_facts.settings)
            if (path != "seed") addSetting(path);
    }

    bool isEvaluated(std::size_t row) const {
        return std::ranges::any_of(
            m_table.axes, [&](const CompareAxis& axis) { return axis.metric && axis.absences[row] == Absence::None; });
    }

    template <class Value>
    void addMeasured(CompareAxis axis, Value&& value) {
        bool hasAny = false;
        for (const TrialRow& row : m_rows) {
            const std::optional<double> number = value(row);
            const Absence why = absenceOf(row);
            const bool hasFailed = why == Absence::Failed || why == Absence::Diverged;
            const bool isThere = number && std::isfinite(*number) && !hasFailed;
            axis.values.push_back(isThere ? *number : kNone);
            axis.absences.push_back(isThere ? Absence::None : why);
            if (axis.key == kTimeToTarget && axis.absences.back() == Absence::NotSet &&
                isEvaluated(axis.absences.size() - 1))
                axis.absences.back() = Absence::NotReached;
            hasAny |= isThere;
        }
        if (!hasAny) return;
        axis.isSetting = false;
        axis.findEnds();
        m_table.axes.push_back(std::move(axis));
    }

    bool hasMetric(const TrialRow& row, const Metric& metric) const {
        if (metric.task.empty() || (m_facts.sweep && m_facts.sweep->objective == &metric)) return true;
        const auto task = m_facts.tasks.find(row.id);
        return task != m_facts.tasks.end() && task->second == metric.task;
    }

    // The best of each metric of evaluations that rows keep.
    void addMetrics() {
        for (const Metric& metric : metrics()) {
            if (!metric.evaluated && !metric.derive) continue;
            if (metric.better == Better::Neither) continue;
            addMeasured({.key = "metric." + std::string(metric.key),
                         .name = metricText(metric.title),
                         .metric = &metric,
                         .better = metric.better},
                        [&](const TrialRow& row) { return hasMetric(row, metric) ? best(row, metric) : std::nullopt; });
        }
    }

    void addMeasures() {
        for (const RowMeasure& each : kMeasures) {
            const auto measured = m_facts.measured.find(each.key);
            addMeasured({.key = each.key, .name = CompareTableText::tr(each.name), .better = each.better},
                        [&](const TrialRow& row) -> std::optional<double> {
                            if (each.value) return each.value(row);
                            if (measured == m_facts.measured.end()) return std::nullopt;
                            const auto value = measured->second.find(row.id);
                            return value == measured->second.end() ? std::nullopt : std::optional(value->second);
                        });
        }
    }

    void addTrial(const TrialRow& row) {
        const std::size_t at = m_table.trials.size();
        ComparedTrial trial{.trial = row.id, .state = stateOf(row)};
        const QString title = oneLine(row.title);
        trial.name = title.isEmpty() ? QString("#%1").arg(row.id) : QString("#%1 %2").arg(row.id).arg(title);
        trial.words = wordsAt(at);
        trial.epoch = row.epoch, trial.epochs = row.epochs;
        trial.isArchived = row.archived;
        trial.isCutShort = !trial.hasFailed() && trial.state != RunState::Finished && isFinal(trial.state);
        trial.failure = trial.hasFailed() ? oneLine(row.failure.empty() ? row.state : row.failure) : QString();
        if (const auto cell = m_cells.find(row.id); cell != m_cells.end()) trial.cell = cell->second;
        const QString key = trial.cell >= 0 ? QString::number(trial.cell) : trial.words;
        trial.group = m_groups.emplace(key, row.id).first->second;
        m_table.rows.emplace(row.id, at);
        m_table.trials.push_back(std::move(trial));
    }

    QString wordsAt(std::size_t row) const {
        QStringList words;
        for (const CompareAxis& axis : m_table.axes) {
            if (!axis.isSetting || axis.absences[row] != Absence::None) continue;
            const double value = axis.values[row];
            words << QString::fromStdString(axis.key) + '=' +
                         (axis.isChoice() ? axis.choices[static_cast<int>(value)] : QString::number(value, 'g', 6));
        }
        return words.join(' ');
    }

    // The sweep's own; else the first metric that all trials with a value share, accuracies before losses, of the split
    // that chooses before the test.
    void findObjective() {
        if (m_facts.sweep) {
            if (const Metric* metric = m_facts.sweep->objective)
                m_table.objective = m_table.axisOf("metric." + std::string(metric->key));
            return;
        }
        std::size_t most = 0;
        if (const auto ofTask = objectiveOfTask()) {
            m_table.objective = ofTask;
            return;
        }
        for (std::size_t i = 0; i < m_table.axes.size(); ++i) {
            if (!m_table.axes[i].metric) continue;
            const auto count = static_cast<std::size_t>(std::ranges::count(m_table.axes[i].absences, Absence::None));
            if (count <= most) continue;
            most = count;
            m_table.objective = i;
        }
        sayWhatIsShared(most);
    }

    std::set<std::string> tasks() const {
        std::set<std::string> tasks;
        for (const auto& [trial, task] : m_facts.tasks)
            if (!task.empty() && m_table.rows.contains(trial)) tasks.insert(task);
        return tasks;
    }

    // What the only task of these trials is judged by, where all that have a value of anything have one of it.
    std::optional<std::size_t> objectiveOfTask() const {
        const auto all = tasks();
        for (const Split split : {Split::Validation, Split::Test}) {
            if (all.size() != 1) break;
            const Metric& metric = *metricsFor(*all.begin(), split).objective;
            const auto axis = m_table.axisOf("metric." + std::string(metric.key));
            if (axis && valued(*axis) == evaluated()) return axis;
        }
        return std::nullopt;
    }

    std::size_t valued(std::size_t axis) const {
        return static_cast<std::size_t>(std::ranges::count(m_table.axes[axis].absences, Absence::None));
    }

    // How many trials have a value of any metric.
    std::size_t evaluated() const {
        std::size_t count = 0;
        for (std::size_t row = 0; row < m_rows.size(); ++row) count += isEvaluated(row);
        return count;
    }

    void sayWhatIsShared(std::size_t most) {
        const std::size_t all = evaluated();
        if (all == 0) return;
        if (tasks().size() > 1) {
            QStringList shared;
            for (std::size_t axis = 0; axis < m_table.axes.size(); ++axis)
                if (m_table.axes[axis].metric && valued(axis) == all) shared << m_table.axes[axis].name;
            m_table.shared =
                shared.isEmpty()
                    ? CompareTableText::tr("These trials learn different things and share no metric.")
                    : CompareTableText::tr(
                          "These trials learn different things. They share %1; but what one kind comes to says nothing "
                          "of the other.")
                          .arg(shared.join(", "));
            return;
        }
        if (most == all) return;
        m_table.shared = CompareTableText::tr("These trials share no metric: %1 is known of %2 of %3.")
                             .arg(m_table.axes[*m_table.objective].name)
                             .arg(most)
                             .arg(all);
    }

    const CompareFacts& m_facts;
    std::vector<TrialRow> m_rows;
    CompareTable m_table;
    std::map<std::int64_t, std::int64_t> m_cells;  // of the sweep, by trial
    std::map<QString, std::int64_t> m_groups;
};

}  // namespace

void CompareAxis::findEnds() {
    bool isFirst = true;
    for (const double value : values) {
        if (!std::isfinite(value)) continue;
        low = isFirst ? value : std::min(low, value);
        high = isFirst ? value : std::max(high, value);
        isFirst = false;
    }
}

QString CompareAxis::text(double value) const {
    if (!std::isfinite(value)) return "–";
    if (isChoice()) return choices.value(static_cast<int>(value));
    if (metric) return QString::fromStdString(lockstep::metricText(*metric, value));
    if (key == "metric.samples_per_second") return runCount(value);
    if (key == "metric.seconds" || key == kTimeToTarget) return runDuration(value);
    if (key == kMemory) return QLocale(QLocale::English).formattedDataSize(static_cast<qint64>(value));
    return QString::number(value, 'g', 4);
}

QString CompareAxis::cell(std::size_t row) const {
    if (absences[row] == Absence::None) return text(values[row]);
    return !isSetting && absences[row] == Absence::NotSet ? QString("–") : absenceText(absences[row]);
}

bool CompareAxis::passes(const AxisBrush& brush, std::size_t row) const {
    if (brush.empty()) return true;
    if (absences[row] != Absence::None) return brush.without.contains(absences[row]);
    const double value = values[row];
    if (isChoice()) return brush.choices.contains(choices[static_cast<int>(value)].toStdString());
    return std::ranges::any_of(brush.ranges,
                               [&](const auto& range) { return range.low <= value && value <= range.high; });
}

QString CompareTable::whyNoValues() const {
    if (trials.empty()) return CompareTableText::tr("There is no trial to compare.");
    if (objective) return {};
    if (std::ranges::all_of(trials, &ComparedTrial::hasFailed))
        return CompareTableText::tr("All of them failed. The first said: %1").arg(trials.front().failure);
    return CompareTableText::tr("No trial has been evaluated yet: its first value appears after its first epoch.");
}

std::optional<std::size_t> CompareTable::rowOf(std::int64_t trial) const {
    const auto found = rows.find(trial);
    return found == rows.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::size_t> CompareTable::axisOf(const std::string& key) const {
    const auto found = std::ranges::find(axes, key, &CompareAxis::key);
    return found == axes.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - axes.begin()));
}

bool CompareTable::isBetter(std::size_t row, std::size_t than) const {
    const auto value = [&](std::size_t at) { return objective ? axes[*objective].values[at] : kNone; };
    const double a = value(row), b = value(than);
    if (std::isfinite(a) != std::isfinite(b)) return std::isfinite(a);
    if (!std::isfinite(a) || a == b) return row < than;
    return axes[*objective].better == Better::Lower ? a < b : a > b;
}

std::vector<std::size_t> CompareTable::ranking() const {
    std::vector<std::size_t> order(trials.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto group = [&](std::size_t row) { return trials[row].hasFailed() ? 2 : trials[row].isCutShort ? 1 : 0; };
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
        return group(a) != group(b) ? group(a) < group(b) : isBetter(a, b);
    });
    return order;
}

std::vector<bool> CompareTable::passing(const Brushes& brushes) const {
    std::vector<bool> passing(trials.size(), true);
    for (const auto& [key, brush] : brushes) {
        const auto axis = axisOf(key);
        if (!axis) continue;
        for (std::size_t row = 0; row < passing.size(); ++row)
            if (passing[row] && !axes[*axis].passes(brush, row)) passing[row] = false;
    }
    return passing;
}

CompareTable compareTable(const CompareFacts& facts) { return TableMaker(facts).make(); }

}  // namespace lockstep::ui
