#pragma once
#include <QString>
#include <QStringList>
#include <vector>

namespace lockstep::ui {

// How well what was typed fits a command's title: its letters in order, better at the beginnings of words and in a row.
// Negative: not at all. Case does not matter.
int matchScore(const QString& typed, const QString& title);

// Indices of the titles that fit, best first; all, in their order, for an empty text.
std::vector<int> matchingCommands(const QString& typed, const QStringList& titles);

}  // namespace lockstep::ui
