#include "engine/spec/layer_list.h"

namespace lockstep {

std::vector<std::string> parseLayers(std::string_view text) {
    std::vector<std::string> layers;
    while (!text.empty()) {
        const auto comma = text.find(',');
        std::string_view part = text.substr(0, comma);
        text = comma == text.npos ? std::string_view() : text.substr(comma + 1);
        while (part.starts_with(' ')) part.remove_prefix(1);
        while (part.ends_with(' ') || part.ends_with('/')) part.remove_suffix(1);
        if (!part.empty()) layers.emplace_back(part);
    }
    return layers;
}

}  // namespace lockstep
