#pragma once
#include <functional>
#include <memory>
#include <mutex>
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
    // Opened when first asked for: by its name, or with the whole list. What fails is missing, with the reason. Once.
    using Open = std::function<Result<std::unique_ptr<Backend>>()>;
    void addLater(std::string backend, Open open);
    void add(ModelEntry model);
    void add(DatasetEntry dataset);

    const Backend* backend(std::string_view name) const;
    const ModelEntry* model(std::string_view name) const;
    const DatasetEntry* dataset(std::string_view id) const;
    const std::vector<ModelEntry>& models() const { return m_models; }
    const std::vector<DatasetEntry>& datasets() const { return m_datasets; }
    std::vector<DeviceInfo> devices() const;
    std::vector<std::pair<std::string, Problem>> missing() const;
    // For a device text: what it does not name is not opened for it.
    DeviceRequest deviceRequest(std::string_view text) const;

private:
    struct Later {
        std::string backend;
        Open open;
    };
    struct Backends {
        std::mutex mutex;  // over all of these; a backend that was opened stays where it is
        std::vector<std::unique_ptr<Backend>> open;
        std::vector<Later> later;
        std::vector<std::pair<std::string, Problem>> missing;
    };
    enum class Wanted { All, Named };
    std::unique_lock<std::mutex> open(Wanted wanted, std::string_view text) const;
    std::vector<DeviceInfo> openDevices() const;

    std::unique_ptr<Backends> m_backends = std::make_unique<Backends>();
    std::vector<ModelEntry> m_models;
    std::vector<DatasetEntry> m_datasets;
};

}  // namespace lockstep
