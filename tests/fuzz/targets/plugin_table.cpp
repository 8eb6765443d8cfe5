#include <deque>
#include <memory>

#include "engine/data/sample.h"
#include "engine/plugin/plugin_dataset.h"
#include "engine/plugin/plugin_fields.h"
#include "engine/plugin/plugin_library.h"
#include "tests/fuzz/targets/targets.h"

namespace lockstep::fuzz {

namespace {

constexpr std::size_t kMost = 4;  // of what a table lists: kinds, settings, fields, classes

// What the functions of the plugin hand out: they have no other place to keep it.
struct Dataset {
    lockstep_field fields[kMost];
    const char* classNames[kMost];
    lockstep_dataset_info info;
    std::int32_t label;
};
Dataset given;

int open(const lockstep_host*, const char*, const char*, int, lockstep_dataset** out, lockstep_message) {
    *out = reinterpret_cast<lockstep_dataset*>(&given);
    return LOCKSTEP_OK;
}
int info(lockstep_dataset*, lockstep_dataset_info* out, lockstep_message) {
    *out = given.info;
    return LOCKSTEP_OK;
}
int read(lockstep_dataset*, int64_t index, void* const* into, lockstep_message message) {
    if (index % 5 == 4) {
        std::memset(message.text, 'x', message.capacity);
        return LOCKSTEP_IO;
    }
    for (std::int32_t f = 0; f < given.info.field_count; ++f) {
        const bool label = std::strcmp(given.fields[f].name, "label") == 0;
        if (label) std::memcpy(into[f], &given.label, sizeof given.label);
    }
    return LOCKSTEP_OK;
}
void close(lockstep_dataset*) {}

// A table made of bytes. Numbers come as they are, or, more often, such as pass the first checks.
class Table {
public:
    explicit Table(Input input) : m_bytes(input) {
        m_plugin = {size(sizeof m_plugin), number(LOCKSTEP_PLUGIN_ABI), text(), text(), nullptr, 0};
        const std::size_t kinds = count();
        for (std::size_t i = 0; i < kinds; ++i) addKind();
        for (const auto& kind : m_kinds) m_pointers.push_back(odd() ? nullptr : &kind);
        m_plugin.datasets = m_pointers.data();
        m_plugin.dataset_count = static_cast<std::uint32_t>(kinds);
        describe();
    }
    const lockstep_plugin* plugin() const { return &m_plugin; }

private:
    bool odd() { return m_bytes.number<std::uint8_t>() > 250; }
    std::size_t count() { return m_bytes.number<std::uint8_t>() % (kMost + 1); }
    template <class T>
    T number(T usual) {
        return odd() ? m_bytes.number<T>() : usual;
    }
    std::uint32_t size(std::size_t right) { return number(static_cast<std::uint32_t>(right)); }

    const char* text() {
        const auto length = m_bytes.number<std::uint8_t>();
        if (length > 250) return nullptr;
        const Input bytes = m_bytes.take(length);
        return m_texts.emplace_back(bytes.begin(), bytes.end()).c_str();
    }

    void addKind() {
        auto& kind = m_kinds.emplace_back();
        kind = {size(sizeof kind),       text(), text(), text(), nullptr, 0, open, info, read,
                odd() ? nullptr : close, nullptr};
        auto& settings = m_settings.emplace_back();
        const std::size_t listed = count();
        for (std::size_t i = 0; i < listed; ++i) {
            settings.push_back({size(sizeof(lockstep_setting)), m_bytes.number<std::int8_t>(), text(), text(),
                                m_bytes.number<double>(), m_bytes.number<double>(), text()});
        }
        kind.settings = settings.data();
        kind.setting_count = odd() ? 65 : static_cast<std::uint32_t>(listed);
    }

    void describe() {
        given = {};
        const std::size_t fields = count(), classes = count();
        for (std::size_t f = 0; f < fields; ++f) {
            given.fields[f] = {size(sizeof(lockstep_field)), m_bytes.number<std::int8_t>(), text(), 0, {}};
            given.fields[f].rank = m_bytes.number<std::int8_t>();
            for (auto& extent : given.fields[f].extents)
                extent = odd() ? m_bytes.number<std::int64_t>() : m_bytes.number<std::uint8_t>();
        }
        for (std::size_t i = 0; i < classes; ++i) given.classNames[i] = text();
        given.label = m_bytes.number<std::int8_t>();
        given.info = {sizeof given.info,
                      odd() ? nullptr : given.fields,
                      static_cast<std::int32_t>(fields),
                      static_cast<std::int32_t>(classes),
                      given.classNames,
                      odd() ? m_bytes.number<std::int64_t>() : m_bytes.number<std::uint8_t>()};
    }

    Slicer m_bytes;
    std::deque<std::string> m_texts;
    std::deque<lockstep_dataset_kind> m_kinds;
    std::deque<std::vector<lockstep_setting>> m_settings;
    std::vector<const lockstep_dataset_kind*> m_pointers;
    lockstep_plugin m_plugin;
};

// Samples may be large: those are described here, but not read.
bool isSmall() {
    std::size_t bytes = 0;
    try {
        for (const Field& field : fieldsOf(given.info, "dataset", "path")) bytes += field.type.bytes();
    } catch (const ProblemError&) {
    }
    return bytes <= 1 << 12;
}

bool opens(const PluginLibrary& library, const lockstep_dataset_kind& kind) {
    const DatasetEntry entry = entryFor(library, kind);
    const ParamValues params(entry.params);
    if (!isSmall() || !entry.open("path", params, {}).ok()) return false;
    if (given.info.count <= 256) require(entry.inspect("path", params, {}).ok(), "what opens can be inspected");
    return true;
}

}  // namespace

std::size_t capOfPluginTable(std::size_t) { return std::size_t{LOCKSTEP_MOST_FIELDS} * (64 << 20); }

bool runPluginTable(Input input) {
    const Table table(input);
    try {
        checkTable(table.plugin());
    } catch (const ProblemError&) {
        return false;
    }
    const PluginLibrary library{std::make_shared<HostServices>("plugin", PluginLog{}), table.plugin()};
    bool any = false;
    for (const auto* kind : library.datasets()) any = opens(library, *kind) || any;
    return any;
}

}  // namespace lockstep::fuzz
