#pragma once
#include <string>

#include "engine/plugin/plugin_host.h"
#include "plugins/lockstep_plugin.h"

namespace lockstep {

// What a plugin gets from us: the C struct, and what stands behind its functions. Lives as long as anything of the
// plugin.
class HostServices {
public:
    HostServices(std::string plugin, PluginLog log);
    HostServices(const HostServices&) = delete;
    HostServices& operator=(const HostServices&) = delete;
    const lockstep_host* table() const { return &m_host; }

private:
    static void* allocate(void* self, size_t bytes) noexcept;
    static void release(void* self, void* memory) noexcept;
    static void log(void* self, int level, const char* text) noexcept;

    std::string m_plugin;
    PluginLog m_log;
    lockstep_host m_host;
};

}  // namespace lockstep
