#pragma once
#include <QWidget>
#include <functional>

#include "ui/compare/race_picture.h"

namespace lockstep::ui {

class RaceControls;

// A race on the whole screen in large type, for a projector. Esc and F11 leave it; keys are those of the card. It is
// deleted when it is closed.
class RaceWindow : public QWidget {
    Q_OBJECT
public:
    // The player outlives it; `look` is asked at each frame.
    RaceWindow(RacePlayer* player, std::function<const RaceLook&()> look, QWidget* parent);
    ~RaceWindow() override;
    RaceControls& controls() const { return *m_controls; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    RacePlayer& m_player;
    const std::function<const RaceLook&()> m_look;
    RaceControls* m_controls;
};

}  // namespace lockstep::ui
