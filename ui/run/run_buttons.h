#pragma once
#include <QPointer>
#include <QWidget>
#include <array>

#include "ui/run/run_feed.h"

class QAction;
class QPushButton;

namespace lockstep::ui {

// What a person can do with a run, as buttons and as actions() with shortcuts for menus and the palette. GUI thread.
class RunButtons : public QWidget {
    Q_OBJECT

public:
    explicit RunButtons(RunFeed* feed, QWidget* parent = nullptr);
    void refresh();  // after the feed changed
    void press(RunAction action);

signals:
    void resumeRequested(std::int64_t trial);  // from its last checkpoint, as a new engine process
    void cardRequested(std::int64_t trial);

private:
    QAction* makeAction(RunAction action, const QString& words, const QKeySequence& keys, const QString& meaning);
    void add(RunAction action, const QString& words, const QKeySequence& keys, const QString& meaning);
    void addDevices();
    void addCard();
    void askBeforeKill();
    void askHowMany();

    QPointer<RunFeed> m_feed;
    std::array<QAction*, kRunActions.size()> m_actions{};
    std::array<QPushButton*, kRunActions.size()> m_buttons{};  // none of what is in the menu of m_devices
    QPushButton *m_devices = nullptr, *m_card = nullptr;
};

}  // namespace lockstep::ui
