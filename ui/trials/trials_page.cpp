#include "ui/trials/trials_page.h"

#include <QComboBox>
#include <QFocusEvent>
#include <QHBoxLayout>
#include <QItemSelectionModel>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPointer>
#include <QScrollBar>
#include <QSettings>
#include <QSplitter>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "ui/style/empty_view.h"
#include "ui/style/theme.h"
#include "ui/trials/compare_pane.h"
#include "ui/trials/disk_choices.h"
#include "ui/trials/trials_table.h"

namespace lockstep::ui {

namespace {

constexpr int kCompareMilliseconds = 120, kFollowMilliseconds = 2000, kFilterMilliseconds = 150,
              kNoticeMilliseconds = 15'000, kWeighMilliseconds = 30'000,
              kFirstWeighMilliseconds = 300;  // when the table is there
constexpr int kPrepareMilliseconds = 20, kPreparedAtOnce = 400;

}  // namespace

TrialsPage::TrialsPage(HistoryService* history, TrialSelection* selection, Places places, Explain explain,
                       QWidget* parent)
    : Page(parent),
      m_places(std::move(places)),
      m_explain(std::move(explain)),
      m_history(*history),
      m_selection(*selection),
      m_model(m_undo, [this](const TrialEdits& edits) { m_history.write(edits); }),
      m_proxy(m_model),
      m_disk(m_places),
      m_empty(new EmptyView),
      m_table(new TrialsTable(selection)),
      m_pane(new ComparePane(selection, m_explain)) {
    m_table->setModel(&m_proxy);
    m_stack = new QStackedWidget;
    m_stack->addWidget(m_table);
    m_empty->setProperty("card", true);
    m_stack->addWidget(m_empty);
    m_splitter = new QSplitter(Qt::Vertical);
    m_splitter->addWidget(m_stack);
    m_splitter->addWidget(m_pane);
    m_splitter->setStretchFactor(0, 3);
    m_splitter->setStretchFactor(1, 2);
    m_splitter->setChildrenCollapsible(false);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::kPage, space::kLarge, space::kPage, space::kLarge);
    layout->setSpacing(space::kMedium);
    layout->addWidget(buildHead());
    addNotices(*layout);
    layout->addWidget(m_splitter, 1);
    layout->addWidget(buildFoot());
    for (auto* timer : {&m_compareSoon, &m_filterSoon, &m_noticeOver, &m_prepare, &m_weighSoon, &m_sweepsSoon})
        timer->setSingleShot(true);
    m_prepare.setInterval(kPrepareMilliseconds);
    m_filterSoon.setInterval(kFilterMilliseconds);
    m_noticeOver.setInterval(kNoticeMilliseconds);
    connectHistory();
    connectViews();
    connectGroups();
    restoreLook();
    enableActions();
    showState();
}

// Not a focus proxy: the tabulator would go round within the page.
void TrialsPage::focusInEvent(QFocusEvent* event) { m_table->setFocus(event->reason()); }

TrialsPage::~TrialsPage() {
    hide();  // and watches no more
    m_pane->saveNote();
    saveLook();
    m_undo.disconnect(this);  // members go before the widgets
    m_table->selectionModel()->disconnect(this);
    m_table->verticalScrollBar()->disconnect(this);
}

void TrialsPage::connectHistory() {
    connect(&m_history, &HistoryService::rowsRead, this, &TrialsPage::takeRows);
    connect(&m_history, &HistoryService::orphansCounted, this, [this](int orphans) {
        m_orphans = orphans;
        showState();
    });
    connect(&m_history, &HistoryService::absent, this, [this] {
        takeGroups({});
        takeRows({});
    });
    connect(&m_history, &HistoryService::unreadable, this, [this](const Problem& problem) {
        m_unreadable = m_explain(problem);
        if (m_model.trials() > 0) showProblem(*m_unreadable);
        showState();
    });
    connect(&m_history, &HistoryService::notWritten, this, [this](const Problem& problem) {
        m_notice->hide();
        showProblem(m_explain(problem));
    });
    connect(&m_history, &HistoryService::writeWaits, this, [this](const Problem& problem) {
        auto words = m_explain(problem);
        words.remedy += ' ' + tr("Your changes are kept in this window and written as soon as that is possible.");
        showProblem(words);
        m_writeWaits = true;
    });
    connect(&m_history, &HistoryService::writeDone, this, [this] {
        if (std::exchange(m_writeWaits, false)) m_problem->hide();
    });
    connect(&m_history, &HistoryService::curvesRead, m_pane, &ComparePane::setCurves);
}

void TrialsPage::connectViews() {
    connect(&m_filterSoon, &QTimer::timeout, this, [this] {
        m_proxy.setWords(m_selection.filter());
        showHints();
        readSettings();
        showState();
    });
    connect(m_filter, &QLineEdit::textChanged, &m_selection, &TrialSelection::setFilter);
    connect(&m_selection, &TrialSelection::filterChanged, this, [this] {
        if (m_filter->text() != m_selection.filter()) m_filter->setText(m_selection.filter());
        m_filterSoon.start();
    });
    connect(m_table, &TrialsTable::hovered, this, [this](const QModelIndex& at) {
        const TrialRow* trial = m_proxy.trialAt(at);
        m_selection.setHovered(trial ? std::optional(trial->id) : std::nullopt);
    });
    connect(&m_selection, &TrialSelection::hoveredChanged, m_pane,
            [this] { m_pane->setHovered(m_selection.hovered()); });
    connect(m_empty, &EmptyView::chosen, this, &TrialsPage::follow);
    connect(m_shelf, &QComboBox::currentIndexChanged, this, [this](int shelf) {
        m_proxy.setShelf(static_cast<Shelf>(shelf));
        enableActions();
        showState();
    });
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, &TrialsPage::selectionChanged);
    connect(m_table, &QTableView::doubleClicked, this, [this](const QModelIndex& index) {
        if (index.column() != kStarColumn) openSelected();
    });
    connect(m_table, &QWidget::customContextMenuRequested, this, &TrialsPage::showContextMenu);
    connect(&m_compareSoon, &QTimer::timeout, this, &TrialsPage::compare);
    connect(&m_noticeOver, &QTimer::timeout, m_notice, &QWidget::hide);
    connect(&m_prepare, &QTimer::timeout, this, [this] {
        if (m_model.prepareFilter(kPreparedAtOnce)) m_prepare.start();
    });
    connect(&m_undo, &QUndoStack::indexChanged, this, [this] {
        m_notice->hide();
        showState();
        enableActions();
    });
    connect(&m_weighSoon, &QTimer::timeout, &m_disk, &DiskFeed::weigh);
    connect(&m_disk, &DiskFeed::weighed, this, &TrialsPage::showWeight);
    connect(m_pane, &ComparePane::curvesAsked, this, &TrialsPage::compare);
    connect(m_pane, &ComparePane::noteEdited, this, [this](qint64 trial, const QString& note) {
        m_model.edit({{trial, TrialEdit::Field::Note, note.toStdString()}}, tr("note of trial %1").arg(trial));
    });
}

void TrialsPage::restoreLook() {
    const QSettings settings(QString::fromStdString((m_places.config / "trials.ini").string()), QSettings::IniFormat);
    m_table->restoreLayout(settings);
    if (!m_splitter->restoreState(settings.value("splitter").toByteArray())) m_splitter->setSizes({460, 320});
    m_pane->setMetric(settings.value("metric").toString().toStdString());
    m_pane->setBySeeds(settings.value("bySeeds").toBool());
    m_pane->setControls(settings.value("plot").toMap());
    m_actions.group->setChecked(settings.value("grouped").toBool());
    toggleGrouped();
}

void TrialsPage::saveLook() const {
    QSettings settings(QString::fromStdString((m_places.config / "trials.ini").string()), QSettings::IniFormat);
    m_table->saveLayout(settings);
    settings.setValue("splitter", m_splitter->saveState());
    settings.setValue("metric", QString::fromStdString(m_pane->metric()));
    settings.setValue("bySeeds", m_pane->bySeeds());
    settings.setValue("plot", m_pane->controls());
    settings.setValue("grouped", m_proxy.isGrouped());
}

void TrialsPage::showEvent(QShowEvent* event) {
    Page::showEvent(event);
    m_history.setWatching(true);
    if (m_loaded) m_weighSoon.start(0);
}

void TrialsPage::hideEvent(QHideEvent* event) {
    m_pane->saveNote();
    m_history.setWatching(false);
    saveLook();
    Page::hideEvent(event);
}

// From the filter the arrow leads into the table, Escape back to all trials.
bool TrialsPage::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_filter && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Down || key == Qt::Key_Return || key == Qt::Key_Enter) {
            if (selected().empty()) m_table->selectNear(0);
            m_table->setFocus();
            return true;
        }
        if (key == Qt::Key_Escape && !m_filter->text().isEmpty()) {
            m_filter->clear();
            return true;
        }
    }
    return Page::eventFilter(watched, event);
}

void TrialsPage::takeRows(const std::vector<TrialRow>& rows) {
    if (m_unreadable && !m_writeWaits) m_problem->hide();
    m_unreadable.reset();
    m_loaded = true;
    m_model.setRows(rows);
    weighSoon();
    m_prepare.start();
    readSettings();
    m_freshSweeps.clear();
    readSweepsIn(kFollowMilliseconds);
    selectAwaited();
    enableActions();
    showState();
    if (!selected().empty() && !m_compareSoon.isActive()) m_compareSoon.start(kFollowMilliseconds);
}

// Those that the filter asks for.
void TrialsPage::readSettings() {
    for (const auto& path : m_proxy.words().paths()) {
        m_history.readSettings(path, [page = QPointer(this), path](const SettingValues& values) {
            if (!page) return;
            page->m_proxy.setSettings(path, values);
            page->showState();
        });
    }
}

void TrialsPage::selectTrial(std::int64_t trial) {
    m_awaited = trial;
    selectAwaited();
}

void TrialsPage::selectAwaited() {
    const auto* row = m_awaited ? m_model.find(*m_awaited) : nullptr;
    if (!row) return;
    m_shelf->setCurrentIndex(static_cast<int>(row->deleted    ? Shelf::Trash
                                              : row->archived ? Shelf::Archived
                                                              : Shelf::Current));
    m_proxy.setFolded(m_model.sweepOf(m_model.indexOf(*m_awaited)), false);
    const auto place = [&] { return m_proxy.mapFromSource(m_model.index(m_model.indexOf(*m_awaited), kIdColumn)); };
    if (!place().isValid()) {
        m_filter->clear();
        m_proxy.setWords({});
        showHints();
    }
    m_table->selectOnly(place().row());
    m_table->scrollTo(place());
    m_awaited.reset();
}

TrialsPageState TrialsPage::state() const {
    const int chosen = static_cast<int>(selected().size());
    return {m_loaded,        m_model.trials(), m_proxy.trials(), chosen,
            m_proxy.shelf(), m_filter->text(), m_unreadable,     m_orphans};
}

void TrialsPage::showState() {
    const auto now = state();
    const auto empty = emptyTrials(now);
    m_count->setText(countText(now));
    if (m_loaded) m_selection.setListed(m_proxy.passingTrials());
    m_pane->setVisible(now.total > 0);
    m_stack->setCurrentIndex(empty ? 1 : 0);
    if (empty) m_empty->show(*empty);
}

void TrialsPage::follow(const QString& command) {
    if (command == kClearFilter) m_filter->clear();
    else if (command == kShowCurrent) m_shelf->setCurrentIndex(static_cast<int>(Shelf::Current));
    else emit commandWanted(command);
}

// While runs write, their rows change all the time.
void TrialsPage::weighSoon() {
    if (!m_weighSoon.isActive() && isVisible())
        m_weighSoon.start(m_disk.weight() ? kWeighMilliseconds : kFirstWeighMilliseconds);
}

void TrialsPage::showWeight() {
    const DiskWeight& weight = *m_disk.weight();
    std::unordered_map<std::int64_t, std::uint64_t> weights;
    for (const TrialWeight& each : weight.trials) weights.emplace(each.run.trial, each.run.total());
    m_model.setWeights(std::move(weights));
    m_foot->setVisible(weight.total() > 0);
    m_weight->setText(disk_text::line(weight));
    m_weight->setToolTip(disk_text::parts(weight));
}

void TrialsPage::showProblem(const Explanation& explanation) {
    m_problemText->setText(explanation.inOneLine());
    m_problem->show();
}

std::vector<const TrialRow*> TrialsPage::selected() const {
    std::vector<const TrialRow*> rows;
    for (const auto& index : m_table->selectionModel()->selectedRows()) {
        if (const TrialRow* row = m_proxy.trialAt(index)) rows.push_back(row);
    }
    return rows;
}

void TrialsPage::selectionChanged() {
    enableActions();
    m_count->setText(countText(state()));
    m_compareSoon.start(kCompareMilliseconds);
}

void TrialsPage::compare() {
    std::vector<TrialRow> rows;
    std::vector<std::int64_t> trials;
    for (const auto* row : selected()) {
        rows.push_back(*row);
        if (trials.size() < kComparedTrials) trials.push_back(row->id);
    }
    m_pane->setTrials(rows);
    m_history.readCurves({std::move(trials), m_pane->metric(), m_pane->bySeeds()});
}

}  // namespace lockstep::ui
