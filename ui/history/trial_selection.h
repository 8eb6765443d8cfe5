#pragma once
#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QUndoStack>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "ui/history/brush.h"

class QSettings;

namespace lockstep::ui {

// Which trials the person works with, whatever page shows them: the words that narrow the list and what it then shows,
// those pinned to be looked at together, in the order of the list, the one that the pointer is on, and the brushes that
// narrow a comparison, of each sweep its own. Owned by the shell, shared by pages; each signal comes once for a change,
// whoever made it. GUI thread.
class TrialSelection : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    const QString& filter() const { return m_filter; }
    // nullopt: no list has been shown yet; all trials that are not put away.
    const std::optional<std::vector<std::int64_t>>& listed() const { return m_listed; }
    const std::vector<std::int64_t>& pinned() const { return m_now.pinned; }
    std::optional<std::int64_t> hovered() const { return m_hovered; }

    void setFilter(const QString& words);
    void setListed(std::vector<std::int64_t> trials);
    void setPinned(std::vector<std::int64_t> trials);
    void setHovered(std::optional<std::int64_t> trial);

    // More pinned trials nobody can tell apart: the first so many have a place, which they keep while they are pinned.
    static constexpr std::size_t kMostPlaces = 10;
    // Its colour (seriesColor) and marker, in every view; nullopt: it is not pinned, or one too many.
    std::optional<int> placeOf(std::int64_t trial) const;
    // Colour and marker where every trial has its own: its place's, or such as no place has.
    std::int64_t lookOf(std::int64_t trial) const;
    bool isQuiet(std::int64_t trial) const;  // others are pinned, and stand out

    // What is compared: the trials of a sweep; 0: those that the list shows.
    std::int64_t scope() const { return m_now.scope; }
    void setScope(std::int64_t sweep);
    const Brushes& brushes() const;  // of the scope

    // What can be taken back, one step each.
    void pin(std::int64_t trial, bool isPinned);  // at the end; of those that have places, see tooMany()
    void brush(const std::string& axis, const AxisBrush& brush);  // an empty one takes it off
    void clearBrushes();
    void unpin(const std::vector<std::int64_t>& trials);
    // While it is being dragged: no step yet. brush() ends it; so does dropDrag(), which takes it back.
    void dragBrush(const std::string& axis, const AxisBrush& brush);
    void dropDrag();
    void push(QUndoCommand* step);  // of a page's own, among these; takes it
    QUndoStack& steps() { return m_steps; }

    void save(QSettings& settings) const;  // scope, brushes and pins
    void restore(const QSettings& settings);

signals:
    void filterChanged();
    void listedChanged();
    void pinnedChanged();  // or their places
    void tooMany();        // all places are taken: nothing was pinned
    void hoveredChanged();
    void scopeChanged();  // before the signal of its brushes
    void brushesChanged();

private:
    class Step;
    struct State {
        std::int64_t scope = 0;
        std::map<std::int64_t, Brushes> brushes = {};  // by scope; none is empty
        std::vector<std::int64_t> pinned = {};
        std::map<std::int64_t, int> places = {};  // of the first of them: kept while they are pinned
        bool operator==(const State&) const = default;
    };

    static void put(State& state, const std::string& axis, const AxisBrush& brush);
    static void findPlaces(State& state);
    void become(State state);
    void step(const QString& words, State to);

    QString m_filter;
    std::optional<std::vector<std::int64_t>> m_listed;
    std::optional<std::int64_t> m_hovered;
    State m_now;
    std::optional<State> m_beforeDrag;
    // By the first click of what may be a double click.
    struct Unpinned {
        std::int64_t trial = 0;
        State before, after;
        QElapsedTimer since;
    };
    std::optional<Unpinned> m_unpinned;
    QUndoStack m_steps;
};

}  // namespace lockstep::ui
