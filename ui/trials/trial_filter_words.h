#pragma once
#include <QString>
#include <QStringList>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/history/trial_query.h"
#include "ui/history/history_service.h"

namespace lockstep::ui {

// A trial, and what is known of it beside its row.
struct FilteredTrial {
    const TrialRow& row;
    const QString& haystack;  // see haystackOf
    std::int64_t sweep = 0;   // that it belongs to; 0: none
};

// What a person types to find trials. Words separated by blanks must all occur, anywhere in the row, whatever their
// case; "two words" in quotes are one, and a minus before a word turns it around. A name before : = < <= > >= asks for
// one thing alone: state, model, dataset, devices, title and note for their words, in part after a colon; tag for a
// whole tag; is knows starred; best, test, loss, best_loss, speed, duration, epoch and trial are numbers, see
// NumberCondition; sweep is the sweep's number, or none. Any other setting goes by its path: optimizer.momentum:0.9,
// learning_rate>0.01, see SettingCondition. A plain value.
class TrialFilterWords {
public:
    using Settings = std::map<std::string, SettingValues>;  // by path

    TrialFilterWords() = default;
    explicit TrialFilterWords(const QString& text);
    bool empty() const { return m_terms.empty(); }
    const std::vector<std::string>& paths() const { return m_paths; }  // of the settings that it asks for
    const QStringList& hints() const { return m_hints; }               // what of it cannot be meant so, a sentence each
    // What is asked of a setting that `settings` lacks holds.
    bool matches(const FilteredTrial& trial, const Settings& settings) const;

private:
    // A name, a comparison and what the name's value is compared with: "learning_rate", ">", "0.01".
    struct Asked {
        QString name, compare, value;
    };
    // nullopt: that is not known yet.
    using Condition = std::function<std::optional<bool>(const FilteredTrial& trial, const Settings& settings)>;
    struct Term {
        bool wanted = true;
        Condition holds;
    };

    static std::optional<Asked> askedIn(const QString& word);
    void add(QString word);
    // Empty: it is still being typed, or a hint was given; it asks for nothing.
    Condition conditionOf(const QString& word);
    Condition anywhere(const QString& word, const std::optional<Asked>& asked);
    Condition named(const Asked& asked);
    Condition inColumn(int column, const Asked& asked);
    Condition inSweep(const Asked& asked);
    Condition ofSetting(const Asked& asked);
    Condition hinted(const QString& hint);

    std::vector<Term> m_terms;
    std::vector<std::string> m_paths;
    QStringList m_hints;
};

QString haystackOf(const TrialRow& row);  // every column as shown, in lower case

}  // namespace lockstep::ui
