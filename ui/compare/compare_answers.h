#pragma once
#include <QString>
#include <vector>

#include "ui/compare/compare_scene.h"

namespace lockstep::ui {

// What a person wants to know first, in a word or two each.
struct CompareAnswer {
    QString name, value, tip;
    std::int64_t trial = 0;  // that it speaks of; 0: none
};

// How many there are by state, the best, the epochs that were spent, the time that is left.
std::vector<CompareAnswer> answersOf(const CompareScene& scene);

}  // namespace lockstep::ui
