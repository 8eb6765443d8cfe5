#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>

#include "engine/data/dataset.h"

namespace lockstep {

// A source's side of an OpeningWatch: it says how far it has come, and hears whether to go on. One opening; its thread,
// except where a function says otherwise.
class Reading {
public:
    Reading() = default;  // nobody watches
    Reading(const OpeningWatch& watch, std::filesystem::path path) : m_watch(watch), m_path(std::move(path)) {}

    bool isCancelled() const { return m_watch.stop.stop_requested(); }  // any thread
    void goOn() const;                                                  // throws ProblemError "dataset.cancelled"
    bool trains() const { return m_watch.trains; }                      // see OpeningWatch
    int usualSize() const { return m_watch.usualSize; }                 // likewise
    bool cuts() const { return m_watch.cuts; }
    bool glances() const { return m_watch.glances; }
    bool sparesMany() const { return m_watch.sparesMany || m_watch.glances; }
    void describe(const DatasetInfo& info) const;
    void list(std::int64_t files) const;                      // so many more are found; does not goOn()
    void match(std::int64_t done, std::int64_t total) const;  // so many of a list's rows belong to a file; goOn()
    void expect(std::int64_t samples) { m_total = samples; }  // in all
    void advance(std::int64_t done);                          // so many of them are read by now; goOn()
    void makes(std::uint64_t bytes) const;                    // see OpeningWatch

private:
    OpeningWatch m_watch;
    std::filesystem::path m_path;
    bool isTime() const;

    std::int64_t m_total = 0;
    mutable std::int64_t m_listed = 0;
    mutable std::chrono::steady_clock::time_point m_told = std::chrono::steady_clock::now();
};

}  // namespace lockstep
