#pragma once

class QToolBar;

namespace lockstep::ui {

// Once a bar has its actions: buttons that look like buttons, in groups, named and reached by the tabulator.
void dressActionBar(QToolBar& bar);

}  // namespace lockstep::ui
