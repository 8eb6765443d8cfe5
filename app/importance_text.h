#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/listing.h"
#include "engine/search/fanova.h"
#include "engine/search/ped_anova.h"

namespace lockstep {

// What there is to say of the importance of settings, for the terminal and for scripts.
struct ImportanceFindings {
    std::vector<Dimension> settings;
    std::optional<Fanova> fanova = {};
    std::optional<PedAnova> pedAnova = {};
    double quantile = 0.1;
};

// A line a setting, the most important first: its shares as numbers and bars; "–" where there is too little to say.
std::string importanceTable(const ImportanceFindings& findings);
// A sentence for each of the two questions.
std::string importanceSentences(const ImportanceFindings& findings);
// "settings", "fanova", "ped_anova"; numbers also where there is too little to say, which "verdict" tells.
Json importanceJson(const ImportanceFindings& findings);

}  // namespace lockstep
