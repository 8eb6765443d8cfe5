#pragma once
#include <string>

#include "engine/plan/program.h"

namespace lockstep {

// What every program must obey, found out from its steps and slots alone. Each returns the first complaint, or nothing.

// Slots lie inside their arenas; activations start at 64-byte bounds; `after` names earlier steps of other lanes.
std::string complaintAboutSlots(const Program& program);

// Steps carried out one after another, with every 64 bytes of the activations labelled by the value written there last:
// a step that finds something else than the value it asks for reads it unwritten, or overwritten by another. Then once
// more, without the constant ones.
std::string complaintAboutValues(const Program& program);

// Two steps of different lanes that touch the same bytes, one of them writing, are ordered by lanes and `after` alone.
std::string complaintAboutOrder(const Program& program);

// The gradient arena is cut into buckets without gap or overlap, each parameter's whole gradient in one of them, each
// written by the program, reduced (if the program reduces), squared, updated and (if there are averages) averaged
// exactly once, with the slots that device.h prescribes.
std::string complaintAboutUpdates(const Program& program, bool reduces);

// What each pass yields is added up as the binary tree that program.h describes: scalars, statistics, every bucket.
std::string complaintAboutPasses(const Program& program);

// All of the above.
std::string complaint(const Program& program, bool reduces = true);

}  // namespace lockstep
