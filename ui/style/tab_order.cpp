#include "ui/style/tab_order.h"

#include <QLayout>
#include <QScrollArea>
#include <QSplitter>
#include <QVector>
#include <QWidget>

namespace lockstep::ui {

namespace {

void collect(QLayout& layout, QVector<QWidget*>& into);

void collect(QWidget& widget, QVector<QWidget*>& into) {
    if (auto* area = qobject_cast<QScrollArea*>(&widget)) {
        if (area->widget()) collect(*area->widget(), into);
        return;
    }
    if (auto* splitter = qobject_cast<QSplitter*>(&widget)) {
        for (int i = 0; i < splitter->count(); ++i) collect(*splitter->widget(i), into);
        return;
    }
    if (widget.focusPolicy() & Qt::TabFocus) into << &widget;
    else if (widget.layout()) collect(*widget.layout(), into);
}

void collect(QLayout& layout, QVector<QWidget*>& into) {
    for (int i = 0; i < layout.count(); ++i) {
        auto* item = layout.itemAt(i);
        if (item->widget()) collect(*item->widget(), into);
        else if (item->layout()) collect(*item->layout(), into);
    }
}

}  // namespace

void orderTabs(QWidget& root) {
    QVector<QWidget*> order;
    collect(root, order);
    for (qsizetype i = 1; i < order.size(); ++i) QWidget::setTabOrder(order[i - 1], order[i]);
}

}  // namespace lockstep::ui
