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
      m_places(std::move(places)),
      m_explain(std::move(explain)),
      m_engine(new EngineService(engineProgram, this)),
      m_samples(new EngineService(engineProgram, this)),
      m_launcher(new RunLauncher(engineProgram, m_places, this)),
      m_cards(new TrialWriter(engineProgram, this)),
      m_runs(new OpenRuns(m_places, this)),
      m_history(m_places),
      m_queue(&m_history, engineProgram),
      m_train(std::make_unique<TrainPage>(m_engine, m_launcher, m_explain)),
      m_runsPage(std::make_unique<RunsPage>(m_runs, m_explain)),
      m_trials(std::make_unique<TrialsPage>(&m_history, &m_selection, m_places, m_explain)),
      m_evaluate(std::make_unique<EvaluatePage>(engineProgram, m_samples, &m_history, m_explain)),
      m_queuePage(std::make_unique<QueuePage>(&m_history, &m_queue, m_explain)),
      m_compare(std::make_unique<ComparePage>(&m_history, &m_selection, m_explain)),
      m_timeline(std::make_unique<TimelineDock>()) {
    m_train->setHomeIsEmpty(m_runs->historyIsEmpty());
    m_train->followHistory(&m_history);
    connectPages();
    connectCards();
}

Studio::~Studio() = default;

std::vector<Page*> Studio::pages() const {
    return {m_train.get(), m_runsPage.get(), m_trials.get(), m_compare.get(), m_evaluate.get(), m_queuePage.get()};
}

std::vector<QDockWidget*> Studio::docks() const { return {m_timeline.get()}; }

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
    connect(m_queuePage.get(), &QueuePage::openRequested, this, &Studio::openRun);
    connect(m_compare.get(), &ComparePage::openRequested, this, &Studio::openRun);
    connect(m_compare.get(), &ComparePage::resumeRequested, m_launcher, &RunLauncher::resume);
    const auto evaluate = [this](qint64 trial) {
        m_evaluate->openTrial(trial);
        emit m_evaluate->raised();
    };
    connect(m_compare.get(), &ComparePage::evaluateRequested, m_evaluate.get(), evaluate);
    const auto clone = [this](const QString& spec) {
        m_train->setSpec(QJsonDocument::fromJson(spec.toUtf8()).object());
        emit m_train->raised();
    };
    connect(m_compare.get(), &ComparePage::cloneRequested, m_train.get(), clone);
    connect(m_compare.get(), &ComparePage::sweepRequested, m_train.get(),
            [this](const QString& sweep, const QString& what) {
                m_train->setSweep(sweep, what);
                emit m_train->raised();
            });
    const auto compare = [this](qint64 sweep) {
        m_compare->showSweep(sweep);
        emit m_compare->raised();
    };
    connect(m_trials.get(), &TrialsPage::compareRequested, m_compare.get(), compare);
    connect(m_queuePage.get(), &QueuePage::compareRequested, m_compare.get(), compare);
    connect(m_queuePage.get(), &QueuePage::trialsRequested, m_trials.get(), [this](qint64 sweep) {
        m_trials->showSweep(sweep);
        emit m_trials->raised();
    });
    connect(m_trials.get(), &TrialsPage::evaluateRequested, m_evaluate.get(), evaluate);
    connect(m_trials.get(), &TrialsPage::resumeRequested, m_launcher, &RunLauncher::resume);
    connect(m_trials.get(), &TrialsPage::cloneRequested, m_train.get(), clone);
}

void Studio::connectCards() {
    const auto ask = [this](std::int64_t trial) { m_cards->ask(trial, trialFormat("card"), m_window); };
    connect(m_runsPage.get(), &RunsPage::cardRequested, m_cards, ask);
    connect(m_trials.get(), &TrialsPage::cardRequested, m_cards, ask);
    connect(m_evaluate.get(), &EvaluatePage::cardRequested, m_cards, ask);
    connect(m_cards, &TrialWriter::written, this, [this](const QString& file) {
        if (!QDesktopServices::openUrl(QUrl::fromLocalFile(file)))
            tell(tr("The model card is written"), tr("It is in %1; no program here would open it.").arg(file), false);
    });
    connect(m_cards, &TrialWriter::failed, this, [this](const QString& file, const Explanation& why) {
        tell(tr("The model card was not written to %1").arg(file), why.inTwoLines());
    });
}

void Studio::openRun(std::int64_t trial) {
    m_train->setHomeIsEmpty(false);
    m_evaluate->setLookedAt(trial);
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
