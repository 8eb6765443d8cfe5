#include "engine/spec/bandwidths.h"

#include <algorithm>
#include <cmath>

#include "engine/core/number_text.h"

namespace lockstep {

namespace {

constexpr double kEven = 1.1;  // times the lower one: as good as equal
// Of the lower one: less than that must have another reason than it; and turns that cost less are none.
constexpr double kReached = 0.85, kTurns = 0.95;

// So many threads for each device would make as many samples as it trains on; 0: there are not so many cores.
std::int64_t threadsNeeded(const BindingChanged& seen) {
    const double ofThread = seen.loading / static_cast<double>(seen.loaderThreads);
    const auto threads = static_cast<std::int64_t>(std::ceil(seen.training / ofThread));
    return threads * seen.devices <= seen.cores ? threads : 0;
}

// From so many devices on the cores could not make enough samples for them.
std::int64_t devicesUntilLoadingBinds(const BindingChanged& seen) {
    const double ofThread = seen.loading / static_cast<double>(seen.loaderThreads * seen.devices);
    const double ofDevice = seen.training / static_cast<double>(seen.devices);
    return static_cast<std::int64_t>(static_cast<double>(seen.cores) * ofThread / ofDevice) + 1;
}

}  // namespace

Binding bindingOf(const Bandwidths& now) {
    const bool areInTurns = now.shared() < kTurns * now.lower();  // else it is something else that takes cores
    if (now.reached < kReached * now.lower() && areInTurns) return Binding::Cores;
    if (now.upper() < kEven * now.lower()) return Binding::Even;
    return now.loading < now.training ? Binding::Loading : Binding::Training;
}

std::string_view text(Binding binding) {
    constexpr std::string_view kNames[] = {"loading", "training", "even", "cores"};
    return kNames[static_cast<std::size_t>(binding)];
}

Problem verdictOf(const BindingChanged& seen, std::string (*rate)(double)) {
    Problem said{"", "bandwidth." + seen.binding, {}};
    said.args = {rate(seen.loading), rate(seen.training), rate(seen.reached)};
    if (seen.loaderThreads < 1 || seen.devices < 1) return said;
    if (seen.binding == text(Binding::Loading) && seen.limit > 0) {
        said.code += "-limited";
    } else if (seen.binding == text(Binding::Loading) && seen.haveProcessors) {
        const auto threads = threadsNeeded(seen);
        if (threads > seen.loaderThreads) said.code += "-threads", said.args.push_back(std::to_string(threads));
    } else if (seen.binding == text(Binding::Training) && seen.haveProcessors) {
        said.code += "-until";
        said.args.push_back(std::to_string(std::max(devicesUntilLoadingBinds(seen), seen.devices + 1)));
        said.args.push_back(std::to_string(seen.cores));
    } else if (seen.binding == text(Binding::Cores)) {
        said.args.push_back(rate(Bandwidths{seen.loading, seen.training, seen.reached}.shared()));
    }
    return said;
}

}  // namespace lockstep
