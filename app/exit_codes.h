#pragma once

namespace lockstep {

// What the program's exit status means; `lockstep --help` lists the same.
enum ExitCode {
    kDone = 0,
    kFailed = 1,      // the run, or the command itself, failed
    kBadRequest = 2,  // usage, settings, files given
    kNotFound = 3,    // no such trial, preset, model
    kStopped = 4,     // training was stopped on request before its end; a checkpoint is kept
    kKilled = 130,    // a second Ctrl+C
};

}  // namespace lockstep
