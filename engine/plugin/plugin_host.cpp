#include "engine/plugin/plugin_host.h"

#include <algorithm>
#include <set>

#include "engine/plugin/plugin_dataset.h"
#include "engine/plugin/plugin_library.h"
#include "engine/plugin/plugin_probe.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> pluginFiles(const std::vector<fs::path>& folders) {
    std::vector<fs::path> files;
    for (const auto& folder : folders) {
        std::error_code error;
        const auto first = files.size();
        for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
            if (entry->path().extension() == ".so") files.push_back(fs::weakly_canonical(entry->path()));
        }
        std::sort(files.begin() + static_cast<std::ptrdiff_t>(first), files.end());
    }
    return files;
}

class Assembly {
public:
    Assembly(const std::vector<std::string>& probeCommand, PluginLog log)
        : m_probeCommand(probeCommand), m_log(std::move(log)) {}

    void add(const fs::path& file) {
        if (!m_files.insert(file).second) return;  // named twice, by two folders or a link
        PluginReport report;
        report.file = file;
        load(report);
        m_plugins.reports.push_back(std::move(report));
    }

    LoadedPlugins take() { return std::move(m_plugins); }

private:
    void load(PluginReport& report) {
        const auto answer = probe(report.file, m_probeCommand);
        if (!answer.ok()) {
            report.problems = answer.problems();
            return;
        }
        report.id = answer.value().id;
        report.version = answer.value().version;
        report.datasets = answer.value().datasets;
        for (const auto& dataset : report.datasets) {
            if (m_ids.contains(dataset))
                report.problems.push_back({report.file.string(), "plugin.duplicate", {dataset}});
        }
        if (!report.problems.empty()) return;
        const auto library = loadLibrary(report.file, m_log);
        if (!library.ok()) {
            report.problems = library.problems();
            return;
        }
        for (const auto* kind : library.value().datasets()) {
            m_ids.insert(kind->id);
            m_plugins.datasets.push_back(entryFor(library.value(), *kind));
        }
    }

    const std::vector<std::string>& m_probeCommand;
    const PluginLog m_log;
    std::set<fs::path> m_files;
    std::set<std::string> m_ids;
    LoadedPlugins m_plugins;
};

}  // namespace

LoadedPlugins loadPlugins(const std::vector<fs::path>& folders, const std::vector<std::string>& probeCommand,
                          PluginLog log) {
    Assembly assembly(probeCommand, std::move(log));
    for (const auto& file : pluginFiles(folders)) assembly.add(file);
    return assembly.take();
}

}  // namespace lockstep
