#include "ui/plot/run_text.h"

#include <QCoreApplication>
#include <QLocale>
#include <cmath>

namespace lockstep::ui {

namespace {

struct RunText {
    Q_DECLARE_TR_FUNCTIONS(RunText)
};

QString two(qint64 value) { return QString("%1").arg(value, 2, 10, QChar('0')); }

}  // namespace

QString runDuration(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0) return "–";
    if (seconds < 9.95) return RunText::tr("%1 s").arg(seconds, 0, 'f', 1);
    const auto s = static_cast<qint64>(std::llround(seconds));
    if (s < 60) return RunText::tr("%1 s").arg(s);
    if (s < 3600) return RunText::tr("%1 min %2 s").arg(s / 60).arg(two(s % 60));
    if (s < 86400) return RunText::tr("%1 h %2 min").arg(s / 3600).arg(two(s % 3600 / 60));
    return RunText::tr("%1 d %2 h").arg(s / 86400).arg(s % 86400 / 3600);
}

QString runStepTime(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0) return "–";
    if (seconds < 1e-3) return RunText::tr("%1 µs").arg(seconds * 1e6, 0, 'f', 0);
    if (seconds < 1) return RunText::tr("%1 ms").arg(seconds * 1e3, 0, 'f', seconds < 0.1 ? 2 : 1);
    return RunText::tr("%1 s").arg(seconds, 0, 'f', 2);
}

QString runCount(double value) {
    if (!std::isfinite(value)) return "–";
    return QLocale(QLocale::English).toString(static_cast<qlonglong>(std::llround(value)));
}

QString runShare(double fraction) {
    return std::isfinite(fraction) ? QString("%1 %").arg(fraction * 100, 0, 'f', 0) : "–";
}

QString runPercent(double fraction) {
    return std::isfinite(fraction) ? QString("%1 %").arg(fraction * 100, 0, 'f', 2) : "–";
}

QString runNumber(double value, int digits) {
    if (!std::isfinite(value)) return "–";
    if (value == 0) return "0";
    const double size = std::abs(value);
    if (size < 1e-3 || size >= 1e6) return QString::number(value, 'e', digits - 2);
    const int magnitude = static_cast<int>(std::floor(std::log10(size)));
    return QString::number(value, 'f', std::max(0, digits - 1 - magnitude));
}

QString metricText(std::string_view words) { return QCoreApplication::translate("Metric", std::string(words).c_str()); }

QString runMetric(const Metric& metric, double value) {
    const QString name = metricText(metric.name);
    const bool unitLast = metric.unit == MetricUnit::BitsPerByte;  // its name is its unit
    const QString number = metric.unit == MetricUnit::Share ? runPercent(value) : runNumber(value);
    return unitLast ? number + ' ' + name : name + ' ' + number;
}

QString runStateText(RunState state) {
    switch (state) {
        case RunState::Queued: return RunText::tr("Queued");
        case RunState::Preparing: return RunText::tr("Preparing");
        case RunState::Running: return RunText::tr("Running");
        case RunState::Paused: return RunText::tr("Paused");
        case RunState::Stopping: return RunText::tr("Stopping");
        case RunState::Finished: return RunText::tr("Finished");
        case RunState::Stopped: return RunText::tr("Stopped");
        case RunState::Failed: return RunText::tr("Failed");
        case RunState::Cancelled: return RunText::tr("Cancelled");
        case RunState::Crashed: return RunText::tr("Crashed");
    }
    return {};
}

}  // namespace lockstep::ui
