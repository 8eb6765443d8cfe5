#pragma once
#include <functional>
#include <string>

#include "engine/spec/serve_messages.h"
#include "engine/train/environment.h"

namespace lockstep {

// Words are made far above; what a server says is given them here.
struct ServeWords {
    std::function<ToldProblem(const Problem& problem)> told;
    std::function<std::string(const DeviceFacts& facts)> facts;  // of a card that has a bus; one line
};
std::vector<ToldProblem> toldAll(const std::vector<Problem>& problems, const ServeWords& words);

// What this machine offers.
DevicesAnswer offeredDevices(const Environment& environment, const ServeWords& words);
DatasetsAnswer offeredDatasets(const Environment& environment);
ModelsAnswer offeredModels(const Environment& environment);
SettingsAnswer offeredSettings();

enum class Presence { Present, NeedsPath, Absent };
Presence presenceOf(const DatasetEntry& entry);  // whether its default place has data

// What is to be known of data.
DescribedData describedData(const DatasetReport& report, const ServeWords& words);
InspectAnswer inspection(const DatasetReport& report, const ServeWords& words);

std::vector<PlannedLayer> plannedLayers(const Graph& forward);

}  // namespace lockstep
