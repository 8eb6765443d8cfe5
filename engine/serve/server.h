#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/serve/asked_sample_reader.h"
#include "engine/serve/samples.h"
#include "engine/spec/serve_messages.h"
#include "engine/train/environment.h"

namespace lockstep {

// What a server knows from the program that it is part of.
struct ServeHost {
    std::string version;
    std::function<const Environment&()> environment;      // looked at on first need
    std::function<std::vector<OfferedPreset>()> presets;  // throws ProblemError
    ServeWords words;
    std::function<void(const std::string& line)> tell = {};  // lines ahead of an answer; empty: none are wanted
};

// Answers what `lockstep serve` is asked: see spec/serve_messages.h. One thread.
class Server {
public:
    explicit Server(ServeHost host) : m_host(std::move(host)) {}

    // One line for one line. Whatever goes wrong with a question becomes its reply; throws nothing but std::bad_alloc.
    std::string reply(std::string_view line);

private:
    // Throw ProblemError; EngineError where a spec cannot be compiled.
    HelloAnswer answer(const HelloRequest&) { return {m_host.version}; }
    DevicesAnswer answer(const DevicesRequest&) { return offeredDevices(m_host.environment(), m_host.words); }
    DatasetsAnswer answer(const DatasetsRequest&) { return offeredDatasets(m_host.environment()); }
    ModelsAnswer answer(const ModelsRequest&) { return offeredModels(m_host.environment()); }
    SettingsAnswer answer(const SettingsRequest&) { return offeredSettings(); }
    PresetsAnswer answer(const PresetsRequest&) { return {m_host.presets()}; }
    InspectAnswer answer(const InspectRequest& request);
    ValidateAnswer answer(const ValidateRequest& request);
    PlanAnswer answer(const PlanRequest& request);
    SpeedsAnswer answer(const SpeedsRequest& request);
    SamplesAnswer answer(const SamplesRequest& request);
    AskedSamplesAnswer answer(const AskedSamplesRequest& request);
    ScheduleAnswer answer(const ScheduleRequest& request);

    const Glimpse& glimpse(const TrialSpec& spec);
    OpeningWatch watch() const;  // whoever asks hears how far the data are read

    struct Seen {
        Choice dataset;
        std::filesystem::path path;
        int usualSize = 0;
        bool cuts = false;
        bool operator==(const Seen&) const = default;
    };
    ServeHost m_host;
    JsonText m_id{{}};  // of the question that is answered
    AskedSampleReader m_asked;
    std::optional<Glimpse> m_glimpse;  // of what was last looked at
    Seen m_seen;
};

}  // namespace lockstep
