#pragma once
#include <cstddef>
#include <optional>
#include <vector>

namespace lockstep::ui {

// How long a run will still take: its steps at their moving median, its evaluations at theirs. Seconds.
class Eta {
public:
    void addStep(double seconds);
    void addEvaluation(double seconds);
    // The moving median of a step; empty until one is known.
    std::optional<double> stepSeconds() const;
    // Empty until steady: enough steps, and the older half of them about as fast as the newer.
    std::optional<double> remaining(double steps, double evaluations) const;

private:
    static constexpr std::size_t kWindow = 256, kEnough = 20;

    // The newest values of a series; older ones are overwritten.
    struct Window {
        void add(double value);
        std::vector<double> inOrder() const;
        std::vector<double> values;
        std::size_t next = 0;
    };
    Window m_steps, m_evaluations;
};

}  // namespace lockstep::ui
