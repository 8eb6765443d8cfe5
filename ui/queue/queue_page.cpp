#include "ui/queue/queue_page.h"

#include <QAction>
#include <QFocusEvent>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLabel>
#include <QPointer>
#include <QPushButton>
#include <QSettings>
#include <QSplitter>
#include <QStackedWidget>
#include <QStyle>
#include <QVBoxLayout>
#include <utility>

#include "ui/history/command_text.h"
#include "ui/queue/queue_order.h"
#include "ui/queue/queue_table.h"
#include "ui/queue/queue_text.h"
#include "ui/queue/sweep_list.h"
#include "ui/style/empty_view.h"
#include "ui/style/tab_order.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

const QString kColumnsKey = QString("queue/columns-%1").arg(QueueTableModel::ColumnCount);
constexpr int kStallMilliseconds = 3000, kQueueNoticeMilliseconds = 15'000;

}  // namespace

QueuePage::QueuePage(HistoryService* history, TrialSelection* selection, QueueFeed* queue, Explain explain,
                     QWidget* parent)
    : Page(parent),
      m_explain(std::move(explain)),
      m_history(*history),
      m_queue(*queue),
      m_table(new QueueTable(&m_model, selection)),
      m_sweeps(new SweepList(m_explain)) {
    m_nothing = new EmptyView;
    m_nothing->setProperty("card", true);
    m_nothing->show({tr("Nothing is queued"), tr("What waits or runs stands here."), {}});
    m_tables = new QStackedWidget;
    m_tables->addWidget(m_table);
    m_tables->addWidget(m_nothing);
    m_splitter = new QSplitter(Qt::Horizontal);
    m_splitter->setChildrenCollapsible(false);
    m_splitter->setHandleWidth(space::kMedium);
    m_splitter->addWidget(m_tables);
    m_splitter->addWidget(buildSweeps());
    m_splitter->setStretchFactor(0, 1);
    m_empty = new EmptyView;
    m_empty->setProperty("card", true);
    m_body = new QStackedWidget;
    m_body->addWidget(m_splitter);
    m_body->addWidget(m_empty);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::kPage, space::kLarge, space::kPage, space::kLarge);
    layout->setSpacing(space::kMedium);
    layout->addWidget(buildHead());
    layout->addWidget(buildNotice());
    layout->addWidget(buildStall());
    layout->addWidget(m_body, 1);
    for (auto* timer : {&m_stall, &m_noticeOver}) timer->setSingleShot(true);
    m_stall.setInterval(kStallMilliseconds);
    m_noticeOver.setInterval(kQueueNoticeMilliseconds);
    connectAll();
    if (history->refusal()) m_unreadable = m_explain(*history->refusal());
    enableActions();
    showState();
}

QueuePage::~QueuePage() {
    hide();                                       // and watches no more
    m_table->selectionModel()->disconnect(this);  // the model goes before the widgets
}

void QueuePage::connectAll() {
    connect(&m_queue, &QueueFeed::queueRead, this, &QueuePage::takeQueue);
    connect(&m_history, &HistoryService::unreadable, this, [this](const Problem& problem) {
        m_unreadable = m_explain(problem);
        if (m_snapshot) showNotice(m_unreadable->inOneLine(), true);
        showState();
    });
    connect(&m_model, &QueueTableModel::moveWanted, this,
            [this](const ChosenTrials& trials, qint64 before) { change(movedBefore(waiting(), trials, before)); });
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, &QueuePage::enableActions);
    connect(m_table, &QTableView::doubleClicked, this, &QueuePage::openChosen);
    connect(m_table, &QWidget::customContextMenuRequested, this, &QueuePage::showContextMenu);
    connect(m_sweeps, &SweepList::stepWanted, this, [this](const QueueStep& step) { change({step}); });
    connect(m_sweeps, &SweepList::extensionWanted, this, &QueuePage::askForCells);
    connect(m_sweeps, &SweepList::trialWanted, this, &QueuePage::openRequested);
    connect(m_sweeps, &SweepList::trialsWanted, this, &QueuePage::trialsRequested);
    connect(m_sweeps, &SweepList::compareWanted, this, &QueuePage::compareRequested);
    connect(m_sweeps, &SweepList::reportWanted, this, &QueuePage::reportRequested);
    connect(m_sweeps, &SweepList::cardsChanged, this, [this] { orderTabs(*this); });
    connect(m_empty, &EmptyView::chosen, this, &Page::commandWanted);
    connect(&m_stall, &QTimer::timeout, this, [this] {
        m_isStalled = true;
        m_queue.readAgain();  // the process that starts trials says nothing to the history when it comes
    });
    connect(&m_noticeOver, &QTimer::timeout, m_notice, &QWidget::hide);
}

void QueuePage::showEvent(QShowEvent* event) {
    Page::showEvent(event);
    m_queue.setWatching(true);
}

void QueuePage::hideEvent(QHideEvent* event) {
    m_queue.setWatching(false);
    Page::hideEvent(event);
}

// Not a focus proxy: the tabulator would go round within the page.
void QueuePage::focusInEvent(QFocusEvent* event) {
    if (m_table->isVisible()) m_table->setFocus(event->reason());
}

void QueuePage::save(QSettings& settings) const {
    settings.setValue("queue/splitter", m_splitter->saveState());
    settings.setValue(kColumnsKey, m_table->horizontalHeader()->saveState());
    settings.setValue("queue/ended", m_actions.ended->isChecked());
}

void QueuePage::restore(const QSettings& settings) {
    m_splitter->restoreState(settings.value("queue/splitter").toByteArray());
    m_table->horizontalHeader()->restoreState(settings.value(kColumnsKey).toByteArray());
    m_actions.ended->setChecked(settings.value("queue/ended").toBool());
}

void QueuePage::takeQueue(const std::shared_ptr<const QueueSnapshot>& queue) {
    if (std::exchange(m_unreadable, std::nullopt)) m_notice->hide();
    m_snapshot = queue;
    m_model.setRows(queue->rows);
    m_sweeps->setSweeps(queue->sweeps, queue->available);
    lookForStall();
    enableActions();
    showState();
}

// A process that starts trials takes a moment to come, and ends when there is nothing to do.
void QueuePage::lookForStall() {
    if (!isStalled(*m_snapshot)) {
        m_isStalled = false;
        m_stall.stop();
    } else if (!m_isStalled && !m_stall.isActive()) {
        m_stall.start();
    }
    m_stallCard->setVisible(m_isStalled);
}

void QueuePage::showState() {
    const auto empty = emptyQueue(m_snapshot.get(), m_unreadable);
    if (empty) m_empty->show(*empty);
    m_body->setCurrentWidget(empty ? static_cast<QWidget*>(m_empty) : m_splitter);
    if (!m_snapshot) return;
    m_count->setText(queueCountText(*m_snapshot));
    m_tables->setCurrentWidget(m_snapshot->rows.empty() ? static_cast<QWidget*>(m_nothing) : m_table);
    m_sweepPane->setVisible(!m_snapshot->sweeps.empty());
    const int ended = m_sweeps->ended();
    m_endedButton->setText(m_actions.ended->isChecked() ? tr("Hide ended (%1)").arg(ended)
                                                        : tr("Show ended (%1)").arg(ended));
    m_endedButton->setVisible(ended > 0);
}

void QueuePage::change(const QueueSteps& steps) {
    if (steps.empty()) return;
    m_queue.change([steps](QueueService& queue) { perform(steps, queue); },
                   [page = QPointer(this), steps](const std::optional<Problem>& problem) {
                       if (page) page->changed(steps, problem);
                   });
}

void QueuePage::changed(const QueueSteps& steps, const std::optional<Problem>& problem) {
    m_latest = steps;
    m_written.clear();
    if (!problem && std::exchange(m_isStalled, false)) m_stall.start();  // what starts trials comes by any change
    m_stallCard->setVisible(m_isStalled);
    if (problem) return showNotice(m_explain(*problem).inOneLine(), true);
    const QString commands = commandsOf(steps);
    const QString first = commands.section('\n', 0, 0);
    showNotice(steps.size() == 1 ? tr("Done. The same in a terminal: %1").arg(first)
                                 : tr("Done. The same in a terminal: %1, and %2 more").arg(first).arg(steps.size() - 1),
               false);
}

void QueuePage::showWritten(const QString& file, const QStringList& command) {
    m_written = commandLine(command);
    showNotice(tr("Written to %1. The same in a terminal: %2").arg(file, m_written), false);
}

void QueuePage::showNotice(const QString& text, bool isProblem) {
    m_noticeText->setText(text);
    m_noticeText->setProperty("role", isProblem ? "problem" : "muted");
    m_noticeText->style()->unpolish(m_noticeText);
    m_noticeText->style()->polish(m_noticeText);
    m_noticeCopy->setVisible(!isProblem);
    m_notice->show();
    if (isProblem) m_noticeOver.stop();
    else m_noticeOver.start();
}

}  // namespace lockstep::ui
