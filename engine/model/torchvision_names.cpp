#include "engine/model/torchvision_names.h"

#include <algorithm>

namespace lockstep {

namespace {

// "block3/norm1": "block3" and "norm1".
std::pair<std::string, std::string> splitAtFirst(const std::string& path) {
    const auto slash = path.find('/');
    return {path.substr(0, slash), slash == path.npos ? std::string() : path.substr(slash + 1)};
}

std::string inBlock(const std::string& layer) {
    if (layer == "shortcut/conv") return "downsample.0";
    if (layer == "shortcut/norm") return "downsample.1";
    return layer.starts_with("norm") ? "bn" + layer.substr(4) : layer;
}

}  // namespace

// Our blocks count through all stages. A stage begins where the shape changes, which takes a shortcut, and with the
// first.
LayerNames torchvisionResnetLayers(const std::vector<std::string>& layers) {
    LayerNames names;
    std::string current;
    int stage = 0, number = 0;
    for (const std::string& layer : layers) {
        const auto [block, rest] = splitAtFirst(layer);
        if (block == "stem") {
            names.push_back({layer, rest == "conv" ? "conv1" : "bn1"});
        } else if (block == "head") {
            names.push_back({layer, "fc"});
        } else {
            if (block != current) {
                const bool begins = stage == 0 || std::ranges::count(layers, block + "/shortcut/conv") > 0;
                number = begins ? 0 : number + 1;
                stage += begins ? 1 : 0;
                current = block;
            }
            names.push_back(
                {layer, "layer" + std::to_string(stage) + "." + std::to_string(number) + "." + inBlock(rest)});
        }
    }
    return names;
}

// torchvision counts through one sequence, in which ReLUs and poolings have numbers, too.
LayerNames torchvisionVggLayers(const std::vector<std::string>& layers) {
    const bool hasHidden = std::ranges::count(layers, std::string("dense1")) > 0;
    LayerNames names;
    std::string stage, block;
    int next = 0;
    for (const std::string& layer : layers) {
        if (layer == "dense1") names.push_back({layer, "classifier.0"});
        if (layer == "dense2") names.push_back({layer, "classifier.3"});
        if (layer == "head") names.push_back({layer, hasHidden ? "classifier.6" : "classifier"});
        if (!layer.starts_with("stage")) continue;
        const std::string itsStage = splitAtFirst(layer).first, itsBlock = layerOf(layer);
        if (!block.empty() && itsBlock != block) ++next;
        if (!stage.empty() && itsStage != stage) ++next;
        stage = itsStage;
        block = itsBlock;
        names.push_back({layer, "features." + std::to_string(next++)});
    }
    return names;
}

std::string layerOf(const std::string& tensor) { return tensor.substr(0, tensor.rfind('/')); }

std::vector<std::string> tensorNames(const Graph& forward) {
    std::vector<std::string> names;
    for (const Value& value : forward.values()) {
        const bool isKept = value.role != ValueRole::Input && value.role != ValueRole::Intermediate;
        if (isKept) names.push_back(value.name);
    }
    return names;
}

std::map<std::string, std::string> torchvisionNames(const ModelEntry& model, const Graph& forward) {
    if (!model.torchvisionLayers) return {};
    const std::vector<std::string> tensors = tensorNames(forward);
    std::vector<std::string> layers;
    for (const std::string& tensor : tensors) {
        if (layers.empty() || layers.back() != layerOf(tensor)) layers.push_back(layerOf(tensor));
    }
    std::map<std::string, std::string> theirs, names;
    for (const LayerName& layer : model.torchvisionLayers(layers)) theirs[layer.ours] = layer.theirs;
    for (const std::string& tensor : tensors) {
        const std::string layer = layerOf(tensor);
        names[tensor] = theirs.at(layer) + "." + tensor.substr(layer.size() + 1);
    }
    return names;
}

}  // namespace lockstep
