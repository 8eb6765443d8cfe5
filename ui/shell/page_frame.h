#pragma once
#include <QStackedWidget>

#include "ui/style/empty_view.h"

namespace lockstep::ui {

// A page, or what stands in its place while it has nothing to show. The page is put in when it is first opened: a
// new window styles and lays out the one in front alone.
class PageFrame : public QStackedWidget {
    Q_OBJECT
public:
    explicit PageFrame(Page* page);

    Page* page() const { return m_page; }
    void open();  // it is in front from now on, and has the focus

private:
    void refresh();

    Page* m_page;
    EmptyView* m_empty;
    bool m_isOpened = false;
};

}  // namespace lockstep::ui
