#include "ui/run/runs_page.h"

#include <QAction>
#include <QEvent>
#include <QMessageBox>
#include <QPainter>
#include <QPushButton>
#include <QSettings>
#include <QTabWidget>
#include <QVBoxLayout>

#include "ui/history/trial_selection.h"
#include "ui/plot/plot_marks.h"
#include "ui/plot/run_text.h"
#include "ui/run/run_page.h"
#include "ui/style/line_icon.h"
#include "ui/style/tab_order.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr int kMarkHeight = 14;

QIcon runsIcon() {
    QPainterPath lines({4, 4});
    lines.lineTo(4, 20);
    lines.lineTo(20, 20);
    lines.moveTo(8, 7);
    lines.cubicTo(10, 15, 13, 15, 20, 16);
    return lineIcon(lines);
}

}  // namespace

RunsPage::RunsPage(OpenRuns* runs, const TrialSelection* selection, Explain explain, QWidget* parent)
    : Page(parent), m_runs(*runs), m_selection(*selection), m_explain(std::move(explain)), m_tabs(new QTabWidget) {
    m_tabs->setDocumentMode(true);
    m_tabs->setTabsClosable(true);
    m_tabs->setMovable(true);
    m_tabs->setIconSize({kSampleWidth, kMarkHeight});
    m_tabs->setAccessibleName(tr("Open runs"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_tabs);
    m_commands = {command("run.close", tr("&Close the run's page"), QKeySequence::Close, &RunsPage::closeFront),
                  command("run.next", tr("Next run"), tr("Ctrl+PgDown"), &RunsPage::next),
                  command("run.previous", tr("Previous run"), tr("Ctrl+PgUp"), &RunsPage::previous)};
    connect(runs, &OpenRuns::opened, this, &RunsPage::addRun);
    connect(selection, &TrialSelection::pinnedChanged, this, &RunsPage::markAll);
    connect(runs, &OpenRuns::closed, this, &RunsPage::removeRun);
    connect(m_tabs, &QTabWidget::tabCloseRequested, this,
            [this](int index) { m_runs.close(m_tabs->widget(index)->property("trial").toLongLong()); });
    connect(m_tabs, &QTabWidget::currentChanged, this, &RunsPage::frontChanged);
}

RunsPage::~RunsPage() { m_tabs->disconnect(this); }

QAction* RunsPage::command(const QString& id, const QString& text, const QKeySequence& keys, void (RunsPage::*slot)()) {
    auto* made = new QAction(text, this);
    made->setObjectName(id);
    made->setShortcut(keys);
    connect(made, &QAction::triggered, this, slot);
    return made;
}

PageFace RunsPage::face() { return {"runs", tr("&Runs"), &runsIcon}; }

QList<QAction*> RunsPage::commands() const {
    const auto* run = qobject_cast<RunPage*>(m_tabs->currentWidget());
    return run ? run->commands() : QList<QAction*>();
}

std::optional<EmptyState> RunsPage::emptyState() const {
    if (m_tabs->count() > 0) return std::nullopt;
    return EmptyState{tr("No run is open"),
                      tr("A run appears here when you start it, with its curves and what every device does."),
                      {{"page.train", tr("Train something")}, {"page.trials", tr("Open an earlier trial")}}};
}

std::int64_t RunsPage::trial() const {
    const QWidget* front = m_tabs->currentWidget();
    return front ? front->property("trial").toLongLong() : 0;
}

std::optional<std::int64_t> RunsPage::attempt() const {
    const auto* run = qobject_cast<RunPage*>(m_tabs->currentWidget());
    if (!run || !run->feed() || !run->feed()->record().started()) return std::nullopt;
    return run->feed()->record().started()->attempt;
}

void RunsPage::open(std::int64_t trial) {
    m_runs.open(trial);
    m_tabs->setCurrentWidget(m_pages.at(trial));
    emit raised();
}

void RunsPage::addRun(RunFeed* feed) {
    auto* page = new RunPage(feed, m_explain);
    const std::int64_t trial = feed->trial();
    page->setProperty("trial", QVariant::fromValue<qlonglong>(trial));
    m_pages[trial] = page;
    m_tabs->addTab(page, tr("Trial %1").arg(trial));
    markTab(trial);
    orderTabs(*page);
    connect(page, &RunPage::resumeRequested, this, &RunsPage::resumeRequested);
    connect(page, &RunPage::cardRequested, this, &RunsPage::cardRequested);
    connect(feed, &RunFeed::changed, this, [this, feed] {
        updateTitle(feed);
        if (feed->trial() == this->trial()) emit frontChanged();
    });
    updateTitle(feed);
    emit emptyStateChanged();
}

void RunsPage::removeRun(std::int64_t trial) {
    const auto found = m_pages.find(trial);
    if (found == m_pages.end()) return;
    delete found->second;  // before its feed
    m_pages.erase(found);
    emit emptyStateChanged();
}

void RunsPage::updateTitle(RunFeed* feed) {
    const auto found = m_pages.find(feed->trial());
    if (found == m_pages.end()) return;
    const QString state = runStateText(feed->state()).toLower();
    m_tabs->setTabText(m_tabs->indexOf(found->second), tr("Trial %1 · %2").arg(feed->trial()).arg(state));
}

// A trial has its colour here, too, on the tab and in its plots.
void RunsPage::markTab(std::int64_t trial) {
    const std::int64_t look = m_selection.lookOf(trial);
    m_pages.at(trial)->setLook(look);
    QPixmap mark(QSize(kSampleWidth, kMarkHeight) * devicePixelRatioF());
    mark.setDevicePixelRatio(devicePixelRatioF());
    mark.fill(Qt::transparent);
    QPainter painter(&mark);
    painter.setRenderHint(QPainter::Antialiasing);
    paintSample(painter, QRectF(0, 0, kSampleWidth, kMarkHeight), seriesMarker(look), seriesColor(look, currentTheme()),
                false);
    painter.end();
    m_tabs->setTabIcon(m_tabs->indexOf(m_pages.at(trial)), mark);
}

void RunsPage::markAll() {
    for (const auto& each : m_pages) markTab(each.first);
}

void RunsPage::closeFront() {
    if (const std::int64_t front = trial()) m_runs.close(front);
}

void RunsPage::step(int by) {
    const int count = m_tabs->count();
    if (count == 0) return;
    m_tabs->setCurrentIndex((m_tabs->currentIndex() + by + count) % count);
    emit raised();
}

void RunsPage::changeEvent(QEvent* event) {
    Page::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) markAll();
}

void RunsPage::focusInEvent(QFocusEvent* event) { m_tabs->setFocus(event->reason()); }

void RunsPage::save(QSettings& settings) const {
    QStringList open;
    for (const std::int64_t each : m_runs.trials()) open << QString::number(each);
    settings.setValue("window/runs", open);
    settings.setValue("window/run", QString::number(trial()));
}

// Those that were open, and those that run, whoever started them.
void RunsPage::restore(const QSettings& settings) {
    for (const QString& each : settings.value("window/runs").toStringList()) m_runs.open(each.toLongLong());
    for (const std::int64_t each : m_runs.findRunning()) m_runs.open(each);
    const auto shown = m_pages.find(settings.value("window/run").toLongLong());
    if (shown != m_pages.end()) m_tabs->setCurrentWidget(shown->second);
}

bool RunsPage::mayClose() {
    const auto running = m_runs.running();
    if (running.empty()) return true;
    QMessageBox box(QMessageBox::Question, tr("Training goes on"),
                    running.size() == 1 ? tr("Trial %1 is still training.").arg(running.front())
                                        : tr("%1 trials are still training.").arg(running.size()),
                    QMessageBox::Cancel, window());
    box.setInformativeText(tr("A run does not need the window. The next time you open it, its curves will be whole."));
    QPushButton* keep = box.addButton(tr("Keep running"), QMessageBox::AcceptRole);
    QPushButton* stop = box.addButton(tr("Stop with checkpoint"), QMessageBox::DestructiveRole);
    box.setDefaultButton(keep);
    box.exec();
    if (box.clickedButton() == stop) {
        for (const std::int64_t each : running) m_runs.open(each)->stop();
    }
    return box.clickedButton() == keep || box.clickedButton() == stop;
}

}  // namespace lockstep::ui
