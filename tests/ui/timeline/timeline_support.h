#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "ui/timeline/timeline_model.h"

namespace lockstep::ui {

// A trace as the engine would write it: per rank a lane for each of compute, all-reduce and load.
struct MadeTrace {
    std::vector<std::string> names{"conv2d first",          "update 0", "dense last", "all-reduce 0",
                                   "wait for all-reduce 0", "read"};
    std::vector<TraceReader::Lane> lanes;
    std::vector<TraceReader::LaneSpan> spans;

    explicit MadeTrace(int ranks) {
        for (int rank = 0; rank < ranks; ++rank) {
            for (const char* lane : {"compute", "all-reduce", "load"}) lanes.push_back({rank, lane});
        }
    }
    void add(int rank, int lane, const std::string& name, std::int64_t step, std::int64_t begin, std::int64_t end) {
        const auto id = std::ranges::find(names, name) - names.begin();
        spans.push_back(
            {static_cast<std::uint32_t>(3 * rank + lane), {static_cast<std::uint32_t>(id), step, begin, end}});
    }
    // 100 ns: read 0-20, conv 20-50, dense 50-60, waiting 60-80, update 80-90; the reduction is under way 50-80.
    void addStep(int rank, std::int64_t step, std::int64_t at) {
        add(rank, 2, "read", step, at, at + 20);
        add(rank, 0, "conv2d first", step, at + 20, at + 50);
        add(rank, 0, "dense last", step, at + 50, at + 60);
        add(rank, 1, "all-reduce 0", step, at + 50, at + 80);
        add(rank, 0, "wait for all-reduce 0", step, at + 60, at + 80);
        add(rank, 0, "update 0", step, at + 80, at + 90);
    }
    void appendTo(TimelineModel& model) {
        model.append(names, lanes, spans);
        spans.clear();
    }
};

}  // namespace lockstep::ui
