#pragma once
#include <QMainWindow>
#include <memory>

#include "engine/session/places.h"
#include "ui/shell/command_registry.h"
#include "ui/shell/studio.h"
#include "ui/style/explanation.h"

class QListWidget;
class QStackedWidget;
class QUndoGroup;

namespace lockstep::ui {

class PageFrame;

// Pages, docks, menus and commands around what a studio has; what it shows it does not know.
class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    // `engineProgram`: the path of `lockstep`.
    MainWindow(const QString& engineProgram, Places places, Explain explain);
    ~MainWindow() override;

    void openRun(std::int64_t trial) { m_studio->openRun(trial); }  // its page, in front
    const CommandRegistry& commands() const { return m_commands; }

protected:
    void closeEvent(QCloseEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void buildMiddle();
    void buildPages();
    void take(Page* page, int place);
    void buildNavigation();
    void addPageCommands();
    void addCommands();
    void addThemes();
    void buildMenus();
    void restore();
    void save();

    void goTo(int page);
    PageFrame* front() const;
    void drawIcons();
    void showPalette();
    void showShortcuts();
    void showAbout();

    CommandRegistry m_commands;
    std::unique_ptr<Studio> m_studio;
    QUndoGroup* m_undo;  // of the page that is shown
    QListWidget* m_navigation = nullptr;
    QStackedWidget* m_pages = nullptr;  // of PageFrames
    static constexpr int kStateVersion = 1;
    QByteArray m_firstState;  // of the docks, for "reset layout"
};

}  // namespace lockstep::ui
