#include "ui/queue/sweep_list.h"

#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>
#include <set>

#include "ui/queue/sweep_card.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr int kCardWidth = 420;  // its buttons in a line

}  // namespace

SweepList::SweepList(Explain explain, QWidget* parent)
    : QScrollArea(parent), m_explain(std::move(explain)), m_none(new QLabel(tr("No sweep is under way."))) {
    setObjectName("sweeps");
    setWidgetResizable(true);
    setMinimumWidth(kCardWidth);
    setFrameShape(NoFrame);
    setFocusPolicy(Qt::NoFocus);  // its buttons take the focus, and it follows them
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_none->setProperty("role", "muted");
    auto* inside = new QWidget;
    m_column = new QVBoxLayout(inside);
    m_column->setContentsMargins(0, 0, space::kSmall, 0);
    m_column->setSpacing(space::kMedium);
    m_column->addWidget(m_none);
    m_column->addStretch();
    setWidget(inside);
}

void SweepList::setSweeps(const std::vector<SweepRow>& sweeps, std::uint64_t available) {
    m_sweeps = sweeps;
    m_available = available;
    refresh();
}

void SweepList::setShowsEnded(bool shows) {
    m_showsEnded = shows;
    refresh();
}

int SweepList::ended() const {
    return static_cast<int>(std::ranges::count_if(m_sweeps, [](const SweepRow& each) { return each.hasEnded(); }));
}

// A card stays while its sweep is shown, so that its button keeps the focus.
void SweepList::refresh() {
    std::set<std::int64_t> shown;
    for (const SweepRow& each : m_sweeps) {
        if (isShown(each)) shown.insert(each.result.group.id);
    }
    const std::size_t before = m_cards.size();
    const auto gone = std::erase_if(m_cards, [&](const auto& each) {
        if (shown.contains(each.first)) return false;
        m_column->removeWidget(each.second);
        each.second->hide();
        each.second->deleteLater();
        return true;
    });
    int place = 0;
    for (const SweepRow& each : m_sweeps) {
        if (!isShown(each)) continue;
        SweepCard* card = cardOf(each.result.group.id);
        if (m_column->indexOf(card) != place) m_column->insertWidget(place, card);
        ++place;
        card->setSweep(each, m_available);
    }
    m_none->setVisible(shown.empty());
    if (gone > 0 || before - gone != m_cards.size()) emit cardsChanged();
}

SweepCard* SweepList::cardOf(std::int64_t sweep) {
    SweepCard*& card = m_cards[sweep];
    if (card) return card;
    card = new SweepCard(m_explain);
    connect(card, &SweepCard::stepWanted, this, &SweepList::stepWanted);
    connect(card, &SweepCard::extensionWanted, this, &SweepList::extensionWanted);
    connect(card, &SweepCard::trialWanted, this, &SweepList::trialWanted);
    connect(card, &SweepCard::trialsWanted, this, &SweepList::trialsWanted);
    connect(card, &SweepCard::compareWanted, this, &SweepList::compareWanted);
    connect(card, &SweepCard::reportWanted, this, &SweepList::reportWanted);
    return card;
}

}  // namespace lockstep::ui
