#pragma once
#include <QString>
#include <functional>

#include "engine/core/result.h"

namespace lockstep::ui {

// A problem in words: what happened, with file, field and value, and what to do about it.
struct Explanation {
    QString what, remedy;
    QString inOneLine() const { return remedy.isEmpty() ? what : what + ' ' + remedy; }
    QString inTwoLines() const { return remedy.isEmpty() ? what : what + '\n' + remedy; }
};
using Explain = std::function<Explanation(const Problem&)>;  // from the catalogue in resources/messages; any thread

}  // namespace lockstep::ui
