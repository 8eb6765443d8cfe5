#include "engine/plugin/host_services.h"

#include <cstdlib>
#include <utility>

namespace lockstep {

HostServices::HostServices(std::string plugin, PluginLog log)
    : m_plugin(std::move(plugin)), m_log(std::move(log)), m_host{sizeof(lockstep_host),
                                                                 LOCKSTEP_PLUGIN_ABI,
                                                                 this,
                                                                 &HostServices::allocate,
                                                                 &HostServices::release,
                                                                 &HostServices::log} {}

void* HostServices::allocate(void*, size_t bytes) noexcept {
    void* memory = nullptr;
    return posix_memalign(&memory, 64, bytes) == 0 ? memory : nullptr;
}

void HostServices::release(void*, void* memory) noexcept { std::free(memory); }

void HostServices::log(void* self, int level, const char* text) noexcept {
    const auto& services = *static_cast<const HostServices*>(self);
    if (services.m_log && text) services.m_log(services.m_plugin, level, text);
}

}  // namespace lockstep
