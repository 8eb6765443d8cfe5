#include "ui/history/trial_selection.h"

#include <QGuiApplication>
#include <QJsonDocument>
#include <QSettings>
#include <QStyleHints>
#include <QUndoCommand>
#include <algorithm>
#include <set>
#include <utility>

#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr int kMostSteps = 200;
constexpr std::int64_t kLooks = kSeriesColors * kMarkers;

bool isDoubleClick(const QElapsedTimer& since) {
    return since.elapsed() <= QGuiApplication::styleHints()->mouseDoubleClickInterval();
}

}  // namespace

class TrialSelection::Step : public QUndoCommand {
public:
    Step(TrialSelection& selection, const QString& words, State before, State after)
        : QUndoCommand(words), m_selection(selection), m_before(std::move(before)), m_after(std::move(after)) {
        m_made.start();
    }
    void undo() override { m_selection.become(m_before); }
    void redo() override { m_selection.become(m_after); }
    int id() const override { return 1; }
    // The second click of a double click takes back what the first one did: that is no step.
    bool mergeWith(const QUndoCommand* next) override {
        const auto& second = static_cast<const Step&>(*next);
        const bool isOfPins = m_before.brushes == m_after.brushes && m_before.scope == m_after.scope;
        if (!isOfPins || second.m_after != m_before || !isDoubleClick(m_made)) return false;
        setObsolete(true);
        return true;
    }

private:
    TrialSelection& m_selection;
    const State m_before, m_after;
    QElapsedTimer m_made;
};

void TrialSelection::setFilter(const QString& words) {
    if (std::exchange(m_filter, words) != words) emit filterChanged();
}

void TrialSelection::setListed(std::vector<std::int64_t> trials) {
    if (m_listed == trials) return;
    m_listed = std::move(trials);
    emit listedChanged();
}

void TrialSelection::setPinned(std::vector<std::int64_t> trials) {
    State next = m_now;
    next.pinned = std::move(trials);
    findPlaces(next);
    become(std::move(next));
}

void TrialSelection::setHovered(std::optional<std::int64_t> trial) {
    if (std::exchange(m_hovered, trial) != trial) emit hoveredChanged();
}

std::optional<int> TrialSelection::placeOf(std::int64_t trial) const {
    const auto found = m_now.places.find(trial);
    return found == m_now.places.end() ? std::nullopt : std::optional(found->second);
}

std::int64_t TrialSelection::lookOf(std::int64_t trial) const {
    constexpr auto places = static_cast<std::int64_t>(kMostPlaces);
    if (const auto place = placeOf(trial)) return *place;
    return places + trial % (kLooks - places);
}

bool TrialSelection::isQuiet(std::int64_t trial) const { return !m_now.places.empty() && !placeOf(trial); }

void TrialSelection::setScope(std::int64_t sweep) {
    State next = m_now;
    next.scope = sweep;
    become(std::move(next));
}

const Brushes& TrialSelection::brushes() const {
    static const Brushes none;
    const auto found = m_now.brushes.find(m_now.scope);
    return found == m_now.brushes.end() ? none : found->second;
}

// Pinned again at once, it stands where it stood, and so do all others.
void TrialSelection::pin(std::int64_t trial, bool isPinned) {
    const auto unpinned = std::exchange(m_unpinned, std::nullopt);
    const QString words = isPinned ? tr("pin trial %1").arg(trial) : tr("unpin trial %1").arg(trial);
    if (isPinned && unpinned && unpinned->trial == trial && unpinned->after == m_now && isDoubleClick(unpinned->since))
        return step(words, unpinned->before);
    State next = m_now;
    const bool wasPinned = std::ranges::find(next.pinned, trial) != next.pinned.end();
    if (isPinned && !wasPinned && next.pinned.size() >= kMostPlaces) return emit tooMany();
    if (isPinned && !wasPinned) next.pinned.push_back(trial);
    if (!isPinned) std::erase(next.pinned, trial);
    findPlaces(next);
    if (wasPinned && !isPinned) {
        m_unpinned.emplace(Unpinned{trial, m_now, next, {}});
        m_unpinned->since.start();
    }
    step(words, std::move(next));
}

void TrialSelection::unpin(const std::vector<std::int64_t>& trials) {
    State next = m_now;
    std::erase_if(next.pinned, [&](std::int64_t each) { return std::ranges::find(trials, each) != trials.end(); });
    findPlaces(next);
    step(tr("unpin trials"), std::move(next));
}

void TrialSelection::put(State& state, const std::string& axis, const AxisBrush& brush) {
    Brushes& brushes = state.brushes[state.scope];
    if (brush.empty()) brushes.erase(axis);
    else brushes[axis] = brush;
    if (brushes.empty()) state.brushes.erase(state.scope);
}

void TrialSelection::brush(const std::string& axis, const AxisBrush& brush) {
    State next = m_now;
    put(next, axis, brush);
    step(brush.empty() ? tr("take a brush off") : tr("brush"), std::move(next));
}

void TrialSelection::clearBrushes() {
    State next = m_now;
    next.brushes.erase(next.scope);
    step(tr("take all brushes off"), std::move(next));
}

void TrialSelection::dragBrush(const std::string& axis, const AxisBrush& brush) {
    if (!m_beforeDrag) m_beforeDrag = m_now;
    State next = m_now;
    put(next, axis, brush);
    become(std::move(next));
}

void TrialSelection::dropDrag() {
    if (auto before = std::exchange(m_beforeDrag, std::nullopt)) become(std::move(*before));
}

// A step that changes nothing would be one that cannot be seen to be taken back.
void TrialSelection::step(const QString& words, State to) {
    State before = std::exchange(m_beforeDrag, std::nullopt).value_or(m_now);
    if (before == to) return become(std::move(to));
    push(new Step(*this, words, std::move(before), std::move(to)));
}

void TrialSelection::push(QUndoCommand* step) {
    if (m_steps.undoLimit() == 0) m_steps.setUndoLimit(kMostSteps);
    m_steps.push(step);
}

void TrialSelection::become(State state) {
    const State before = std::exchange(m_now, std::move(state));
    const bool isOtherScope = before.scope != m_now.scope,
               areOtherPins = before.pinned != m_now.pinned || before.places != m_now.places;
    if (isOtherScope) emit scopeChanged();
    if (isOtherScope || before.brushes != m_now.brushes) emit brushesChanged();
    if (areOtherPins) emit pinnedChanged();
}

// Newly pinned ones take the first that are free, in the order in which they were pinned.
void TrialSelection::findPlaces(State& state) {
    const auto end = state.pinned.begin() + static_cast<std::ptrdiff_t>(std::min(state.pinned.size(), kMostPlaces));
    std::erase_if(state.places,
                  [&](const auto& each) { return std::find(state.pinned.begin(), end, each.first) == end; });
    for (auto trial = state.pinned.begin(); trial != end; ++trial) {
        if (state.places.contains(*trial)) continue;
        int place = 0;
        while (std::ranges::any_of(state.places, [&](const auto& each) { return each.second == place; })) ++place;
        state.places.emplace(*trial, place);
    }
}

void TrialSelection::save(QSettings& settings) const {
    settings.setValue("selection/scope", static_cast<qlonglong>(m_now.scope));
    QJsonObject brushes;
    for (const auto& [scope, each] : m_now.brushes) brushes.insert(QString::number(scope), jsonOf(each));
    settings.setValue("selection/brushes", QJsonDocument(brushes).toJson(QJsonDocument::Compact));
    QVariantList pinned, places;
    for (const auto trial : m_now.pinned) {
        pinned << static_cast<qlonglong>(trial);
        places << placeOf(trial).value_or(-1);
    }
    settings.setValue("selection/pinned", pinned);
    settings.setValue("selection/places", places);
}

void TrialSelection::restore(const QSettings& settings) {
    State state{.scope = settings.value("selection/scope").toLongLong()};
    const auto brushes = QJsonDocument::fromJson(settings.value("selection/brushes").toByteArray()).object();
    for (auto each = brushes.begin(); each != brushes.end(); ++each) {
        Brushes read = brushesFrom(each->toObject());
        if (!read.empty()) state.brushes.emplace(each.key().toLongLong(), std::move(read));
    }
    // What was pinned meanwhile was pinned on purpose.
    state.pinned = m_now.pinned, state.places = m_now.places;
    const auto pinned = settings.value("selection/pinned").toList(),
               places = settings.value("selection/places").toList();
    for (qsizetype i = 0; m_now.pinned.empty() && i < pinned.size(); ++i) {
        state.pinned.push_back(pinned[i].toLongLong());
        const int place = i < places.size() ? places[i].toInt() : -1;
        const bool isFree = std::ranges::none_of(state.places, [&](const auto& each) { return each.second == place; });
        if (place >= 0 && std::cmp_less(place, kMostPlaces) && isFree) state.places.emplace(state.pinned.back(), place);
    }
    findPlaces(state);
    m_steps.clear();
    become(std::move(state));
}

}  // namespace lockstep::ui
