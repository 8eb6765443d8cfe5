#pragma once
#include <QString>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/history/trial_query.h"
#include "engine/spec/setting_condition.h"
#include "ui/history/history_service.h"

namespace lockstep::ui {

// What a person types to find trials. Words separated by blanks must all occur, anywhere in the row, whatever their
// case; "two words" in quotes are one. state:, tag:, model:, dataset:, devices:, title: and note: look in one column
// only, is: knows starred, and a minus before a word turns it around. A tag matches as a whole, the others in part. Any
// other setting goes by its path, with a condition: optimizer.momentum:0.9, learning_rate:>0.01, see SettingCondition.
class TrialFilterWords {
public:
    using Settings = std::map<std::string, SettingValues>;  // by path

    TrialFilterWords() = default;
    explicit TrialFilterWords(const QString& text);
    bool empty() const { return m_terms.empty(); }
    std::vector<std::string> paths() const;  // of the settings that it asks for
    // haystack: see haystackOf; what is asked of a setting that `settings` lacks holds.
    bool matches(const TrialRow& row, const QString& haystack, const Settings& settings) const;

private:
    struct Term {
        QString field, word;  // field: empty for a word anywhere
        bool wanted = true;
        std::optional<SettingCondition> condition = std::nullopt;
        bool isUnfinished() const;  // it is still being typed and asks for nothing yet
    };
    static Term termOf(QString word);
    static bool holds(const Term& term, const TrialRow& row, const QString& haystack);
    static bool isAsked(const Term& term, const TrialRow& row, const QString& haystack, const Settings& settings);
    std::vector<Term> m_terms;
};

QString haystackOf(const TrialRow& row);  // every column as shown, in lower case

}  // namespace lockstep::ui
