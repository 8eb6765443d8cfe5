#pragma once
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/train/trainer.h"

namespace lockstep {

struct PrecisionSpeed {
    Precision precision = Precision::Fp32;
    double samplesPerSecond = 0;
};

struct PrecisionTiming {
    double seconds = 1;      // about, for each precision, warm-ups aside; five thirds of it where that is not clear
    bool inference = false;  // evaluation's program instead of training's
    std::stop_token stop = {};
    std::function<void(Precision)> begins = {};  // called before each is timed
};
// How fast the resolved model is on its devices in each precision that they offer, fp32 first, on made samples. One for
// which memory does not suffice is left out. Not in fp16, whose range asks for a scaled loss: that is somebody's
// choice. Throws what benchmark() throws.
std::vector<PrecisionSpeed> timePrecisions(const ResolvedSpec& resolved, const ModelInput& input,
                                           const PrecisionTiming& timing);

// The same of what `time` says. Each precision, fp32 first, is timed three times in turns, so that what else the
// machine does meets all alike, and has the median. Five times, where the fastest is about as fast as it must be to be
// taken, or where times differ much; where a step takes long once, or thrice if that is close. One whose first time
// throws a ProblemError other than "bench.stopped" is left out; where all do the last is thrown on.
std::vector<PrecisionSpeed> timeInTurns(const std::vector<Precision>& precisions,
                                        const std::function<BenchResult(Precision)>& time);

// The fastest; fp32 where none is faster by a twentieth.
Precision fastestOf(const std::vector<PrecisionSpeed>& speeds);

struct ChosenPrecision {
    std::vector<PrecisionSpeed> speeds = {};  // empty: nothing was measured
    Problem words;                            // what was chosen, and why
};
// What a run of a spec with precision=auto trains in when it begins: the fastest, in a reproducible one fp32; and what
// a trained model answers in, whose run is over. It becomes the spec's precision. Nothing where the spec names one.
// Throws what timePrecisions() throws.
std::optional<ChosenPrecision> choosePrecision(ResolvedSpec& resolved, const ModelInput& input,
                                               const PrecisionTiming& timing);

// "fp32 1, bf16 1.34": each by the speed of fp32, the first of them.
std::string ratiosText(const std::vector<PrecisionSpeed>& speeds);

}  // namespace lockstep
