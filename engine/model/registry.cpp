#include "engine/model/registry.h"

#include <algorithm>

#include "engine/model/architectures.h"

namespace lockstep {

const std::vector<ModelEntry>& builtinModels() {
    static const std::vector<ModelEntry> models{mlpModel(), lenet5Model(), resnet18CifarModel(), fashionCnnModel(),
                                                vitModel()};
    return models;
}

const ModelEntry* findModel(std::span<const ModelEntry> models, std::string_view name) {
    const auto found = std::ranges::find(models, name, &ModelEntry::name);
    return found == models.end() ? nullptr : &*found;
}

}  // namespace lockstep
