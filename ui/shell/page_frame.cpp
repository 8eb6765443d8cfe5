#include "ui/shell/page_frame.h"

#include <utility>

namespace lockstep::ui {

PageFrame::PageFrame(Page* page) : m_page(page), m_empty(new EmptyView) {
    addWidget(m_empty);
    connect(page, &Page::emptyStateChanged, this, &PageFrame::refresh);
    connect(m_empty, &EmptyView::chosen, page, &Page::commandWanted);
    refresh();
}

void PageFrame::refresh() {
    const auto state = m_page->emptyState();
    if (state) m_empty->show(*state);
    setCurrentWidget(state || !m_isOpened ? static_cast<QWidget*>(m_empty) : m_page);
}

void PageFrame::open() {
    if (!std::exchange(m_isOpened, true)) addWidget(m_page);
    refresh();
    currentWidget()->setFocus();
}

}  // namespace lockstep::ui
