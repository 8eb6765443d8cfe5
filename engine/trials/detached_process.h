#pragma once
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace lockstep {

// A program that outlives whoever starts it and its terminal: no child of this process, in a session of its own, in the
// person's home folder, without input. What it writes is appended to `output`.
struct DetachedProgram {
    std::filesystem::path program;
    std::vector<std::string> arguments;
    std::filesystem::path output;
};

// Returns its process id. Throws ProblemError "engine.missing" or "engine.cannot-start". Any thread.
pid_t startDetached(const DetachedProgram& started);

bool isAlive(pid_t process);  // one that has ended and waits for its parent to notice is not

}  // namespace lockstep
