#pragma once
#include "engine/model/registry.h"

namespace lockstep {

// One file each, named alike.
ModelEntry mlpModel();
ModelEntry lenet5Model();
ModelEntry resnet18CifarModel();
ModelEntry fashionCnnModel();
ModelEntry vitModel();

}  // namespace lockstep
