#pragma once
#include <QObject>
#include <functional>
#include <memory>

#include "ui/style/page.h"

namespace lockstep::ui {

// A page of the window: what is shown of it, and the page itself, which is made when it is first wanted: a new window
// waits for none that is not in front. Owns it. GUI thread.
class PageEntry : public QObject {
    Q_OBJECT
public:
    const PageFace& face() const { return m_face; }
    Page* page();                                // makes it where there is none yet
    Page* made() const { return m_page.get(); }  // null: not yet

signals:
    void pageMade(lockstep::ui::Page* page);

protected:
    using Make = std::function<std::unique_ptr<Page>()>;
    PageEntry(PageFace face, Make make);

private:
    const PageFace m_face;
    const Make m_make;
    std::unique_ptr<Page> m_page;
};

// One of a certain kind, for who knows it by name.
template <class Kind>
class PageOf : public PageEntry {
public:
    explicit PageOf(std::function<std::unique_ptr<Kind>()> make) : PageEntry(Kind::face(), std::move(make)) {}
    Kind* get() { return static_cast<Kind*>(page()); }
    Kind* operator->() { return get(); }
};

}  // namespace lockstep::ui
