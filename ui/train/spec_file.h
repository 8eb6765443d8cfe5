#pragma once
#include <QJsonObject>
#include <QString>
#include <optional>

#include "engine/search/sweep_spec.h"
#include "ui/train/problem_list.h"

namespace lockstep::ui {

// A trial's spec, or a sweep's file, as it lies on disk, perhaps edited by hand. Every problem names the file, and the
// field where there is one. A spec with problems can be worked on all the same, unless it is no JSON object: then it is
// empty. Of a sweep it is its trial.
struct SpecFile {
    QJsonObject spec;
    std::optional<SweepSpec> sweep = {};  // of a sweep's file without problems
    Problems problems = {};
};
SpecFile readSpecFile(const QString& path);

}  // namespace lockstep::ui
