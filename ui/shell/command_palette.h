#pragma once
#include <QDialog>
#include <QList>

class QAction;
class QLineEdit;
class QListWidget;

namespace lockstep::ui {

// Ctrl+K: every command by a few letters of its name. Shows what is enabled, with its shortcut; Enter runs it.
class CommandPalette : public QDialog {
    Q_OBJECT
public:
    CommandPalette(QList<QAction*> commands, QWidget* parent);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void refresh();
    void run();

    QList<QAction*> m_commands;
    QLineEdit* m_input;
    QListWidget* m_list;
};

}  // namespace lockstep::ui
