#include "ui/trials/trial_filter_words.h"

#include <algorithm>

#include "ui/trials/trial_columns.h"

namespace lockstep::ui {

namespace {

// Blanks separate, except within quotation marks, which themselves are dropped.
QStringList wordsOf(const QString& text) {
    QStringList words;
    QString word;
    bool quoted = false;
    for (const QChar c : text) {
        if (c == '"') {
            quoted = !quoted;
        } else if (c.isSpace() && !quoted) {
            words << word;
            word.clear();
        } else {
            word += c;
        }
    }
    words << word;
    words.removeAll(QString());
    return words;
}

bool isField(const QString& field) { return filteredColumn(field) >= 0 || field == "tag" || field == "is"; }

}  // namespace

TrialFilterWords::TrialFilterWords(const QString& text) {
    for (const QString& word : wordsOf(text.toLower())) m_terms.push_back(termOf(word));
}

TrialFilterWords::Term TrialFilterWords::termOf(QString word) {
    Term term;
    if (word.size() > 1 && word.startsWith('-')) {
        term.wanted = false;
        word.remove(0, 1);
    }
    const auto colon = word.indexOf(':');
    if (colon > 0 && isField(word.left(colon))) term.field = word.left(colon);  // "cuda:0" is a word
    term.word = term.field.isEmpty() ? word : word.mid(colon + 1);
    return term;
}

bool TrialFilterWords::holds(const Term& term, const TrialRow& row, const QString& haystack) {
    if (term.field.isEmpty()) return haystack.contains(term.word);
    if (term.word.isEmpty()) return true;  // still being typed
    if (term.field == "is") return row.star && QStringLiteral("starred").startsWith(term.word);
    if (term.field == "tag") {
        return std::any_of(row.tags.begin(), row.tags.end(),
                           [&](const auto& tag) { return QString::fromStdString(tag).toLower() == term.word; });
    }
    return cellOf(row, filteredColumn(term.field)).toLower().contains(term.word);
}

bool TrialFilterWords::matches(const TrialRow& row, const QString& haystack) const {
    return std::all_of(m_terms.begin(), m_terms.end(),
                       [&](const Term& term) { return holds(term, row, haystack) == term.wanted; });
}

QString haystackOf(const TrialRow& row) {
    QString text = '#' + QString::number(row.id);
    for (int column = kIdColumn; column < kTrialColumns; ++column) text += '\n' + cellOf(row, column);
    return text.toLower();
}

}  // namespace lockstep::ui
