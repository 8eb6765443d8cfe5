#include "ui/train/dataset_text.h"

#include <QCoreApplication>
#include <QLocale>
#include <algorithm>

#include "engine/spec/perplexity.h"

namespace lockstep::ui {

namespace {

struct DatasetText {
    Q_DECLARE_TR_FUNCTIONS(DatasetText)
};

// Of labelled samples.
QString classesText(const DescribedData& data) {
    const auto& counts = data.trainPerClass;
    if (data.classes.empty() || counts.empty()) return {};
    const auto [least, most] = std::ranges::minmax(counts);
    return (data.classes.size() == 1 ? DatasetText::tr(", 1 class")
                                     : DatasetText::tr(", %1 classes").arg(data.classes.size())) +
           (least == most ? DatasetText::tr(" of %1 each").arg(countText(most))
                          : DatasetText::tr(" of %1 to %2").arg(countText(least), countText(most)));
}

QString sampleText(const std::vector<DescribedField>& fields) {
    for (const auto& [name, type, shape] : fields) {
        if (name == "image" && shape.size() == 3)
            return DatasetText::tr(", %1 × %2 %3")
                .arg(shape[2])
                .arg(shape[1])
                .arg(shape[0] == 1 ? DatasetText::tr("grey") : DatasetText::tr("colour"));
        if (name == "tokens" && shape.size() == 1) return DatasetText::tr(", %1 bytes of text").arg(shape[0]);
    }
    return {};
}

}  // namespace

QString taskOf(const DescribedData& data) {
    const auto has = [&](std::string_view name) {
        return std::ranges::find(data.fields, name, &DescribedField::name) != data.fields.end();
    };
    if (has("image")) return "image-classes";
    if (has("targets")) return QString::fromUtf8(kNextTokens.data(), static_cast<qsizetype>(kNextTokens.size()));
    return has("tokens") ? QString("text-classes") : QString();
}

QString countText(qint64 count) { return QLocale(QLocale::English, QLocale::UnitedStates).toString(count); }

QString readingText(const std::optional<ServeProgress>& progress) {
    if (!progress) return DatasetText::tr("Reading the data …");
    if (progress->total == 0) return DatasetText::tr("Listing files: %1").arg(countText(progress->done));
    return DatasetText::tr("Reading the data: %1 of %2").arg(countText(progress->done), countText(progress->total));
}

QString datasetSummary(const DescribedData& data) { return datasetCounts(data) + sampleText(data.fields); }

QString datasetCounts(const DescribedData& data) {
    const QString test = data.testCount == 1 ? DatasetText::tr("1 test sample")
                                             : DatasetText::tr("%1 test samples").arg(countText(data.testCount));
    const QString train = countText(data.trainCount), what = classesText(data);
    if (data.validationCount > 0)
        return DatasetText::tr("%1 training, %2 validation and %3%4")
            .arg(train, countText(data.validationCount), test, what);
    return DatasetText::tr("%1 training and %2%3").arg(train, test, what);
}

}  // namespace lockstep::ui
