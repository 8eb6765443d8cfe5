#include "ui/models/dataset_text.h"

#include <QJsonArray>
#include <QLocale>
#include <algorithm>
#include <numeric>
#include <vector>

namespace lockstep::ui {

namespace {

std::vector<qint64> numbersIn(const QJsonValue& array) {
    std::vector<qint64> numbers;
    for (const auto& each : array.toArray()) numbers.push_back(each.toInteger());
    return numbers;
}

qint64 total(const std::vector<qint64>& counts) { return std::accumulate(counts.begin(), counts.end(), qint64{0}); }

QString balanceText(const std::vector<qint64>& counts) {
    if (counts.empty()) return {};
    const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
    return *least == *most ? QString(" of %1 each").arg(countText(*most))
                           : QString(" of %1 to %2").arg(countText(*least), countText(*most));
}

QString imageText(const QJsonArray& fields) {
    for (const auto& each : fields) {
        const auto field = each.toObject();
        const auto shape = numbersIn(field["shape"]);
        if (field["name"].toString() != "image" || shape.size() != 3) continue;
        return QString(", %1 × %2 %3").arg(shape[2]).arg(shape[1]).arg(shape[0] == 1 ? "grey" : "colour");
    }
    return {};
}

}  // namespace

QString countText(qint64 count) { return QLocale(QLocale::English, QLocale::UnitedStates).toString(count); }

QString datasetSummary(const QJsonObject& report) {
    const auto training = numbersIn(report["train_per_class"]), test = numbersIn(report["test_per_class"]);
    return QString("%1 training and %2 test samples, %3 classes%4%5")
        .arg(countText(total(training)), countText(total(test)))
        .arg(report["classes"].toArray().size())
        .arg(balanceText(training), imageText(report["fields"].toArray()));
}

}  // namespace lockstep::ui
