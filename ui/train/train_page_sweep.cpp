#include <QFrame>
#include <QHideEvent>
#include <QJsonDocument>
#include <QLabel>
#include <QShowEvent>
#include <utility>

#include "ui/history/history_service.h"
#include "ui/train/field_editor.h"
#include "ui/train/sweep_estimate.h"
#include "ui/train/sweep_form.h"
#include "ui/train/sweep_text.h"
#include "ui/train/train_page.h"

// What the train page does with a sweep.
namespace lockstep::ui {

void TrainPage::followHistory(HistoryService* history) {
    m_history = history;
    connect(history, &HistoryService::rowsRead, this, [this](const std::vector<TrialRow>& rows) {
        m_speeds = MeasuredSpeeds(rows);
        if (m_form.sweep().isSweep()) showActions();
    });
    watchHistory();
}

void TrainPage::watchHistory() {
    const bool wanted = m_history && isVisible() && m_form.sweep().isSweep();
    if (std::exchange(m_watches, wanted) != wanted) m_history->setWatching(wanted);
}

void TrainPage::showEvent(QShowEvent* event) {
    Page::showEvent(event);
    watchHistory();
}

void TrainPage::hideEvent(QHideEvent* event) {
    Page::hideEvent(event);
    watchHistory();
}

bool TrainPage::isSweepReady() const {
    const auto& sweep = m_form.sweep();
    return !sweep.isSweep() || (sweep.made() && sweep.problems().empty() && m_sweepCheck.isDone());
}

void TrainPage::launchSweep() {
    const auto sweep = m_form.sweep().made();
    if (!sweep) return;
    prepareLaunch(QString::fromStdString(sweepJson(*sweep)));
    m_launcher.queue(*sweep);
}

void TrainPage::showQueued(qint64 sweep) {
    m_launchProblems->tell({}, m_explain);
    m_queuedText->setText(tr("Sweep %1 is in the queue.").arg(sweep));
    m_queued->show();
    m_tabs.start();
    setHomeIsEmpty(false);
}

void TrainPage::fillForm(const QString& json, const QString& what) {
    const auto object = QJsonDocument::fromJson(json.toUtf8()).object();
    if (!object.contains("vary")) return m_form.setSpec(object, what);
    const auto sweep = sweepFromJson(json.toStdString(), "");
    if (sweep.ok()) m_form.setState(stateOf(sweep.value(), m_form.catalog()), what);
}

QString TrainPage::startText() const {
    const auto& sweep = m_form.sweep();
    if (!sweep.isSweep()) return tr("Start training");
    if (!sweep.made()) return tr("Start sweep");
    return sweepStartText(sweep.cells(), sweep.made()->repeats, secondsOfSweep());
}

std::optional<double> TrainPage::secondsOfSweep() const {
    const auto& sweep = m_form.sweep();
    const auto& plan = m_answers.plan();
    if (!plan) return std::nullopt;
    const double samples = static_cast<double>(plan->stepsPerEpoch) * static_cast<double>(m_form.equation().batch);
    const int atOnce = trialsAtOnce(*sweep.made(), m_form.catalog().devices);
    return sweepSeconds(*sweep.made(), *sweep.space(), samples, atOnce, m_speeds);
}

}  // namespace lockstep::ui
