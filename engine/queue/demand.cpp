#include "engine/queue/demand.h"

#include <algorithm>

namespace lockstep {

namespace {

bool isCard(const std::string& backend) { return backend == "cuda"; }

}  // namespace

Demand demandOf(std::string_view devices, const DeviceRequest& request) {
    const auto chosen = parseDevices(namedDevices(devices, request), request);
    Demand demand;
    if (!chosen.ok()) return demand;
    for (const DeviceChoice& each : chosen.value()) {
        if (isCard(each.backend)) demand.cards.insert(each.id);
        else demand.cores += std::max(each.threads, 1);
    }
    demand.cores = std::min(demand.cores, permittedCores());
    return demand;
}

Demand wholeMachine(const DeviceRequest& request) {
    Demand all{permittedCores(), {}};
    for (const DeviceInfo& each : request.available) {
        if (isCard(each.backend)) all.cards.insert(each.id);
    }
    return all;
}

bool Room::has(const Demand& demand) const {
    return demand.cores <= std::max(m_free.cores, 0) && std::ranges::includes(m_free.cards, demand.cards);
}

void Room::take(const Demand& demand) {
    m_free.cores -= demand.cores;
    for (const std::string& card : demand.cards) m_free.cards.erase(card);
}

}  // namespace lockstep
