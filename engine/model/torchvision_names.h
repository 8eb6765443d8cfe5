#pragma once
#include <map>
#include <string>
#include <vector>

#include "engine/model/registry.h"

namespace lockstep {

// What torchvision (models/resnet.py and vgg.py, release 0.14) calls the layers of its ResNets and VGGs, which the ones
// here follow tensor by tensor: "stem/conv" is "conv1", "block3/norm1" is "layer2.0.bn1", "stage1/block1/conv" is
// "features.0", "head" is "fc" or "classifier.6". The one dense layer of a VGG for small images is "classifier".
LayerNames torchvisionResnetLayers(const std::vector<std::string>& layers);
LayerNames torchvisionVggLayers(const std::vector<std::string>& layers);

// What is before the last "/": the layer that a tensor belongs to.
std::string layerOf(const std::string& tensor);
// All tensors of a forward graph that weight files hold, parameters and buffers, in its order.
std::vector<std::string> tensorNames(const Graph& forward);
// torchvision's names of those: "block3/norm1/running_var" is "layer2.0.bn1.running_var". Empty: it has no such model.
// "num_batches_tracked", which torchvision adds to each norm, has no counterpart.
std::map<std::string, std::string> torchvisionNames(const ModelEntry& model, const Graph& forward);

}  // namespace lockstep
