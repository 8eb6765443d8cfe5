#pragma once
#include <set>
#include <string>
#include <string_view>

#include "engine/spec/devices.h"

namespace lockstep {

// What trials take of a machine while they train, and what there is: cores of its processors, and whole cards.
struct Demand {
    int cores = 0;
    std::set<std::string> cards;  // "cuda:0"
    bool operator==(const Demand&) const = default;
};

// Of a trial's devices: a thread takes a core, and no trial takes more cores than there are, as devices beyond them
// share. Devices that cannot be had take nothing: whoever runs the trial says so.
Demand demandOf(std::string_view devices, const DeviceRequest& request);
Demand wholeMachine(const DeviceRequest& request);

// What is left of a machine.
class Room {
public:
    explicit Room(Demand all) : m_all(std::move(all)), m_free(m_all) {}

    bool has(const Demand& demand) const;
    void take(const Demand& demand);  // also more than there is: what a person started by hand
    const Demand& all() const { return m_all; }
    const Demand& free() const { return m_free; }

private:
    Demand m_all, m_free;
};

}  // namespace lockstep
