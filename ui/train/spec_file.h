#pragma once
#include <QJsonObject>
#include <QString>

#include "ui/train/problem_list.h"

namespace lockstep::ui {

// A trial's spec as it lies on disk, perhaps edited by hand. Every problem names the file, and the field where there is
// one. A spec with problems can be worked on all the same, unless it is no JSON object: then it is empty.
struct SpecFile {
    QJsonObject spec;
    Problems problems;
};
SpecFile readSpecFile(const QString& path);

}  // namespace lockstep::ui
