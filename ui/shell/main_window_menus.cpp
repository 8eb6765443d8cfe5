#include <QApplication>
#include <QMenuBar>
#include <QMessageBox>
#include <QSettings>
#include <QStackedWidget>
#include <QTabWidget>
#include <QUndoGroup>

#include "ui/run/run_page.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/main_window.h"
#include "ui/style/theme.h"
#include "ui/timeline/timeline_view.h"
#include "ui/train/train_page.h"
#include "ui/trials/trials_page.h"

// What the window can be told to do: menus, shortcuts and the palette.
namespace lockstep::ui {

QAction* MainWindow::command(QMenu* menu, const QString& title, const QKeySequence& keys,
                             const std::function<void()>& action) {
    QAction* made = menu->addAction(title, this, action);
    made->setShortcut(keys);
    m_commands << made;
    return made;
}

void MainWindow::buildMenus() {
    QMenu* file = menuBar()->addMenu(tr("&File"));
    command(file, tr("&New trial"), QKeySequence::New, [this] { goTo(kTrain); });
    command(file, tr("&Open a spec file…"), QKeySequence::Open, [this] { openSpec(); });
    file->addSeparator();
    command(file, tr("&Close the run's page"), QKeySequence::Close, [this] { closeRun(); });
    command(file, tr("&Quit"), QKeySequence::Quit, [this] { close(); });

    QMenu* edit = menuBar()->addMenu(tr("&Edit"));
    QAction* undo = m_undo->createUndoAction(this, tr("&Undo"));
    undo->setShortcut(QKeySequence::Undo);
    QAction* redo = m_undo->createRedoAction(this, tr("&Redo"));
    redo->setShortcut(QKeySequence::Redo);
    edit->addActions({undo, redo});
    m_commands << undo << redo;

    QMenu* view = menuBar()->addMenu(tr("&View"));
    command(view, tr("&Train"), tr("Ctrl+1"), [this] { goTo(kTrain); });
    command(view, tr("&Runs"), tr("Ctrl+2"), [this] { goTo(kRuns); });
    command(view, tr("Tr&ials"), tr("Ctrl+3"), [this] { goTo(kTrials); });
    command(view, tr("Next run"), tr("Ctrl+PgDown"), [this] { stepRun(1); });
    command(view, tr("Previous run"), tr("Ctrl+PgUp"), [this] { stepRun(-1); });
    view->addSeparator();
    QAction* timeline = m_timeline->toggleViewAction();
    timeline->setText(tr("Ti&meline"));
    timeline->setShortcut(tr("Ctrl+4"));
    view->addAction(timeline);
    m_commands << timeline;
    view->addSeparator();
    const auto theme = [&](const QString& title, ThemeChoice choice) {
        command(view, title, {}, [choice] {
            QSettings().setValue("theme", static_cast<int>(choice));
            applyTheme(*qApp, choice);
        });
    };
    theme(tr("Light theme"), ThemeChoice::Light);
    theme(tr("Dark theme"), ThemeChoice::Dark);
    theme(tr("Theme of the system"), ThemeChoice::System);
    view->addSeparator();
    command(view, tr("Full screen"), QKeySequence::FullScreen,
            [this] { setWindowState(windowState() ^ Qt::WindowFullScreen); });
    command(view, tr("Reset layout"), {}, [this] { resetLayout(); });

    QMenu* help = menuBar()->addMenu(tr("&Help"));
    command(help, tr("&Commands…"), tr("Ctrl+K"), [this] { showPalette(); });
    command(help, tr("Keyboard &shortcuts"), tr("Ctrl+/"), [this] { showShortcuts(); });
    command(help, tr("&About Lockstep"), {}, [this] { showAbout(); });
}

// Those of the page in front, and the window's.
QList<QAction*> MainWindow::commands() const {
    const QWidget* front = m_pages->currentWidget();
    if (front == m_trainPage) return m_trainPage->pageActions() + m_commands;
    const auto* run = qobject_cast<RunPage*>(m_runTabs->currentWidget());
    if (front == m_runsPage && run) return run->pageActions() + m_commands;
    if (front == m_trialsPage) return m_trialsPage->pageActions() + m_commands;
    return m_commands;
}

void MainWindow::showPalette() {
    auto* palette = new CommandPalette(commands(), this);
    palette->move(geometry().center() - palette->rect().center());
    palette->open();
}

void MainWindow::showShortcuts() {
    QString rows;
    for (const QAction* each : commands()) {
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
