#pragma once

namespace lockstep {

// What a rank did with an update, in seconds: computing, in all-reduces, waiting for its data.
struct RankLoad {
    double compute = 0, reduce = 0, wait = 0;
    double total() const { return compute + reduce + wait; }
};

}  // namespace lockstep
