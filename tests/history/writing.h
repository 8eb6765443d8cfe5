#pragma once
#include <QByteArray>
#include <QString>
#include <QStringList>
#include <cstdint>
#include <filesystem>
#include <map>

#include "engine/train/checkpoint.h"

namespace lockstep::test {

// What history_helper writes, what it says of that, and whether all that it said is still there.

// A checkpoint whose every byte follows from its trial and step, and where a trial of this history has its last one.
Checkpoint checkpointOf(std::int64_t trial, std::int64_t step);
std::filesystem::path checkpointFile(const std::filesystem::path& history, std::int64_t trial);

struct Said {
    // The newest that were said to be committed.
    struct Trial {
        std::int64_t event = 0, checkpoint = 0;
    };
    std::map<std::int64_t, Trial> trials;
};
Said parse(const QByteArray& output);

// Empty: everything said is there, as it was written, and the newest listed checkpoint of each trial loads.
QString loss(const std::filesystem::path& history, const Said& said);

// A run of history_helper that writes `trials` trials of `steps` steps each; what it says of one trial in the end.
QStringList writing(const std::filesystem::path& history, int trials, int steps);
constexpr std::int64_t eventsOf(int steps) { return steps + 2 * (steps / 10) + 1; }

}  // namespace lockstep::test
