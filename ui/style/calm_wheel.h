#pragma once
class QWidget;

namespace lockstep::ui {

// What stands on a page that scrolls, below `root`: the wheel scrolls the page on, over fields, sliders and plots, too,
// until one has the focus. Of what is there now.
void calmWheel(QWidget& root);

}  // namespace lockstep::ui
