#include "datasets/synsets.h"

#include <map>
#include <sstream>

#include "datasets/text_file.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

// "n01440764 tench, Tinca tinca", with a space or a tab.
std::vector<Synset> readSynsets(const fs::path& file) {
    std::istringstream text(readText(file));
    std::vector<Synset> synsets;
    for (std::string line; std::getline(text, line);) {
        if (line.ends_with('\r')) line.pop_back();
        const std::size_t end = line.find_first_of(" \t");
        const std::size_t begin = line.find_first_not_of(" \t", end);
        if (begin != line.npos && line[begin] != ',')
            synsets.push_back({line.substr(0, end), line.substr(begin, line.find(',') - begin)});
    }
    return synsets;
}

}  // namespace

SynsetList findSynsets(std::span<const fs::path> folders) {
    const std::string dictionary = "words.txt";
    for (const fs::path& folder : folders) {
        for (const std::string& name :
             {std::string("LOC_synset_mapping.txt"), std::string("synset_words.txt"), dictionary}) {
            std::error_code ignored;
            if (fs::is_regular_file(folder / name, ignored)) return {readSynsets(folder / name), name != dictionary};
        }
    }
    return {};
}

bool isSynsetId(std::string_view name) {
    return name.size() == 9 && name.starts_with('n') && name.find_first_not_of("0123456789", 1) == name.npos;
}

void nameClasses(std::vector<std::string>& classes, const std::vector<Synset>& synsets) {
    std::map<std::string_view, std::string_view> names;
    for (const Synset& each : synsets) names.emplace(each.id, each.name);
    const auto nameOf = [&](const std::string& id) {
        const auto known = names.find(id);
        return std::string(known == names.end() ? std::string_view(id) : known->second);
    };
    std::map<std::string, int> uses;
    for (const std::string& id : classes) ++uses[nameOf(id)];
    for (std::string& id : classes) {
        const std::string name = nameOf(id);
        if (name != id) id = uses[name] > 1 ? name + " (" + id + ")" : name;
    }
}

}  // namespace lockstep
