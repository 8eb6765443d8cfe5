#pragma once
#include <QString>
#include <QStringList>
#include <QVariant>
#include <optional>

#include "engine/history/trial_query.h"

namespace lockstep::ui {

// The columns of the table of trials, in their first order.
enum TrialColumn {
    kStarColumn,
    kIdColumn,
    kTitleColumn,
    kCellColumn,  // of a sweep, which no row knows: see TrialTableModel::setGroups()
    kStateColumn,
    kDatasetColumn,
    kModelColumn,
    kDevicesColumn,
    kBatchColumn,
    kRateColumn,
    kEpochsColumn,
    kBestColumn,
    kTestColumn,
    kLowestLossColumn,
    kLossColumn,
    kSpeedColumn,
    kDurationColumn,
    kCreatedColumn,
    kTagsColumn,
    kNoteColumn,
    kWeightColumn,  // of the disk, which no row knows: see TrialTableModel::setWeights()
    kTrialColumns
};

QString headerOf(int column);   // "Best"
QString meaningOf(int column);  // one plain sentence, for the header's tooltip
bool isNumeric(int column);     // right-aligned
int widthOf(int column);        // pixels
bool isShownAtFirst(int column);
int filteredColumn(const QString& word);  // that `word:` asks for: "model", "best"; -1: none
QStringList filterNames();                // all such words

enum class NumberKind { Plain, Share, Seconds };  // what a number in a column counts
NumberKind numberKindOf(int column);
// Empty: the column has words, or there is no number yet, or none that is finite.
std::optional<double> numberIn(const TrialRow& row, int column);

QString cellOf(const TrialRow& row, int column);  // as shown; "–" where there is no number yet
// Compares as the column sorts; invalid where there is no number, or none that is finite.
QVariant sortValueOf(const TrialRow& row, int column);
QString plainOf(const TrialRow& row, int column);  // for a file: unrounded, without units; empty where there is nothing

// Words for numbers.
namespace trial_text {
QString percent(double fraction);                    // "91.83 %"
QString rate(double perSecond);                      // "5,120"
QString duration(double seconds);                    // "1 min 12 s"
QString localTime(const std::string& utc);           // "2026-11-20 13:49"
QString tags(const std::vector<std::string>& tags);  // "baseline, thesis"
}  // namespace trial_text

}  // namespace lockstep::ui
