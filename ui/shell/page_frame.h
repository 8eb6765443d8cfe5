#pragma once
#include <QStackedWidget>

#include "ui/shell/page_entry.h"
#include "ui/style/empty_view.h"

namespace lockstep::ui {

// A page, or what stands in its place while it has nothing to show. The page is made and put in when it is first
// opened: a new window builds, styles and lays out the one in front alone.
class PageFrame : public QStackedWidget {
    Q_OBJECT
public:
    explicit PageFrame(PageEntry* entry);  // which owns the page, and goes before the frame

    Page* page() const { return m_entry.page(); }
    void open();  // it is in front from now on, and has the focus

private:
    void follow(Page* page);
    void refresh();

    PageEntry& m_entry;
    EmptyView* m_empty;
    bool m_isOpened = false;
};

}  // namespace lockstep::ui
