#include "ui/trials/trial_filter_words.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/spec/setting_condition.h"
#include "engine/spec/trial_settings.h"
#include "ui/trials/filter_hints.h"
#include "ui/trials/number_condition.h"
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

bool isField(const QString& name) {
    return filteredColumn(name) >= 0 || name == "tag" || name == "is" || name == "sweep";
}

bool isNumber(const QString& text) {
    bool ok = false;
    text.toDouble(&ok);
    return ok;
}

bool hasTag(const TrialRow& row, const QString& tag) {
    return std::ranges::any_of(row.tags,
                               [&](const auto& each) { return QString::fromStdString(each).toLower() == tag; });
}

}  // namespace

TrialFilterWords::TrialFilterWords(const QString& text) {
    for (const QString& word : wordsOf(text)) add(word);
}

void TrialFilterWords::add(QString word) {
    Term term;
    if (word.size() > 1 && word.startsWith('-')) {
        term.wanted = false;
        word.remove(0, 1);
    }
    term.holds = conditionOf(word);
    if (term.holds) m_terms.push_back(std::move(term));
}

// A colon alone is as good as nothing, and may stand before any other: "learning_rate:>0.01".
std::optional<TrialFilterWords::Asked> TrialFilterWords::askedIn(const QString& word) {
    const auto at = std::ranges::find_if(word, [](QChar c) { return c == ':' || c == '=' || c == '<' || c == '>'; });
    if (at == word.begin() || at == word.end()) return std::nullopt;
    const auto place = static_cast<qsizetype>(at - word.begin());
    const QString rest = word.mid(place + (*at == ':' ? 1 : 0));
    static const std::array<QString, 5> kCompares{"<=", ">=", "<", ">", "="};
    const auto compare = std::ranges::find_if(kCompares, [&](const QString& each) { return rest.startsWith(each); });
    if (compare == kCompares.end()) return Asked{word.left(place), {}, rest};
    return Asked{word.left(place), *compare, rest.mid(compare->size())};
}

TrialFilterWords::Condition TrialFilterWords::conditionOf(const QString& word) {
    auto asked = askedIn(word);
    if (asked && isField(asked->name.toLower())) asked->name = asked->name.toLower();
    else if (!asked || !isSetting(asked->name.toStdString())) return anywhere(word, asked);  // "cuda:0" is a word
    return asked->value.isEmpty() ? Condition() : named(*asked);
}

TrialFilterWords::Condition TrialFilterWords::anywhere(const QString& word, const std::optional<Asked>& asked) {
    if (asked && (!asked->compare.isEmpty() || !filter_hint::meantBy(asked->name).isEmpty()))
        m_hints << filter_hint::noName(asked->name);
    return [sought = word.toLower()](const FilteredTrial& trial, const Settings&) {
        return trial.haystack.contains(sought);
    };
}

TrialFilterWords::Condition TrialFilterWords::named(const Asked& asked) {
    const QString value = asked.value.toLower();
    if (asked.name == "sweep") return inSweep(asked);
    if (const int column = filteredColumn(asked.name); column >= 0) return inColumn(column, asked);
    if (asked.name != "tag" && asked.name != "is") return ofSetting(asked);
    if (isOrdering(asked.compare)) return hinted(filter_hint::noOrder(asked.name));
    if (asked.name == "tag")
        return [value](const FilteredTrial& trial, const Settings&) { return hasTag(trial.row, value); };
    return [value](const FilteredTrial& trial, const Settings&) {
        return trial.row.star && QStringLiteral("starred").startsWith(value);
    };
}

TrialFilterWords::Condition TrialFilterWords::inColumn(int column, const Asked& asked) {
    if (isNumeric(column)) {
        const auto condition = NumberCondition::from(asked.compare, asked.value, numberKindOf(column));
        if (!condition) return hinted(filter_hint::noNumber(asked.name, asked.value));
        return
            [=](const FilteredTrial& trial, const Settings&) { return condition->holds(numberIn(trial.row, column)); };
    }
    if (isOrdering(asked.compare)) return hinted(filter_hint::noOrder(asked.name));
    const bool whole = asked.compare == "=";
    return [column, whole, value = asked.value.toLower()](const FilteredTrial& trial, const Settings&) {
        const QString cell = cellOf(trial.row, column).toLower();
        return whole ? cell == value : cell.contains(value);
    };
}

TrialFilterWords::Condition TrialFilterWords::inSweep(const Asked& asked) {
    if (asked.value.toLower() == "none" && !isOrdering(asked.compare))
        return [](const FilteredTrial& trial, const Settings&) { return trial.sweep == 0; };
    const auto condition = NumberCondition::from(asked.compare, asked.value, NumberKind::Plain);
    if (!condition) return hinted(filter_hint::noSweep(asked.value));
    return [=](const FilteredTrial& trial, const Settings&) {
        return condition->holds(trial.sweep == 0 ? std::nullopt : std::optional(static_cast<double>(trial.sweep)));
    };
}

TrialFilterWords::Condition TrialFilterWords::ofSetting(const Asked& asked) {
    const std::string path = asked.name.toStdString();
    if (isOrdering(asked.compare) && takesText(path)) return hinted(filter_hint::noOrder(asked.name));
    if (isOrdering(asked.compare) && !isNumber(asked.value))
        return hinted(filter_hint::noNumber(asked.name, asked.value));
    m_paths.push_back(path);
    return [condition = SettingCondition(path, (asked.compare + asked.value).toStdString())](
               const FilteredTrial& trial, const Settings& settings) -> std::optional<bool> {
        const auto values = settings.find(condition.path());
        if (values == settings.end()) return std::nullopt;
        const auto value = values->second.find(trial.row.id);
        return condition.holds(value == values->second.end() ? std::nullopt : std::optional(value->second));
    };
}

TrialFilterWords::Condition TrialFilterWords::hinted(const QString& hint) {
    m_hints << hint;
    return {};
}

bool TrialFilterWords::matches(const FilteredTrial& trial, const Settings& settings) const {
    return std::ranges::all_of(
        m_terms, [&](const Term& term) { return term.holds(trial, settings).value_or(term.wanted) == term.wanted; });
}

QString haystackOf(const TrialRow& row) {
    QString text = '#' + QString::number(row.id);
    for (int column = kIdColumn; column < kTrialColumns; ++column) text += '\n' + cellOf(row, column);
    return text.toLower();
}

}  // namespace lockstep::ui
