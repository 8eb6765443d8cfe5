#include "engine/plugin/plugin_fields.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include "engine/core/result.h"

namespace lockstep {

namespace {

constexpr std::int64_t kMostBytes = 64 << 20, kMostChannels = 16;
constexpr std::size_t kLongestName = 64;

std::optional<DType> dtypeOf(std::int32_t type) {
    switch (type) {
        case LOCKSTEP_U8: return DType::U8;
        case LOCKSTEP_I32: return DType::I32;
        case LOCKSTEP_I64: return DType::I64;
        case LOCKSTEP_F32: return DType::F32;
        case LOCKSTEP_F64: return DType::F64;
        default: return std::nullopt;
    }
}

bool isName(std::string_view name) {
    return !name.empty() && name.size() <= kLongestName && name != "ids" && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
}

// The two fields that the engine itself reads have a form of their own.
bool hasForm(const std::string& name, DType type) {
    return name == "image" ? type == DType::U8 : name != "label" || type == DType::I32;
}

bool hasForm(const std::string& name, std::span<const std::int64_t> extents) {
    if (name == "image") return extents.size() == 3 && extents[0] <= kMostChannels;
    return name != "label" || (extents.size() == 1 && extents[0] == 1);
}

bool isPossible(std::span<const std::int64_t> extents, DType type) {
    std::int64_t room = kMostBytes / static_cast<std::int64_t>(sizeOf(type));
    for (const std::int64_t extent : extents) {
        if (extent < 1 || extent > room) return false;
        room /= extent;
    }
    return !extents.empty();
}

std::string shapeText(std::span<const std::int64_t> extents) {
    std::string text;
    for (const std::int64_t extent : extents) text += (text.empty() ? "" : "x") + std::to_string(extent);
    return text.empty() ? "no extents" : text;
}

class Declaration {
public:
    Declaration(const std::string& dataset, const std::string& path) : m_dataset(dataset), m_path(path) {}

    void add(const lockstep_field& field) {
        if (field.size != sizeof(lockstep_field))
            throw ProblemError({m_path, "plugin.wrong-table", {"the size of a field"}});
        const std::string name = field.name ? std::string(field.name, strnlen(field.name, kLongestName + 1)) : "";
        if (!isName(name) || findField(m_fields, name)) refuse("plugin.field-name", {name});
        const auto type = dtypeOf(field.type);
        if (!type || !hasForm(name, *type)) refuse("plugin.field-type", {name, typeText(field.type, type)});
        const auto rank = std::clamp<std::int32_t>(field.rank, 0, LOCKSTEP_MOST_EXTENTS);
        const std::span extents(field.extents, static_cast<std::size_t>(rank));
        if (rank != field.rank || !isPossible(extents, *type) || !hasForm(name, extents))
            refuse("plugin.field-shape", {name, std::to_string(field.rank), shapeText(extents)});
        m_fields.push_back({name, {Shape(extents), *type}});
    }

    std::vector<Field> take() {
        if (!findField(m_fields, "label")) refuse("plugin.missing-field", {"label"});
        return std::move(m_fields);
    }

    [[noreturn]] void refuse(const char* code, std::vector<std::string> args) const {
        args.insert(args.begin(), m_dataset);
        throw ProblemError({m_path, code, std::move(args)});
    }

private:
    static std::string typeText(std::int32_t number, std::optional<DType> type) {
        return type ? std::string(text(*type)) : std::to_string(number);
    }

    const std::string& m_dataset;
    const std::string& m_path;
    std::vector<Field> m_fields;
};

}  // namespace

std::vector<Field> fieldsOf(const lockstep_dataset_info& info, const std::string& dataset, const std::string& path) {
    Declaration declaration(dataset, path);
    if (info.field_count > LOCKSTEP_MOST_FIELDS)
        declaration.refuse("plugin.too-many-fields", {std::to_string(info.field_count)});
    for (std::int32_t f = 0; info.fields && f < info.field_count; ++f) declaration.add(info.fields[f]);
    return declaration.take();
}

}  // namespace lockstep
