#include "ui/shell/main_window.h"

#include <QCloseEvent>
#include <QDockWidget>
#include <QHBoxLayout>
#include <QListWidget>
#include <QScreen>
#include <QSettings>
#include <QStackedWidget>
#include <QUndoGroup>

#include "ui/shell/page_frame.h"
#include "ui/style/tab_order.h"

namespace lockstep::ui {

namespace {

constexpr int kNavigationWidth = 148, kEntryHeight = 42, kIconSize = 20;

QString plain(QString title) { return title.remove('&'); }

}  // namespace

MainWindow::MainWindow(const QString& engineProgram, Places places, Explain explain)
    : m_studio(std::make_unique<Studio>(engineProgram, std::move(places), std::move(explain), this)),
      m_undo(new QUndoGroup(this)) {
    setWindowTitle(tr("Lockstep"));
    setDockOptions(AnimatedDocks | AllowTabbedDocks);
    buildMiddle();
    buildPages();
    buildNavigation();
    addCommands();
    buildMenus();
    restore();
}

MainWindow::~MainWindow() = default;

// The middle stands in the window before pages come: a widget that changes its parent is styled anew, with all in it.
void MainWindow::buildMiddle() {
    auto* middle = new QWidget;
    setCentralWidget(middle);
    m_navigation = new QListWidget;
    m_pages = new QStackedWidget;
    auto* layout = new QHBoxLayout(middle);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_navigation);
    layout->addWidget(m_pages, 1);
}

void MainWindow::buildPages() {
    for (PageEntry* entry : m_studio->pages()) {
        const int place = m_pages->addWidget(new PageFrame(entry));
        if (Page* page = entry->made()) take(page, place);
        connect(entry, &PageEntry::pageMade, this, [this, place](Page* page) {
            take(page, place);
            page->restore(QSettings());
        });
    }
    for (QDockWidget* dock : m_studio->docks()) {
        addDockWidget(Qt::BottomDockWidgetArea, dock);
        dock->hide();
    }
    m_commands.setFront([this] { return front()->page()->commands(); });
}

void MainWindow::take(Page* page, int place) {
    if (QUndoStack* stack = page->undoStack()) m_undo->addStack(stack);
    connect(page, &Page::raised, this, [this, place] { goTo(place); });
    connect(page, &Page::commandWanted, this, [this](const QString& id) { m_commands.run(id); });
}

void MainWindow::buildNavigation() {
    m_navigation->setAccessibleName(tr("Pages"));
    for (const PageEntry* entry : m_studio->pages())
        (new QListWidgetItem(plain(entry->face().title), m_navigation))->setSizeHint({0, kEntryHeight});
    m_navigation->setObjectName("navigation");
    m_navigation->setFixedWidth(kNavigationWidth);
    m_navigation->setIconSize({kIconSize, kIconSize});
    m_navigation->setFrameShape(QFrame::NoFrame);
    drawIcons();
    orderTabs(*centralWidget());
    connect(m_navigation, &QListWidget::currentRowChanged, this, [this](int row) {
        if (row >= 0) goTo(row);
    });
}

void MainWindow::drawIcons() {
    const auto pages = m_studio->pages();
    for (int i = 0; i < m_navigation->count(); ++i)
        m_navigation->item(i)->setIcon(pages[static_cast<std::size_t>(i)]->face().icon());
}

PageFrame* MainWindow::front() const { return static_cast<PageFrame*>(m_pages->currentWidget()); }

void MainWindow::goTo(int page) {
    m_navigation->setCurrentRow(page);
    m_pages->setCurrentIndex(page);
    front()->open();
    m_undo->setActiveStack(front()->page()->undoStack());
}

void MainWindow::changeEvent(QEvent* event) {
    QMainWindow::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_navigation) drawIcons();
}

void MainWindow::closeEvent(QCloseEvent* event) {
    for (const PageEntry* entry : m_studio->pages()) {
        if (entry->made() && !entry->made()->mayClose()) return event->ignore();
    }
    save();
    event->accept();
}

void MainWindow::restore() {
    resize(QSize(1280, 800).boundedTo(screen()->availableSize()));
    m_firstState = saveState(kStateVersion);
    const QSettings settings;
    restoreGeometry(settings.value("window/geometry").toByteArray());
    restoreState(settings.value("window/state").toByteArray(), kStateVersion);
    for (const PageEntry* entry : m_studio->pages()) {
        if (entry->made()) entry->made()->restore(settings);
    }
    goTo(qBound(0, settings.value("window/page", 0).toInt(), m_pages->count() - 1));
}

void MainWindow::save() {
    QSettings settings;
    settings.setValue("window/geometry", saveGeometry());
    settings.setValue("window/state", saveState(kStateVersion));
    settings.setValue("window/page", m_pages->currentIndex());
    for (const PageEntry* entry : m_studio->pages()) {
        if (entry->made()) entry->made()->save(settings);  // others leave what they saved before
    }
}

}  // namespace lockstep::ui
