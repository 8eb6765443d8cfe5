#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/data/dataset.h"
#include "engine/model/registry.h"
#include "engine/spec/devices.h"
#include "engine/spec/trial_spec.h"

namespace lockstep {

// What this build on this machine can do. Filled once by app, then read by all threads.
class Environment {
public:
    void add(std::unique_ptr<Backend> backend);
    void addMissing(std::string backend, Problem reason);        // shown in the device list
    void add(ModelEntry model);
    void add(DatasetEntry dataset);

    const Backend* backend(std::string_view name) const;
    const ModelEntry* model(std::string_view name) const;
    const DatasetEntry* dataset(std::string_view id) const;
    const std::vector<ModelEntry>& models() const { return m_models; }
    const std::vector<DatasetEntry>& datasets() const { return m_datasets; }
    std::vector<DeviceInfo> devices() const;
    const std::vector<std::pair<std::string, Problem>>& missing() const { return m_missing; }
    DeviceRequest deviceRequest() const;

private:
    std::vector<std::unique_ptr<Backend>> m_backends;
    std::vector<std::pair<std::string, Problem>> m_missing;
    std::vector<ModelEntry> m_models;
    std::vector<DatasetEntry> m_datasets;
};

}  // namespace lockstep
