#pragma once
#include <QString>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/history/trial_query.h"
#include "engine/trials/trial_service.h"

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
// Into the history. Throws ProblemError, "trial.running" where what an engine holds would go to the trash.
void apply(const TrialEdit& edit, TrialService& trials);
// What is refused of one trial keeps no other from its own: the first of that. Throws what is wrong with the history.
std::optional<Problem> applyAll(const TrialEdits& edits, TrialService& trials);

std::vector<std::string> tagsFrom(const QString& text);  // "b, a,,a" -> a, b

}  // namespace lockstep::ui
