#include "app/setting_fields.h"

#include <algorithm>

#include "engine/data/augment.h"
#include "engine/ops/update.h"
#include "engine/train/schedule.h"

namespace lockstep {

namespace {

const ParamField* find(const ParamSchema& schema, const std::string& name) {
    const auto found = std::ranges::find(schema, name, &ParamField::name);
    return found == schema.end() ? nullptr : &*found;
}

// Of the chosen one, or else of the first that has such a setting.
template <class Entries, class Name>
std::optional<ParamField> among(const Entries& entries, Name name, const std::string& chosen,
                                const std::string& setting) {
    const ParamField* first = nullptr;
    for (const auto& entry : entries) {
        const ParamField* field = find(entry.params, setting);
        if (field && std::string(entry.*name) == chosen) return *field;
        if (field && !first) first = field;
    }
    return first ? std::optional(*first) : std::nullopt;
}

}  // namespace

std::optional<ParamField> fieldOf(const Environment& environment, const TrialSpec& spec, const std::string& path) {
    const auto at = SettingPath::from(path);
    if (!at) return std::nullopt;
    if (at->group.empty()) return ownField(spec, path);
    if (at->isChoice()) return std::nullopt;
    if (at->group == "model") return among(environment.models(), &ModelEntry::name, spec.model.id, at->name);
    if (at->group == "dataset") return among(environment.datasets(), &DatasetEntry::id, spec.dataset.id, at->name);
    if (at->group == "optimizer") return among(updateRules(), &UpdateEntry::name, spec.optimizer.id, at->name);
    if (at->group == "schedule") return among(schedules(), &ScheduleEntry::name, spec.schedule.id, at->name);
    if (const ParamField* field = find(augmentationSchema(), at->name)) return *field;
    return std::nullopt;
}

}  // namespace lockstep
