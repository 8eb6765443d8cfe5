#pragma once
#include <QString>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "engine/history/trial_query.h"
#include "engine/history/trial_store.h"

namespace lockstep::ui {

// One change of a trial's row that a person makes; each can be taken back by the edit that holds the value before.
struct TrialEdit {
    enum class Field { Title, Note, Tags, Star, Archived, Deleted };  // Deleted: in the trash
    using Value = std::variant<bool, std::string, std::vector<std::string>>;
    std::int64_t trial = 0;
    Field field = Field::Title;
    Value value;
};
using TrialEdits = std::vector<TrialEdit>;
using WriteEdits = std::function<void(const TrialEdits&)>;

TrialEdit::Value valueOf(const TrialRow& row, TrialEdit::Field field);
void apply(const TrialEdit& edit, TrialRow& row);
void apply(const TrialEdit& edit, TrialStore& store);  // throws ProblemError

std::vector<std::string> tagsFrom(const QString& text);  // "b, a,,a" -> a, b

}  // namespace lockstep::ui
