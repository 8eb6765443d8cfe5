#pragma once
#include <QObject>
#include <QString>
#include <cstdint>
#include <optional>
#include <vector>

namespace lockstep::ui {

// Which trials the person works with, whatever page shows them: the words that narrow the list, those pinned to be
// looked at together, in the order of the list, and the one that the pointer is on. Owned by the shell, shared by
// pages; each signal comes once for a change, whoever made it. GUI thread.
class TrialSelection : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    const QString& filter() const { return m_filter; }
    const std::vector<std::int64_t>& pinned() const { return m_pinned; }
    std::optional<std::int64_t> hovered() const { return m_hovered; }

    void setFilter(const QString& words);
    void setPinned(std::vector<std::int64_t> trials);
    void setHovered(std::optional<std::int64_t> trial);

signals:
    void filterChanged();
    void pinnedChanged();
    void hoveredChanged();

private:
    QString m_filter;
    std::vector<std::int64_t> m_pinned;
    std::optional<std::int64_t> m_hovered;
};

}  // namespace lockstep::ui
