#pragma once
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/session/places.h"

namespace lockstep {

// An engine that was started for a trial of the history and outlives whoever started it, until it is known whether it
// runs the trial: it trains, or measures for it in which precision. One thread.
class Launch {
public:
    enum class Kind {
        Begin,               // `lockstep train --trial`: a queued one, from its beginning
        Resume,              // `lockstep resume`: one that has ended or is paused
        ResumeOrStartAgain,  // the same, where its checkpoints are gone or damaged without them
        ResumeChanged        // the same, though its data are no longer those of its checkpoint
    };
    // `untilEpoch`: where it is to stop for now; `attempt`, of one that goes on: the number that this one must come to
    // have. Throws ProblemError: "engine.missing", "engine.cannot-start", "launch.unwritable".
    Launch(const std::filesystem::path& program, const Places& places, std::int64_t trial, Kind kind,
           std::optional<std::int64_t> untilEpoch = {}, std::optional<std::int64_t> attempt = {});

    std::int64_t trial() const { return m_trial; }
    Kind kind() const { return m_kind; }

    struct Outcome {
        std::vector<Problem> problems;  // empty: it runs, and its output is now <run directory>/output-<attempt>.log
        bool failed = false;            // the engine, not the trial's spec or data: its row and its output are kept
        bool hasChangedData() const;    // refused for that alone; ResumeChanged would go on
    };
    // Whether this problem of look() is that of an engine which ended without a word.
    static bool saidNothing(const Problem& problem);
    // Looks what the engine has said since; empty: nothing yet that tells. After an outcome the launch is over. With
    // problems its process has ended: those of the engine, "launch.ended" (it said nothing; its output is kept), or
    // "launch.disk-full". A trial that was to begin and did not may be discarded, unless the engine failed.
    std::optional<Outcome> look();

private:
    void takeLine(const std::string& line);
    void runs(const std::string& attempt);
    Problem silentEnd() const;

    Places m_places;
    std::int64_t m_trial;
    Kind m_kind;
    std::filesystem::path m_output;
    std::uintmax_t m_read = 0;  // bytes of the output
    pid_t m_process = 0;
    bool m_runs = false;
    Outcome m_refusal;
};

// Removes the outputs of launches that came to nothing more than a week ago.
void clearOldLaunches(const Places& places);

}  // namespace lockstep
