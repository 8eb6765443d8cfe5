#include "ui/shell/page_entry.h"

#include <utility>

namespace lockstep::ui {

PageEntry::PageEntry(PageFace face, Make make) : m_face(std::move(face)), m_make(std::move(make)) {}

Page* PageEntry::page() {
    if (m_page) return m_page.get();
    m_page = m_make();
    emit pageMade(m_page.get());
    return m_page.get();
}

}  // namespace lockstep::ui
