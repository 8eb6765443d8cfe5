#include "ui/shell/page_frame.h"

#include <utility>

namespace lockstep::ui {

PageFrame::PageFrame(PageEntry* entry) : m_entry(*entry), m_empty(new EmptyView) {
    addWidget(m_empty);
    if (Page* page = entry->made()) follow(page);
    else connect(entry, &PageEntry::pageMade, this, &PageFrame::follow);
}

void PageFrame::follow(Page* page) {
    connect(page, &Page::emptyStateChanged, this, &PageFrame::refresh);
    connect(m_empty, &EmptyView::chosen, page, &Page::commandWanted);
    refresh();
}

void PageFrame::refresh() {
    Page* page = m_entry.page();
    const auto state = page->emptyState();
    if (state) m_empty->show(*state);
    setCurrentWidget(state || !m_isOpened ? static_cast<QWidget*>(m_empty) : page);
}

void PageFrame::open() {
    Page* page = m_entry.page();
    if (!std::exchange(m_isOpened, true)) addWidget(page);
    refresh();
    currentWidget()->setFocus();
}

}  // namespace lockstep::ui
