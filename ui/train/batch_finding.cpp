#include "ui/train/batch_finding.h"

#include <QCoreApplication>
#include <QJsonArray>
#include <QSet>
#include <algorithm>

#include "ui/plot/run_text.h"
#include "ui/train/dataset_text.h"

namespace lockstep::ui {

namespace {

struct BatchFindingText {
    Q_DECLARE_TR_FUNCTIONS(BatchFindingText)
};

// "64", or of unequal devices "86, 42".
QString partsText(const QJsonArray& parts) {
    QStringList words;
    for (const auto& each : parts) words << countText(each.toInteger());
    return QSet<QString>(words.begin(), words.end()).size() == 1 ? words.front() : words.join(", ");
}

}  // namespace

void BatchFinding::take(const QJsonObject& line) {
    if (line["event"] == "batch_timed")
        return m_speeds.push_back({line["batch"].toInteger(), line["samples_per_second"].toDouble()});
    if (!line.contains("largest_batch")) return;
    m_largest = line["largest_batch"].toInteger();
    m_fitsAll = line["all_samples_fit"].toBool();
    m_most = std::max(m_most, line["batches_at_most"].toInteger());
    m_suggested = line["suggested_batch"].toInteger();
    m_perDevice = partsText(line["suggested_per_device"].toArray());
}

double BatchFinding::speedOfSuggested() const {
    const auto found = std::ranges::find(m_speeds, m_suggested, &Speed::batch);
    return found == m_speeds.end() ? 0 : found->samplesPerSecond;
}

QString BatchFinding::largestText() const {
    if (m_largest == 0) return {};
    const auto words = m_fitsAll ? BatchFindingText::tr("The largest that fits is %1, all training samples.")
                                 : BatchFindingText::tr("The largest that fits in the memory that is free now is %1.");
    return words.arg(countText(m_largest));
}

QString BatchFinding::text() const {
    if (m_suggested == 0) return {};
    return BatchFindingText::tr(
               "A batch of %1, %2 per device, is the smallest that is about as fast as any: %3 "
               "samples/s. Larger ones make fewer updates of the same samples.")
               .arg(countText(m_suggested), m_perDevice, runCount(speedOfSuggested())) +
           ' ' + largestText();
}

QString BatchFinding::textOf(const QString& devices) const {
    if (m_suggested == 0) return {};
    return BatchFindingText::tr("%1: %2, at %3 samples/s; the largest that fits is %4.")
        .arg(devices, countText(m_suggested), runCount(speedOfSuggested()), countText(m_largest));
}

}  // namespace lockstep::ui
