#include "ui/history/compared_curves.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>

#include "engine/spec/metrics.h"
#include "ui/plot/run_text.h"
#include "ui/style/plain_text.h"

namespace lockstep::ui {

namespace {

struct ComparedCurvesText {
    Q_DECLARE_TR_FUNCTIONS(ComparedCurvesText)
};

constexpr std::size_t kNamed = 4;  // numbers that are written out

using Groups = std::vector<std::vector<std::size_t>>;

Groups groupsOf(const std::vector<TrialCurve>& trials, bool bySeeds) {
    Groups single;
    for (std::size_t i = 0; i < trials.size(); ++i) single.push_back({i});
    if (!bySeeds) return single;
    std::vector<TrialSpec> specs;
    for (const auto& trial : trials) specs.push_back(trial.spec);
    return seedGroups(specs);
}

QString nameOf(const std::vector<TrialCurve>& trials, const std::vector<std::size_t>& group) {
    std::vector<std::int64_t> ids;
    for (const auto i : group) ids.push_back(trials[i].trial);
    std::sort(ids.begin(), ids.end());
    QStringList numbers;
    for (std::size_t i = 0; i < std::min(ids.size(), kNamed); ++i) numbers << QString("#%1").arg(ids[i]);
    if (group.size() > kNamed) numbers << QStringLiteral("…");
    const QString title = oneLine(trials[group.front()].spec.title);
    return title.isEmpty() ? numbers.join(", ") : numbers.join(", ") + ' ' + title;
}

ComparedMetric singly(const Metric& metric) {
    return {std::string(metric.key),          metricText(metric.title),
            std::string(metric.key),          "",
            metric.unit == MetricUnit::Share, metric.noisy};
}

// "both_losses": how settings name a metric together with its like on the training data.
std::string keyOfBoth(const Metric& metric) {
    const std::string name(metric.name);
    return "both_" + (name.ends_with('y') ? name.substr(0, name.size() - 1) + "ies" : name + "es");
}

ComparedMetric together(const Metric& test, const Metric& train) {
    QString name = metricText(test.name);
    name[0] = name[0].toUpper();
    ComparedMetric both = singly(test);
    both.key = keyOfBoth(test);
    both.name = ComparedCurvesText::tr("%1, test and train").arg(name);
    both.second = train.key;
    return both;
}

std::vector<ComparedMetric> ofTests() {
    std::vector<ComparedMetric> singles, pairs;
    for (const Metric& test : metrics()) {
        if (test.split != Split::Test) continue;
        singles.push_back(singly(test));
        const std::string rest(test.key.substr(std::string_view("test").size()));
        if (const Metric* train = findMetric("train" + rest)) pairs.push_back(together(test, *train));
    }
    for (const Metric& validation : metrics()) {
        if (validation.split == Split::Validation) singles.push_back(singly(validation));
    }
    singles.insert(singles.end(), pairs.begin(), pairs.end());
    return singles;
}

}  // namespace

const std::vector<ComparedMetric>& comparedMetrics() {
    static const std::vector<ComparedMetric> all = [] {
        std::vector<ComparedMetric> made = ofTests();
        for (const Metric& each : metrics()) {
            if (each.step) made.push_back(singly(each));
        }
        return made;
    }();
    return all;
}

const ComparedMetric& comparedMetric(const std::string& key) {
    const auto& all = comparedMetrics();
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& metric) { return metric.key == key; });
    return found != all.end() ? *found : all.front();
}

std::vector<ComparedCurve> CurveComparison::compare(const std::vector<TrialCurve>& trials, const ComparedMetric& metric,
                                                    bool bySeeds) {
    std::vector<ComparedCurve> out;
    const auto add = [&](const std::vector<std::size_t>& group, bool second) {
        ComparedCurve compared{trials[group.front()].trial, nameOf(trials, group)};
        Members members;
        for (const auto i : group) {
            const auto& curve = second ? trials[i].second : trials[i].curve;
            compared.series = std::min(compared.series, trials[i].trial);
            compared.trials.push_back(trials[i].trial);
            compared.stepsPerEpoch = std::max(compared.stepsPerEpoch, trials[i].stepsPerEpoch);
            if (curve && !curve->empty()) members.push_back(curve);
        }
        if (members.empty()) return;
        if (!metric.second.empty())
            compared.name = (second ? ComparedCurvesText::tr("%1 · train") : ComparedCurvesText::tr("%1 · test"))
                                .arg(compared.name);
        compared.second = second;
        compared.curve = members.front();
        if (members.size() > 1) {
            const MeanCurve& means = mean(members);
            compared.curve = means.mean;
            if (!second) compared.band = means.band;
        }
        out.push_back(std::move(compared));
    };
    for (const auto& group : groupsOf(trials, bySeeds)) {
        add(group, false);
        if (!metric.second.empty()) add(group, true);
    }
    m_known = std::move(m_used);
    m_used.clear();
    return out;
}

const MeanCurve& CurveComparison::mean(const Members& members) {
    const auto known = m_known.find(members);
    return m_used[members] = known != m_known.end() ? known->second : meanOf(members, BandKind::Deviation);
}

}  // namespace lockstep::ui
