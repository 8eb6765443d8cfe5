#include "ui/history/group_reader.h"

#include <algorithm>
#include <set>

#include "engine/history/queue_query.h"
#include "engine/queue/sweep_progress.h"

namespace lockstep::ui {

namespace {

// One that is damaged has no words; its trials are there all the same.
Cell cellOrNone(const std::string& settings) {
    try {
        return cellFrom(settings);
    } catch (const ProblemError&) {
        return {};
    }
}

std::map<std::int64_t, Cell> cellsOf(const QueueQuery& queue, std::int64_t sweep) {
    std::map<std::int64_t, Cell> cells;
    for (const GroupCell& each : queue.cells(sweep)) cells.emplace(each.number, cellOrNone(each.settings));
    return cells;
}

}  // namespace

TrialGroups GroupReader::read(const TrialQuery& query) {
    const QueueQuery queue(query);
    TrialGroups found{.sweeps = queue.groups(), .places = queue.places(), .cells = {}};
    std::erase_if(found.sweeps, [](const TrialGroup& each) { return each.kind != "sweep"; });
    std::set<std::int64_t> known;
    for (TrialGroup& each : found.sweeps) {
        each.specJson.clear();
        known.insert(each.id);
    }
    std::erase_if(found.places, [&](const auto& each) { return !known.contains(each.second.group); });
    std::map<std::int64_t, std::int64_t> last;  // the highest number of a cell with a trial, by sweep
    for (const auto& [trial, place] : found.places) {
        auto& cell = last[place.group];
        cell = std::max(cell, place.cell);
    }
    for (const auto& [sweep, cell] : last) {
        auto& cells = m_cells[sweep];
        if (cells.empty() || cells.rbegin()->first < cell) cells = cellsOf(queue, sweep);
    }
    found.cells = m_cells;
    return found;
}

}  // namespace lockstep::ui
