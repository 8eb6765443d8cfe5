#pragma once
#include <QString>
#include <string_view>

class QApplication;

namespace lockstep::ui {

// From here on a label or tool tip shows "<b>" as it is, unless it was told to be rich: Qt guesses by the text, which
// may be a title or a file's name. Message boxes, whose texts are ours alone, keep guessing. Once per application.
void keepLabelsPlain(QApplication& application);

// A text from outside as one line: control characters, ends of lines, and what turns the direction of writing round
// become spaces.
QString oneLine(std::string_view text);

}  // namespace lockstep::ui
