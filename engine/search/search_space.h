#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/search/constraint.h"
#include "engine/search/dimension.h"
#include "engine/spec/trial_settings.h"

namespace lockstep {

// One point of a search: what it sets, in the order of its space. Dimensions whose condition does not hold are not in
// it.
using Cell = std::vector<Setting>;

// Dimensions, those first that others ask about, then by their paths; so a space is the same whoever writes it down.
class SearchSpace {
public:
    // `base`: what is not varied. Problems: those of check(); "spec.unknown-key", "search.twice-varied",
    // "search.empty", "search.circle", "search.never" (a condition that nothing can fulfil), "search.not-a-setting" of
    // a constraint; those of writeSetting() for a value that the setting cannot have.
    static Result<SearchSpace> from(std::vector<Dimension> dimensions, std::vector<Constraint> constraints,
                                    const TrialSpec& base);

    // Of a function that is no training: names are its own, and nothing stands but what is varied. Problems: those that
    // do not ask about settings.
    static Result<SearchSpace> from(std::vector<Dimension> dimensions, std::vector<Constraint> constraints);

    SearchSpace under(std::vector<Constraint> constraints) const;  // the same with these of its constraints alone

    const std::vector<Dimension>& dimensions() const { return m_dimensions; }
    const std::vector<Constraint>& constraints() const { return m_constraints; }

    // The cell of a point of the unit cube, one coordinate a dimension. nullopt: a constraint does not hold there.
    std::optional<Cell> cellAt(std::span<const double> point) const;
    // By choosing a value of each dimension that counts. nullopt: a constraint does not hold there.
    using Choose = std::function<ParamValue(const Dimension& dimension, std::size_t place)>;
    std::optional<Cell> cellBy(const Choose& choose) const;
    bool isActive(const Dimension& dimension, const Cell& soFar) const;
    bool holds(const Cell& cell) const;

private:
    static Result<SearchSpace> checked(std::vector<Dimension> dimensions, std::vector<Constraint> constraints,
                                       std::optional<TrialSpec> base);
    std::optional<ParamValue> valueOf(const std::string& path, const Cell& cell) const;

    std::vector<Dimension> m_dimensions;
    std::vector<Constraint> m_constraints;
    std::optional<TrialSpec> m_base;
};

// The trial of a cell: choices first, for another choice drops the settings of the one before.
TrialSpec trialOf(const TrialSpec& base, const Cell& cell);

}  // namespace lockstep
