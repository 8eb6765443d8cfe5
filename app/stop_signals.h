#pragma once
#include <thread>

#include "engine/train/trainer.h"

namespace lockstep {

// While it lives, Ctrl+C (also SIGTERM, and SIGHUP of a closed terminal) asks the run to stop with a checkpoint; a
// second one ends the program at once with status 130. From then on SIGPIPE is ignored: a reader who goes is an error
// of the output. One at a time.
class StopSignals {
public:
    explicit StopSignals(RunControl& control);
    ~StopSignals();
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

private:
    std::thread m_thread;
};

}  // namespace lockstep
