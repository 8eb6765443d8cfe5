#pragma once
#include <QString>
#include <optional>

#include "engine/spec/serve_messages.h"

namespace lockstep::ui {

QString countText(qint64 count);  // "60,000"

// "60,000 training and 10,000 test samples, 10 classes of 6,000 each, 28 × 28 grey"; of classes that differ "of 12 to
// 400".
QString datasetSummary(const DescribedData& data);
QString datasetCounts(const DescribedData& data);                   // what does not depend on the model
QString readingText(const std::optional<ServeProgress>& progress);  // "Listing files: 320,000", "Reading the data …"
// What models learn from such samples, as they say it themselves; empty: nobody knows.
QString taskOf(const DescribedData& data);

}  // namespace lockstep::ui
