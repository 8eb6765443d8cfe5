#pragma once
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace lockstep {

// Which plan was the fastest for a shape, kept on disk for each kind of device and version of its library, so that it
// is timed once. A text file: first a line that says what it is for, then one plan to a line, "shape <tab> plan", the
// last one for a shape counting. What cannot be read is timed anew, and a cache that cannot be written is not an error:
// it costs time, never a result. Any thread; processes may share the file.
class PlanCache {
public:
    // `file` is made with its folder when the first plan comes; `header`: the device's name and the library's version.
    PlanCache(std::filesystem::path file, std::string header);

    // Held while plans for a shape are timed: nobody disturbs that, and who comes second finds the plan.
    std::mutex& timing() { return m_timing; }
    std::optional<std::string> find(const std::string& shape) const;
    void add(const std::string& shape, const std::string& plan);  // of one line each

private:
    void load();

    std::filesystem::path m_file;
    std::string m_header;
    std::mutex m_timing;
    mutable std::mutex m_mutex;
    std::map<std::string, std::string> m_plans;
    bool m_isForeign = false;  // the file is of something else: it is replaced when a plan comes
    bool m_isTorn = false;     // its last line has no end
};

// One for each kind of device. Any thread.
class PlanCaches {
public:
    explicit PlanCaches(std::filesystem::path folder) : m_folder(std::move(folder)) {}
    PlanCache& of(const std::string& kind);

private:
    std::filesystem::path m_folder;
    std::mutex m_mutex;
    std::map<std::string, PlanCache> m_caches;
};

}  // namespace lockstep
