#include "engine/plugin/plugin_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace lockstep {

namespace {

constexpr std::uint32_t kMostDatasets = 64, kMostSettings = 64;

[[noreturn]] void wrong(const std::string& what) { throw ProblemError({"", "plugin.wrong-table", {what}}); }

void need(bool fine, const std::string& what) {
    if (!fine) wrong(what);
}

bool isIdentifier(const char* text) {
    if (!text || !*text) return false;
    const std::string_view id(text, strnlen(text, 65));
    return id.size() <= 64 && std::all_of(id.begin(), id.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
           });
}

template <class Number>
Number parsed(const std::string& text, const std::string& setting) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    need(error == std::errc() && end == text.data() + text.size(), "the fallback of the setting " + setting);
    return value;
}

ParamValue fallbackOf(const lockstep_setting& setting) {
    const std::string name = setting.name, text = setting.fallback;
    switch (setting.kind) {
        case LOCKSTEP_BOOL:
            need(text == "true" || text == "false", "the fallback of the setting " + name);
            return text == "true";
        case LOCKSTEP_INTEGER: return parsed<std::int64_t>(text, name);
        case LOCKSTEP_NUMBER: {
            const double value = parsed<double>(text, name);
            need(std::isfinite(value), "the fallback of the setting " + name);
            return value;
        }
        case LOCKSTEP_STRING: return text;
        default: wrong("the kind of the setting " + name);
    }
}

void checkKind(const lockstep_dataset_kind* kind) {
    need(kind != nullptr, "a dataset that is not there");
    need(kind->size >= sizeof(lockstep_dataset_kind), "the size of a dataset's table");
    need(isIdentifier(kind->id), "the id of a dataset");
    const std::string of = std::string(" of the dataset ") + kind->id;
    need(kind->title && kind->meaning, "the title or meaning" + of);
    need(kind->open && kind->info && kind->read && kind->close, "a missing function" + of);
    need(kind->setting_count <= kMostSettings && (kind->settings || kind->setting_count == 0), "the settings" + of);
    const ParamSchema schema = schemaOf(*kind);
    const ParamValues fallbacks(schema);
    need(ParamValues::from(schema, {fallbacks.all().begin(), fallbacks.all().end()}, "").ok(),
         "a fallback beyond its limits" + of);
}

using Entry = const lockstep_plugin* (*)(const lockstep_host*);

Entry entryOf(const std::filesystem::path& file) {
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char* why = dlerror();
        throw ProblemError({"", "plugin.not-loadable", {why ? why : "unknown"}});
    }
    void* symbol = dlsym(library, "lockstep_plugin_entry");
    if (!symbol) throw ProblemError({"", "plugin.no-entry", {"lockstep_plugin_entry"}});
    return reinterpret_cast<Entry>(symbol);
}

}  // namespace

void checkTable(const lockstep_plugin* table) {
    if (!table) throw ProblemError({"", "plugin.refused", {}});
    if (table->abi != LOCKSTEP_PLUGIN_ABI) {
        throw ProblemError({"", "plugin.abi", {std::to_string(table->abi), std::to_string(LOCKSTEP_PLUGIN_ABI)}});
    }
    need(table->size >= sizeof(lockstep_plugin), "the size of its table");
    need(isIdentifier(table->id), "its id");
    need(table->version != nullptr, "its version");
    need(table->dataset_count >= 1 && table->dataset_count <= kMostDatasets && table->datasets,
         "its number of datasets");
    for (std::uint32_t i = 0; i < table->dataset_count; ++i) checkKind(table->datasets[i]);
}

std::vector<const lockstep_dataset_kind*> PluginLibrary::datasets() const {
    return {table->datasets, table->datasets + table->dataset_count};
}

ParamSchema schemaOf(const lockstep_dataset_kind& kind) {
    ParamSchema schema;
    for (std::uint32_t i = 0; i < kind.setting_count; ++i) {
        const lockstep_setting& setting = kind.settings[i];
        need(setting.size == sizeof(lockstep_setting),
             "the size of a setting");  // an array: the stride is part of the ABI
        need(setting.name && *setting.name && setting.fallback && setting.meaning,
             "a setting without name, fallback or meaning");
        ParamField field{setting.name, fallbackOf(setting), {}, {}, {}, "", setting.meaning};
        if (setting.low <= setting.high) {
            field.low = setting.low;
            field.high = setting.high;
        }
        schema.push_back(std::move(field));
    }
    return schema;
}

Result<PluginLibrary> loadLibrary(const std::filesystem::path& file, const PluginLog& log) {
    try {
        PluginLibrary library;
        library.host = std::make_shared<HostServices>(file.stem().string(), log);
        library.table = entryOf(file)(library.host->table());
        checkTable(library.table);
        return library;
    } catch (const ProblemError& error) {
        Problem problem = error.problem();
        problem.field = file.string();
        return problem;
    }
}

}  // namespace lockstep
