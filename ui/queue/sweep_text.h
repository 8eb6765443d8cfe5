#pragma once
#include <QString>
#include <vector>

#include "ui/history/queue_reader.h"
#include "ui/queue/rung_picture.h"

namespace lockstep::ui {

// The sentences of a sweep's card; empty: there is nothing to say.
namespace sweep_text {
QString title(const SweepRow& sweep);     // "Sweep 3: how wide"
QString progress(const SweepRow& sweep);  // "12 of 81 trials finished, 2 running"
QString left(const SweepRow& sweep);      // "about 4 min 12 s left"
QString best(const SweepRow& sweep);  // "Best test accuracy 91.23 % ± 0.41 (n 3)", or "… at rung 2: 91.23 % at epoch 3"
QString bestCell(const SweepRow& sweep);                              // "learning_rate=0.01 batch=64"
std::int64_t bestTrial(const SweepRow& sweep);                        // of that cell; 0: there is none
std::vector<RungColumn> rungs(const SweepRow& sweep);                 // none until a cell has come to one
QString disk(const SweepRow& sweep);                                  // "takes about 1.2 GiB of disk in all"
bool exceedsDisk(const SweepRow& sweep, std::uint64_t available);     // what is still to come
QString diskWarning(const SweepRow& sweep, std::uint64_t available);  // that it does
}  // namespace sweep_text

// What a person can do with a sweep: a function of what has become of it.
struct SweepActions {
    bool pause = false, goOn = false, cancel = false, retry = false, extend = false;
};
SweepActions actionsFor(const SweepRow& sweep);

}  // namespace lockstep::ui
