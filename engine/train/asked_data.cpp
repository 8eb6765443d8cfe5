#include "engine/train/asked_data.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace lockstep {

namespace {

// Labels of one source of data among the model's classes.
using ClassMap = std::vector<std::int32_t>;

// Of classes that are called 0, 1, 2…, in whatever order: folders are sorted as texts. Empty: they are not.
std::optional<ClassMap> byNumbers(const std::vector<std::string>& classes) {
    ClassMap map(classes.size());
    for (std::size_t i = 0; i < classes.size(); ++i) {
        const auto found = std::ranges::find(classes, std::to_string(i));
        if (found == classes.end()) return std::nullopt;
        map[static_cast<std::size_t>(found - classes.begin())] = static_cast<std::int32_t>(i);
    }
    return map;
}

bool isUnchanged(const ClassMap& map) {
    for (std::size_t i = 0; i < map.size(); ++i) {
        if (map[i] != static_cast<std::int32_t>(i)) return false;
    }
    return true;
}

std::string listed(const std::vector<std::string>& names) {
    constexpr std::size_t kMost = 5;
    std::string list;
    for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) list += (i > 0 ? ", " : "") + names[i];
    return names.size() > kMost ? list + ", …" : list;
}

// Empty: some of the names are known, or they are no numbers that the model has classes for.
std::optional<ClassMap> numbersInstead(const std::vector<std::string>& from, const std::vector<std::string>& to) {
    const auto isKnown = [&](const std::string& each) { return std::ranges::find(to, each) != to.end(); };
    if (from.size() > to.size() || std::ranges::any_of(from, isKnown)) return std::nullopt;
    return byNumbers(from);
}

Result<ClassMap> classMap(const std::vector<std::string>& from, const std::vector<std::string>& to,
                          const std::string& name) {
    ClassMap map(from.size());
    std::vector<std::string> unknown;
    for (std::size_t i = 0; i < from.size(); ++i) {
        const auto found = std::ranges::find(to, from[i]);
        map[i] = static_cast<std::int32_t>(found - to.begin());
        if (found == to.end()) unknown.push_back(from[i]);
    }
    if (unknown.empty()) return map;
    if (auto numbered = numbersInstead(from, to)) return std::move(*numbered);
    return Problem{name,
                   "evaluate.other-classes",
                   {std::to_string(unknown.size()), listed(unknown), std::to_string(to.size()), listed(to)}};
}

// Splits, one behind the other.
class AskedDataset final : public Dataset {
public:
    AskedDataset(std::vector<std::shared_ptr<const Dataset>> parts, const DatasetInfo& trained, ClassMap classes)
        : m_parts(std::move(parts)), m_classes(std::move(classes)), m_info(m_parts.front()->info()) {
        m_info.classes = trained.classes;
        m_info.mean = trained.mean;
        m_info.deviation = trained.deviation;
        m_info.count = 0;
        for (const auto& part : m_parts) m_info.count += part->info().count;
        if (m_classes.empty()) return;
        m_info.inMemory = false;
        const Field* label = findField(m_info.fields, "label");
        if (label) m_label = static_cast<std::size_t>(label - m_info.fields.data());
    }

    const DatasetInfo& info() const override { return m_info; }

    void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override {
        const auto& [part, at] = placeOf(index);
        part.read(at, into);
        mapLabel(into);
    }
    void readCut(std::int64_t index, std::span<const std::span<std::byte>> into, const ChooseCut& cut) const override {
        const auto& [part, at] = placeOf(index);
        part.readCut(at, into, cut);
        mapLabel(into);
    }

    const std::byte* resident(std::int64_t index, std::size_t field) const override {
        if (mapsLabels() && field == m_label) return nullptr;
        const auto& [part, at] = placeOf(index);
        return part.resident(at, field);
    }

    std::string fileOf(std::int64_t index) const override {
        const auto& [part, at] = placeOf(index);
        return part.fileOf(at);
    }

    std::vector<Problem> takeRemarks() const override {
        std::vector<Problem> all;
        for (const auto& part : m_parts)
            for (Problem& each : part->takeRemarks()) all.push_back(std::move(each));
        return all;
    }

private:
    struct Place {
        const Dataset& part;
        std::int64_t index;
    };
    void mapLabel(std::span<const std::span<std::byte>> into) const {
        if (!mapsLabels() || into[m_label].empty()) return;
        std::int32_t label = 0;
        std::memcpy(&label, into[m_label].data(), sizeof label);
        label = m_classes[static_cast<std::size_t>(label)];
        std::memcpy(into[m_label].data(), &label, sizeof label);
    }
    bool mapsLabels() const { return m_label < m_info.fields.size(); }
    Place placeOf(std::int64_t index) const {
        std::size_t part = 0;
        while (index >= m_parts[part]->info().count) index -= m_parts[part++]->info().count;
        return {*m_parts[part], index};
    }

    std::vector<std::shared_ptr<const Dataset>> m_parts;
    ClassMap m_classes;  // empty: the labels stand
    DatasetInfo m_info;
    std::size_t m_label = static_cast<std::size_t>(-1);
};

}  // namespace

AskedSplit askedSplit(std::string_view name) {
    if (name == "train") return AskedSplit::Train;
    if (name == "validation") return AskedSplit::Validation;
    return name == "all" ? AskedSplit::All : AskedSplit::Test;
}

Result<std::shared_ptr<const Dataset>> asAsked(const DatasetSplits& data, AskedSplit split, const DatasetInfo& trained,
                                               const std::string& name) {
    std::vector<std::shared_ptr<const Dataset>> parts;
    const auto asksFor = [split](AskedSplit each) { return split == each || split == AskedSplit::All; };
    if (asksFor(AskedSplit::Train)) parts.push_back(data.train);
    if (asksFor(AskedSplit::Validation) && data.validation) parts.push_back(data.validation);
    if (asksFor(AskedSplit::Test)) parts.push_back(data.test);
    if (parts.empty()) return Problem{"--split", "evaluate.no-validation", {}};
    const DatasetInfo& info = parts.front()->info();
    if (info.fields != trained.fields)
        return Problem{name, "evaluate.other-fields", {text(info.fields), text(trained.fields)}};
    auto classes = classMap(info.classes, trained.classes, name);
    if (!classes.ok()) return classes.problems();
    const bool stands = isUnchanged(classes.value());
    return std::shared_ptr<const Dataset>(
        std::make_shared<AskedDataset>(std::move(parts), trained, stands ? ClassMap() : std::move(classes).value()));
}

std::optional<Problem> takenByNumbers(const DatasetSplits& data, const DatasetInfo& trained, const std::string& name) {
    const auto& from = data.train->info().classes;
    const auto numbered = from.empty() ? std::nullopt : numbersInstead(from, trained.classes);
    if (!numbered) return std::nullopt;
    std::vector<std::string> pairs;
    for (std::size_t i = 0; i < from.size(); ++i) pairs.push_back(std::to_string(i) + " = " + trained.classes[i]);
    return Problem{name, "evaluate.by-numbers", {listed(pairs)}};
}

std::map<std::string, ParamValue> paramsAsTrained(const DatasetEntry& entry, const DatasetInfo& trained) {
    std::map<std::string, ParamValue> params;
    const auto has = [&](std::string_view name) {
        return std::ranges::find(entry.params, name, &ParamField::name) != entry.params.end();
    };
    if (findField(trained.fields, "image")) {
        const ImageShape image = trained.image();
        if (has("size") && has("colour")) {
            params["size"] = std::int64_t{image.height};
            params["colour"] = std::string(image.channels == 1 ? "grey" : "rgb");
        }
        if (has("seen_share") && has("interpolation") && has("decode")) {
            params["decode"] = std::string(trained.decodesExactly ? "exact" : "fast");
            params["seen_share"] = trained.seenShare;
            params["interpolation"] =
                std::string(trained.interpolation == Interpolation::Bicubic ? "bicubic" : "bilinear");
        }
    } else if (const Field* tokens = findField(trained.fields, "tokens"); tokens && has("sequence")) {
        params["sequence"] = tokens->type.shape.count();
    }
    return params;
}

TrialSpec specAskingAbout(TrialSpec spec, const DatasetEntry& entry, const std::filesystem::path& path,
                          const DatasetInfo& trained) {
    const std::string before = withoutLastSlash(spec.dataPath.string());
    spec.dataPath = path.empty() ? path : std::filesystem::absolute(path);
    const bool isOwn = entry.id == spec.dataset.id && withoutLastSlash(spec.dataPath.string()) == before;
    if (entry.id != spec.dataset.id) spec.dataset = {entry.id, {}};
    if (!isOwn) spec.validationShare = 0;
    for (auto& [name, value] : paramsAsTrained(entry, trained)) spec.dataset.params[name] = value;
    return spec;
}

}  // namespace lockstep
