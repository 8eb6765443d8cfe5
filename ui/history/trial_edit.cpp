#include "ui/history/trial_edit.h"

#include <QStringList>
#include <algorithm>

namespace lockstep::ui {

using Field = TrialEdit::Field;
using Texts = std::vector<std::string>;

TrialEdit::Value valueOf(const TrialRow& row, Field field) {
    switch (field) {
        case Field::Title: return row.title;
        case Field::Note: return row.note;
        case Field::Tags: return row.tags;
        case Field::Star: return row.star;
        case Field::Archived: return row.archived;
        case Field::Deleted: return row.deleted;
    }
    return {};
}

void apply(const TrialEdit& edit, TrialRow& row) {
    switch (edit.field) {
        case Field::Title: row.title = std::get<std::string>(edit.value); break;
        case Field::Note: row.note = std::get<std::string>(edit.value); break;
        case Field::Tags: row.tags = std::get<Texts>(edit.value); break;
        case Field::Star: row.star = std::get<bool>(edit.value); break;
        case Field::Archived: row.archived = std::get<bool>(edit.value); break;
        case Field::Deleted: row.deleted = std::get<bool>(edit.value); break;
    }
}

void apply(const TrialEdit& edit, TrialService& trials) {
    TrialStore& store = trials.store();
    switch (edit.field) {
        case Field::Title: return store.setTitle(edit.trial, std::get<std::string>(edit.value));
        case Field::Note: return store.setNote(edit.trial, std::get<std::string>(edit.value));
        case Field::Tags: return store.setTags(edit.trial, std::get<Texts>(edit.value));
        case Field::Star: return store.setStar(edit.trial, std::get<bool>(edit.value));
        case Field::Archived: return store.setArchived(edit.trial, std::get<bool>(edit.value));
        case Field::Deleted:
            return std::get<bool>(edit.value) ? trials.moveToTrash(edit.trial) : trials.restore(edit.trial);
    }
}

std::optional<Problem> applyAll(const TrialEdits& edits, TrialService& trials) {
    std::optional<Problem> first;
    for (const TrialEdit& edit : edits) {
        try {
            apply(edit, trials);
        } catch (const ProblemError& error) {
            const std::string& code = error.problem().code;
            if (!code.starts_with("trial.") && code != "history.no-such-trial") throw;
            if (!first) first = error.problem();
        }
    }
    return first;
}

std::vector<std::string> tagsFrom(const QString& text) {
    Texts tags;
    for (const QString& word : text.split(',')) {
        const QString tag = word.simplified();
        if (!tag.isEmpty()) tags.push_back(tag.toStdString());
    }
    std::sort(tags.begin(), tags.end());
    tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
    return tags;
}

}  // namespace lockstep::ui
