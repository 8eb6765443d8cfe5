#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// What WordNet's numbers are called: "n01440764" and its names, the first of which people say.
struct Synset {
    std::string id, name;
};

struct SynsetList {
    std::vector<Synset> synsets;
    bool isOfClasses = false;  // in their order; else it is a dictionary
};

// The first in the folders: LOC_synset_mapping.txt or synset_words.txt, which are of ImageNet's classes, or words.txt;
// empty where there is none. Throws ProblemError of text_file.h.
SynsetList findSynsets(std::span<const std::filesystem::path> folders);

bool isSynsetId(std::string_view name);  // "n", and eight digits

// Classes in the list get their names; those of one name keep the number behind it, in brackets.
void nameClasses(std::vector<std::string>& classes, const std::vector<Synset>& synsets);

}  // namespace lockstep
