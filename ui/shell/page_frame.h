#pragma once
#include <QStackedWidget>

#include "ui/style/empty_view.h"

namespace lockstep::ui {

// A page, or what stands in its place while it has nothing to show.
class PageFrame : public QStackedWidget {
    Q_OBJECT
public:
    explicit PageFrame(Page* page);

    Page* page() const { return m_page; }
    void focusPage() { currentWidget()->setFocus(); }

private:
    void refresh();

    Page* m_page;
    EmptyView* m_empty;
};

}  // namespace lockstep::ui
