#pragma once
#include <QString>

namespace lockstep::ui {

// A field as RFC 4180 has it: in quotes where it needs them.
inline QString csvField(QString text) {
    if (!text.contains('"') && !text.contains(',') && !text.contains('\n') && !text.contains('\r')) return text;
    return '"' + text.replace('"', "\"\"") + '"';
}

}  // namespace lockstep::ui
