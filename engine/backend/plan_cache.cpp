#include "engine/backend/plan_cache.h"

#include <fstream>
#include <system_error>

namespace lockstep {

PlanCache::PlanCache(std::filesystem::path file, std::string header)
    : m_file(std::move(file)), m_header(std::move(header)) {
    load();
}

void PlanCache::load() {
    std::ifstream in(m_file);
    std::string line;
    if (!std::getline(in, line)) return;
    m_isForeign = line != m_header;
    while (!m_isForeign && std::getline(in, line)) {
        const std::size_t tab = line.find('\t');
        m_isTorn = in.eof();  // a line without an end was cut off as it was written
        if (tab == std::string::npos || m_isTorn) continue;
        m_plans[line.substr(0, tab)] = line.substr(tab + 1);
    }
}

std::optional<std::string> PlanCache::find(const std::string& shape) const {
    const std::lock_guard lock(m_mutex);
    const auto found = m_plans.find(shape);
    return found == m_plans.end() ? std::nullopt : std::optional(found->second);
}

void PlanCache::add(const std::string& shape, const std::string& plan) {
    const std::lock_guard lock(m_mutex);
    m_plans[shape] = plan;
    if ((shape + plan).find_first_of("\t\n") != std::string::npos) return;  // it would not be read back
    std::error_code ignored;
    std::filesystem::create_directories(m_file.parent_path(), ignored);
    const bool isNew = m_isForeign || !std::filesystem::exists(m_file, ignored);
    std::ofstream out(m_file, isNew ? std::ios::trunc : std::ios::app);
    // One write: another process's line does not come between.
    const std::string before = isNew ? m_header + '\n' : m_isTorn ? "\n" : "";
    m_isForeign = m_isTorn = false;
    const std::string text = before + shape + '\t' + plan + '\n';
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

PlanCache& PlanCaches::of(const std::string& kind) {
    std::string name = kind;
    for (char& c : name)
        if (c == ' ' || c == '/') c = '-';
    const std::lock_guard lock(m_mutex);
    return m_caches.try_emplace(kind, m_folder / (name + ".plans"), kind).first->second;
}

}  // namespace lockstep
