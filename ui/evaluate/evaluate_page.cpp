#include "ui/evaluate/evaluate_page.h"

#include <QComboBox>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QPushButton>
#include <QSettings>
#include <QSignalBlocker>
#include <QSlider>
#include <QSplitter>
#include <QTabWidget>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/spec/data_known.h"
#include "engine/spec/perplexity.h"
#include "ui/evaluate/beside_card.h"
#include "ui/evaluate/calibration_view.h"
#include "ui/evaluate/class_scores_view.h"
#include "ui/evaluate/confusion_view.h"
#include "ui/evaluate/evaluation_text.h"
#include "ui/history/command_text.h"
#include "ui/plot/run_text.h"
#include "ui/style/plain_text.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

QString nameOf(const TrialRow& row) {
    const QString title = oneLine(row.title);
    return QString("#%1  %2").arg(row.id).arg(title.isEmpty() ? QString::fromStdString(row.model + ", " + row.dataset)
                                                              : title);
}

bool hasEnded(const TrialRow& row) {
    const auto state = runStateFrom(row.state);
    return state && isFinal(*state);
}

bool hasFinishedEpoch(const TrialRow* row) { return row && (row->testLoss || row->validationLoss); }

// Of a row, what decides whether and as what it may stand beside another.
auto whatOthersDependOn(const TrialRow& row) { return std::tuple(row.id, row.state, row.epoch, row.title); }

}  // namespace

EvaluatePage::EvaluatePage(const QString& engineProgram, EngineService* engine, HistoryService* history,
                           Explain explain, QWidget* parent)
    : Page(parent),
      m_explain(std::move(explain)),
      m_engine(*engine),
      m_history(*history),
      m_evaluation(engineProgram),
      m_prediction(engineProgram),
      m_writer(engineProgram),
      m_ask(new AskCard(engineProgram)) {
    setAcceptDrops(true);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::kPage, space::kLarge, space::kPage, space::kLarge);
    layout->setSpacing(space::kMedium);
    layout->addWidget(buildHead());
    layout->addWidget(buildNotice());
    m_gallery = new SampleGallery;
    auto* upper = new QSplitter(Qt::Horizontal);
    upper->addWidget(buildMatrix());
    upper->addWidget(buildSide());
    upper->setStretchFactor(0, 1);
    upper->setStretchFactor(1, 1);
    upper->setSizes({500, 500});
    auto* all = new QSplitter(Qt::Vertical);
    all->addWidget(upper);
    all->addWidget(m_gallery);
    all->setStretchFactor(0, 2);
    all->setStretchFactor(1, 1);
    for (auto* each : {upper, all}) {
        each->setChildrenCollapsible(false);
        each->setHandleWidth(space::kMedium);
    }
    layout->addWidget(all, 1);
    makeActions();
    connectAll();
    enableActions();
    showCounts();
    watch();
    QTimer::singleShot(0, this, &EvaluatePage::catchUp);  // once what was saved has come
}

EvaluatePage::~EvaluatePage() {
    m_rows.clear();
    hide();
    if (m_watches) m_history.setWatching(false);
}

// As long as there is nothing to show, another view stands in the page's place.
void EvaluatePage::watch() {
    const bool wanted = isVisible() || m_rows.empty();
    if (std::exchange(m_watches, wanted) != wanted) m_history.setWatching(wanted);
}

// Others may have watched before: nothing new may come.
void EvaluatePage::catchUp() {
    if (m_isRead) return;
    if (m_history.rows()) takeRows(*m_history.rows());
    else if (m_history.refusal()) notice(m_explain(*m_history.refusal()).inOneLine(), true);
}

void EvaluatePage::connectAll() {
    connect(&m_history, &HistoryService::rowsRead, this, &EvaluatePage::takeRows);
    connect(&m_history, &HistoryService::absent, this, [this] { takeRows({}); });
    connect(&m_history, &HistoryService::unreadable, this,
            [this](const Problem& problem) { notice(m_explain(problem).inOneLine(), true); });
    connect(m_trials, &QComboBox::activated, this, [this](int at) { openTrial(m_trials->itemData(at).toLongLong()); });
    connect(m_others, &QComboBox::activated, this, [this] {
        m_beside->setOther(m_others->currentData().toLongLong());
        if (m_beside->other() > 0) m_tabs->setCurrentWidget(m_beside);
    });
    connect(m_source, &QComboBox::activated, this, &EvaluatePage::sourceChanged);
    connect(m_epoch, &QSlider::valueChanged, this, &EvaluatePage::showCounts);
    connect(m_order, &QComboBox::currentIndexChanged, this, [this](int order) {
        m_matrix->setOrder(order == 0 ? ClassOrder::AsTheyAre : ClassOrder::MostConfused, order == 2 ? 20 : 0);
    });
    connect(m_numbers, &QComboBox::currentIndexChanged, this, [this](int which) { m_matrix->setShares(which == 1); });
    connect(m_matrix, &ConfusionView::cellChosen, this, &EvaluatePage::chooseCell);
    connect(m_matrix, &ConfusionView::toldChanged, m_told, &QLabel::setText);
    connect(m_scores, &ClassScoresView::classChosen, this, &EvaluatePage::chooseClass);
    connect(m_mistakes, &QPushButton::clicked, this, &EvaluatePage::showMistakes);
    connect(m_gallery, &SampleGallery::samplesWanted, this, &EvaluatePage::askForSamples);
    connect(m_gallery, &SampleGallery::hintTaken, this, [this] { evaluate({}); });
    connect(m_ask, &AskCard::questionChanged, this, &EvaluatePage::enableActions);
    connect(m_devices, &QLineEdit::editingFinished, this, &EvaluatePage::showModel);
    connect(m_precision, &QComboBox::activated, this, &EvaluatePage::showModel);
    connect(m_beside, &BesideCard::evaluationWanted, this, &EvaluatePage::evaluateBeside);
    connect(m_beside, &BesideCard::samplesChosen, this,
            [this](const QString& title, const SampleList& samples, bool othersFirst) {
                showSamples(title, samples, othersFirst ? Answers::OthersFirst : Answers::OwnFirst);
            });
    connect(m_cancel, &QPushButton::clicked, this, &EvaluatePage::cancel);
    connect(&m_evaluation, &EngineCommand::runningChanged, this, &EvaluatePage::enableActions);
    connect(&m_evaluation, &EngineCommand::done, this, &EvaluatePage::evaluated);
    const auto fail = [this](const Explanation& why) { notice(why.inOneLine(), true); };
    connect(&m_evaluation, &EngineCommand::failed, this, fail);
    connect(&m_writer, &TrialWriter::failed, this, [fail](const QString&, const Explanation& why) { fail(why); });
    connect(&m_writer, &TrialWriter::written, this, [this](const QString& file, const QStringList& command) {
        showWritten(tr("Written to %1").arg(file), file, commandLine(command));
    });
    connectPrediction();
}

void EvaluatePage::showEvent(QShowEvent* event) {
    Page::showEvent(event);
    watch();
    m_isJustShown = true;
    openLookedAt();
    m_engine.retry();
    readClasses();
    if (!m_tasks.isEmpty()) return;
    m_engine.ask<ModelsRequest>({}, this, [this](const auto& reply) {
        if (!reply.ok()) return notice(m_explain(reply.problems.front()).inOneLine(), true);
        for (const OfferedChoice& model : reply.answer.models)
            m_tasks[QString::fromStdString(model.id)] = QString::fromStdString(model.task);
        showModel();
        readClasses();
    });
}

void EvaluatePage::hideEvent(QHideEvent* event) {
    Page::hideEvent(event);
    watch();
}

std::optional<EmptyState> EvaluatePage::emptyState() const {
    if (!m_rows.empty()) return std::nullopt;
    if (!m_isRead) return EmptyState{tr("Reading the trials…"), {}, {}};
    return EmptyState{tr("Nothing to evaluate yet"),
                      tr("Once a trial has finished its first epoch, this page shows what its model gets right and "
                         "wrong, and answers when you drop an image on it."),
                      {{"page.train", tr("Train a model")}}};
}

void EvaluatePage::save(QSettings& settings) const {
    settings.setValue("evaluate/trial", static_cast<qlonglong>(m_trial));
    settings.setValue("evaluate/order", m_order->currentIndex());
    settings.setValue("evaluate/numbers", m_numbers->currentIndex());
}

void EvaluatePage::restore(const QSettings& settings) {
    m_order->setCurrentIndex(settings.value("evaluate/order", 0).toInt());
    m_numbers->setCurrentIndex(settings.value("evaluate/numbers", 0).toInt());
    m_trial = settings.value("evaluate/trial", 0).toLongLong();
}

void EvaluatePage::notice(const QString& text, bool isProblem) {
    m_noticeText->setProperty("role", isProblem ? "problem" : "muted");
    m_noticeText->setStyleSheet(isProblem ? QString("color: %1").arg(currentTheme().bad.name()) : QString());
    m_noticeText->setText(text);
    m_noticeCopy->hide();
    m_noticeShow->hide();
    m_notice->show();
}

void EvaluatePage::offerCommand(const QString& command) {
    m_command = command;
    m_noticeCopy->setToolTip(command);
    m_noticeCopy->show();
}

const TrialRow* EvaluatePage::row(std::int64_t trial) const {
    const auto found = std::ranges::find(m_rows, trial, &TrialRow::id);
    return found == m_rows.end() ? nullptr : &*found;
}

void EvaluatePage::takeRows(const std::vector<TrialRow>& rows) {
    const bool wasEmpty = m_rows.empty(), wasRead = std::exchange(m_isRead, true);
    const TrialRow before = row(m_trial) ? *row(m_trial) : TrialRow();
    const auto rowsBefore = std::exchange(m_rows, {});
    for (const TrialRow& each : rows) {
        if (!each.deleted && (each.step > 0 || each.testLoss)) m_rows.push_back(each);
    }
    if (wasEmpty != m_rows.empty() || !wasRead) emit emptyStateChanged();
    watch();
    listTrials();
    if (m_rows.empty()) return;
    if (std::exchange(m_isJustShown, false) || wasEmpty) openLookedAt();
    if (!row(m_trial)) return openTrial(m_rows.front().id);
    if (!std::ranges::equal(rowsBefore, m_rows, {}, whatOthersDependOn, whatOthersDependOn)) readOthers();
    const TrialRow& after = *row(m_trial);
    const bool changed = !m_found || before.epoch != after.epoch || before.state != after.state ||
                         before.attempts != after.attempts || before.testLoss != after.testLoss;
    if (changed) readEvaluations();
}

void EvaluatePage::listTrials() {
    QStringList names;
    for (const TrialRow& each : m_rows) names << nameOf(each);
    if (std::exchange(m_names, names) == names && m_trials->count() > 0) return;
    const QSignalBlocker quiet(m_trials);
    m_trials->clear();
    for (const TrialRow& each : m_rows) m_trials->addItem(nameOf(each), static_cast<qlonglong>(each.id));
    m_trials->setCurrentIndex(m_trials->findData(static_cast<qlonglong>(m_trial)));
}

void EvaluatePage::readOthers() {
    m_history.readComparable(m_trial, [this, trial = m_trial](const std::vector<std::int64_t>& found) {
        if (trial == m_trial) listOthers(found);
    });
}

void EvaluatePage::listOthers(const std::vector<std::int64_t>& trials) {
    m_others->clear();
    for (const std::int64_t each : trials) {
        if (const TrialRow* other = row(each)) m_others->addItem(nameOf(*other), static_cast<qlonglong>(each));
    }
    m_others->setEnabled(m_others->count() > 0);
    m_beside->setHasChoice(m_others->isEnabled());
    if (m_others->isEnabled()) m_others->insertItem(0, tr("no other trial"), 0);
    const int other = m_others->findData(static_cast<qlonglong>(m_beside->other()));
    m_others->setCurrentIndex(m_others->isEnabled() ? std::max(0, other) : -1);
    if (other < 0 && m_beside->other() > 0) m_beside->setOther(0);
}

void EvaluatePage::openLookedAt() {
    if (hasFinishedEpoch(row(m_lookedAt))) openTrial(m_lookedAt);
}

// Nothing of the trial before stays while the next one is read.
void EvaluatePage::openTrial(std::int64_t trial) {
    m_lookedAt = 0;
    if (std::exchange(m_trial, trial) != trial) {
        if (!isBusy()) m_notice->hide();
        m_found.reset();
        m_answers.reset();
        m_matrix->choose(std::nullopt);
        m_gallery->setHint({});
        const QSignalBlocker quiet(m_source), quietToo(m_epoch);
        m_source->clear();
        m_epoch->setMaximum(0);
        setClasses({});
        sourceChanged();
        showModel();
        enableActions();
        listOthers({});
    }
    readOthers();
    const QSignalBlocker quiet(m_trials);
    m_trials->setCurrentIndex(m_trials->findData(static_cast<qlonglong>(trial)));
    readEvaluations();
}

void EvaluatePage::readEvaluations() {
    m_history.readEvaluations(m_trial, [this](const TrialEvaluations& found) { takeEvaluations(found); });
}

// What was asked before the trial came to its end is not what it has come to.
bool EvaluatePage::isOutOfDate(const TrialEvaluations& found) const {
    const TrialRow* shown = row(found.trial);
    if (!shown || found.evaluations.empty() || found.counts.empty()) return false;
    return shown->finishedAt.empty() || found.evaluations.front().createdAt < shown->finishedAt;
}

void EvaluatePage::takeEvaluations(const TrialEvaluations& found) {
    if (found.trial != m_trial) return;
    const bool first = !m_found || m_found->trial != found.trial;
    m_found = found;
    if (first) m_choosesNewest = !isOutOfDate(found);
    fillSources();
    showModel();
    readClasses();
    enableActions();
}

// Keeps what was chosen, unless an evaluation has just come or the trial is another.
void EvaluatePage::fillSources() {
    const QSignalBlocker quiet(m_source), quietToo(m_epoch);
    const qlonglong before = m_source->currentData().toLongLong();
    const bool atEnd = m_epoch->value() == m_epoch->maximum();
    m_source->clear();
    for (const Evaluation& each : m_found->evaluations) {
        const bool changed = changedSince(each, m_found->evaluations);
        const QString name = changed ? tr("%1, the data changed since").arg(nameOf(each)) : nameOf(each);
        m_source->addItem(name, static_cast<qlonglong>(each.id));
    }
    m_source->addItem(tr("Training: after each epoch"), 0);
    const int kept = m_choosesNewest ? 0 : m_source->findData(before);
    m_source->setCurrentIndex(kept < 0 ? m_source->count() - 1 : kept);
    m_choosesNewest = false;
    m_epoch->setMaximum(std::max(0, static_cast<int>(m_found->counts.size()) - 1));
    if (atEnd) m_epoch->setValue(m_epoch->maximum());
    sourceChanged();
}

const Evaluation* EvaluatePage::source() const {
    if (!m_found) return nullptr;
    const auto found = std::ranges::find(m_found->evaluations, m_source->currentData().toLongLong(), &Evaluation::id);
    return found == m_found->evaluations.end() ? nullptr : &*found;
}

const EvalCounts* EvaluatePage::counts() const {
    if (const Evaluation* now = source()) return &now->counts;
    if (!m_found || m_found->counts.empty()) return nullptr;
    return &m_found->counts[static_cast<std::size_t>(m_epoch->value())];
}

void EvaluatePage::sourceChanged() {
    const Evaluation* now = source();
    const bool slides = !now && m_found && m_found->counts.size() > 1;
    m_epoch->setVisible(slides);
    m_epochText->setVisible(!now && m_found && !m_found->counts.empty());
    showCounts();
    showChanged();
    if (m_answers && now && m_answers->id == now->id) return;
    m_engine.withdraw(std::exchange(m_question, 0));
    m_answers.reset();
    m_beside->setShown(m_trial, nullptr);
    if (!now) return showGalleryHint();
    m_gallery->setHint(tr("Click a cell of the matrix to see its samples."));
    m_history.readEvaluation(now->id, [this](const auto& evaluation) { takeAnswers(evaluation); });
}

// The way to samples, where there is one.
void EvaluatePage::showGalleryHint() {
    if (!m_found) return m_gallery->setHint(tr("Reading…"));
    if (m_found->hasCheckpoint())
        return m_gallery->setHint(tr("Choose an evaluation above, or evaluate the model, to see its samples."),
                                  tr("Evaluate on test data"));
    m_gallery->setHint(m_found->evaluations.empty() ? whyNoModel()
                                                    : tr("Choose an evaluation above to see its samples."));
}

void EvaluatePage::takeAnswers(const std::optional<Evaluation>& evaluation) {
    const Evaluation* now = source();
    if (!evaluation || !now || evaluation->id != now->id) return;
    m_answers = std::make_shared<const Evaluation>(*evaluation);
    if (m_matrix->chosen()) chooseCell(m_matrix->chosen()->label, m_matrix->chosen()->answer);
    else if (!m_answers->answers.empty()) showMistakes();
    m_beside->setShown(m_trial, m_answers, m_found->known);
}

void EvaluatePage::showCounts() {
    const EvalCounts* now = counts();
    const auto matrix = now && now->classes > 0 ? ConfusionMatrix::from(*now) : Problem{};
    if (now) m_epochText->setText(epochText(*now));
    m_matrix->setVisible(matrix.ok());
    m_told->setVisible(matrix.ok());
    m_matrixHint->setVisible(!matrix.ok());
    m_matrixHint->setText(whyNoMatrix());
    m_matrix->setMatrix(matrix.ok() ? std::optional(matrix.value()) : std::nullopt, m_classes);
    m_scores->setScores(matrix.ok() ? classScores(matrix.value()) : std::vector<ClassScore>(), m_classes);
    m_calibration->setBins(matrix.ok() ? calibration(*now) : std::vector<CalibrationBin>());
    for (auto* each : std::initializer_list<QWidget*>{m_order, m_numbers, m_mistakes}) each->setEnabled(matrix.ok());
    m_figures->setText(figures().join("   ·   "));
    showViews();
    listCheckpoints();
}

// What tells classes apart has no place where there are none.
void EvaluatePage::showViews() {
    const bool hasClasses = !isLanguage();
    for (auto* each : std::initializer_list<QWidget*>{m_matrixCard, m_classCard, m_gallery, m_besideChoice})
        each->setVisible(hasClasses);
    m_noClasses->setVisible(!hasClasses);
}

// Of a language model's own evaluations, the newest alone is known.
QStringList EvaluatePage::figures() const {
    const TrialRow* shown = row(m_trial);
    const std::string task = isLanguage() ? std::string(kNextTokens) : std::string();
    if (isLanguage() && !source())
        return shown && shown->testLoss ? lossFigures(*shown->testLoss, task) : QStringList();
    return figuresOf(source(), counts(), task);
}

// Where there are two splits, which one.
QString EvaluatePage::epochText(const EvalCounts& counts) const {
    const auto isOther = [&](const EvalCounts& each) { return each.split != counts.split; };
    const QString epoch = tr("epoch %1").arg(counts.epoch);
    if (std::ranges::none_of(m_found->counts, isOther)) return epoch;
    return counts.split == Split::Test ? tr("%1, test").arg(epoch) : tr("%1, validation").arg(epoch);
}

QString EvaluatePage::whyNoModel() const {
    const TrialRow* shown = row(m_trial);
    if (!m_found || !shown) return {};
    if (!m_found->spec) return tr("The settings of this trial cannot be read.");
    if (!hasEnded(*shown)) return tr("There is no checkpoint yet: the first comes at the end of an epoch.");
    const QString again =
        tr("For its weights train it again: \"Clone\", on the page of all trials, takes its settings.");
    if (!m_found->hadCheckpoint)
        return tr("This trial never had a checkpoint: it ended before its first one.") + ' ' + again;
    return tr("The checkpoints of this trial are gone: they were freed or removed. Its curves and evaluations stay.") +
           ' ' + again;
}

QString EvaluatePage::whyNoMatrix() const {
    if (!m_found || !row(m_trial)) return {};
    if (m_found->hasCheckpoint()) return tr("This trial kept no matrix of its evaluations. Evaluate it to see one.");
    if (!hasEnded(*row(m_trial))) return tr("The first evaluation comes at the end of the first epoch.");
    return hasFinishedEpoch(row(m_trial))
               ? tr("This trial kept no matrix of its evaluations.")
               : tr("This trial has no evaluation: it ended before the end of its first epoch.");
}

bool EvaluatePage::isLanguage() const {
    return m_found && m_found->spec && kindOf(*m_found->spec) == AskCard::Kind::Language;
}

AskCard::Kind EvaluatePage::kindOf(const TrialSpec& spec) const {
    const QString task = m_tasks.value(QString::fromStdString(spec.model.id));
    if (task == QString::fromUtf8(kNextTokens.data(), kNextTokens.size())) return AskCard::Kind::Language;
    return task == "text-classes" ? AskCard::Kind::Texts : AskCard::Kind::Images;
}

void EvaluatePage::showModel() {
    showCounts();
    if (!m_found || !m_found->spec || !m_found->hasCheckpoint()) {
        m_ask->setNone(whyNoModel());
        return enableActions();
    }
    const QStringList arguments = QStringList{QString::number(m_trial)} + whereArguments();
    m_ask->setModel(kindOf(*m_found->spec), arguments, QString("#%1").arg(m_trial));
    enableActions();
}

// Of a trial from before its row had them, once, and only if somebody looks: a checkpoint knows them or, if none does,
// the engine opens its data for them.
void EvaluatePage::readClasses() {
    if (!isVisible() || !m_found || !m_found->spec || m_tasks.isEmpty() || isLanguage()) return;
    if (std::exchange(m_classesOf, m_trial) == m_trial) return;
    if (const auto classes = classesOf(m_found->known); !classes.empty()) return setClasses(classes);
    AskedSamplesRequest request{{toJsonLine(*m_found->spec)}, {}, "test", {}};
    request.checkpoint = m_found->checkpointFile;
    m_engine.ask<AskedSamplesRequest>(request, this, [this, trial = m_trial](const auto& reply) {
        if (trial != m_trial) return;
        if (reply.ok()) return setClasses(reply.answer.classes);
        notice(tr("The names of the classes cannot be read: %1").arg(m_explain(reply.problems.front()).inOneLine()),
               true);
    });
}

void EvaluatePage::setClasses(const std::vector<std::string>& classes) {
    m_classes.clear();
    if (classes.empty()) m_classesOf = 0;
    for (const std::string& each : classes) m_classes << oneLine(each);
    m_gallery->setClasses(m_classes);
    showCounts();
}

QString EvaluatePage::className(std::int64_t id) const {
    return m_classes.value(static_cast<int>(id), QString::number(id));
}

void EvaluatePage::chooseCell(std::int64_t label, std::int64_t answer) {
    if (!m_answers) return;
    const QString title = label == answer ? tr("%1, and rightly so").arg(className(label))
                                          : tr("%1 taken for %2").arg(className(label), className(answer));
    showSamples(title, samplesOfCell(m_answers->answers, label, answer));
}

void EvaluatePage::chooseClass(std::int64_t label) {
    if (m_answers) showSamples(tr("%1 taken for others").arg(className(label)), mistakes(m_answers->answers, label));
}

void EvaluatePage::showMistakes() {
    if (m_answers) showSamples(tr("Mistakes"), mistakes(m_answers->answers));
}

void EvaluatePage::showSamples(const QString& title, SampleList samples, Answers whose) {
    std::vector<SampleGallery::Answers> models{{QString("#%1").arg(m_trial), m_answers}};
    if (whose != Answers::Own && m_beside->otherAnswers()) {
        models.push_back({QString("#%1").arg(m_beside->other()), m_beside->otherAnswers()});
        m_matrix->choose(std::nullopt);
    }
    if (whose == Answers::OthersFirst) std::ranges::reverse(models);
    m_gallery->setSamples(title, std::move(samples), std::move(models), m_classes);
}

// The newest question alone is answered.
void EvaluatePage::askForSamples(const std::vector<std::int64_t>& samples) {
    m_engine.withdraw(std::exchange(m_question, 0));
    if (!m_answers || !m_found->spec) return;
    AskedSamplesRequest request{{toJsonLine(*m_found->spec)}, m_answers->data, m_answers->split, samples};
    request.dataset = m_answers->dataset;
    if (m_answers->fingerprint) request.fingerprint = fingerprintText(*m_answers->fingerprint);
    request.trainedOn = m_found->known.trainedOn;
    request.checkpoint = m_found->checkpointFile;
    m_question = m_engine.ask<AskedSamplesRequest>(request, this, [this](const auto& reply) {
        m_question = 0;
        if (reply.ok()) return takeSamples(reply.answer);
        m_gallery->setProblem(m_explain(reply.problems.front()).inOneLine());
    });
}

void EvaluatePage::dragEnterEvent(QDragEnterEvent* event) {
    if (takes(*event->mimeData())) event->acceptProposedAction();
}

void EvaluatePage::dropEvent(QDropEvent* event) {
    event->acceptProposedAction();
    take(*event->mimeData());
}

}  // namespace lockstep::ui
