#include <QApplication>
#include <QDockWidget>
#include <QMenuBar>
#include <QMessageBox>
#include <QSettings>
#include <QUndoGroup>

#include "ui/shell/command_palette.h"
#include "ui/shell/main_window.h"
#include "ui/style/theme.h"

// What the window can be told to do: the registry is filled, and menus, palette and cheat sheet are made from it.
namespace lockstep::ui {

void MainWindow::addPageCommands() {
    int place = 0;
    for (const PageEntry* entry : m_studio->pages()) {
        if (!entry->made()) continue;
        for (QAction* each : entry->made()->windowCommands()) m_commands.add(each, this);
    }
    for (const PageEntry* entry : m_studio->pages()) {
        const int at = place++;
        m_commands.add("page." + entry->face().id, entry->face().title, QKeySequence(Qt::CTRL | (Qt::Key_1 + at)), this,
                       [this, at] { goTo(at); });
    }
    for (QDockWidget* dock : m_studio->docks()) {
        QAction* toggle = dock->toggleViewAction();
        toggle->setObjectName("dock." + dock->objectName());
        toggle->setShortcut(QKeySequence(Qt::CTRL | (Qt::Key_1 + place++)));
        m_commands.add(toggle, this);
    }
}

void MainWindow::addThemes() {
    const auto theme = [this](const QString& id, const QString& title, ThemeChoice choice) {
        m_commands.add("theme." + id, title, {}, this, [choice] {
            QSettings().setValue("theme", static_cast<int>(choice));
            applyTheme(*qApp, choice);
        });
    };
    theme("light", tr("Light theme"), ThemeChoice::Light);
    theme("dark", tr("Dark theme"), ThemeChoice::Dark);
    theme("system", tr("Theme of the system"), ThemeChoice::System);
}

void MainWindow::addCommands() {
    addPageCommands();
    m_commands.add("window.quit", tr("&Quit"), QKeySequence::Quit, this, [this] { close(); });
    const auto addStep = [this](const QString& id, QAction* step, const QKeySequence& keys) {
        step->setObjectName(id);
        step->setShortcut(keys);
        m_commands.add(step, this);
    };
    addStep("edit.undo", m_undo->createUndoAction(this, tr("&Undo")), QKeySequence::Undo);
    addStep("edit.redo", m_undo->createRedoAction(this, tr("&Redo")), QKeySequence::Redo);
    addThemes();
    m_commands.add("window.full-screen", tr("Full screen"), QKeySequence::FullScreen, this,
                   [this] { setWindowState(windowState() ^ Qt::WindowFullScreen); });
    m_commands.add("window.reset-layout", tr("Reset layout"), {}, this,
                   [this] { restoreState(m_firstState, kStateVersion); });
    m_commands.add("help.commands", tr("&Commands…"), tr("Ctrl+K"), this, [this] { showPalette(); });
    m_commands.add("help.shortcuts", tr("Keyboard &shortcuts"), tr("Ctrl+/"), this, [this] { showShortcuts(); })
        ->setShortcuts({tr("Ctrl+/"), Qt::Key_F1, Qt::Key_Question});
    m_commands.add("help.about", tr("&About Lockstep"), {}, this, [this] { showAbout(); });
}

void MainWindow::buildMenus() {
    const auto menu = [this](const QString& title, const QStringList& ids) {
        m_commands.fill(*menuBar()->addMenu(title), ids);
    };
    menu(tr("&File"), {"train.*", "-", "run.close", "window.quit"});
    menu(tr("&Edit"), {"edit.*"});
    menu(tr("&View"), {"page.*", "run.next", "run.previous", "-", "dock.*", "-", "theme.*", "-", "window.full-screen",
                       "window.reset-layout"});
    menu(tr("&Help"), {"help.*"});
}

void MainWindow::showPalette() {
    auto* palette = new CommandPalette(m_commands.commands(), this);
    palette->move(geometry().center() - palette->rect().center());
    palette->open();
}

void MainWindow::showShortcuts() {
    QString rows;
    for (const QAction* each : m_commands.commands()) {
        if (each->shortcut().isEmpty()) continue;
        rows += QString("<tr><td><b>%1</b>&nbsp;&nbsp;</td><td>%2</td></tr>")
                    .arg(each->shortcut().toString(QKeySequence::NativeText), each->text().remove('&').toHtmlEscaped());
    }
    QMessageBox::information(this, tr("Keyboard shortcuts"), "<table>" + rows + "</table>");
}

void MainWindow::showAbout() {
    QMessageBox::about(
        this, tr("About Lockstep"),
        tr("<b>Lockstep %1</b><br>A studio for data-parallel training.<br><br>Runs are engine processes of their own: "
           "they go on when this window is closed, and are found again when it is opened.")
            .arg(QStringLiteral(LOCKSTEP_VERSION)));
}

}  // namespace lockstep::ui
