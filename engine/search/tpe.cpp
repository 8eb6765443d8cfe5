#include "engine/search/tpe.h"

#include <algorithm>

#include "engine/search/parzen.h"

namespace lockstep {

namespace {

constexpr std::size_t kCandidates = 64;
constexpr std::size_t kMostDraws = 6400;  // for so many candidates, where constraints refuse most of them
constexpr int kAttempts = 20;
constexpr std::size_t kMostGood = 25;

// Places of its space's dimensions.
using Group = std::vector<std::size_t>;

std::vector<Group> groupsOf(const std::vector<Dimension>& dimensions, bool isJoint) {
    std::vector<Group> groups;
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
        const auto same = std::ranges::find_if(
            groups, [&](const Group& each) { return isJoint && dimensions[each.front()].when == dimensions[i].when; });
        if (same == groups.end()) groups.push_back({i});
        else same->push_back(i);
    }
    return groups;
}

// nullopt: not all of the group's dimensions count there.
std::optional<UnitPlace> placeOf(const SearchSpace& space, const Group& group, const Cell& cell) {
    UnitPlace place;
    for (const std::size_t i : group) {
        const Dimension& dimension = space.dimensions()[i];
        const auto set = std::ranges::find(cell, dimension.path, &Setting::path);
        const auto share = set == cell.end() ? std::nullopt : dimension.shareOf(set->value);
        if (!share) return std::nullopt;
        place.push_back(*share);
    }
    return place;
}

// Finished ones first, by their losses; then stopped ones, that which came furthest first; failures last.
bool isBetter(const Tried& one, const Tried& other) {
    const auto rank = [](const Tried& each) { return !each.hasLoss() ? 2 : each.state == TriedState::Stopped ? 1 : 0; };
    if (rank(one) != rank(other)) return rank(one) < rank(other);
    if (rank(one) == 2) return false;
    if (rank(one) == 1 && one.epoch != other.epoch) return one.epoch > other.epoch;
    return one.loss < other.loss;
}

// What cells with a group were worth, each in the order of suggestion.
struct Split {
    std::vector<UnitPlace> good, others;
};

Split splitOf(const SearchSpace& space, const Group& group, std::span<const Tried> tried) {
    std::vector<const Tried*> ended;
    std::vector<std::pair<const Tried*, UnitPlace>> places;
    for (const Tried& each : tried) {
        auto place = placeOf(space, group, each.cell);
        if (!place) continue;
        if (each.hasEnded()) ended.push_back(&each);
        places.emplace_back(&each, std::move(*place));
    }
    std::ranges::stable_sort(ended, [](const Tried* one, const Tried* other) { return isBetter(*one, *other); });
    ended.resize(goodOf(ended.size()));
    std::erase_if(ended, [](const Tried* each) { return !each->hasLoss(); });
    Split split;
    for (auto& [cell, place] : places) {
        const bool isGood = std::ranges::find(ended, cell) != ended.end();
        (isGood ? split.good : split.others).push_back(std::move(place));
    }
    return split;
}

// What one group of dimensions has learned.
class Chooser {
public:
    Chooser(const SearchSpace& space, const Group& group, std::span<const Tried> tried)
        : Chooser(space, group, splitOf(space, group, tried)) {}

    // Adds the group's settings to the cell; false: none that may be was drawn.
    bool extend(Cell& cell, Draws& draws, const MayBe& mayBe) const {
        std::optional<Cell> best;
        double most = 0;
        std::size_t found = 0;
        for (std::size_t i = 0; i < kMostDraws && found < kCandidates; ++i) {
            Cell candidate = drawn(cell, draws);
            if (!mayBe(candidate)) continue;
            const auto place = placeOf(m_space, m_group, candidate);
            const double gain = m_good.logDensity(*place) - m_others.logDensity(*place);
            if (found++ > 0 && !(gain > most)) continue;
            most = gain;
            best = std::move(candidate);
        }
        if (best) cell = std::move(*best);
        return best.has_value();
    }

    const Dimension& first() const { return m_space.dimensions()[m_group.front()]; }

private:
    Chooser(const SearchSpace& space, const Group& group, const Split& split)
        : m_space(space),
          m_group(group),
          m_good(axesOf(space, group), split.good),
          m_others(axesOf(space, group), split.others) {}

    static std::vector<ParzenAxis> axesOf(const SearchSpace& space, const Group& group) {
        std::vector<ParzenAxis> axes;
        for (const std::size_t i : group) {
            const Dimension& dimension = space.dimensions()[i];
            const bool isOrdered = dimension.isOrdered();
            axes.push_back({isOrdered, isOrdered ? 0 : *dimension.count()});
        }
        return axes;
    }

    Cell drawn(Cell cell, Draws& draws) const {
        const std::vector<double> point = m_good.draw(draws);
        for (std::size_t i = 0; i < m_group.size(); ++i) {
            const Dimension& dimension = m_space.dimensions()[m_group[i]];
            cell.push_back({dimension.path, dimension.valueAt(point[i])});
        }
        return cell;
    }

    const SearchSpace& m_space;
    Group m_group;
    ParzenEstimator m_good, m_others;
};

// In the order of its space.
Cell sorted(const SearchSpace& space, Cell cell) {
    Cell out;
    for (const Dimension& each : space.dimensions()) {
        const auto set = std::ranges::find(cell, each.path, &Setting::path);
        if (set != cell.end()) out.push_back(std::move(*set));
    }
    return out;
}

}  // namespace

std::size_t goodOf(std::size_t count) { return std::min((count + 9) / 10, kMostGood); }

std::optional<Cell> suggestByTpe(const SearchSpace& space, std::span<const Tried> tried, bool isJoint,
                                 std::uint64_t seed, const MayBe& mayBe) {
    std::vector<Chooser> choosers;
    for (const Group& each : groupsOf(space.dimensions(), isJoint)) choosers.emplace_back(space, each, tried);
    Draws draws(CounterRng(seed, streamOf("tpe"), tried.size(), 0));
    const MayBe mayBeSorted = [&](const Cell& cell) { return mayBe(sorted(space, cell)); };
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        Cell cell;
        const bool isWhole = std::ranges::all_of(choosers, [&](const Chooser& each) {
            return !space.isActive(each.first(), cell) || each.extend(cell, draws, mayBeSorted);
        });
        if (isWhole) return sorted(space, std::move(cell));
    }
    return std::nullopt;
}

}  // namespace lockstep
