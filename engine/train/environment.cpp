#include "engine/train/environment.h"

#include <algorithm>

namespace lockstep {

void Environment::add(std::unique_ptr<Backend> backend) { m_backends.push_back(std::move(backend)); }

void Environment::addMissing(std::string backend, Problem reason) {
    m_missing.emplace_back(std::move(backend), std::move(reason));
}

void Environment::add(ModelEntry model) { m_models.push_back(std::move(model)); }

void Environment::add(DatasetEntry dataset) { m_datasets.push_back(std::move(dataset)); }

const Backend* Environment::backend(std::string_view name) const {
    const auto found = std::ranges::find(m_backends, name, [](const auto& backend) { return backend->name(); });
    return found == m_backends.end() ? nullptr : found->get();
}

const ModelEntry* Environment::model(std::string_view name) const { return findModel(m_models, name); }

const DatasetEntry* Environment::dataset(std::string_view id) const {
    const auto found = std::ranges::find(m_datasets, id, &DatasetEntry::id);
    return found == m_datasets.end() ? nullptr : &*found;
}

std::vector<DeviceInfo> Environment::devices() const {
    std::vector<DeviceInfo> devices;
    for (const auto& backend : m_backends) {
        for (DeviceInfo& device : backend->devices()) devices.push_back(std::move(device));
    }
    return devices;
}

DeviceRequest Environment::deviceRequest() const { return {devices(), m_missing}; }

}  // namespace lockstep
