#include "engine/model/registry.h"

#include <algorithm>

#include "engine/model/architectures.h"
#include "engine/model/token_model.h"
#include "engine/spec/perplexity.h"

namespace lockstep {

namespace {

std::vector<ModelEntry> allModels() {
    std::vector<ModelEntry> models{mlpModel(), lenet5Model(), fashionCnnModel(), smallCnnModel()};
    for (const auto& family : {resnetModels(), vggModels()}) models.insert(models.end(), family.begin(), family.end());
    for (const auto& model :
         {resnet164Model(), wideResnet16Model(), mobilenetV2Model(), vitModel(), gptModel(), textEncoderModel()})
        models.push_back(model);
    return models;
}

}  // namespace

std::string_view text(ModelTask task) {
    constexpr std::string_view kNames[] = {"image-classes", kNextTokens, "text-classes"};
    return kNames[static_cast<std::size_t>(task)];
}

ModelInput usualInput(const ModelEntry& model, const ParamValues& params) {
    ModelInput input = model.usual;
    if (params.all().contains(kContext))
        input.tokens = static_cast<int>(std::min<std::int64_t>(input.tokens, params.integer(kContext)));
    return input;
}

const std::vector<ModelEntry>& builtinModels() {
    static const std::vector<ModelEntry> models = allModels();
    return models;
}

const ModelEntry* findModel(std::span<const ModelEntry> models, std::string_view name) {
    const auto found = std::ranges::find(models, name, &ModelEntry::name);
    return found == models.end() ? nullptr : &*found;
}

}  // namespace lockstep
