#include "ui/history/trial_selection.h"

#include <utility>

namespace lockstep::ui {

void TrialSelection::setFilter(const QString& words) {
    if (std::exchange(m_filter, words) != words) emit filterChanged();
}

void TrialSelection::setPinned(std::vector<std::int64_t> trials) {
    if (m_pinned == trials) return;
    m_pinned = std::move(trials);
    emit pinnedChanged();
}

void TrialSelection::setHovered(std::optional<std::int64_t> trial) {
    if (std::exchange(m_hovered, trial) != trial) emit hoveredChanged();
}

}  // namespace lockstep::ui
