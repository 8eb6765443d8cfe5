#pragma once
#include <QString>
#include <vector>

#include "engine/history/trial_query.h"

namespace lockstep::ui {

// What a person types to find trials. Words separated by blanks must all occur, anywhere in the row, whatever their
// case; "two words" in quotes are one. state:, tag:, model:, dataset:, devices:, title: and note: look in one column
// only, is: knows starred, and a minus before a word turns it around. A tag matches as a whole, the others in part.
class TrialFilterWords {
public:
    TrialFilterWords() = default;
    explicit TrialFilterWords(const QString& text);
    bool empty() const { return m_terms.empty(); }
    bool matches(const TrialRow& row, const QString& haystack) const;  // haystack: see haystackOf

private:
    struct Term {
        QString field, word;  // field: empty for a word anywhere
        bool wanted = true;
    };
    static Term termOf(QString word);
    static bool holds(const Term& term, const TrialRow& row, const QString& haystack);
    std::vector<Term> m_terms;
};

QString haystackOf(const TrialRow& row);  // every column as shown, in lower case

}  // namespace lockstep::ui
