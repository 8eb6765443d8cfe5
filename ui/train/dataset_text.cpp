#include "ui/train/dataset_text.h"

#include <QJsonArray>
#include <QLocale>
#include <algorithm>
#include <vector>

namespace lockstep::ui {

namespace {

std::vector<qint64> numbersIn(const QJsonValue& array) {
    std::vector<qint64> numbers;
    for (const auto& each : array.toArray()) numbers.push_back(each.toInteger());
    return numbers;
}

// Of labelled samples.
QString classesText(const QJsonObject& report) {
    const auto classes = report["classes"].toArray().size();
    const auto counts = numbersIn(report["train_per_class"]);
    if (classes == 0 || counts.empty()) return {};
    const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
    return QString(", %1 classes").arg(classes) +
           (*least == *most ? QString(" of %1 each").arg(countText(*most))
                            : QString(" of %1 to %2").arg(countText(*least), countText(*most)));
}

QString sampleText(const QJsonArray& fields) {
    for (const auto& each : fields) {
        const auto field = each.toObject();
        const auto name = field["name"].toString();
        const auto shape = numbersIn(field["shape"]);
        if (name == "image" && shape.size() == 3)
            return QString(", %1 × %2 %3").arg(shape[2]).arg(shape[1]).arg(shape[0] == 1 ? "grey" : "colour");
        if (name == "tokens" && shape.size() == 1) return QString(", %1 bytes of text").arg(shape[0]);
    }
    return {};
}

}  // namespace

QString countText(qint64 count) { return QLocale(QLocale::English, QLocale::UnitedStates).toString(count); }

QString datasetSummary(const QJsonObject& report) {
    return QString("%1 training and %2 test samples%3%4")
        .arg(countText(report["train_count"].toInteger()), countText(report["test_count"].toInteger()),
             classesText(report), sampleText(report["fields"].toArray()));
}

}  // namespace lockstep::ui
