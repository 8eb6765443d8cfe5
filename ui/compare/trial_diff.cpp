#include "ui/compare/trial_diff.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "ui/history/spec_diff.h"
#include "ui/plot/run_text.h"
#include "ui/style/plain_text.h"

namespace lockstep::ui {

namespace {

struct TrialDiffText {
    Q_DECLARE_TR_FUNCTIONS(TrialDiffText)
};

QString joined(const std::vector<std::string>& words) {
    QStringList all;
    for (const std::string& each : words) all << oneLine(each);
    return all.join(", ");
}

class DiffMaker {
public:
    DiffMaker(const CompareScene& scene, const std::vector<TrialFacts>& trials) : m_scene(scene), m_trials(trials) {}

    std::vector<DiffRow> make() {
        addSettings();
        addResults();
        addEnvironment();
        add(TrialDiffText::tr("Notes"), TrialDiffText::tr("Note"), "note",
            [](const TrialFacts& facts) { return oneLine(facts.note); });
        return std::move(m_rows);
    }

private:
    template <class Value>
    void add(const QString& section, const QString& name, const QString& key, Value&& value) {
        DiffRow row{section, name, key, {}};
        for (const TrialFacts& each : m_trials) row.values << value(each);
        push(std::move(row));
    }

    void push(DiffRow row) {
        row.isEqual = std::ranges::all_of(row.values, [&](const QString& value) {
            return value == row.values.front() && value.isNull() == row.values.front().isNull();
        });
        m_rows.push_back(std::move(row));
    }

    void addSettings() {
        std::vector<TrialSpec> specs;
        for (const TrialFacts& each : m_trials) specs.push_back(each.spec);
        for (const SpecField& field : fieldsOf(specs))
            push({TrialDiffText::tr("Settings"), settingName(field.key), field.key, field.values});
    }

    void addResults() {
        const CompareTable& table = *m_scene.table;
        for (const CompareAxis& axis : table.axes) {
            if (axis.isSetting) continue;
            add(TrialDiffText::tr("Results"), axis.name, QString::fromStdString(axis.key),
                [&](const TrialFacts& facts) {
                    const auto row = table.rowOf(facts.trial);
                    return row ? axis.cell(*row) : QString();
                });
        }
        add(TrialDiffText::tr("Results"), TrialDiffText::tr("State"), "state", [&](const TrialFacts& facts) {
            const auto row = table.rowOf(facts.trial);
            return row ? runStateText(table.trials[*row].state) : QString();
        });
    }

    template <class Value>
    void addSaid(const QString& name, const QString& key, Value&& value) {
        add(TrialDiffText::tr("Environment"), name, key,
            [&](const TrialFacts& facts) { return facts.started ? value(*facts.started) : QString(); });
    }

    void addEnvironment() {
        addSaid(TrialDiffText::tr("Machine"), "hardware", [](const RunStarted& said) { return joined(said.hardware); });
        addSaid(TrialDiffText::tr("Software"), "software",
                [](const RunStarted& said) { return oneLine(said.software); });
        addSaid(TrialDiffText::tr("Devices"), "devices", [](const RunStarted& said) { return joined(said.devices); });
        addSaid(TrialDiffText::tr("Precision in use"), "precisionInUse",
                [](const RunStarted& said) { return QString::fromStdString(said.precision); });
        addSaid(TrialDiffText::tr("Parameters"), "parameters",
                [](const RunStarted& said) { return runCount(static_cast<double>(said.parameters)); });
        addSaid(TrialDiffText::tr("Training samples"), "trainSamples",
                [](const RunStarted& said) { return runCount(static_cast<double>(said.trainSamples)); });
        addSaid(TrialDiffText::tr("Steps in an epoch"), "stepsPerEpoch",
                [](const RunStarted& said) { return runCount(static_cast<double>(said.stepsPerEpoch)); });
    }

    const CompareScene& m_scene;
    const std::vector<TrialFacts>& m_trials;
    std::vector<DiffRow> m_rows;
};

double importanceOf(const CompareScene& scene, const QString& path) {
    const auto axis = scene.table->axisOf(path.toStdString());
    return axis && *axis < scene.importance.size() ? scene.importance[*axis] : 0;
}

QString valueText(const QString& value) { return value.isNull() ? TrialDiffText::tr("not set") : value; }

}  // namespace

std::vector<DiffRow> diffOf(const CompareScene& scene, const std::vector<TrialFacts>& trials) {
    return trials.empty() ? std::vector<DiffRow>() : DiffMaker(scene, trials).make();
}

QString whyBetter(const CompareScene& scene, const std::vector<TrialFacts>& trials) {
    const CompareTable& table = *scene.table;
    if (trials.size() != 2 || !table.objective) return {};
    const auto first = table.rowOf(trials[0].trial), second = table.rowOf(trials[1].trial);
    if (!first || !second) return {};
    const std::size_t better = table.isBetter(*first, *second) ? 0 : 1;
    const std::size_t best = better == 0 ? *first : *second, worse = better == 0 ? *second : *first;
    const CompareAxis& objective = table.axes[*table.objective];
    if (!std::isfinite(objective.values[best]) || !std::isfinite(objective.values[worse])) return {};
    const TrialSpec specs[] = {trials[better].spec, trials[1 - better].spec};
    auto fields = differencesOf(specs);
    std::erase_if(fields, [](const SpecField& field) { return field.key == "title" || field.key == "seed"; });
    std::ranges::stable_sort(fields, std::greater(),
                             [&](const SpecField& field) { return importanceOf(scene, field.key); });
    QString opening =
        objective.cell(best) == objective.cell(worse)
            ? TrialDiffText::tr("%1 and %2 came to the same: %3 %4.")
                  .arg(table.trials[best].name, table.trials[worse].name, objective.name, objective.cell(best))
            : TrialDiffText::tr("%1 is better than %2: %3 %4 instead of %5.")
                  .arg(table.trials[best].name, table.trials[worse].name, objective.name, objective.cell(best),
                       objective.cell(worse));
    if (table.trials[best].epoch != table.trials[worse].epoch)
        opening += ' ' + TrialDiffText::tr("It was trained for %1 epochs, the other for %2.")
                             .arg(table.trials[best].epoch)
                             .arg(table.trials[worse].epoch);
    if (fields.empty()) return opening + ' ' + TrialDiffText::tr("They differ in their seed alone: this is chance.");
    QStringList parts;
    for (const SpecField& field : fields) {
        QString part = TrialDiffText::tr("%1 %2 instead of %3")
                           .arg(settingName(field.key), valueText(field.values[0]), valueText(field.values[1]));
        const double share = importanceOf(scene, field.key);
        if (share > 0) part += TrialDiffText::tr(" (explains %1 of all differences)").arg(runShare(share));
        parts << part;
    }
    return opening + ' ' + TrialDiffText::tr("They differ in: %1.").arg(parts.join("; "));
}

}  // namespace lockstep::ui
