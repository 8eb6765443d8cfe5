#pragma once
class QWidget;

namespace lockstep::ui {

// Makes the tabulator follow the eye: what can have the focus below `root`, in the order of its layouts and splitters,
// column by column.
void orderTabs(QWidget& root);

}  // namespace lockstep::ui
