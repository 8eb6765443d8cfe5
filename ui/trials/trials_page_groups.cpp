#include <QAction>
#include <QLineEdit>
#include <QMenu>
#include <QPointer>
#include <QScrollBar>

#include "ui/trials/trials_page.h"
#include "ui/trials/trials_table.h"

// The trials by sweep: what sweeps have come to is read of those on the screen alone.
namespace lockstep::ui {

namespace {

constexpr int kLookedAtMilliseconds = 60;  // since their rows have moved

}  // namespace

void TrialsPage::connectGroups() {
    connect(&m_history, &HistoryService::groupsRead, this, &TrialsPage::takeGroups);
    connect(&m_sweepsSoon, &QTimer::timeout, this, &TrialsPage::readSweeps);
    connect(&m_proxy, &TrialFilterProxy::settled, this, [this] {
        showState();
        readSweepsIn(kLookedAtMilliseconds);
    });
    connect(m_table, &TrialsTable::foldWanted, this, [this](qint64 sweep, bool folded) {
        m_proxy.setFolded(sweep, folded);
        readSweepsIn(kLookedAtMilliseconds);
    });
    const auto look = [this] { readSweepsIn(kLookedAtMilliseconds); };
    connect(m_table->verticalScrollBar(), &QAbstractSlider::valueChanged, this, look);
    connect(m_table->verticalScrollBar(), &QAbstractSlider::rangeChanged, this, look);
}

void TrialsPage::takeGroups(const TrialGroups& groups) {
    m_model.setGroups(groups);
    m_table->setHasCells(m_model.anyInSweep());
    enableActions();
    readSweepsIn(kLookedAtMilliseconds);
}

void TrialsPage::toggleGrouped() {
    m_proxy.setGrouped(m_actions.group->isChecked());
    if (m_table->currentIndex().isValid()) m_table->scrollTo(m_table->currentIndex());
    enableActions();
    showState();
    readSweepsIn(kLookedAtMilliseconds);
}

void TrialsPage::readSweepsIn(int milliseconds) {
    if (!m_proxy.isGrouped()) return;
    if (!m_sweepsSoon.isActive() || m_sweepsSoon.remainingTime() > milliseconds) m_sweepsSoon.start(milliseconds);
}

// One that cannot be read keeps its name alone; `lockstep sweeps` says why.
void TrialsPage::readSweeps() {
    for (const std::int64_t sweep : m_table->sweepsInView()) {
        if (!m_freshSweeps.insert(sweep).second) continue;
        m_history.readSweep(sweep, [page = QPointer(this)](const Result<SweepResult>& result) {
            if (page && result.ok()) page->m_model.setResult(result.value());
        });
    }
}

void TrialsPage::showSweep(std::int64_t sweep) {
    m_shelf->setCurrentIndex(static_cast<int>(Shelf::Current));
    m_filter->setText(QString("sweep:%1").arg(sweep));
    m_proxy.setFolded(sweep, false);
    if (m_actions.group->isChecked()) return;
    m_actions.group->setChecked(true);
    toggleGrouped();
}

void TrialsPage::showSweepMenu(std::int64_t sweep, const QPoint& at) {
    QMenu menu(this);
    const bool isFolded = m_proxy.isFolded(sweep);
    menu.addAction(isFolded ? tr("Unfold its trials") : tr("Fold its trials away"), this,
                   [=, this] { emit m_table->foldWanted(sweep, !isFolded); });
    menu.addAction(tr("Show its trials alone"), this, [=, this] { m_filter->setText(QString("sweep:%1").arg(sweep)); });
    menu.addAction(tr("Compare its trials"), this, [=, this] { emit compareRequested(sweep); });
    menu.exec(m_table->viewport()->mapToGlobal(at));
}

}  // namespace lockstep::ui
