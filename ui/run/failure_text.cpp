#include "ui/run/failure_text.h"

#include <QCoreApplication>
#include <QStringList>

#include "engine/core/error.h"
#include "ui/plot/run_text.h"

namespace lockstep::ui {

namespace {

struct FailureWords {
    Q_DECLARE_TR_FUNCTIONS(FailureText)
};

using Kind = EngineError::Kind;

struct KindText {
    Kind kind;
    const char* what;
    const char* next;
};

constexpr KindText kKinds[] = {
    {Kind::OutOfMemory, QT_TRANSLATE_NOOP("FailureText", "The run had not enough memory."),
     QT_TRANSLATE_NOOP(
         "FailureText",
         "Take a smaller batch, more devices, more accumulation, recomputed activations, or a smaller model.")},
    {Kind::Device, QT_TRANSLATE_NOOP("FailureText", "A device failed."),
     QT_TRANSLATE_NOOP(
         "FailureText",
         "Try again. If it happens again, train on other devices and look at the system's log for driver messages.")},
    {Kind::CorruptedContext,
     QT_TRANSLATE_NOOP("FailureText", "A GPU failed in a way that the run's process could not recover from."),
     QT_TRANSLATE_NOOP("FailureText",
                       "Resume it from its last checkpoint: that starts a new process. If it happens again, train on "
                       "other devices and look at the system's log for driver messages.")},
    {Kind::Collective, QT_TRANSLATE_NOOP("FailureText", "The devices lost touch with one another."),
     QT_TRANSLATE_NOOP("FailureText",
                       "Try again; if it happens again, train on fewer devices to find the one at fault.")},
    {Kind::Io, QT_TRANSLATE_NOOP("FailureText", "A file could not be read or written."),
     QT_TRANSLATE_NOOP("FailureText",
                       "Check that the disk has room and that the data and the run's folder are where they were.")},
    {Kind::NonFinite,
     QT_TRANSLATE_NOOP("FailureText",
                       "The numbers got out of hand: the loss or a gradient is no longer a finite number."),
     QT_TRANSLATE_NOOP(
         "FailureText",
         "Lower the learning rate, give it a warm-up, or clip the gradients; then start a new trial from this one's "
         "settings.")},
    {Kind::Aborted, QT_TRANSLATE_NOOP("FailureText", "The run was broken off."),
     QT_TRANSLATE_NOOP("FailureText", "Resume it from its last checkpoint, or start it anew.")},
    {Kind::Internal, QT_TRANSLATE_NOOP("FailureText", "Lockstep made a mistake."),
     QT_TRANSLATE_NOOP("FailureText",
                       "Copy the details below into a bug report. Resuming from the last checkpoint may work.")},
};

const KindText& textOf(const std::string& kind) {
    for (const auto& each : kKinds) {
        if (text(each.kind) == kind) return each;
    }
    return kKinds[std::size(kKinds) - 1];
}

QString placeOf(const RunFailed& failed) {
    QStringList parts;
    if (!failed.where.empty()) parts << FailureWords::tr("in %1").arg(QString::fromStdString(failed.where));
    if (failed.rank >= 0) parts << FailureWords::tr("on device %1").arg(failed.rank);
    if (failed.step > 0) parts << FailureWords::tr("at step %1").arg(runCount(static_cast<double>(failed.step)));
    return parts.join(", ");
}

QString devicesText(const std::vector<int>& ranks) {
    QStringList numbers;
    for (const int rank : ranks) numbers << QString::number(rank);
    const QString last = numbers.takeLast();
    return numbers.isEmpty() ? FailureWords::tr("device %1").arg(last)
                             : FailureWords::tr("devices %1 and %2").arg(numbers.join(", "), last);
}

// "Devices 0 and 2 waited for it in an operation that all take part in: all-reduce of 10 f32, number 7."
QString waitText(const RunFailed& failed) {
    QString who = devicesText(failed.waiting);
    who[0] = who[0].toUpper();
    return FailureWords::tr("%1 waited for it in an operation that all take part in: %2, number %3.")
        .arg(who, QString::fromStdString(failed.collective))
        .arg(failed.sequence);
}

void explainHang(FailureText& text, const RunFailed& failed) {
    text.what = FailureWords::tr("Device %1 kept the others waiting, and the run was broken off.").arg(failed.rank);
    text.next = FailureWords::tr(
                    "Resume it from its last checkpoint. If it happens again, train without device %1; if that one "
                    "was only slow, set a longer timeout or give it a smaller part of the batch.")
                    .arg(failed.rank);
}

void explainFailed(FailureText& text, const RunFailed& failed, const Explain& explain) {
    const KindText& kind = textOf(failed.kind);
    text.what = FailureWords::tr(kind.what);
    text.next = FailureWords::tr(kind.next);
    text.why = QString::fromStdString(failed.what);
    if (const auto problem = problemIn(failed)) {
        const Explanation words = explain(*problem);
        text.what = FailureWords::tr("The run could not go on.");
        text.why = words.what;
        if (!words.remedy.isEmpty()) text.next = words.remedy;
    }
    const bool waited = !failed.waiting.empty();
    if (waited && kind.kind == Kind::Collective) explainHang(text, failed);
    if (const QString place = placeOf(failed); !place.isEmpty()) text.why += " (" + place + ")";
    if (waited) text.why += ". " + waitText(failed);
}

void explainCrashed(FailureText& text, const RunRecord& record) {
    text.what = FailureWords::tr("The training process has disappeared without a word.");
    text.why = FailureWords::tr(
                   "It was killed, or the machine went down, after step %1. Running out of memory is a common reason: "
                   "the system then kills the largest process.")
                   .arg(runCount(static_cast<double>(record.step())));
}

QString resumeWords(bool canResume) {
    return canResume ? FailureWords::tr("Resume it from its last checkpoint: nothing before that is lost.")
                     : FailureWords::tr("It had not written a checkpoint yet; start it anew.");
}

QString detailsOf(const RunRecord& record, std::int64_t trial, const QString& logFile) {
    QStringList lines{FailureWords::tr("trial: %1").arg(trial),
                      FailureWords::tr("state: %1").arg(runStateText(record.state())),
                      FailureWords::tr("step: %1 of %2").arg(record.step()).arg(record.totalSteps())};
    if (record.started())
        lines << FailureWords::tr("devices: %1").arg(QString::fromStdString(record.started()->deviceText));
    if (const auto& failed = record.failed()) {
        lines << FailureWords::tr("kind: %1").arg(QString::fromStdString(failed->kind))
              << FailureWords::tr("where: %1").arg(QString::fromStdString(failed->where))
              << FailureWords::tr("what: %1").arg(QString::fromStdString(failed->what))
              << FailureWords::tr("rank: %1").arg(failed->rank);
        if (!failed->waiting.empty()) {
            lines << FailureWords::tr("collective: %1").arg(QString::fromStdString(failed->collective))
                  << FailureWords::tr("sequence: %1").arg(failed->sequence)
                  << FailureWords::tr("waiting: %1").arg(devicesText(failed->waiting));
        }
    }
    return (lines << FailureWords::tr("log: %1").arg(logFile)).join('\n');
}

}  // namespace

FailureText failureText(const RunRecord& record, std::int64_t trial, bool canResume, const QString& logFile,
                        const Explain& explain) {
    FailureText out;
    if (record.failed()) explainFailed(out, *record.failed(), explain);
    else explainCrashed(out, record);
    if (!record.failed()) out.next = resumeWords(canResume);
    out.details = detailsOf(record, trial, logFile);
    return out;
}

}  // namespace lockstep::ui
