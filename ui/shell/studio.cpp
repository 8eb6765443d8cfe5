#include "ui/shell/studio.h"

#include <QDesktopServices>
#include <QJsonDocument>
#include <QJsonObject>
#include <QMessageBox>
#include <QPushButton>
#include <QUrl>

#include "ui/compare/compare_page.h"
#include "ui/evaluate/evaluate_page.h"
#include "ui/history/engine_service.h"
#include "ui/history/trial_writer.h"
#include "ui/queue/queue_page.h"
#include "ui/run/runs_page.h"
#include "ui/timeline/timeline_view.h"
#include "ui/train/run_launcher.h"
#include "ui/train/train_page.h"
#include "ui/trials/trials_page.h"

namespace lockstep::ui {

namespace {

// The whole text of an explanation, one paragraph per problem.
QString textOf(const std::vector<Problem>& problems, const Explain& explain) {
    QStringList paragraphs;
    for (const Problem& problem : problems) {
        const Explanation words = explain(problem);
        paragraphs << words.inTwoLines();
    }
    return paragraphs.join("\n\n");
}

}  // namespace

Studio::Studio(const QString& engineProgram, Places places, Explain explain, QWidget* window)
    : QObject(window),
      m_window(window),
      m_program(engineProgram),
      m_places(std::move(places)),
      m_explain(std::move(explain)),
      m_engine(new EngineService(engineProgram, this)),
      m_samples(new EngineService(engineProgram, this)),
      m_launcher(new RunLauncher(engineProgram, m_places, this)),
      m_cards(new TrialWriter(engineProgram, this)),
      m_reports(new TrialWriter(engineProgram, this)),
      m_runs(new OpenRuns(m_places, this)),
      m_history(m_places),
      m_queue(&m_history, engineProgram),
      m_train([this] { return std::make_unique<TrainPage>(m_engine, m_launcher, m_explain); }),
      m_runsPage([this] { return std::make_unique<RunsPage>(m_runs, &m_selection, m_explain); }),
      m_trials([this] { return std::make_unique<TrialsPage>(&m_history, &m_selection, m_places, m_explain); }),
      m_compare([this] { return makeCompare(); }),
      m_evaluate([this] { return makeEvaluate(); }),
      m_queuePage([this] { return makeQueue(); }),
      m_timeline(std::make_unique<TimelineDock>()) {
    m_train->setHomeIsEmpty(m_runs->historyIsEmpty());
    m_train->followHistory(&m_history);
    connectPages();
    connectCards();
    connectReports();
}

Studio::~Studio() = default;

std::vector<PageEntry*> Studio::pages() {
    return {&m_train, &m_runsPage, &m_trials, &m_compare, &m_evaluate, &m_queuePage};
}

std::vector<QDockWidget*> Studio::docks() const { return {m_timeline.get()}; }

std::unique_ptr<EvaluatePage> Studio::makeEvaluate() {
    auto page = std::make_unique<EvaluatePage>(m_program, m_samples, &m_history, m_explain);
    connect(page.get(), &EvaluatePage::cardRequested, this, &Studio::askForCard);
    if (m_lookedAt > 0) page->setLookedAt(m_lookedAt);
    return page;
}

std::unique_ptr<ComparePage> Studio::makeCompare() {
    auto page = std::make_unique<ComparePage>(&m_history, &m_selection, m_explain);
    connect(page.get(), &ComparePage::openRequested, this, &Studio::openRun);
    connect(page.get(), &ComparePage::evaluateRequested, this, &Studio::evaluate);
    connect(page.get(), &ComparePage::resumeRequested, m_launcher, &RunLauncher::resume);
    connect(page.get(), &ComparePage::cloneRequested, this, &Studio::clone);
    connect(page.get(), &ComparePage::reportRequested, this, &Studio::askForReport);
    connect(page.get(), &ComparePage::sweepRequested, this, [this](const QString& sweep, const QString& what) {
        m_train->setSweep(sweep, what);
        emit m_train->raised();
    });
    return page;
}

std::unique_ptr<QueuePage> Studio::makeQueue() {
    auto page = std::make_unique<QueuePage>(&m_history, &m_selection, &m_queue, m_explain);
    connect(page.get(), &QueuePage::openRequested, this, &Studio::openRun);
    connect(page.get(), &QueuePage::compareRequested, this, &Studio::compare);
    connect(page.get(), &QueuePage::reportRequested, this, &Studio::askForReport);
    connect(page.get(), &QueuePage::trialsRequested, m_trials.get(), [this](qint64 sweep) {
        m_trials->showSweep(sweep);
        emit m_trials->raised();
    });
    return page;
}

void Studio::connectPages() {
    connect(m_launcher, &RunLauncher::started, this, &Studio::openRun);
    connect(m_launcher, &RunLauncher::failed, this, [this](const std::vector<Problem>& problems) {
        if (!m_train->isVisible()) explainProblems(tr("The run did not start"), problems);  // it says so itself
    });
    connect(m_launcher, &RunLauncher::dataChanged, this, &Studio::askAboutChangedData);
    connect(m_runsPage.get(), &RunsPage::resumeRequested, m_launcher, &RunLauncher::resume);
    connect(m_runsPage.get(), &RunsPage::frontChanged, this, &Studio::followTimeline);
    connect(m_timeline.get(), &QDockWidget::visibilityChanged, this, &Studio::followTimeline);
    connect(m_trials.get(), &TrialsPage::openRequested, this, &Studio::openRun);
    connect(m_trials.get(), &TrialsPage::evaluateRequested, this, &Studio::evaluate);
    connect(m_trials.get(), &TrialsPage::compareRequested, this, &Studio::compare);
    connect(m_trials.get(), &TrialsPage::resumeRequested, m_launcher, &RunLauncher::resume);
    connect(m_trials.get(), &TrialsPage::cloneRequested, this, &Studio::clone);
}

void Studio::connectCards() {
    connect(m_runsPage.get(), &RunsPage::cardRequested, this, &Studio::askForCard);
    connect(m_trials.get(), &TrialsPage::cardRequested, this, &Studio::askForCard);
    connect(m_cards, &TrialWriter::written, this, [this](const QString& file) {
        if (!QDesktopServices::openUrl(QUrl::fromLocalFile(file)))
            tell(tr("The model card is written"), tr("It is in %1; no program here would open it.").arg(file), false);
    });
    connect(m_cards, &TrialWriter::failed, this, [this](const QString& file, const Explanation& why) {
        tell(tr("The model card was not written to %1").arg(file), why.inTwoLines());
    });
}

void Studio::askForCard(std::int64_t trial) { m_cards->ask(trial, trialFormat("card"), m_window); }

void Studio::evaluate(std::int64_t trial) {
    m_evaluate->openTrial(trial);
    emit m_evaluate->raised();
}

void Studio::compare(std::int64_t sweep) {
    m_compare->showSweep(sweep);
    emit m_compare->raised();
}

void Studio::clone(const QString& specJson) {
    m_train->setSpec(QJsonDocument::fromJson(specJson.toUtf8()).object());
    emit m_train->raised();
}

void Studio::connectReports() {
    connect(m_reports, &TrialWriter::written, this, [this](const QString& file, const QStringList& command) {
        if (m_queuePage.made() && m_queuePage->isVisible()) m_queuePage->showWritten(file, command);
        if (!QDesktopServices::openUrl(QUrl::fromLocalFile(file)))
            tell(tr("The report is written"), tr("It is in %1; no program here would open it.").arg(file), false);
    });
    connect(m_reports, &TrialWriter::failed, this, [this](const QString& file, const Explanation& why) {
        tell(tr("The report was not written to %1").arg(file), why.inTwoLines());
    });
}

void Studio::askForReport(std::int64_t sweep) { m_reports->ask(sweep, sweepReport(), m_window); }

void Studio::openRun(std::int64_t trial) {
    m_train->setHomeIsEmpty(false);
    m_lookedAt = trial;
    if (m_evaluate.made()) m_evaluate->setLookedAt(trial);
    m_runsPage->open(trial);
}

void Studio::followTimeline() {
    const std::int64_t trial = m_runsPage->trial();
    const auto attempt = m_runsPage->attempt();
    if (!attempt || !m_timeline->isVisible()) return;
    if (m_timelineTrial == trial && m_timelineAttempt == *attempt) return;
    m_timelineTrial = trial;
    m_timelineAttempt = *attempt;
    m_timeline->view().follow(m_places, trial, *attempt);
}

void Studio::askAboutChangedData(qint64 trial, const std::vector<Problem>& problems) {
    QPointer<QMessageBox>& box = m_dataQuestions[trial];
    if (box) return box->raise();
    const QString title = tr("The data of trial %1 have changed").arg(trial);
    box = new QMessageBox(QMessageBox::Question, title, title, QMessageBox::Cancel, m_window);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setDefaultButton(QMessageBox::Cancel);
    QStringList changes;
    for (const Problem& problem : problems) changes << m_explain(problem).what;
    changes << tr(
        "Put back what was there, or go on with what there is now: the results are then not those of an "
        "unbroken run, and the run's messages say so.");
    box->setInformativeText(changes.join("\n\n"));
    const auto* resume = box->addButton(tr("Resume all the same"), QMessageBox::AcceptRole);
    connect(box, &QMessageBox::buttonClicked, m_launcher, [this, trial, resume](const QAbstractButton* pressed) {
        if (pressed == resume) m_launcher->resumeWithChangedData(trial);
    });
    box->open();
}

void Studio::explainProblems(const QString& title, const std::vector<Problem>& problems) {
    tell(title, textOf(problems, m_explain));
}

void Studio::tell(const QString& title, const QString& text, bool isProblem) {
    const auto icon = isProblem ? QMessageBox::Warning : QMessageBox::Information;
    auto* box = new QMessageBox(icon, title, title, QMessageBox::Ok, m_window);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setTextFormat(Qt::PlainText);
    box->setInformativeText(text);
    box->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    box->open();
}

}  // namespace lockstep::ui
