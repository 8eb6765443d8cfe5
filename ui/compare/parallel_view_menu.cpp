#include <QMenu>

#include "ui/compare/parallel_view.h"

// What the menus of axes offer.
namespace lockstep::ui {

// Every axis of the table, those that are shown first, as they stand.
void ParallelView::fillAxesMenu(QMenu& menu) {
    const CompareTable& table = *scene()->table;
    std::vector<std::size_t> axes = shownAxes(ordered(), order());
    const std::size_t shown = axes.size();
    for (std::size_t axis = 0; axis < table.axes.size(); ++axis)
        if (std::ranges::find(axes, axis) == axes.end()) axes.push_back(axis);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        QAction* action = menu.addAction(table.axes[axes[i]].name);
        action->setObjectName(QString::fromStdString(table.axes[axes[i]].key));
        action->setCheckable(true);
        action->setChecked(i < shown);
        action->setEnabled(i >= shown || shown > 2);
        connect(action, &QAction::triggered, this, [this, axis = axes[i]](bool isShown) {
            if (axis < scene()->table->axes.size())
                setOrder(withShown(*scene(), order(), axis, isShown),
                         isShown ? tr("show an axis") : tr("put an axis away"));
        });
    }
    menu.addSeparator();
    QAction* usual = menu.addAction(tr("As at first"));
    usual->setEnabled(order() != AxisOrder());
    usual->setToolTip(tr("The settings that vary, the most important first"));
    connect(usual, &QAction::triggered, this, [this] { setOrder({}, tr("show the axes as at first")); });
}

void ParallelView::fillAxisMenu(QMenu& menu, std::size_t at) {
    const std::size_t axis = m_plot.axes[at].index();
    const std::string key = m_plot.axes[at].axis().key;
    const auto add = [&](const QString& text, bool isEnabled, auto what) {
        QAction* action = menu.addAction(text);
        action->setEnabled(isEnabled);
        connect(action, &QAction::triggered, this, what);
    };
    add(tr("Turn over"), true, [this, key] { setOrder(withFlipped(order(), key), tr("turn an axis over")); });
    add(tr("Move left"), at > 0, [this, axis, at] { setOrder(withMovedTo(axis, at - 1), tr("move an axis")); });
    add(tr("Move right"), at + 1 < m_plot.axes.size(),
        [this, axis, at] { setOrder(withMovedTo(axis, at + 1), tr("move an axis")); });
    add(tr("Put away"), m_plot.axes.size() > 2,
        [this, axis] { setOrder(withShown(*scene(), order(), axis, false), tr("put an axis away")); });
    menu.addSeparator();
    add(tr("Take its brushes off"), !brushOf(at).empty(), [this, key] { selection().brush(key, {}); });
}

}  // namespace lockstep::ui
