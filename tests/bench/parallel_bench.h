#pragma once

namespace lockstep::test {

// A made sweep of so many trials with twelve settings: how long until the Compare page shows it, and how long a frame
// takes while a brush is dragged over an axis of a plot of 1600 x 500. What the program returns.
int parallelBench(int trials);

}  // namespace lockstep::test
