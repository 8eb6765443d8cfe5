#include "ui/compare/curve_groups.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace lockstep::ui {

namespace {

struct CurveGroupsText {
    Q_DECLARE_TR_FUNCTIONS(CurveGroupsText)
};

constexpr double kNoObjective = std::numeric_limits<double>::quiet_NaN();

class GroupMaker {
public:
    GroupMaker(const CompareScene& scene, const TrialSelection& selection)
        : m_scene(scene), m_table(*scene.table), m_selection(selection) {}

    std::vector<CurveGroup> make() {
        gather();
        std::erase_if(m_groups, [](const CurveGroup& group) { return group.rows.empty(); });
        for (CurveGroup& group : m_groups) complete(group);
        std::ranges::stable_sort(m_groups, [this](const auto& a, const auto& b) { return isBefore(a, b); });
        const bool isAnyPinned =
            std::ranges::any_of(m_groups, [](const CurveGroup& each) { return each.place || !each.apart.empty(); });
        for (int rank = 0; !isAnyPinned && rank < kBestGroups && rank < std::ssize(m_groups); ++rank)
            m_groups[static_cast<std::size_t>(rank)].rank = rank;
        return std::move(m_groups);
    }

private:
    // In the order of the ranking, so that the first that passes of each is its best, and equal groups have an order.
    void gather() {
        std::map<std::int64_t, std::size_t> known;
        for (const std::size_t row : m_scene.ranking) {
            if (!isShown(row)) continue;
            const auto [at, isNew] = known.emplace(m_table.trials[row].group, m_groups.size());
            if (isNew) m_groups.push_back({.group = at->first, .lead = row});
        }
        for (std::size_t row = 0; row < m_table.trials.size(); ++row) {
            const auto at = known.find(m_table.trials[row].group);
            if (at == known.end()) continue;
            ++m_groups[at->second].members;
            if (isShown(row)) m_groups[at->second].rows.push_back(row);
        }
    }

    bool isShown(std::size_t row) const {
        return m_scene.passes[row] || m_selection.placeOf(m_table.trials[row].trial);
    }

    void complete(CurveGroup& group) const {
        group.objective = meanOf(group);
        group.isCutShort = isCutShort(group);
        for (const std::size_t row : group.rows)
            if (const auto place = m_selection.placeOf(m_table.trials[row].trial)) group.apart.emplace(row, *place);
        const auto first = std::ranges::min_element(group.apart, {}, [](const auto& each) { return each.second; });
        if (first != group.apart.end()) group.lead = first->first;
        if (group.apart.size() == 1) {
            group.place = first->second;
            group.apart.clear();
        }
        group.name = nameOf(group);
    }

    double meanOf(const CurveGroup& group) const {
        if (!m_table.objective) return kNoObjective;
        double sum = 0;
        int count = 0;
        for (const std::size_t row : group.rows) {
            const double value = m_table.axes[*m_table.objective].values[row];
            if (std::isfinite(value)) sum += value, ++count;
        }
        return count > 0 ? sum / count : kNoObjective;
    }

    bool isCutShort(const CurveGroup& group) const {
        bool isAny = false;
        for (const std::size_t row : group.rows) {
            if (m_table.trials[row].hasFailed()) continue;
            if (!m_table.trials[row].isCutShort) return false;
            isAny = true;
        }
        return isAny;
    }

    bool isBefore(const CurveGroup& a, const CurveGroup& b) const {
        if (a.isCutShort != b.isCutShort) return b.isCutShort;
        if (std::isfinite(a.objective) != std::isfinite(b.objective)) return std::isfinite(a.objective);
        if (!std::isfinite(a.objective)) return false;
        const bool isLower = m_table.axes[*m_table.objective].better == Better::Lower;
        return isLower ? a.objective < b.objective : a.objective > b.objective;
    }

    QString nameOf(const CurveGroup& group) const {
        const ComparedTrial& lead = m_table.trials[group.lead];
        const QString number = QString("#%1").arg(lead.trial);
        const QString words = lead.words.isEmpty() ? lead.name.mid(number.size()).trimmed() : lead.words;
        if (group.members == 1) return (number + ' ' + words).trimmed();
        const QString seeds = group.rows.size() == group.members
                                  ? CurveGroupsText::tr("(%1 seeds)").arg(group.members)
                                  : CurveGroupsText::tr("(%1 of %2 seeds)").arg(group.rows.size()).arg(group.members);
        return QStringList{number, seeds, words}.join(' ').trimmed();
    }

    const CompareScene& m_scene;
    const CompareTable& m_table;
    const TrialSelection& m_selection;
    std::vector<CurveGroup> m_groups;
};

}  // namespace

// A pair of colour and marker comes again after 35.
int CurveGroup::look() const {
    return place.value_or(static_cast<int>(TrialSelection::kMostPlaces) + rank.value_or(0));
}

std::vector<CurveGroup> curveGroups(const CompareScene& scene, const TrialSelection& selection) {
    return GroupMaker(scene, selection).make();
}

}  // namespace lockstep::ui
