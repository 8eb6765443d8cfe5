#include "engine/report/machine_rows.h"

#include <algorithm>

namespace lockstep::report {

namespace {

std::string devicesText(const RunStarted& started) {
    const std::string many = counted(std::ssize(started.devices), "device", "devices");
    return many + ": " + joinedText(started.devices) +
           (started.virtualDevices ? "; more than there are cores or cards, so that they share (virtual)" : "");
}

std::string threadsText(const std::vector<std::int64_t>& threads) {
    if (std::ranges::adjacent_find(threads, std::ranges::not_equal_to()) == threads.end())
        return std::to_string(threads.front()) + " each";
    std::vector<std::string> words;
    for (const auto each : threads) words.push_back(std::to_string(each));
    return joinedText(words);
}

}  // namespace

void addMachine(NamedRows& rows, const RunStarted& started) {
    const bool isKnown = !started.software.empty();
    rows.add("Trained by", isKnown ? started.software : "a version of Lockstep that did not note its number");
    rows.add("On", isKnown ? joinedText(started.hardware) : "not noted");
    rows.add("Devices", devicesText(started));
    if (!started.threads.empty()) rows.add("Kernel threads", threadsText(started.threads));
}

}  // namespace lockstep::report
