#include "ui/shell/command_match.h"

#include <algorithm>

namespace lockstep::ui {

namespace {

constexpr int kWordStart = 8, kInARow = 9, kAnywhere = 1;

bool startsWord(const QString& text, qsizetype at) { return at == 0 || !text[at - 1].isLetterOrNumber(); }

}  // namespace

int matchScore(const QString& typed, const QString& title) {
    int score = 0;
    qsizetype at = -1;
    for (const QChar letter : typed) {
        if (letter.isSpace()) continue;
        // The beginning of a word is worth skipping letters for.
        qsizetype found = -1;
        for (qsizetype i = at + 1; i < title.size(); ++i) {
            if (title[i].toLower() != letter.toLower()) continue;
            if (found < 0) found = i;
            if (i == at + 1 || startsWord(title, i)) {
                found = i;
                break;
            }
        }
        if (found < 0) return -1;
        score += startsWord(title, found) ? kWordStart : found == at + 1 ? kInARow : kAnywhere;
        at = found;
    }
    return score;
}

std::vector<int> matchingCommands(const QString& typed, const QStringList& titles) {
    std::vector<std::pair<int, int>> found;
    for (int i = 0; i < titles.size(); ++i) {
        const int score = matchScore(typed, titles[i]);
        if (score >= 0) found.emplace_back(score, i);
    }
    std::ranges::stable_sort(found, [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<int> order;
    for (const auto& each : found) order.push_back(each.second);
    return order;
}

}  // namespace lockstep::ui
