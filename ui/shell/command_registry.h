#pragma once
#include <QAction>
#include <QKeySequence>
#include <QList>
#include <QMap>
#include <QMenu>
#include <QObject>
#include <functional>

namespace lockstep::ui {

// Everything that the window can be told to do. A command is a QAction whose objectName is its id, "run.pause", which
// never changes: menus, palette, shortcuts and the cheat sheet are made from here, and whoever leads on to a command
// names it by its id. GUI thread.
class CommandRegistry : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    // One that is there as long as the window; `owner`: the widget in which its shortcut holds. Its id is new.
    void add(QAction* command, QWidget* owner);
    QAction* add(const QString& id, const QString& text, const QKeySequence& keys, QWidget* owner,
                 const std::function<void()>& run);
    // Those of the page in front, asked whenever they are needed.
    void setFront(std::function<QList<QAction*>()> front) { m_front = std::move(front); }

    QList<QAction*> commands() const;        // the front page's, then the window's in the order they were added
    QAction* find(const QString& id) const;  // null: there is none now
    bool run(const QString& id) const;       // false: there is none, or not now
    // Ids in their order; "-" draws a line, "page.*" stands for all that begin so. Of those that are there.
    void fill(QMenu& menu, const QStringList& ids) const;

private:
    QList<QAction*> m_commands;
    std::function<QList<QAction*>()> m_front;
};

}  // namespace lockstep::ui
