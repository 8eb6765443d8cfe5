#include "ui/shell/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QListWidget>
#include <QMessageBox>
#include <QPainter>
#include <QPushButton>
#include <QScreen>
#include <QSettings>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTabWidget>
#include <QUndoGroup>
#include <QVBoxLayout>

#include "ui/plot/plot_marks.h"
#include "ui/run/run_page.h"
#include "ui/shell/open_runs.h"
#include "ui/style/tab_order.h"
#include "ui/style/theme.h"
#include "ui/timeline/timeline_view.h"
#include "ui/train/engine_service.h"
#include "ui/train/run_launcher.h"
#include "ui/train/train_page.h"
#include "ui/trials/trials_page.h"

namespace lockstep::ui {

namespace {

constexpr int kStateVersion = 1;
constexpr int kMarkHeight = 14;

// The whole text of an explanation, one paragraph per problem.
QString textOf(const std::vector<Problem>& problems, const Explain& explain) {
    QStringList paragraphs;
    for (const Problem& problem : problems) {
        const Explanation words = explain(problem);
        paragraphs << (words.remedy.isEmpty() ? words.what : words.what + "\n" + words.remedy);
    }
    return paragraphs.join("\n\n");
}

std::int64_t trialOf(const QWidget* page) { return page ? page->property("trial").toLongLong() : 0; }

}  // namespace

MainWindow::MainWindow(const QString& engineProgram, Places places, Explain explain)
    : m_places(std::move(places)),
      m_explain(std::move(explain)),
      m_engine(new EngineService(engineProgram, this)),
      m_launcher(new RunLauncher(engineProgram, m_places, this)),
      m_runs(new OpenRuns(m_places, this)),
      m_undo(new QUndoGroup(this)) {
    setWindowTitle(tr("Lockstep"));
    setDockOptions(AnimatedDocks | AllowTabbedDocks);
    buildPages();
    buildNavigation();
    buildMenus();
    connectPages();
    restore();
    restoreRuns();
}

MainWindow::~MainWindow() = default;

void MainWindow::buildPages() {
    m_trainPage = new TrainPage(m_engine, m_launcher, m_explain);
    m_runTabs = new QTabWidget;
    m_runTabs->setDocumentMode(true);
    m_runTabs->setTabsClosable(true);
    m_runTabs->setMovable(true);
    m_runTabs->setIconSize({kSampleWidth, kMarkHeight});
    m_runTabs->setAccessibleName(tr("Open runs"));
    m_runsPage = new QStackedWidget;
    m_runsPage->addWidget(buildEmptyRuns());
    m_runsPage->addWidget(m_runTabs);
    m_trialsPage = new TrialsPage(m_places, m_explain);
    m_pages = new QStackedWidget;
    m_pages->addWidget(m_trainPage);
    m_pages->addWidget(m_runsPage);
    m_pages->addWidget(m_trialsPage);
    m_undo->addStack(&m_trainPage->history());
    m_undo->addStack(m_trialsPage->undoStack());
    m_timeline = new TimelineDock(this);
    m_timeline->setObjectName("timeline");
    addDockWidget(Qt::BottomDockWidgetArea, m_timeline);
    m_timeline->hide();
}

QWidget* MainWindow::buildEmptyRuns() {
    auto* title = new QLabel(tr("No run is open"));
    title->setProperty("role", "title");
    auto* text = new QLabel(tr("A run appears here when you start it, with its curves and what every device does."));
    text->setProperty("role", "muted");
    auto* train = new QPushButton(tr("Train something"));
    train->setProperty("primary", true);
    connect(train, &QPushButton::clicked, this, [this] { goTo(kTrain); });
    auto* trials = new QPushButton(tr("Open an earlier trial"));
    connect(trials, &QPushButton::clicked, this, [this] { goTo(kTrials); });
    auto* buttons = new QHBoxLayout;
    buttons->addStretch();
    for (QPushButton* button : {train, trials}) {
        button->setAccessibleName(button->text());
        buttons->addWidget(button);
    }
    buttons->addStretch();
    auto* empty = new QWidget;
    auto* column = new QVBoxLayout(empty);
    column->setSpacing(space::kLarge);
    column->addStretch();
    column->addWidget(title, 0, Qt::AlignHCenter);
    column->addWidget(text, 0, Qt::AlignHCenter);
    column->addLayout(buttons);
    column->addStretch();
    return empty;
}

void MainWindow::buildNavigation() {
    m_navigation = new QListWidget;
    m_navigation->setAccessibleName(tr("Pages"));
    for (const QString& title : {tr("Train"), tr("Runs"), tr("Trials")}) {
        (new QListWidgetItem(title, m_navigation))->setSizeHint({0, 42});
    }
    m_navigation->setObjectName("navigation");
    m_navigation->setFixedWidth(132);
    m_navigation->setFrameShape(QFrame::NoFrame);
    auto* central = new QWidget;
    auto* layout = new QHBoxLayout(central);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_navigation);
    layout->addWidget(m_pages, 1);
    setCentralWidget(central);
    orderTabs(*central);
    connect(m_navigation, &QListWidget::currentRowChanged, this, [this](int row) {
        if (row >= 0) goTo(static_cast<Page>(row));
    });
}

void MainWindow::connectPages() {
    connect(m_launcher, &RunLauncher::started, this, &MainWindow::openRun);
    connect(m_launcher, &RunLauncher::failed, this, [this](const std::vector<Problem>& problems) {
        if (m_pages->currentWidget() != m_trainPage)
            explainProblems(tr("The run did not start"), problems);  // it says so itself
    });
    connect(m_runs, &OpenRuns::opened, this, &MainWindow::addRun);
    connect(m_runs, &OpenRuns::closed, this, &MainWindow::removeRun);
    connect(m_runTabs, &QTabWidget::tabCloseRequested, this,
            [this](int index) { m_runs->close(trialOf(m_runTabs->widget(index))); });
    connect(m_runTabs, &QTabWidget::currentChanged, this, &MainWindow::followTimeline);
    connect(m_timeline, &QDockWidget::visibilityChanged, this, &MainWindow::followTimeline);
    connect(m_trialsPage, &TrialsPage::openRequested, this, &MainWindow::openRun);
    connect(m_trialsPage, &TrialsPage::resumeRequested, m_launcher, &RunLauncher::resume);
    connect(m_trialsPage, &TrialsPage::trainRequested, this, [this] { goTo(kTrain); });
    connect(m_trialsPage, &TrialsPage::cloneRequested, this, [this](const QString& spec) {
        m_trainPage->setSpec(QJsonDocument::fromJson(spec.toUtf8()).object());
        goTo(kTrain);
    });
}

void MainWindow::goTo(Page page) {
    m_navigation->setCurrentRow(page);
    m_pages->setCurrentIndex(page);
    m_pages->currentWidget()->setFocus();
    m_undo->setActiveStack(page == kTrain    ? &m_trainPage->history()
                           : page == kTrials ? m_trialsPage->undoStack()
                                             : nullptr);
}

void MainWindow::openRun(std::int64_t trial) {
    m_runs->open(trial);
    m_trainPage->setHomeIsEmpty(false);
    m_runTabs->setCurrentWidget(m_runPages.at(trial));
    goTo(kRuns);
}

void MainWindow::addRun(RunFeed* feed) {
    auto* page = new RunPage(feed, m_explain);
    const std::int64_t trial = feed->trial();
    page->setProperty("trial", QVariant::fromValue<qlonglong>(trial));
    m_runPages[trial] = page;
    m_runTabs->addTab(page, tr("Trial %1").arg(trial));
    markTab(trial);
    orderTabs(*page);
    m_runsPage->setCurrentWidget(m_runTabs);
    connect(page, &RunPage::resumeRequested, m_launcher, &RunLauncher::resume);
    connect(feed, &RunFeed::changed, this, [this, feed] {
        updateRunTitle(feed);
        if (m_timelineTrial != feed->trial()) followTimeline();  // it has just said its attempt
    });
    updateRunTitle(feed);
}

void MainWindow::removeRun(std::int64_t trial) {
    const auto found = m_runPages.find(trial);
    if (found == m_runPages.end()) return;
    delete found->second;  // before its feed
    m_runPages.erase(found);
    if (m_runTabs->count() == 0) m_runsPage->setCurrentIndex(0);
}

void MainWindow::updateRunTitle(RunFeed* feed) {
    const auto found = m_runPages.find(feed->trial());
    if (found == m_runPages.end()) return;
    const QString state =
        QString::fromUtf8(text(feed->state()).data(), static_cast<qsizetype>(text(feed->state()).size()));
    m_runTabs->setTabText(m_runTabs->indexOf(found->second), tr("Trial %1 · %2").arg(feed->trial()).arg(state));
}

// A trial has its colour here, too.
void MainWindow::markTab(std::int64_t trial) {
    QPixmap mark(QSize(kSampleWidth, kMarkHeight) * devicePixelRatioF());
    mark.setDevicePixelRatio(devicePixelRatioF());
    mark.fill(Qt::transparent);
    QPainter painter(&mark);
    painter.setRenderHint(QPainter::Antialiasing);
    paintSample(painter, QRectF(0, 0, kSampleWidth, kMarkHeight), seriesMarker(trial),
                seriesColor(trial, currentTheme()), false);
    painter.end();
    m_runTabs->setTabIcon(m_runTabs->indexOf(m_runPages.at(trial)), mark);
}

void MainWindow::closeRun() {
    if (const std::int64_t trial = trialOf(m_runTabs->currentWidget())) m_runs->close(trial);
}

void MainWindow::stepRun(int by) {
    const int count = m_runTabs->count();
    if (count == 0) return;
    m_runTabs->setCurrentIndex((m_runTabs->currentIndex() + by + count) % count);
    goTo(kRuns);
}

void MainWindow::changeEvent(QEvent* event) {
    QMainWindow::changeEvent(event);
    if (event->type() != QEvent::PaletteChange) return;
    for (const auto& [trial, page] : m_runPages) markTab(trial);
}

void MainWindow::followTimeline() {
    const std::int64_t trial = trialOf(m_runTabs->currentWidget());
    if (trial == 0 || !m_timeline->isVisible()) return;
    const auto& started = m_runs->open(trial)->record().started();
    if (!started || (m_timelineTrial == trial && m_timelineAttempt == started->attempt)) return;
    m_timelineTrial = trial;
    m_timelineAttempt = started->attempt;
    m_timeline->view().follow(m_places, trial, started->attempt);
}

void MainWindow::openSpec() {
    const QString file =
        QFileDialog::getOpenFileName(this, tr("Open a spec file"), {}, tr("Trial specs (*.json);;All files (*)"));
    if (file.isEmpty()) return;
    m_trainPage->openSpecFile(file);
    goTo(kTrain);
}

void MainWindow::explainProblems(const QString& title, const std::vector<Problem>& problems) {
    auto* box = new QMessageBox(QMessageBox::Warning, title, title, QMessageBox::Ok, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setInformativeText(textOf(problems, m_explain));
    box->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    box->open();
}

bool MainWindow::mayClose() {
    const auto running = m_runs->running();
    if (running.empty()) return true;
    QMessageBox box(QMessageBox::Question, tr("Training goes on"),
                    running.size() == 1 ? tr("Trial %1 is still training.").arg(running.front())
                                        : tr("%1 trials are still training.").arg(running.size()),
                    QMessageBox::Cancel, this);
    box.setInformativeText(tr("A run does not need the window. The next time you open it, its curves will be whole."));
    QPushButton* keep = box.addButton(tr("Keep running"), QMessageBox::AcceptRole);
    QPushButton* stop = box.addButton(tr("Stop with checkpoint"), QMessageBox::DestructiveRole);
    box.setDefaultButton(keep);
    box.exec();
    if (box.clickedButton() == stop) {
        for (const std::int64_t trial : running) m_runs->open(trial)->stop();
    }
    return box.clickedButton() == keep || box.clickedButton() == stop;
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (!mayClose()) return event->ignore();
    save();
    event->accept();
}

void MainWindow::restore() {
    resize(QSize(1280, 800).boundedTo(screen()->availableSize()));
    m_firstState = saveState(kStateVersion);
    const QSettings settings;
    restoreGeometry(settings.value("window/geometry").toByteArray());
    restoreState(settings.value("window/state").toByteArray(), kStateVersion);
    goTo(static_cast<Page>(settings.value("window/page", kTrain).toInt()));
}

void MainWindow::resetLayout() { restoreState(m_firstState, kStateVersion); }

void MainWindow::save() {
    QSettings settings;
    settings.setValue("window/geometry", saveGeometry());
    settings.setValue("window/state", saveState(kStateVersion));
    settings.setValue("window/page", m_pages->currentIndex());
    QStringList open;
    for (const std::int64_t trial : m_runs->trials()) open << QString::number(trial);
    settings.setValue("window/runs", open);
    settings.setValue("window/run", QString::number(trialOf(m_runTabs->currentWidget())));
}

// Those that were open, and those that run, whoever started them.
void MainWindow::restoreRuns() {
    for (const QString& trial : QSettings().value("window/runs").toStringList()) m_runs->open(trial.toLongLong());
    for (const std::int64_t trial : m_runs->findRunning()) m_runs->open(trial);
    const auto shown = m_runPages.find(QSettings().value("window/run").toLongLong());
    if (shown != m_runPages.end()) m_runTabs->setCurrentWidget(shown->second);
    m_trainPage->setHomeIsEmpty(m_runs->historyIsEmpty());
}

}  // namespace lockstep::ui
