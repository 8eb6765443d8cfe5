#include "engine/spec/trial_spec.h"

#include "engine/spec/devices.h"
#include "tests/fuzz/targets/targets.h"

namespace lockstep::fuzz {

bool runTrialSpec(Input input) {
    const std::string_view json(reinterpret_cast<const char*>(input.data()), input.size());
    const auto spec = trialSpecFromJson(json, "file");
    if (!spec.ok()) return false;
    const auto again = trialSpecFromJson(toJson(spec.value()), "again");
    require(again.ok() && again.value() == spec.value(), "a trial's JSON says the trial");

    DeviceInfo cpu, card;
    cpu.backend = cpu.id = "cpu";
    cpu.cores = 4;
    card.backend = "cuda";
    card.id = "cuda:0";
    const auto devices = parseDevices(spec.value().devices, {{cpu, card}, {{"missing", {}}}});
    require(!devices.ok() || !devices.value().empty(), "a device string names devices");
    return true;
}

}  // namespace lockstep::fuzz
