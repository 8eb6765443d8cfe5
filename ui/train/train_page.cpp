#include "ui/train/train_page.h"

#include <QAbstractSpinBox>
#include <QApplication>
#include <QClipboard>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QKeyEvent>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QScrollArea>
#include <QSettings>
#include <QStyle>
#include <QToolButton>

#include "ui/history/command_text.h"
#include "ui/style/tab_order.h"
#include "ui/train/dataset_card.h"
#include "ui/train/dataset_text.h"
#include "ui/train/field_editor.h"
#include "ui/train/field_places.h"
#include "ui/train/spec_file.h"
#include "ui/train/sweep_command.h"
#include "ui/train/sweep_constraints.h"
#include "ui/train/sweep_form.h"

namespace lockstep::ui {

namespace {

constexpr int kMostRecent = 10;
constexpr double kHeavyCheckpoints = 64 << 20;  // a thousand such trials take 64 GiB
constexpr auto kRecentKey = "train/recent";

QString titleOf(const QJsonObject& spec) {
    const auto title = spec["title"].toString();
    const auto id = [&](const char* key) {
        return spec[key].isString() ? spec[key].toString() : spec[key]["id"].toString();
    };
    return title.isEmpty() ? TrainPage::tr("%1 on %2, %3").arg(id("model"), id("dataset"), spec["devices"].toString())
                           : title;
}

// Of what was started: a trial, or a sweep of one.
QString titleOfStarted(const QJsonObject& started) {
    if (!started.contains("vary")) return titleOf(started);
    const auto varied = started["vary"].toObject().keys().join(", ");
    return TrainPage::tr("Sweep of %1: %2").arg(varied, titleOf(started["trial"].toObject()));
}

}  // namespace

TrainPage::TrainPage(EngineService* service, RunLauncher* launcher, Explain explain, QWidget* parent)
    : Page(parent),
      m_service(*service),
      m_launcher(*launcher),
      m_explain(std::move(explain)),
      m_form(nullptr),
      m_answers(*service, m_form),
      m_sweepCheck(*service, m_form) {
    setAcceptDrops(true);
    setAccessibleName(tr("Train"));
    makeActions();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(makeHeader());
    layout->addWidget(makeForm(), 1);
    layout->addWidget(makeFooter());
    m_tabs.setSingleShot(true);
    m_tabs.setInterval(0);
    connectAll();
    fillRecent();
    setHomeIsEmpty(false);
    showService();
}

// Hiding takes the focus from its field, whose text is then committed: that must come while there is a form.
TrainPage::~TrainPage() { hide(); }

void TrainPage::connectAll() {
    connect(&m_tabs, &QTimer::timeout, this, [this] { orderTabs(*this); });
    connect(&m_form, &SpecForm::catalogChanged, this, &TrainPage::fillPresets);
    connect(&m_form, &SpecForm::changed, this, [this] {
        m_startWhenValid = m_copied = false;
        m_queued->hide();
        watchHistory();
    });
    for (const auto signal : {&SpecForm::changed, &SpecForm::problemsChanged}) {
        connect(&m_form, signal, this, &TrainPage::showFields);
        connect(&m_form, signal, this, &TrainPage::showFooter);
        connect(&m_form, signal, &m_tabs, qOverload<>(&QTimer::start));
    }
    for (const auto signal : {&FormAnswers::validated, &FormAnswers::planChanged, &FormAnswers::samplesChanged})
        connect(&m_answers, signal, this, &TrainPage::showFooter);
    connect(&m_answers, &FormAnswers::validated, this, &TrainPage::startIfWaiting);
    connect(&m_sweepCheck, &SweepCheck::done, this, &TrainPage::showFooter);
    connect(&m_sweepCheck, &SweepCheck::done, this, &TrainPage::startIfWaiting);
    connect(&m_service, &EngineService::available, this, &TrainPage::showService);
    connect(&m_service, &EngineService::unavailable, this, &TrainPage::showService);
    connect(&m_launcher, &RunLauncher::busyChanged, this, &TrainPage::showFooter);
    connect(&m_launcher, &RunLauncher::failed, this,
            [this](const Problems& problems) { m_launchProblems->tell(problems, m_explain); });
    connect(&m_launcher, &RunLauncher::started, this, [this] {
        m_launchProblems->tell({}, m_explain);
        setHomeIsEmpty(false);
    });
    connect(&m_launcher, &RunLauncher::queued, this, &TrainPage::showQueued);
}

void TrainPage::setSpec(const QJsonObject& spec) { m_form.setSpec(spec, tr("Clone of a trial")); }

void TrainPage::setSweep(const QString& sweepJson, const QString& what) {
    const auto sweep = sweepFromJson(sweepJson.toStdString(), "");
    if (sweep.ok()) return m_form.setState(stateOf(sweep.value(), m_form.catalog()), what);
    m_fileTitle->setText(tr("%1 was not opened; the form is as it was.").arg(what));
    m_fileProblems->tell(sweep.problems(), m_explain);
    m_fileNotice->show();
}

void TrainPage::openSpecFile(const QString& path) {
    const auto read = readSpecFile(path);
    const auto name = QFileInfo(path).fileName();
    if (read.sweep) m_form.setState(stateOf(*read.sweep, m_form.catalog()), tr("Sweep %1").arg(name));
    else if (!read.spec.isEmpty()) m_form.setSpec(read.spec, tr("Spec %1").arg(name));
    m_fileTitle->setText(read.spec.isEmpty() ? tr("%1 was not opened; the form is as it was.").arg(name)
                                             : tr("%1 is in the form, but not all of it can be used.").arg(name));
    m_fileProblems->tell(read.problems, m_explain);
    m_fileNotice->setVisible(!read.problems.empty());
    if (!read.problems.empty()) m_scroll->ensureVisible(0, 0);
}

void TrainPage::setHomeIsEmpty(bool empty) {
    m_homeIsEmpty = empty;
    const auto* preset = firstPreset();
    m_welcome->setVisible(empty && preset);
    m_start->setProperty("primary", !m_welcome->isVisibleTo(this));  // one thing to do next
    m_start->style()->unpolish(m_start);
    m_start->style()->polish(m_start);
    m_tabs.start();
    showFooter();
}

bool TrainPage::canStart() const {
    return m_service.isAvailable() && m_answers.isReady() && isSweepReady() && !m_launcher.isBusy();
}

bool TrainPage::isChecked() const { return m_answers.isValidated() && m_sweepCheck.isDone(); }

void TrainPage::start() {
    commitEdits();
    if (!whyNotStart().isEmpty()) return;
    m_startWhenValid = !isChecked();
    if (!m_startWhenValid) launchForm();
    showFooter();
}

void TrainPage::startIfWaiting() {
    if (!isChecked() || !std::exchange(m_startWhenValid, false)) return;
    if (canStart()) launchForm();
    showFooter();
}

void TrainPage::launchForm() {
    if (m_form.sweep().isSweep()) launchSweep();
    else launch(m_form.spec());
}

void TrainPage::launch(const QJsonObject& spec) {
    prepareLaunch(QString::fromUtf8(QJsonDocument(spec).toJson(QJsonDocument::Compact)));
    m_launcher.start(spec);
}

// What is being measured would be of two, and so would the run's own measurement.
void TrainPage::prepareLaunch(const QString& what) {
    m_launchProblems->tell({}, m_explain);
    m_fileNotice->hide();
    m_answers.endMeasuring();
    remember(what);
}

void TrainPage::startPreset() {
    const auto* preset = firstPreset();
    if (!preset || m_launcher.isBusy()) return;
    const auto spec = preset->spec;
    m_form.setSpec(spec, tr("Preset %1").arg(preset->title));
    launch(spec);
}

// What is typed and not yet taken over, when the shortcut comes from within a field.
void TrainPage::commitEdits() {
    for (auto* spin : findChildren<QAbstractSpinBox*>()) {
        if (spin->hasFocus()) spin->interpretText();
    }
    m_dataset->commit();
}

const Preset* TrainPage::firstPreset() const {
    const auto& presets = m_form.catalog().presets;
    return presets.isEmpty() ? nullptr : &presets.first();
}

void TrainPage::resetForm() { m_form.setSpec(m_form.catalog().defaults, tr("All defaults")); }

void TrainPage::chooseDataset() { m_dataset->chooseFolder(); }

void TrainPage::chooseSpecFile() {
    const auto file = QFileDialog::getOpenFileName(this, tr("Fill the form from a spec file"), {},
                                                   tr("Trial specs (*.json);;All files (*)"));
    if (file.isEmpty()) return;
    openSpecFile(file);
    emit raised();
}

void TrainPage::leaveOutUnknown() { m_form.leaveOutUnknown(); }

void TrainPage::fillPresets() {
    m_presets->clear();
    for (const auto& preset : m_form.catalog().presets) {
        m_presets->addAction(preset.title, this,
                             [this, preset] { m_form.setSpec(preset.spec, tr("Preset %1").arg(preset.title)); });
    }
    m_presets->addAction(tr("All defaults"), this, &TrainPage::resetForm);
    setHomeIsEmpty(m_homeIsEmpty);
}

void TrainPage::fillRecent() {
    m_recent->clear();
    for (const auto& each : QSettings().value(kRecentKey).toStringList()) {
        const auto started = QJsonDocument::fromJson(each.toUtf8()).object();
        if (started.isEmpty()) continue;
        const auto title = titleOfStarted(started);
        m_recent->addAction(title, this, [this, each, title] { fillForm(each, tr("Recent: %1").arg(title)); });
    }
    if (m_recent->isEmpty()) m_recent->addAction(tr("Nothing yet: what you start appears here"))->setEnabled(false);
}

void TrainPage::remember(const QString& json) {
    QSettings settings;
    auto recent = settings.value(kRecentKey).toStringList();
    recent.removeAll(json);
    recent.prepend(json);
    settings.setValue(kRecentKey, recent.mid(0, kMostRecent));
    fillRecent();
}

void TrainPage::copyCommand() {
    const auto& sweep = m_form.sweep().made();
    const auto &spec = m_form.spec(), &defaults = m_form.catalog().defaults;
    QApplication::clipboard()->setText(sweep ? sweepCommand(*sweep, spec, defaults) : trainCommand(spec, defaults));
    m_copied = true;
    showFooter();
}

void TrainPage::showService() {
    const auto problem = m_service.problem();
    if (problem) m_startWhenValid = false;
    m_notice->setVisible(problem.has_value());
    m_noticeText->tell(problem ? Problems{*problem} : Problems{}, m_explain);
    m_body->setEnabled(!problem);
    if (problem) m_scroll->ensureVisible(0, 0);
    showFooter();
}

void TrainPage::showFields() {
    const FieldPlaces places(m_form);
    m_rateFields->setFields(places.rate);
    m_runFields->setFields(places.run);
    fill(m_more, places.more);
    fill(m_faults, places.faults);
}

// No problem stays folded away.
void TrainPage::fill(const Fold& fold, const QVector<FormField>& fields) {
    const auto isWrong = [this](const FormField& field) { return !m_form.problemsAt(field.path).empty(); };
    if (std::ranges::any_of(fields, isWrong)) fold.button->setChecked(true);
    fold.fields->setFields(fields);
    fold.fields->setVisible(fold.button->isChecked());
}

Problems TrainPage::allProblems() const {
    auto all = m_form.problems();
    const auto& ofData = m_answers.dataProblems();
    all.insert(all.end(), ofData.begin(), ofData.end());
    const auto ofSweep = m_form.sweep().problems();
    all.insert(all.end(), ofSweep.begin(), ofSweep.end());
    return all;
}

QString TrainPage::whyNotStart() const {
    if (m_service.problem()) return tr("The engine is not available.");
    if (!m_service.isAvailable() || !m_answers.hasCatalog()) return tr("Waiting for the engine …");
    if (m_launcher.isBusy()) return tr("Starting: the data is opened and the program compiled …");
    const auto problems = allProblems();
    if (problems.empty()) return {};
    return problems.size() == 1 ? tr("One setting needs your attention before the start.")
                                : tr("%1 settings need your attention before the start.").arg(problems.size());
}

QString TrainPage::footerText() const {
    if (m_startWhenValid) return tr("Starting: the settings are checked …");
    if (const auto why = whyNotStart(); !why.isEmpty()) return why;
    if (m_copied) return tr("The command is on the clipboard.");
    return planText();
}

QString TrainPage::planText() const {
    if (m_form.sweep().made())
        return tr(
            "The queue trains them, also while this window is closed. Trials that were trained before count as they "
            "are.");
    const auto& plan = m_answers.plan();
    if (!plan) return {};
    const auto steps = [](qint64 count) { return count == 1 ? tr("1 step") : tr("%1 steps").arg(countText(count)); };
    const qint64 batch = m_form.equation().batch;
    const QString samples = batch == 1 ? tr("1 sample") : tr("%1 samples").arg(countText(batch));
    const QString told = tr("%1 of %2, %3 an epoch; %4 parameters; %5 per device")
                             .arg(steps(plan->totalSteps), samples, steps(plan->stepsPerEpoch),
                                  countText(plan->parameters), bytesText(static_cast<double>(plan->bytesPerDevice)));
    const double kept = static_cast<double>(plan->bytesPerCheckpoint) * static_cast<double>(plan->checkpoints);
    return kept < kHeavyCheckpoints ? told : tr("%1; keeps %2 of checkpoints").arg(told, bytesText(kept));
}

void TrainPage::showFooter() {
    m_problems->tell(m_form.otherProblems(), m_explain, 3);
    m_estimate->setText(footerText());
    showActions();
}

void TrainPage::showActions() {
    const auto why = whyNotStart();
    const bool starting = m_startWhenValid || m_launcher.isBusy();
    m_startAction->setText(starting ? tr("Starting …") : startText());
    m_startAction->setEnabled(why.isEmpty() && !starting);
    const auto problems = allProblems();
    const auto first = problems.empty() || starting ? QString() : '\n' + m_explain(problems.front()).what;
    const auto& sweep = m_form.sweep();
    const auto whatItDoes = sweep.isSweep() ? tr("Hands the sweep to the queue, which trains it. (Ctrl+Return)")
                                            : tr("Starts the trial in a process of its own. (Ctrl+Return)");
    m_startAction->setToolTip(why.isEmpty() ? whatItDoes : why + first);
    m_copyAction->setEnabled(m_answers.hasCatalog() && (!sweep.isSweep() || sweep.made()));
    m_resetAction->setEnabled(m_answers.hasCatalog());
    m_retryAction->setEnabled(m_service.problem().has_value());
    m_problemAction->setEnabled(!problems.empty());
    showFinding();
    const auto unknown = m_form.unknownSettings();
    m_unknownAction->setEnabled(m_answers.hasCatalog() && !unknown.isEmpty());
    m_unknownAction->setToolTip(
        tr("Removes what this version does not know: %1. This can be undone.").arg(unknown.join(", ")));

    const auto* preset = firstPreset();
    const auto id = preset ? preset->spec["dataset"]["id"].toString() : QString();
    const auto* dataset = m_form.catalog().option("dataset", id);
    const bool present = dataset && dataset->state != "absent";
    m_presetAction->setText(preset ? tr("Train the preset: %1").arg(preset->title) : tr("Train the preset"));
    m_presetAction->setEnabled(present && m_service.isAvailable() && !starting);
    m_welcomeText->setText(
        present ? tr("A small network learns to tell clothes apart, in a few minutes, on two devices at "
                     "once. You watch, and change anything in the form afterwards.")
                : tr("The preset's images are not installed.") + ' ' + (dataset ? dataset->remedy : QString()));
}

void TrainPage::goToProblem() {
    for (const auto& problem : allProblems()) {
        auto* editor = editorOf(QString::fromStdString(problem.field));
        if (!editor && std::ranges::find(m_answers.dataProblems(), problem) != m_answers.dataProblems().end())
            editor = findChild<QWidget*>("dataset.path");
        if (!editor) continue;
        m_scroll->ensureWidgetVisible(editor);
        return editor->setFocus(Qt::ShortcutFocusReason);
    }
}

// Of a field that is varied, that of its values; of the sweep itself, its own.
QWidget* TrainPage::editorOf(const QString& field) const {
    const auto constraint = m_form.sweep().constraintAt(field);
    const auto own = constraint ? constraintEditor(*constraint) : "sweep." + field;
    for (const auto& name : {field, field + ".from", field + ".values", field + ".vary", own}) {
        auto* editor = findChild<QWidget*>(name);
        if (editor && editor->isVisibleTo(this) && editor->isEnabled()) return editor;
    }
    return nullptr;
}

void TrainPage::dragEnterEvent(QDragEnterEvent* event) {
    if (!event->mimeData()->hasUrls()) return;
    event->acceptProposedAction();
    m_dataset->showDropTarget(true);
}

void TrainPage::dragLeaveEvent(QDragLeaveEvent*) { m_dataset->showDropTarget(false); }

void TrainPage::dropEvent(QDropEvent* event) {
    m_dataset->showDropTarget(false);
    const auto urls = event->mimeData()->urls();
    if (urls.isEmpty()) return;
    event->acceptProposedAction();
    const auto path = urls.first().toLocalFile();
    if (urls.size() > 1) return m_dataset->refuse({"", "drop.too-many", {std::to_string(urls.size())}});
    if (path.isEmpty()) return m_dataset->refuse({"", "drop.not-a-file", {}});
    takeFile(path);
}

// A spec file fills the form, weights are where to start from; anything else is data to look at.
void TrainPage::takeFile(const QString& path) {
    if (path.endsWith(".json", Qt::CaseInsensitive) && QFileInfo(path).isFile()) return openSpecFile(path);
    if (path.endsWith(".safetensors", Qt::CaseInsensitive)) return takeWeights(path);
    m_dataset->take(path);
}

void TrainPage::takeWeights(const QString& path) {
    m_form.setValue("weights", path);
    if (auto* editor = findChild<QWidget*>("weights")) m_scroll->ensureWidgetVisible(editor);
}

void TrainPage::keyPressEvent(QKeyEvent* event) {
    if (event->key() != Qt::Key_Escape) return Page::keyPressEvent(event);
    if (!m_dataset->cancel()) m_fileNotice->hide();
}

// The page itself has nothing to do with the keyboard: the first thing on it has.
void TrainPage::focusInEvent(QFocusEvent*) {
    auto* first = m_welcome->isVisible() ? m_welcomeButton : findChild<QWidget*>("dataset");
    if (first && first->isEnabled()) first->setFocus(Qt::OtherFocusReason);
}

}  // namespace lockstep::ui
