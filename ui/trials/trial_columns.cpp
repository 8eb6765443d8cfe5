#include "ui/trials/trial_columns.h"

#include <QLocale>
#include <QStringList>
#include <array>
#include <cmath>
#include <ctime>

#include "ui/style/plain_text.h"

namespace lockstep::ui {

namespace {

struct ColumnWords {
    const char* header;
    const char* meaning;
};

constexpr std::array<ColumnWords, kTrialColumns> kWords = {{
    {"Star", "Trials you want to find again; click to set"},
    {"Trial", "The trial's number, with the colour and marker of its curves"},
    {"Title", "A name of your own; F2 changes it"},
    {"State", "Where the trial is in its life"},
    {"Dataset", "What it learns from"},
    {"Model", "The architecture that is trained"},
    {"Devices", "What it trains on: one replica of the model per device"},
    {"Batch", "Samples per update, over all devices together"},
    {"Learning rate", "The base learning rate, before the schedule"},
    {"Epochs", "Passes over the training data: done / planned"},
    {"Best", "The best accuracy on the test data so far"},
    {"Test", "The newest accuracy on the test data"},
    {"Best loss",
     "The lowest loss on the test data so far; it tells language models apart, whose perplexity is e to the loss"},
    {"Test loss", "The newest loss on the test data"},
    {"Samples/s", "Training samples per second, over all devices together"},
    {"Duration", "Time spent training and evaluating, without pauses"},
    {"Created", "When the trial was accepted, in local time"},
    {"Tags", "Words of your own, separated by commas; F2 changes them"},
    {"Note", "Your remarks; F2 changes them"},
}};

QString text(const std::string& utf8) { return oneLine(utf8); }

std::optional<double> numberOf(const TrialRow& row, int column) {
    switch (column) {
        case kIdColumn: return static_cast<double>(row.id);
        case kBatchColumn: return static_cast<double>(row.batch);
        case kRateColumn: return row.learningRate;
        case kEpochsColumn: return static_cast<double>(row.epoch);
        case kBestColumn: return row.bestAccuracy;
        case kTestColumn: return row.testAccuracy;
        case kLowestLossColumn: return row.lowestTestLoss;
        case kLossColumn: return row.testLoss;
        case kSpeedColumn: return row.samplesPerSecond;
        case kDurationColumn: return row.seconds;
        default: return std::nullopt;
    }
}

QString wordsOf(const TrialRow& row, int column) {
    switch (column) {
        case kTitleColumn: return text(row.title);
        case kStateColumn: return text(row.state);
        case kDatasetColumn: return text(row.dataset);
        case kModelColumn: return text(row.model);
        case kDevicesColumn: return text(row.devices);
        case kTagsColumn: return trial_text::tags(row.tags);
        case kNoteColumn: return text(row.note);
        default: return {};
    }
}

QString shown(int column, double number) {
    switch (column) {
        case kBestColumn:
        case kTestColumn: return trial_text::percent(number);
        case kLowestLossColumn:
        case kLossColumn: return QString::number(number, 'f', 4);
        case kSpeedColumn: return trial_text::rate(number);
        case kDurationColumn: return trial_text::duration(number);
        case kRateColumn: return QString::number(number, 'g', 6);
        default: return QString::number(number, 'f', 0);
    }
}

}  // namespace

QString headerOf(int column) { return QString::fromUtf8(kWords[static_cast<std::size_t>(column)].header); }
QString meaningOf(int column) { return QString::fromUtf8(kWords[static_cast<std::size_t>(column)].meaning); }

bool isNumeric(int column) { return (column >= kBatchColumn && column <= kDurationColumn) || column == kIdColumn; }

QString cellOf(const TrialRow& row, int column) {
    if (column == kStarColumn) return row.star ? QStringLiteral("★") : QString();
    if (column == kCreatedColumn) return trial_text::localTime(row.createdAt);
    if (column == kEpochsColumn) return QString("%1 / %2").arg(row.epoch).arg(row.epochs);
    if (!isNumeric(column)) return wordsOf(row, column);
    const auto number = numberOf(row, column);
    return number && std::isfinite(*number) ? shown(column, *number) : QStringLiteral("–");
}

QVariant sortValueOf(const TrialRow& row, int column) {
    if (column == kStarColumn) return row.star ? 0 : 1;
    if (column == kCreatedColumn) return text(row.createdAt);
    if (!isNumeric(column)) return wordsOf(row, column).toCaseFolded();
    const auto number = numberOf(row, column);
    return number && std::isfinite(*number) ? QVariant(*number) : QVariant();
}

QString plainOf(const TrialRow& row, int column) {
    if (column == kStarColumn) return row.star ? "1" : "0";
    if (column == kCreatedColumn) return text(row.createdAt);
    if (!isNumeric(column)) return wordsOf(row, column);
    const auto number = numberOf(row, column);
    return number && std::isfinite(*number) ? QString::number(*number, 'g', QLocale::FloatingPointShortest) : QString();
}

namespace trial_text {

QString percent(double fraction) { return QString::number(100 * fraction, 'f', 2) + " %"; }

QString rate(double perSecond) { return QLocale(QLocale::English).toString(perSecond, 'f', perSecond < 10 ? 1 : 0); }

QString duration(double seconds) {
    if (seconds < 10) return QString::number(seconds, 'f', 1) + " s";
    const auto whole = static_cast<qint64>(std::llround(seconds));
    if (whole < 60) return QString("%1 s").arg(whole);
    if (whole < 3600) return QString("%1 min %2 s").arg(whole / 60).arg(whole % 60);
    return QString("%1 h %2 min").arg(whole / 3600).arg(whole % 3600 / 60);
}

QString localTime(const std::string& utc) {
    std::tm parts{};
    if (!strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%S", &parts)) return text(utc);
    const std::time_t when = timegm(&parts);  // QDateTime takes a hundred times as long, for every row
    char shown[32];
    localtime_r(&when, &parts);
    return QString::fromLatin1(shown,
                               static_cast<qsizetype>(std::strftime(shown, sizeof shown, "%Y-%m-%d %H:%M", &parts)));
}

QString tags(const std::vector<std::string>& tags) {
    QStringList words;
    for (const auto& tag : tags) words << text(tag);
    return words.join(", ");
}

}  // namespace trial_text

}  // namespace lockstep::ui
