#pragma once
#include <QString>

namespace lockstep::ui::filter_hint {

// What to tell a person whose word asks for something that nothing can answer; one sentence each, with the remedy.
QString noNumber(const QString& name, const QString& asked);  // "best>good"
QString noSweep(const QString& asked);                        // "sweep:wide"
QString noOrder(const QString& name);                         // "state>failed"
QString noName(const QString& name);                          // "lerning_rate>0.01": is looked for as it stands

// The name of a column or setting that differs from this one by a slip or two: "lerning_rate" is "learning_rate",
// "optimiser.momentum" is "optimizer.momentum". Empty: none does, or this is one.
QString meantBy(const QString& name);

}  // namespace lockstep::ui::filter_hint
