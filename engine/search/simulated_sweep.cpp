#include "engine/search/simulated_sweep.h"

#include <limits>

#include "engine/search/suggest.h"

namespace lockstep {

void simulate(const SweepSpec& sweep, const SearchSpace& space, const TestFunction& function,
              const std::function<void(const SimulatedTrial& trial)>& tell) {
    std::vector<Tried> tried;
    double best = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t ended = 0;; ++ended) {
        while (tried.size() < ended + static_cast<std::size_t>(sweep.parallel)) {
            auto cell = nextCell(sweep, space, tried);
            if (!cell) break;
            tried.push_back({.cell = std::move(*cell), .state = TriedState::Running});
        }
        if (ended == tried.size()) return;
        Tried& oldest = tried[ended];
        oldest.loss = function.loss(oldest.cell);
        oldest.state = std::isfinite(oldest.loss) ? TriedState::Finished : TriedState::Failed;
        if (oldest.hasLoss() && !(best <= oldest.loss)) best = oldest.loss;
        tell({ended, oldest, best});
    }
}

}  // namespace lockstep
