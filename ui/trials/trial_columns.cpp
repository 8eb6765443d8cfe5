#include "ui/trials/trial_columns.h"

#include <QCoreApplication>
#include <QLocale>
#include <QStringList>
#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <variant>

#include "ui/style/plain_text.h"

namespace lockstep::ui {

namespace {

struct TrialColumns {
    Q_DECLARE_TR_FUNCTIONS(TrialColumns)
};

// Where a cell's value lies in a row.
using Source = std::variant<std::string TrialRow::*, std::int64_t TrialRow::*, double TrialRow::*,
                            std::optional<double> TrialRow::*, QString (*)(const TrialRow&)>;

QString text(const std::string& utf8) { return oneLine(utf8); }
QString starOf(const TrialRow& row) { return row.star ? QStringLiteral("★") : QString(); }
QString nothingOf(const TrialRow&) { return {}; }
QString tagsOf(const TrialRow& row) { return trial_text::tags(row.tags); }
QString whole(double number) { return QString::number(number, 'f', 0); }
QString sixDigits(double number) { return QString::number(number, 'g', 6); }
QString fourDecimals(double number) { return QString::number(number, 'f', 4); }

// All that is to know of a column.
struct Column {
    TrialColumn column;
    const char* header;
    const char* meaning;
    Source source;
    int width;
    bool shownAtFirst = true;           // further ones are a click away; these fit a laptop's screen
    QString (*shown)(double) = &whole;  // a number, as a cell shows it
    QStringList filters = {};           // what a person types to ask for this alone: "model:", "best>"
};

const std::array<Column, kTrialColumns>& columns() {
    static const std::array<Column, kTrialColumns> all{{
        {kStarColumn, QT_TRANSLATE_NOOP("TrialColumns", "Star"),
         QT_TRANSLATE_NOOP("TrialColumns", "Trials you want to find again; click to set"), &starOf, 34},
        {kIdColumn,
         QT_TRANSLATE_NOOP("TrialColumns", "Trial"),
         QT_TRANSLATE_NOOP("TrialColumns", "The trial's number, with the colour and marker of its curves"),
         &TrialRow::id,
         80,
         true,
         &whole,
         {"trial"}},
        {kTitleColumn,
         QT_TRANSLATE_NOOP("TrialColumns", "Title"),
         QT_TRANSLATE_NOOP("TrialColumns", "A name of your own; F2 changes it"),
         &TrialRow::title,
         220,
         true,
         nullptr,
         {"title"}},
        {kCellColumn, QT_TRANSLATE_NOOP("TrialColumns", "Cell"),
         QT_TRANSLATE_NOOP("TrialColumns", "Of a trial of a sweep: the settings that the sweep varies"), &nothingOf,
         220, false},
        {kStateColumn,
         QT_TRANSLATE_NOOP("TrialColumns", "State"),
         QT_TRANSLATE_NOOP("TrialColumns", "Where the trial is in its life"),
         &TrialRow::state,
         84,
         true,
         nullptr,
         {"state"}},
        {kDatasetColumn,
         QT_TRANSLATE_NOOP("TrialColumns", "Dataset"),
         QT_TRANSLATE_NOOP("TrialColumns", "What it learns from"),
         &TrialRow::dataset,
         110,
         true,
         nullptr,
         {"dataset"}},
        {kModelColumn,
         QT_TRANSLATE_NOOP("TrialColumns", "Model"),
         QT_TRANSLATE_NOOP("TrialColumns", "The architecture that is trained"),
         &TrialRow::model,
         120,
         true,
         nullptr,
         {"model"}},
        {kDevicesColumn,
         QT_TRANSLATE_NOOP("TrialColumns", "Devices"),
         QT_TRANSLATE_NOOP("TrialColumns", "What it trains on: one replica of the model per device"),
         &TrialRow::devices,
         80,
         false,
         nullptr,
         {"devices", "device"}},
        {kBatchColumn, QT_TRANSLATE_NOOP("TrialColumns", "Batch"),
         QT_TRANSLATE_NOOP("TrialColumns", "Samples per update, over all devices together"), &TrialRow::batch, 64,
         false},
        {kRateColumn, QT_TRANSLATE_NOOP("TrialColumns", "Learning rate"),
         QT_TRANSLATE_NOOP("TrialColumns", "The base learning rate, before the schedule"), &TrialRow::learningRate, 110,
         true, &sixDigits},
        {kEpochsColumn,
         QT_TRANSLATE_NOOP("TrialColumns", "Epochs"),
         QT_TRANSLATE_NOOP("TrialColumns", "Passes over the training data: done / planned"),
         &TrialRow::epoch,
         70,
         true,
         &whole,
         {"epoch"}},
        {kBestColumn,
         QT_TRANSLATE_NOOP("TrialColumns", "Best"),
         QT_TRANSLATE_NOOP("TrialColumns",
                           "The best accuracy so far: on the validation data or, without those, on the test data"),
         &TrialRow::bestAccuracy,
         80,
         true,
         &trial_text::percent,
         {"best", "best_accuracy"}},
        {kTestColumn,
         QT_TRANSLATE_NOOP("TrialColumns", "Test"),
         QT_TRANSLATE_NOOP("TrialColumns", "The newest accuracy on the test data"),
         &TrialRow::testAccuracy,
         80,
         false,
         &trial_text::percent,
         {"test", "test_accuracy"}},
        {kLowestLossColumn,
         QT_TRANSLATE_NOOP("TrialColumns", "Best loss"),
         QT_TRANSLATE_NOOP("TrialColumns",
                           "The lowest loss so far, on the validation data or, without those, on the test data; it "
                           "tells language models apart, whose perplexity is e to the "
                           "loss"),
         &TrialRow::lowestTestLoss,
         80,
         false,
         &fourDecimals,
         {"best_loss", "lowest_test_loss"}},
        {kLossColumn,
         QT_TRANSLATE_NOOP("TrialColumns", "Test loss"),
         QT_TRANSLATE_NOOP("TrialColumns", "The newest loss on the test data"),
         &TrialRow::testLoss,
         80,
         false,
         &fourDecimals,
         {"loss", "test_loss"}},
        {kSpeedColumn,
         QT_TRANSLATE_NOOP("TrialColumns", "Samples/s"),
         QT_TRANSLATE_NOOP("TrialColumns", "Training samples per second, over all devices together"),
         &TrialRow::samplesPerSecond,
         80,
         true,
         &trial_text::rate,
         {"speed", "samples_per_second"}},
        {kDurationColumn,
         QT_TRANSLATE_NOOP("TrialColumns", "Duration"),
         QT_TRANSLATE_NOOP("TrialColumns", "Time spent training and evaluating, without pauses"),
         &TrialRow::seconds,
         100,
         false,
         &trial_text::duration,
         {"duration", "seconds"}},
        {kCreatedColumn, QT_TRANSLATE_NOOP("TrialColumns", "Created"),
         QT_TRANSLATE_NOOP("TrialColumns", "When the trial was accepted, in local time"), &TrialRow::createdAt, 130},
        {kTagsColumn, QT_TRANSLATE_NOOP("TrialColumns", "Tags"),
         QT_TRANSLATE_NOOP("TrialColumns", "Words of your own, separated by commas; F2 changes them"), &tagsOf, 120},
        {kNoteColumn,
         QT_TRANSLATE_NOOP("TrialColumns", "Note"),
         QT_TRANSLATE_NOOP("TrialColumns", "Your remarks; F2 changes them"),
         &TrialRow::note,
         240,
         false,
         nullptr,
         {"note"}},
        {kWeightColumn, QT_TRANSLATE_NOOP("TrialColumns", "On disk"),
         QT_TRANSLATE_NOOP("TrialColumns", "What its run folder takes of the disk: checkpoints, timeline, logs"),
         &nothingOf, 90, false},
    }};
    return all;
}

const Column& at(int column) { return columns()[static_cast<std::size_t>(column)]; }

// Empty: words, or no number yet.
std::optional<double> numberOf(const TrialRow& row, const Source& source) {
    return std::visit(
        [&]<class At>(At at) -> std::optional<double> {
            if constexpr (std::is_same_v<At, std::int64_t TrialRow::*>) return static_cast<double>(row.*at);
            else if constexpr (std::is_same_v<At, std::string TrialRow::*> ||
                               std::is_same_v<At, QString (*)(const TrialRow&)>)
                return std::nullopt;
            else return row.*at;
        },
        source);
}

QString wordsOf(const TrialRow& row, const Source& source) {
    if (const auto* words = std::get_if<std::string TrialRow::*>(&source)) return text(row.**words);
    const auto* made = std::get_if<QString (*)(const TrialRow&)>(&source);
    return made ? (*made)(row) : QString();
}

}  // namespace

QString headerOf(int column) { return TrialColumns::tr(at(column).header); }
QString meaningOf(int column) { return TrialColumns::tr(at(column).meaning); }
int widthOf(int column) { return at(column).width; }
bool isShownAtFirst(int column) { return at(column).shownAtFirst; }

bool isNumeric(int column) {
    if (column == kWeightColumn) return true;
    const Source& source = at(column).source;
    return !std::holds_alternative<std::string TrialRow::*>(source) &&
           !std::holds_alternative<QString (*)(const TrialRow&)>(source);
}

int filteredColumn(const QString& word) {
    const auto found = std::ranges::find_if(columns(), [&](const Column& each) { return each.filters.contains(word); });
    return found == columns().end() ? -1 : found->column;
}

NumberKind numberKindOf(int column) {
    const auto shown = at(column).shown;
    if (shown == &trial_text::percent) return NumberKind::Share;
    return shown == &trial_text::duration ? NumberKind::Seconds : NumberKind::Plain;
}

std::optional<double> numberIn(const TrialRow& row, int column) {
    const auto number = numberOf(row, at(column).source);
    return number && std::isfinite(*number) ? number : std::nullopt;
}

QStringList filterNames() {
    QStringList names;
    for (const Column& each : columns()) names << each.filters;
    return names;
}

QString cellOf(const TrialRow& row, int column) {
    if (column == kCreatedColumn) return trial_text::localTime(row.createdAt);
    if (column == kEpochsColumn) return QString("%1 / %2").arg(row.epoch).arg(row.epochs);
    if (!isNumeric(column)) return wordsOf(row, at(column).source);
    const auto number = numberIn(row, column);
    return number ? at(column).shown(*number) : QStringLiteral("–");
}

QVariant sortValueOf(const TrialRow& row, int column) {
    if (column == kStarColumn) return row.star ? 0 : 1;
    if (!isNumeric(column)) return wordsOf(row, at(column).source).toCaseFolded();
    const auto number = numberIn(row, column);
    return number ? QVariant(*number) : QVariant();
}

QString plainOf(const TrialRow& row, int column) {
    if (column == kStarColumn) return row.star ? "1" : "0";
    if (!isNumeric(column)) return wordsOf(row, at(column).source);
    const auto number = numberIn(row, column);
    if (!number) return {};
    const bool isWhole = std::holds_alternative<std::int64_t TrialRow::*>(at(column).source);
    return isWhole ? QString::number(static_cast<qint64>(*number))
                   : QString::number(*number, 'g', QLocale::FloatingPointShortest);
}

namespace trial_text {

QString percent(double fraction) { return QString::number(100 * fraction, 'f', 2) + " %"; }

QString rate(double perSecond) { return QLocale(QLocale::English).toString(perSecond, 'f', perSecond < 10 ? 1 : 0); }

QString duration(double seconds) {
    if (seconds < 10) return TrialColumns::tr("%1 s").arg(seconds, 0, 'f', 1);
    const auto whole = static_cast<qint64>(std::llround(seconds));
    if (whole < 60) return TrialColumns::tr("%1 s").arg(whole);
    if (whole < 3600) return TrialColumns::tr("%1 min %2 s").arg(whole / 60).arg(whole % 60);
    return TrialColumns::tr("%1 h %2 min").arg(whole / 3600).arg(whole % 3600 / 60);
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
