#include "ui/plot/run_text.h"

#include <QLocale>
#include <QObject>
#include <cmath>

namespace lockstep::ui {

namespace {

QString two(qint64 value) { return QString("%1").arg(value, 2, 10, QChar('0')); }

}  // namespace

QString runDuration(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0) return "–";
    if (seconds < 9.95) return QString("%1 s").arg(seconds, 0, 'f', 1);
    const auto s = static_cast<qint64>(std::llround(seconds));
    if (s < 60) return QString("%1 s").arg(s);
    if (s < 3600) return QString("%1 min %2 s").arg(s / 60).arg(two(s % 60));
    if (s < 86400) return QString("%1 h %2 min").arg(s / 3600).arg(two(s % 3600 / 60));
    return QString("%1 d %2 h").arg(s / 86400).arg(s % 86400 / 3600);
}

QString runStepTime(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0) return "–";
    if (seconds < 1e-3) return QString("%1 µs").arg(seconds * 1e6, 0, 'f', 0);
    if (seconds < 1) return QString("%1 ms").arg(seconds * 1e3, 0, 'f', seconds < 0.1 ? 2 : 1);
    return QString("%1 s").arg(seconds, 0, 'f', 2);
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

QString runMetric(const Metric& metric, double value) {
    const auto name = QString::fromUtf8(metric.name.data(), static_cast<qsizetype>(metric.name.size()));
    const bool unitLast = metric.unit == MetricUnit::BitsPerByte;  // its name is its unit
    const QString number = metric.unit == MetricUnit::Share ? runPercent(value) : runNumber(value);
    return unitLast ? number + ' ' + QObject::tr(name.toUtf8()) : QObject::tr(name.toUtf8()) + ' ' + number;
}

QString runStateText(RunState state) {
    switch (state) {
        case RunState::Queued: return "Queued";
        case RunState::Preparing: return "Preparing";
        case RunState::Running: return "Running";
        case RunState::Paused: return "Paused";
        case RunState::Stopping: return "Stopping";
        case RunState::Finished: return "Finished";
        case RunState::Stopped: return "Stopped";
        case RunState::Failed: return "Failed";
        case RunState::Cancelled: return "Cancelled";
        case RunState::Crashed: return "Crashed";
    }
    return {};
}

}  // namespace lockstep::ui
