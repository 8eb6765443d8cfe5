#include "ui/trials/trial_filter_words.h"

#include <algorithm>

#include "engine/spec/trial_settings.h"
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
    for (const QString& word : wordsOf(text)) m_terms.push_back(termOf(word));
    std::erase_if(m_terms, [](const Term& term) { return term.isUnfinished(); });
}

TrialFilterWords::Term TrialFilterWords::termOf(QString word) {
    Term term;
    if (word.size() > 1 && word.startsWith('-')) {
        term.wanted = false;
        word.remove(0, 1);
    }
    const auto colon = word.indexOf(':');
    const QString field = word.left(std::max<qsizetype>(colon, 0)), asked = word.mid(colon + 1);
    if (isField(field.toLower())) term.field = field.toLower();  // "cuda:0" is a word
    else if (isSetting(field.toStdString())) term.condition.emplace(field.toStdString(), asked.toStdString());
    term.word = (term.field.isEmpty() ? word : asked).toLower();
    return term;
}

bool TrialFilterWords::Term::isUnfinished() const {
    return condition ? condition->isEmpty() : !field.isEmpty() && word.isEmpty();
}

std::vector<std::string> TrialFilterWords::paths() const {
    std::vector<std::string> paths;
    for (const Term& term : m_terms) {
        if (term.condition) paths.push_back(term.condition->path());
    }
    return paths;
}

bool TrialFilterWords::isAsked(const Term& term, const TrialRow& row, const QString& haystack,
                               const Settings& settings) {
    if (!term.condition) return holds(term, row, haystack) == term.wanted;
    const auto values = settings.find(term.condition->path());
    if (values == settings.end()) return true;
    const auto value = values->second.find(row.id);
    return term.condition->holds(value == values->second.end() ? std::nullopt : std::optional(value->second)) ==
           term.wanted;
}

bool TrialFilterWords::holds(const Term& term, const TrialRow& row, const QString& haystack) {
    if (term.field.isEmpty()) return haystack.contains(term.word);
    if (term.field == "is") return row.star && QStringLiteral("starred").startsWith(term.word);
    if (term.field == "tag") {
        return std::any_of(row.tags.begin(), row.tags.end(),
                           [&](const auto& tag) { return QString::fromStdString(tag).toLower() == term.word; });
    }
    return cellOf(row, filteredColumn(term.field)).toLower().contains(term.word);
}

bool TrialFilterWords::matches(const TrialRow& row, const QString& haystack, const Settings& settings) const {
    return std::ranges::all_of(m_terms, [&](const Term& term) { return isAsked(term, row, haystack, settings); });
}

QString haystackOf(const TrialRow& row) {
    QString text = '#' + QString::number(row.id);
    for (int column = kIdColumn; column < kTrialColumns; ++column) text += '\n' + cellOf(row, column);
    return text.toLower();
}

}  // namespace lockstep::ui
