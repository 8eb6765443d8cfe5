#pragma once
#include <QString>
#include <QStringList>

#include "ui/timeline/timeline_model.h"

namespace lockstep::ui {

// The timeline in words: for tooltips, the panel beneath it and screen readers. Steps count from 1 here, times from
// TimelineModel::origin().

QString durationText(std::int64_t nanoseconds);  // "350 ns", "12.3 µs", "4.56 ms", "1.23 s", "2 min 5 s"
QString axisText(std::int64_t sinceOrigin,
                 std::int64_t spacing);  // as many digits as neighbours need: "1.25 s", "640 µs"
QString rowText(Row row);
QString kindText(SpanKind kind);

QStringList hitText(const TimelineModel& model, const TimelineModel::Hit& hit);  // name first, then facts
// One sentence on the range, then for each rank where its time went and its longest layers.
QStringList rangeText(const TimelineModel& model, TimeRange range);

}  // namespace lockstep::ui
