#include "ui/shell/command_registry.h"

#include <QWidget>

namespace lockstep::ui {

namespace {

QAction* withId(const QList<QAction*>& commands, const QString& id) {
    for (QAction* each : commands) {
        if (each->objectName() == id) return each;
    }
    return nullptr;
}

}  // namespace

void CommandRegistry::add(QAction* command, QWidget* owner) {
    Q_ASSERT(!command->objectName().isEmpty() && !withId(m_commands, command->objectName()));
    owner->addAction(command);
    m_commands << command;
}

QAction* CommandRegistry::add(const QString& id, const QString& text, const QKeySequence& keys, QWidget* owner,
                              const std::function<void()>& run) {
    auto* made = new QAction(text, owner);
    made->setObjectName(id);
    made->setShortcut(keys);
    connect(made, &QAction::triggered, owner, run);
    add(made, owner);
    return made;
}

QList<QAction*> CommandRegistry::commands() const { return (m_front ? m_front() : QList<QAction*>()) + m_commands; }

QAction* CommandRegistry::find(const QString& id) const { return withId(commands(), id); }

bool CommandRegistry::run(const QString& id) const {
    QAction* command = find(id);
    if (!command || !command->isEnabled()) return false;
    command->trigger();
    return true;
}

void CommandRegistry::fill(QMenu& menu, const QStringList& ids) const {
    for (const QString& id : ids) {
        if (id == "-") {
            menu.addSeparator();
        } else if (id.endsWith('*')) {
            for (QAction* each : m_commands) {
                if (each->objectName().startsWith(id.chopped(1))) menu.addAction(each);
            }
        } else if (QAction* command = withId(m_commands, id)) {
            menu.addAction(command);
        }
    }
}

}  // namespace lockstep::ui
