#pragma once
#include <QWidget>

#include "ui/compare/race_player.h"

class QComboBox;
class QSlider;
class QToolButton;

namespace lockstep::ui {

// What a race is told: play and pause, the moment, the speed, the clock; and a button for the large view, or out of it.
class RaceControls : public QWidget {
    Q_OBJECT
public:
    // The player outlives it. `isLarge`: within the large view.
    RaceControls(RacePlayer* player, bool isLarge, QWidget* parent = nullptr);

    void setClock(PlotAxis clock);  // that is shown as chosen
    // Space, arrows, Home and End. False: it means nothing here.
    static bool handleKey(RacePlayer& player, int key);

protected:
    void changeEvent(QEvent* event) override;

signals:
    void clockChosen(lockstep::ui::PlotAxis clock);
    void largeWanted();

private:
    void enlarge();
    void showState();
    void fillSpeeds();
    void fillClocks();

    RacePlayer& m_player;
    QToolButton *m_play, *m_large;
    QSlider* m_slider;
    QComboBox *m_speed, *m_clock;
    const bool m_isLarge;
};

}  // namespace lockstep::ui
