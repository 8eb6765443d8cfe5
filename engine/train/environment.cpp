#include "engine/train/environment.h"

#include <algorithm>

namespace lockstep {

void Environment::add(std::unique_ptr<Backend> backend) { m_backends->open.push_back(std::move(backend)); }

void Environment::addLater(std::string backend, Open open) {
    m_backends->later.push_back({std::move(backend), std::move(open)});
}

void Environment::add(ModelEntry model) { m_models.push_back(std::move(model)); }

void Environment::add(DatasetEntry dataset) { m_datasets.push_back(std::move(dataset)); }

// Those with whose name the text begins, or all.
std::unique_lock<std::mutex> Environment::open(Wanted wanted, std::string_view text) const {
    std::unique_lock lock(m_backends->mutex);
    std::erase_if(m_backends->later, [&](Later& later) {
        if (wanted == Wanted::Named && !text.starts_with(later.backend)) return false;
        auto opened = later.open();
        if (opened.ok()) m_backends->open.push_back(std::move(opened).value());
        else m_backends->missing.emplace_back(later.backend, opened.problems().front());
        return true;
    });
    return lock;
}

const Backend* Environment::backend(std::string_view name) const {
    const auto lock = open(Wanted::Named, name);
    const auto& backends = m_backends->open;
    const auto found = std::ranges::find(backends, name, [](const auto& backend) { return backend->name(); });
    return found == backends.end() ? nullptr : found->get();
}

const ModelEntry* Environment::model(std::string_view name) const { return findModel(m_models, name); }

const DatasetEntry* Environment::dataset(std::string_view id) const {
    const auto found = std::ranges::find(m_datasets, id, &DatasetEntry::id);
    return found == m_datasets.end() ? nullptr : &*found;
}

std::vector<DeviceInfo> Environment::openDevices() const {
    std::vector<DeviceInfo> devices;
    for (const auto& backend : m_backends->open) {
        for (DeviceInfo& device : backend->devices()) devices.push_back(std::move(device));
    }
    return devices;
}

std::vector<DeviceInfo> Environment::devices() const {
    const auto lock = open(Wanted::All, {});
    return openDevices();
}

std::vector<std::pair<std::string, Problem>> Environment::missing() const {
    const auto lock = open(Wanted::All, {});
    return m_backends->missing;
}

DeviceRequest Environment::deviceRequest(std::string_view text) const {
    const auto lock = open(text == kAutomaticDevices ? Wanted::All : Wanted::Named, text);
    return {openDevices(), m_backends->missing};
}

}  // namespace lockstep
