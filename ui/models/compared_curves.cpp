#include "ui/models/compared_curves.h"

#include <QObject>
#include <QStringList>
#include <algorithm>

namespace lockstep::ui {

namespace {

constexpr std::size_t kNamed = 4;                      // numbers and values that are written out

CurvePoints pointsOf(const TrialCurve& curve, double scale) {
    CurvePoints points;
    for (const auto& point : curve.points) {
        points.x.push_back(static_cast<double>(point.step));
        points.y.push_back(scale * point.value);
    }
    return points;
}

std::vector<std::vector<std::size_t>> groupsOf(const TrialCurves& curves, bool bySeeds) {
    std::vector<TrialSpec> specs;
    for (const auto& curve : curves.trials) specs.push_back(curve.spec);
    if (bySeeds) return seedGroups(specs);
    std::vector<std::vector<std::size_t>> single;
    for (std::size_t i = 0; i < specs.size(); ++i) single.push_back({i});
    return single;
}

QString nameOf(const TrialCurves& curves, const std::vector<std::size_t>& group) {
    std::vector<std::int64_t> trials;
    for (const auto i : group) trials.push_back(curves.trials[i].trial);
    std::sort(trials.begin(), trials.end());
    QStringList numbers;
    for (std::size_t i = 0; i < std::min(trials.size(), kNamed); ++i) numbers << QString("#%1").arg(trials[i]);
    if (group.size() > kNamed) numbers << QStringLiteral("…");
    const QString title = QString::fromStdString(curves.trials[group.front()].spec.title);
    return title.isEmpty() ? numbers.join(", ") : numbers.join(", ") + ' ' + title;
}

QString valueText(double value, const ComparedMetric& metric) {
    return metric.scale == 100 ? QString::number(value, 'f', 2) + " %" : QString::number(value, 'g', 4);
}

}  // namespace

const std::vector<ComparedMetric>& comparedMetrics() {
    static const std::vector<ComparedMetric> metrics = {
        {"test_accuracy", QObject::tr("Test accuracy"), QObject::tr("test accuracy (%)"), 100},
        {"test_loss", QObject::tr("Test loss"), QObject::tr("test loss"), 1},
        {"loss", QObject::tr("Training loss"), QObject::tr("training loss"), 1},
        {"accuracy", QObject::tr("Training accuracy"), QObject::tr("training accuracy (%)"), 100},
        {"samples_per_second", QObject::tr("Images/s"), QObject::tr("images/s"), 1},
        {"learning_rate", QObject::tr("Learning rate"), QObject::tr("learning rate"), 1},
        {"gradient_norm", QObject::tr("Gradient norm"), QObject::tr("gradient norm"), 1},
    };
    return metrics;
}

std::vector<ComparedCurve> comparedCurves(const TrialCurves& curves, const ComparedMetric& metric, bool bySeeds) {
    std::vector<ComparedCurve> compared;
    for (const auto& group : groupsOf(curves, bySeeds)) {
        std::vector<CurvePoints> points;
        std::int64_t lowest = curves.trials[group.front()].trial;
        for (const auto i : group) {
            points.push_back(pointsOf(curves.trials[i], metric.scale));
            lowest = std::min(lowest, curves.trials[i].trial);
        }
        auto band = bandOf(points);
        if (!band.x.empty()) compared.push_back({lowest, nameOf(curves, group), std::move(band)});
    }
    return compared;
}

QString summaryOf(std::span<const ComparedCurve> curves, const ComparedMetric& metric, std::size_t trials) {
    if (trials == 0) return {};
    if (curves.empty()) return QObject::tr("Nothing was measured yet: %1.").arg(metric.name);
    QStringList values;
    for (std::size_t i = 0; i < std::min(curves.size(), kNamed); ++i) {
        const auto& band = curves[i].band;
        QString value = QString("#%1 %2").arg(curves[i].series).arg(valueText(band.mean.back(), metric));
        if (band.count.back() > 1) {
            value += QObject::tr(" ± %1 (%2 seeds)").arg(valueText(band.deviation.back(), metric)).arg(band.count.back());
        }
        values << value;
    }
    if (curves.size() > kNamed) values << QObject::tr("%1 more").arg(curves.size() - kNamed);
    return QObject::tr("Last: %1").arg(values.join(", "));
}

}  // namespace lockstep::ui
