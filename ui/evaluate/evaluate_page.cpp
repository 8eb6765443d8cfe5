#include "ui/evaluate/evaluate_page.h"

#include <QComboBox>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QJsonDocument>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QPushButton>
#include <QSettings>
#include <QSignalBlocker>
#include <QSlider>
#include <QSplitter>
#include <QTabWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "engine/spec/perplexity.h"
#include "ui/evaluate/calibration_view.h"
#include "ui/evaluate/class_scores_view.h"
#include "ui/evaluate/confusion_view.h"
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

JsonText jsonLineOf(const TrialSpec& spec) {
    const QByteArray text = QByteArray::fromStdString(toJson(spec));
    return {QJsonDocument::fromJson(text).toJson(QJsonDocument::Compact).toStdString()};
}

}  // namespace

EvaluatePage::EvaluatePage(const QString& engineProgram, EngineService* engine, HistoryService* history,
                           Explain explain, QWidget* parent)
    : Page(parent),
      m_explain(std::move(explain)),
      m_engine(*engine),
      m_history(*history),
      m_evaluation(engineProgram),
      m_export(engineProgram),
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
    showBeside();
    showCounts();
    watch();
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

void EvaluatePage::connectAll() {
    connect(&m_history, &HistoryService::rowsRead, this, &EvaluatePage::takeRows);
    connect(&m_history, &HistoryService::absent, this, [this] { takeRows({}); });
    connect(&m_history, &HistoryService::unreadable, this,
            [this](const Problem& problem) { notice(m_explain(problem).what, true); });
    connect(m_trials, &QComboBox::activated, this, [this](int at) { openTrial(m_trials->itemData(at).toLongLong()); });
    connect(m_beside, &QComboBox::activated, this, &EvaluatePage::besideChanged);
    connect(m_source, &QComboBox::activated, this, &EvaluatePage::sourceChanged);
    connect(m_epoch, &QSlider::valueChanged, this, &EvaluatePage::showCounts);
    connect(m_order, &QComboBox::currentIndexChanged, this, [this](int order) {
        m_matrix->setOrder(order == 0 ? ClassOrder::AsTheyAre : ClassOrder::MostConfused, order == 2 ? 20 : 0);
    });
    connect(m_numbers, &QComboBox::currentIndexChanged, this, [this](int which) { m_matrix->setShares(which == 1); });
    connect(m_matrix, &ConfusionView::cellChosen, this, &EvaluatePage::chooseCell);
    connect(m_scores, &ClassScoresView::classChosen, this, &EvaluatePage::chooseClass);
    connect(m_mistakes, &QPushButton::clicked, this, &EvaluatePage::showMistakes);
    connect(m_gallery, &SampleGallery::samplesWanted, this, &EvaluatePage::askForSamples);
    connect(m_gallery, &SampleGallery::hintTaken, this, [this] { evaluate({"--best"}); });
    connect(m_devices, &QLineEdit::editingFinished, this, &EvaluatePage::showModel);
    connect(m_besideButton, &QPushButton::clicked, this, &EvaluatePage::evaluateBeside);
    connect(m_cancel, &QPushButton::clicked, this, [this] {
        m_evaluation.cancel();
        m_notice->hide();
    });
    for (std::size_t i = 0; i < m_besideCells.size(); ++i) {
        connect(m_besideCells[i], &QPushButton::clicked, this, [this, i] {
            if (!m_both) return;
            const std::array lists{&m_both->bothRight, &m_both->onlyFirst, &m_both->onlySecond, &m_both->bothWrong};
            showSamples(m_besideCells[i]->text().section('\n', 0, 0), *lists[i], true);
        });
    }
    connect(&m_evaluation, &EngineCommand::runningChanged, this, &EvaluatePage::enableActions);
    connect(&m_evaluation, &EngineCommand::done, this, &EvaluatePage::evaluated);
    const auto fail = [this](const Explanation& why) {
        notice(why.remedy.isEmpty() ? why.what : why.what + ' ' + why.remedy, true);
    };
    connect(&m_evaluation, &EngineCommand::failed, this, fail);
    connect(&m_export, &EngineCommand::failed, this, fail);
}

void EvaluatePage::showEvent(QShowEvent* event) {
    Page::showEvent(event);
    watch();
    if (!m_tasks.isEmpty()) return;
    m_engine.ask<ModelsRequest>({}, this, [this](const auto& reply) {
        for (const OfferedChoice& model : reply.answer.models)
            m_tasks[QString::fromStdString(model.id)] = QString::fromStdString(model.task);
        showModel();
    });
}

void EvaluatePage::hideEvent(QHideEvent* event) {
    Page::hideEvent(event);
    watch();
}

std::optional<EmptyState> EvaluatePage::emptyState() const {
    if (!m_rows.empty()) return std::nullopt;
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
    m_notice->show();
}

const TrialRow* EvaluatePage::row(std::int64_t trial) const {
    const auto found = std::ranges::find(m_rows, trial, &TrialRow::id);
    return found == m_rows.end() ? nullptr : &*found;
}

void EvaluatePage::takeRows(const std::vector<TrialRow>& rows) {
    const bool wasEmpty = m_rows.empty();
    const TrialRow before = row(m_trial) ? *row(m_trial) : TrialRow();
    std::vector<std::int64_t> old, now;
    for (const TrialRow& each : m_rows) old.push_back(each.id);
    m_rows.clear();
    for (const TrialRow& each : rows) {
        if (!each.deleted && (each.step > 0 || each.testLoss)) m_rows.push_back(each);
    }
    for (const TrialRow& each : m_rows) now.push_back(each.id);
    if (wasEmpty != m_rows.empty()) emit emptyStateChanged();
    watch();
    if (old != now) {
        const QSignalBlocker quiet(m_trials), quietToo(m_beside);
        m_trials->clear();
        m_beside->clear();
        m_beside->addItem(tr("no other trial"), 0);
        for (const TrialRow& each : m_rows) {
            m_trials->addItem(nameOf(each), static_cast<qlonglong>(each.id));
            m_beside->addItem(nameOf(each), static_cast<qlonglong>(each.id));
        }
        m_beside->setCurrentIndex(std::max(0, m_beside->findData(static_cast<qlonglong>(m_other))));
        m_trials->setCurrentIndex(m_trials->findData(static_cast<qlonglong>(m_trial)));
    }
    if (m_rows.empty()) return;
    if (!row(m_trial)) return openTrial(m_rows.front().id);
    const TrialRow& after = *row(m_trial);
    const bool changed = before.id != after.id || before.epoch != after.epoch || before.state != after.state ||
                         before.attempts != after.attempts || before.testLoss != after.testLoss;
    if (changed) m_history.readEvaluations(m_trial, [this](const TrialEvaluations& found) { takeEvaluations(found); });
}

void EvaluatePage::openTrial(std::int64_t trial) {
    if (m_trial != trial) {
        m_found.reset();
        m_answers.reset();
        m_matrix->choose(std::nullopt);
        m_gallery->setHint({});
    }
    m_trial = trial;
    const QSignalBlocker quiet(m_trials);
    m_trials->setCurrentIndex(m_trials->findData(static_cast<qlonglong>(trial)));
    m_history.readEvaluations(trial, [this](const TrialEvaluations& found) { takeEvaluations(found); });
}

void EvaluatePage::takeEvaluations(const TrialEvaluations& found) {
    if (found.trial != m_trial) return;
    const bool first = !m_found || m_found->trial != found.trial;
    m_found = found;
    if (first) m_choosesNewest = true;
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
        const QString when = QString::fromStdString(each.createdAt).left(16).replace('T', ' ');
        m_source->addItem(tr("%1 checkpoint, epoch %2, %3 data, %4 UTC")
                              .arg(each.checkpoint == "last" ? tr("Last") : tr("Best"))
                              .arg(each.epoch)
                              .arg(QString::fromStdString(each.split), when),
                          static_cast<qlonglong>(each.id));
    }
    m_source->addItem(tr("Training: after each epoch"), 0);
    const int kept = m_choosesNewest ? 0 : m_source->findData(before);
    m_source->setCurrentIndex(std::max(0, kept));
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
    if (m_answers && now && m_answers->id == now->id) return;
    m_answers.reset();
    m_both.reset();
    showBeside();
    if (!now)
        return m_gallery->setHint(tr("Choose an evaluation above, or evaluate the model, to see its samples."),
                                  m_found && m_found->hasCheckpoint ? tr("Evaluate the best checkpoint") : QString());
    m_gallery->setHint(tr("Click a cell of the matrix to see its images."));
    m_history.readEvaluation(now->id, [this](const auto& evaluation) { takeAnswers(evaluation); });
}

void EvaluatePage::takeAnswers(const std::optional<Evaluation>& evaluation) {
    const Evaluation* now = source();
    if (!evaluation || !now || evaluation->id != now->id) return;
    m_answers = std::make_shared<const Evaluation>(*evaluation);
    if (m_matrix->chosen()) chooseCell(m_matrix->chosen()->label, m_matrix->chosen()->answer);
    else if (!m_answers->answers.empty()) showMistakes();
    showBeside();
}

void EvaluatePage::showCounts() {
    const EvalCounts* now = counts();
    const auto matrix = now && now->classes > 0 ? ConfusionMatrix::from(*now) : Problem{};
    if (now) m_epochText->setText(tr("epoch %1").arg(now->epoch));
    m_matrix->setVisible(matrix.ok());
    m_matrixHint->setVisible(!matrix.ok());
    const bool language = m_found && m_found->spec && kindOf(*m_found->spec) == AskCard::Kind::Language;
    m_matrixHint->setText(language ? tr("A language model has no classes to confuse: give it a prompt, or evaluate it "
                                        "for its perplexity.")
                          : !m_found || !row(m_trial) ? QString()
                          : m_found->hasCheckpoint
                              ? tr("This trial kept no matrix of its evaluations. Evaluate it to see one.")
                              : tr("The first evaluation comes at the end of the first epoch."));
    m_matrix->setMatrix(matrix.ok() ? std::optional(matrix.value()) : std::nullopt, m_classes);
    m_scores->setScores(matrix.ok() ? classScores(matrix.value()) : std::vector<ClassScore>(), m_classes);
    m_calibration->setBins(matrix.ok() ? calibration(*now) : std::vector<CalibrationBin>());
    for (QWidget* each :
         {static_cast<QWidget*>(m_order), static_cast<QWidget*>(m_numbers), static_cast<QWidget*>(m_mistakes)})
        each->setEnabled(matrix.ok());
    m_classCard->setVisible(!language);
    m_gallery->setVisible(!language);
    showFigures(now ? *now : EvalCounts());
}

void EvaluatePage::showFigures(const EvalCounts& now) {
    QStringList figures;
    const Evaluation* asked = source();
    const auto matrix = now.classes > 0 ? ConfusionMatrix::from(now) : Problem{};
    const bool language = m_found && m_found->spec && kindOf(*m_found->spec) == AskCard::Kind::Language;
    const std::int64_t samples = asked ? asked->samples : matrix.ok() ? matrix.value().total() : 0;
    if (samples > 0) figures << tr("%1 samples").arg(runCount(static_cast<double>(samples)));
    if (asked) figures << tr("loss %1").arg(runNumber(asked->loss));
    if (asked && language)
        figures << tr("perplexity %1").arg(runNumber(perplexity(asked->loss)))
                << tr("%1 bits per byte").arg(runNumber(bitsPerByte(asked->loss)));
    if (asked) figures << tr("accuracy %1").arg(runPercent(asked->accuracy));
    else if (matrix.ok() && matrix.value().total() > 0)
        figures << tr("accuracy %1")
                       .arg(runPercent(static_cast<double>(matrix.value().correct()) /
                                       static_cast<double>(matrix.value().total())));
    if (asked && asked->accuracy5 >= 0) figures << tr("best five %1").arg(runPercent(asked->accuracy5));
    const double error = matrix.ok() ? expectedCalibrationError(calibration(now)) : std::nan("");
    if (std::isfinite(error)) figures << tr("calibration error %1").arg(runPercent(error));
    m_figures->setText(figures.join("   ·   "));
    m_figures->setToolTip(figures.join('\n'));
}

AskCard::Kind EvaluatePage::kindOf(const TrialSpec& spec) const {
    const QString task = m_tasks.value(QString::fromStdString(spec.model.id));
    if (task == QString::fromUtf8(kNextTokens.data(), kNextTokens.size())) return AskCard::Kind::Language;
    return task == "text-classes" ? AskCard::Kind::Texts : AskCard::Kind::Images;
}

void EvaluatePage::showModel() {
    if (!m_found || !m_found->spec || !m_found->hasCheckpoint) return m_ask->setModel(AskCard::Kind::None, {}, {});
    QStringList arguments{QString::number(m_trial)};
    if (!m_devices->text().trimmed().isEmpty()) arguments << "--devices" << m_devices->text().trimmed();
    m_ask->setModel(kindOf(*m_found->spec), arguments, tr("#%1, best checkpoint").arg(m_trial));
    showCounts();
}

void EvaluatePage::readClasses() {
    if (!m_found->spec || (m_classesOf == m_trial && !m_classes.isEmpty())) return;
    if (m_classesOf != m_trial) setClasses({});
    m_classesOf = m_trial;
    AskedSamplesRequest request{jsonLineOf(*m_found->spec), {}, "test", {}};
    m_engine.ask<AskedSamplesRequest>(request, this, [this, trial = m_trial](const auto& reply) {
        if (trial != m_trial) return;
        if (reply.ok()) return setClasses(reply.answer.classes);
        notice(tr("The names of the classes cannot be read: %1").arg(m_explain(reply.problems.front()).what), true);
    });
}

void EvaluatePage::setClasses(const std::vector<std::string>& classes) {
    m_classes.clear();
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

void EvaluatePage::showSamples(const QString& title, SampleList samples, bool both) {
    std::vector<SampleGallery::Answers> models{{QString("#%1").arg(m_trial), m_answers}};
    if (both && m_besideAnswers) models.push_back({QString("#%1").arg(m_other), m_besideAnswers});
    m_gallery->setSamples(title, std::move(samples), std::move(models), m_classes);
}

void EvaluatePage::askForSamples(const std::vector<std::int64_t>& samples) {
    if (!m_answers || !m_found->spec) return;
    AskedSamplesRequest request{jsonLineOf(*m_found->spec), m_answers->data, m_answers->split, samples};
    m_engine.ask<AskedSamplesRequest>(request, this, [this, of = m_gallery->samples()](const auto& reply) {
        if (of != m_gallery->samples()) return;
        if (reply.ok()) return m_gallery->addShown(reply.answer.samples);
        const Explanation words = m_explain(reply.problems.front());
        m_gallery->setProblem(words.what + ' ' + words.remedy);
    });
}

void EvaluatePage::besideChanged() {
    m_other = m_beside->currentData().toLongLong();
    m_foundBeside.reset();
    m_besideAnswers.reset();
    m_both.reset();
    showBeside();
    if (m_other == 0) return;
    m_tabs->setCurrentIndex(2);
    m_history.readEvaluations(m_other, [this](const TrialEvaluations& found) { takeBeside(found); });
}

// The newest of the other trial's evaluations that was asked about the same samples.
void EvaluatePage::takeBeside(const TrialEvaluations& found) {
    if (found.trial != m_other) return;
    m_foundBeside = found;
    m_besideAnswers.reset();
    showBeside();
}

void EvaluatePage::showBeside() {
    const Evaluation* now = source();
    m_both.reset();
    for (auto* each : m_besideCells) each->hide();
    m_besideButton->hide();
    if (m_other == 0)
        return m_besideHint->setText(tr(
            "Choose another trial beside this one, above, to see which samples one gets right and the other wrong."));
    if (!now || !m_answers)
        return m_besideHint->setText(tr("Evaluate trial #%1 first: its samples are compared.").arg(m_trial));
    if (!m_foundBeside) return m_besideHint->setText(tr("Reading…"));
    const auto same = std::ranges::find_if(m_foundBeside->evaluations, [&](const Evaluation& each) {
        return each.id != now->id && each.data == now->data && each.split == now->split && each.samples == now->samples;
    });
    if (same == m_foundBeside->evaluations.end()) {
        m_besideHint->setText(tr("Trial #%1 has not been evaluated on the same data.").arg(m_other));
        m_besideButton->setText(tr("Evaluate trial #%1").arg(m_other));
        m_besideButton->setVisible(m_foundBeside->hasCheckpoint);
        return;
    }
    if (!m_besideAnswers || m_besideAnswers->id != same->id) {
        m_history.readEvaluation(same->id, [this](const auto& evaluation) {
            if (!evaluation || evaluation->trial != m_other) return;
            m_besideAnswers = std::make_shared<const Evaluation>(*evaluation);
            showBeside();
        });
        return;
    }
    m_both = compareAnswers(*m_answers, *m_besideAnswers);
    if (!m_both) return m_besideHint->setText(tr("The two were asked about different samples."));
    m_besideHint->setText(tr("Click to see the samples, with both answers."));
    const std::array counts{m_both->bothRight.size(), m_both->onlyFirst.size(), m_both->onlySecond.size(),
                            m_both->bothWrong.size()};
    const std::array words{tr("Both right"), tr("Only #%1 right").arg(m_trial), tr("Only #%1 right").arg(m_other),
                           tr("Both wrong")};
    for (std::size_t i = 0; i < counts.size(); ++i) {
        m_besideCells[i]->setText(words[i] + '\n' + runCount(static_cast<double>(counts[i])));
        m_besideCells[i]->show();
    }
}

void EvaluatePage::dragEnterEvent(QDragEnterEvent* event) {
    if (m_ask->kind() != AskCard::Kind::None && AskCard::takes(event->mimeData())) event->acceptProposedAction();
}

void EvaluatePage::dropEvent(QDropEvent* event) {
    event->acceptProposedAction();
    m_ask->take(event->mimeData());
}

}  // namespace lockstep::ui
