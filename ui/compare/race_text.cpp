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

QString raceClockName(RaceClock clock) {
    switch (clock) {
        case RaceClock::Step: return RaceText::tr("Steps");
        case RaceClock::Epoch: return RaceText::tr("Epochs");
        case RaceClock::Samples: return RaceText::tr("Samples");
        case RaceClock::Seconds: return RaceText::tr("Time");
        case RaceClock::DeviceSeconds: return RaceText::tr("Device time");
    }
    return {};
}

const char* raceClockKey(RaceClock clock) {
    switch (clock) {
        case RaceClock::Step: return "step";
        case RaceClock::Epoch: return "epoch";
        case RaceClock::Samples: return "samples";
        case RaceClock::Seconds: return "seconds";
        case RaceClock::DeviceSeconds: return "device_seconds";
    }
    return "";
}

QString raceClockText(RaceClock clock, double at) {
    switch (clock) {
        case RaceClock::Step: return RaceText::tr("%1 steps").arg(runCount(at));
        case RaceClock::Epoch: return at == 1 ? RaceText::tr("1 epoch") : RaceText::tr("%1 epochs").arg(epochs(at));
        case RaceClock::Samples: return RaceText::tr("%1 samples").arg(runCount(at));
        case RaceClock::Seconds: return runDuration(at);
        case RaceClock::DeviceSeconds: return RaceText::tr("%1 device-s").arg(runCount(at));
    }
    return {};
}

QString raceMoment(RaceClock clock, double at, double end) {
    switch (clock) {
        case RaceClock::Step: return RaceText::tr("Step %1 of %2").arg(runCount(std::floor(at)), runCount(end));
        case RaceClock::Epoch: return RaceText::tr("Epoch %1 of %2").arg(QString::number(at, 'f', 1), epochs(end));
        case RaceClock::Samples: return RaceText::tr("%1 of %2 samples").arg(runCount(std::floor(at)), runCount(end));
        case RaceClock::Seconds: return RaceText::tr("%1 of %2").arg(runDuration(at), runDuration(end));
        case RaceClock::DeviceSeconds:
            return RaceText::tr("%1 of %2 device-s").arg(runCount(std::floor(at)), runCount(end));
    }
    return {};
}

QString raceFinishText(const Race& race, std::size_t runner) {
    if (race.runners()[runner].points.empty()) return QStringLiteral("–");
    const RaceClock clock = race.rules().clock;
    if (const auto reached = race.reachedAt(runner)) return raceClockText(clock, *reached);
    return RaceText::tr("> %1").arg(raceClockText(clock, race.endOf(runner)));
}

}  // namespace lockstep::ui
