#pragma once
#include <vector>

#include "engine/model/registry.h"

namespace lockstep {

// What published networks are made for.
inline const ModelInput kCifarImages{.channels = 3, .height = 32, .width = 32, .classes = 10};
inline const ModelInput kImageNetImages{.channels = 3, .height = 224, .width = 224, .classes = 1000};

// One file for each, or for each family, named alike.
ModelEntry mlpModel();
ModelEntry lenet5Model();
ModelEntry fashionCnnModel();
ModelEntry smallCnnModel();
std::vector<ModelEntry> vggModels();
std::vector<ModelEntry> resnetModels();
ModelEntry resnet164Model();
ModelEntry wideResnet16Model();
ModelEntry mobilenetV2Model();
ModelEntry vitModel();
ModelEntry gptModel();
ModelEntry textEncoderModel();

}  // namespace lockstep
