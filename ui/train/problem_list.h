#pragma once
#include <QJsonArray>
#include <vector>

#include "engine/core/result.h"

namespace lockstep::ui {

using Problems = std::vector<Problem>;

// The engine's "problems": [{"field", "code", "args", …}]; rows that are none are passed over.
Problems problemsFrom(const QJsonArray& rows);

}  // namespace lockstep::ui
