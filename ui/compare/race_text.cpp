#include "ui/compare/race_text.h"

#include <QCoreApplication>
#include <cmath>

#include "ui/plot/run_text.h"

namespace lockstep::ui {

namespace {

struct RaceText {
    Q_DECLARE_TR_FUNCTIONS(RaceText)
};

// "7", "3.4": while a clock runs between evaluations, tenths of an epoch show that it does.
QString epochs(double at) { return std::abs(at - std::round(at)) < 1e-6 ? runCount(at) : QString::number(at, 'f', 1); }

}  // namespace

QString raceClockName(PlotAxis clock) {
    switch (clock) {
        case PlotAxis::Step: return RaceText::tr("Step");
        case PlotAxis::Epoch: return RaceText::tr("Epoch");
        case PlotAxis::Samples: return RaceText::tr("Samples");
        case PlotAxis::Time: return RaceText::tr("Time");
        case PlotAxis::DeviceTime: return RaceText::tr("Device time");
        case PlotAxis::Log: break;
    }
    return {};
}

QString raceClockText(PlotAxis clock, double at) {
    switch (clock) {
        case PlotAxis::Step: return RaceText::tr("%1 steps").arg(runCount(at));
        case PlotAxis::Epoch: return at == 1 ? RaceText::tr("1 epoch") : RaceText::tr("%1 epochs").arg(epochs(at));
        case PlotAxis::Samples: return RaceText::tr("%1 samples").arg(runCount(at));
        case PlotAxis::Time: return runDuration(at);
        case PlotAxis::DeviceTime: return RaceText::tr("%1 device-s").arg(runCount(at));
        case PlotAxis::Log: break;
    }
    return {};
}

QString raceMoment(PlotAxis clock, double at, double end) {
    switch (clock) {
        case PlotAxis::Step: return RaceText::tr("Step %1 of %2").arg(runCount(std::floor(at)), runCount(end));
        case PlotAxis::Epoch: return RaceText::tr("Epoch %1 of %2").arg(QString::number(at, 'f', 1), epochs(end));
        case PlotAxis::Samples: return RaceText::tr("%1 of %2 samples").arg(runCount(std::floor(at)), runCount(end));
        case PlotAxis::Time: return RaceText::tr("%1 of %2").arg(runDuration(at), runDuration(end));
        case PlotAxis::DeviceTime:
            return RaceText::tr("%1 of %2 device-s").arg(runCount(std::floor(at)), runCount(end));
        case PlotAxis::Log: break;
    }
    return {};
}

QString raceFinishText(const Race& race, std::size_t runner) {
    if (race.runners()[runner].points.empty()) return QStringLiteral("–");
    const PlotAxis clock = race.rules().clock;
    if (const auto reached = race.reachedAt(runner)) return raceClockText(clock, *reached);
    return RaceText::tr("> %1").arg(raceClockText(clock, race.endOf(runner)));
}

}  // namespace lockstep::ui
