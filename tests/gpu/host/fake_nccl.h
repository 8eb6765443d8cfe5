#pragma once
#include <cstdint>

// What the stand-in for NCCL, a library of its own that is opened by name, is told to do by a test.
extern "C" {
// The operation of that number (of a rank's, from 0) fails: as it is started, or later on the card.
enum FakeNcclFault : int { kNoFault, kFailsAtStart, kFailsOnCard };
using FakeNcclSetFault = void(FakeNcclFault fault, int rank, std::uint64_t operation);  // "fakeNcclSetFault"
using FakeNcclCount = std::uint64_t();  // "fakeNcclCommunicators": those that are open
}
