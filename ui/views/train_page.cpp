#include "ui/views/train_page.h"

#include <QApplication>
#include <QClipboard>
#include <QDragEnterEvent>
#include <QFile>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QJsonArray>
#include <QJsonDocument>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QScrollArea>
#include <QSettings>
#include <QStyle>
#include <QToolButton>

#include "ui/models/command_text.h"
#include "ui/style/theme.h"
#include "ui/views/dataset_card.h"
#include "ui/views/devices_card.h"
#include "ui/views/field_editor.h"
#include "ui/views/model_card.h"
#include "ui/views/sample_images.h"

namespace lockstep::ui {

namespace {

constexpr int kMostRecent = 10;
constexpr auto kRecentKey = "train/recent";

// Fields that have a place of their own on the page; those of the run card; all others are behind "More settings".
const QStringList kPlaced{"devices", "batch", "accumulation", "learning_rate"};
const QStringList kOfRun{"title", "epochs", "seed", "mode"};
const QStringList kOfShards{"shards", "shard_threads"};

QPushButton* menuButton(const QString& text, QMenu* menu, const QString& help) {
    auto* button = new QPushButton(text + " ▾");
    button->setStyleSheet("QPushButton::menu-indicator { image: none; }");
    button->setAccessibleName(text);
    button->setMenu(menu);
    button->setToolTip(help);
    return button;
}

QString titleOf(const QJsonObject& spec) {
    const auto title = spec["title"].toString();
    const auto id = [&](const char* key) { return spec[key].isString() ? spec[key].toString() : spec[key]["id"].toString(); };
    return title.isEmpty() ? id("model") + " on " + id("dataset") + ", " + spec["devices"].toString() : title;
}

}  // namespace

TrainPage::TrainPage(EngineService* service, RunLauncher* launcher, Explain explain, QWidget* parent)
    : QWidget(parent), m_service(*service), m_launcher(*launcher), m_explain(std::move(explain)), m_form(nullptr),
      m_answers(*service, m_form) {
    setAcceptDrops(true);
    setAccessibleName("Train");
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(makeHeader());
    layout->addWidget(makeForm(), 1);
    layout->addWidget(makeFooter());
    connect(&m_form, &SpecForm::catalogChanged, this, &TrainPage::fillPresets);
    connect(&m_form, &SpecForm::changed, this, &TrainPage::showRunFields);
    connect(&m_form, &SpecForm::changed, this, &TrainPage::showFooter);
    connect(&m_form, &SpecForm::problemsChanged, this, &TrainPage::showFooter);
    connect(&m_form, &SpecForm::problemsChanged, this, &TrainPage::showRunFields);
    connect(&m_answers, &FormAnswers::validated, this, &TrainPage::showFooter);
    connect(&m_answers, &FormAnswers::planChanged, this, &TrainPage::showFooter);
    connect(&m_answers, &FormAnswers::samplesChanged, this, &TrainPage::showFooter);
    connect(&m_service, &EngineService::available, this, &TrainPage::showService);
    connect(&m_service, &EngineService::unavailable, this, &TrainPage::showService);
    connect(&m_launcher, &RunLauncher::busyChanged, this, &TrainPage::showFooter);
    connect(&m_launcher, &RunLauncher::failed, this, &TrainPage::launchFailed);
    connect(&m_launcher, &RunLauncher::started, this, [this] {
        m_launchProblems->tell({}, m_explain);
        setHomeIsEmpty(false);
    });
    fillRecent();
    setHomeIsEmpty(false);
    showService();
    showFooter();
}

QWidget* TrainPage::makeHeader() {
    auto* header = new QWidget;
    auto* layout = new QHBoxLayout(header);
    layout->setContentsMargins(space::kPage, space::kLarge, space::kPage, space::kMedium);
    auto* title = new QLabel("Train");
    title->setProperty("role", "title");
    m_presets = new QMenu(this);
    m_recent = new QMenu(this);
    layout->addWidget(title);
    layout->addStretch(1);
    layout->addWidget(menuButton("Presets", m_presets, "Trials that come with the program, ready to start"));
    layout->addWidget(menuButton("Recent", m_recent, "What you started last"));
    return header;
}

QWidget* TrainPage::makeForm() {
    auto* scroll = new QScrollArea;
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    auto* content = new QWidget;
    auto* layout = new QVBoxLayout(content);
    layout->setContentsMargins(space::kPage, space::kMedium, space::kPage, space::kLarge);
    layout->setSpacing(space::kLarge);
    layout->addWidget(m_notice = makeNotice());
    layout->addWidget(m_welcome = makeWelcome());
    m_body = new QWidget;
    auto* columns = new QHBoxLayout(m_body);
    columns->setContentsMargins(0, 0, 0, 0);
    columns->setSpacing(space::kLarge);
    auto *left = new QVBoxLayout, *right = new QVBoxLayout;
    for (auto* column : {left, right}) {
        column->setSpacing(space::kLarge);
        columns->addLayout(column, 1);
    }
    left->addWidget(m_dataset = new DatasetCard(m_form, m_answers, m_explain));
    left->addWidget(new ModelCard(m_form, m_answers, m_explain));
    left->addStretch(1);
    right->addWidget(new DevicesCard(m_form, m_explain));
    addMethodCard(*right);
    addRunCard(*right);
    right->addStretch(1);
    layout->addWidget(m_body);
    layout->addStretch(1);
    scroll->setWidget(content);
    return scroll;
}

QFrame* TrainPage::makeWelcome() {
    auto* holder = new QVBoxLayout;
    auto* card = addCard(*holder, "New here?");
    auto* frame = qobject_cast<QFrame*>(card->parentWidget());
    delete holder;
    m_welcomeText = new QLabel;
    m_welcomeText->setWordWrap(true);
    m_welcomeButton = new QPushButton;
    m_welcomeButton->setProperty("primary", true);
    m_welcomeButton->setObjectName("startPreset");
    auto* row = new QHBoxLayout;
    row->addWidget(m_welcomeText, 1);
    row->addWidget(m_welcomeButton);
    card->addLayout(row);
    connect(m_welcomeButton, &QPushButton::clicked, this, &TrainPage::startPreset);
    return frame;
}

QFrame* TrainPage::makeNotice() {
    auto* frame = new QFrame;
    frame->setProperty("card", true);
    auto* layout = new QHBoxLayout(frame);
    layout->setContentsMargins(space::kLarge, space::kLarge, space::kLarge, space::kLarge);
    m_noticeText = new ProblemLabel;
    m_retry = new QPushButton("Try again");
    layout->addWidget(m_noticeText, 1);
    layout->addWidget(m_retry);
    connect(m_retry, &QPushButton::clicked, &m_service, &EngineService::retry);
    return frame;
}

void TrainPage::addMethodCard(QVBoxLayout& into) {
    auto* card = addCard(into, "Optimizer and schedule");
    card->addWidget(new ChoiceForm(m_form, "optimizer", m_explain));
    auto* rate = new FieldList(m_form, m_explain);
    connect(&m_form, &SpecForm::catalogChanged, rate, [this, rate] {
        if (const auto* field = m_form.trialField("learning_rate")) rate->setFields({*field});
    });
    card->addWidget(rate);
    card->addWidget(new ChoiceForm(m_form, "schedule", m_explain));
    card->addWidget(new SchedulePreview(m_answers));
}

void TrainPage::addRunCard(QVBoxLayout& into) {
    auto* card = addCard(into, "Run");
    m_runFields = new FieldList(m_form, m_explain);
    m_moreFields = new FieldList(m_form, m_explain);
    m_more = new QToolButton;
    m_more->setText("More settings");
    m_more->setCheckable(true);
    m_more->setArrowType(Qt::RightArrow);
    m_more->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_more->setAutoRaise(true);
    card->addWidget(m_runFields);
    card->addWidget(m_more);
    card->addWidget(m_moreFields);
    connect(m_more, &QToolButton::toggled, this, [this](bool on) {
        m_more->setArrowType(on ? Qt::DownArrow : Qt::RightArrow);
        m_moreFields->setVisible(on);
    });
}

QWidget* TrainPage::makeFooter() {
    auto* footer = new QWidget;
    auto* outer = new QVBoxLayout(footer);
    outer->setContentsMargins(space::kPage, space::kMedium, space::kPage, space::kLarge);
    m_problems = new ProblemLabel;
    m_launchProblems = new ProblemLabel;
    auto* row = new QHBoxLayout;
    m_estimate = mutedLabel({});
    m_copy = new QPushButton("Copy as command");
    m_copy->setToolTip("Copies the command line that starts the same trial from a terminal.");
    m_start = new QPushButton("Start training");
    m_start->setObjectName("startTraining");
    m_start->setProperty("primary", true);
    row->addWidget(m_estimate, 1);
    row->addWidget(m_copy);
    row->addWidget(m_start);
    outer->addWidget(m_problems);
    outer->addWidget(m_launchProblems);
    outer->addLayout(row);
    connect(m_copy, &QPushButton::clicked, this, &TrainPage::copyCommand);
    connect(m_start, &QPushButton::clicked, this, &TrainPage::start);
    return footer;
}

void TrainPage::setSpec(const QJsonObject& spec) { m_form.setSpec(spec, "Clone of a trial"); }

void TrainPage::setHomeIsEmpty(bool empty) {
    m_homeIsEmpty = empty;
    const auto* preset = firstPreset();
    m_welcome->setVisible(empty && preset);
    const auto* dataset = preset ? m_form.catalog().option("dataset", preset->spec["dataset"]["id"].toString()) : nullptr;
    const bool present = dataset && dataset->state != "absent";
    m_welcomeButton->setText("Train the preset: Fashion-MNIST on two CPU devices");
    m_welcomeButton->setEnabled(present && !m_launcher.isBusy());
    m_welcomeText->setText(present ? "A small network learns to tell clothes apart, in a few minutes, on two devices at once. "
                                     "You watch, and change anything in the form afterwards."
                                   : "The preset's images are not installed. " + (dataset ? dataset->remedy : QString()));
    m_start->setProperty("primary", !m_welcome->isVisibleTo(this));      // one thing to do next
    m_start->style()->unpolish(m_start);
    m_start->style()->polish(m_start);
}

bool TrainPage::canStart() const { return m_service.isAvailable() && m_answers.isReady() && !m_launcher.isBusy(); }

void TrainPage::start() {
    if (!canStart()) return;
    remember(m_form.spec());
    m_launcher.start(m_form.spec());
}

void TrainPage::startPreset() {
    const auto* preset = firstPreset();
    if (!preset || m_launcher.isBusy()) return;
    m_form.setSpec(preset->spec, "Preset " + preset->title);
    remember(preset->spec);
    m_launcher.start(preset->spec);
}

const Preset* TrainPage::firstPreset() const {
    const auto& presets = m_form.catalog().presets;
    return presets.isEmpty() ? nullptr : &presets.first();
}

void TrainPage::fillPresets() {
    m_presets->clear();
    for (const auto& preset : m_form.catalog().presets) {
        m_presets->addAction(preset.title, this, [this, preset] { m_form.setSpec(preset.spec, "Preset " + preset.title); });
    }
    m_presets->addAction("All defaults", this, [this] { m_form.setSpec(m_form.catalog().defaults, "All defaults"); });
    setHomeIsEmpty(m_homeIsEmpty);
}

void TrainPage::fillRecent() {
    m_recent->clear();
    for (const auto& each : QSettings().value(kRecentKey).toStringList()) {
        const auto spec = QJsonDocument::fromJson(each.toUtf8()).object();
        if (spec.isEmpty()) continue;
        m_recent->addAction(titleOf(spec), this, [this, spec] { m_form.setSpec(spec, "Recent: " + titleOf(spec)); });
    }
    if (m_recent->isEmpty()) m_recent->addAction("Nothing yet: what you start appears here")->setEnabled(false);
}

void TrainPage::remember(const QJsonObject& spec) {
    QSettings settings;
    auto recent = settings.value(kRecentKey).toStringList();
    const auto json = QString::fromUtf8(QJsonDocument(spec).toJson(QJsonDocument::Compact));
    recent.removeAll(json);
    recent.prepend(json);
    settings.setValue(kRecentKey, recent.mid(0, kMostRecent));
    fillRecent();
}

void TrainPage::copyCommand() {
    QApplication::clipboard()->setText(trainCommand(m_form.spec(), m_form.catalog().defaults));
    m_estimate->setText("The command is on the clipboard.");
}

void TrainPage::showService() {
    const auto problem = m_service.problem();
    m_notice->setVisible(problem.has_value());
    m_noticeText->tell(problem ? Problems{*problem} : Problems{}, m_explain);
    m_body->setEnabled(!problem);
    showFooter();
}

void TrainPage::showRunFields() {
    QVector<FormField> run, more;
    for (const auto& field : m_form.catalog().trial) {
        const bool wrong = !m_form.problemsAt(field.path).empty();
        const bool ofShards = kOfShards.contains(field.path);
        if (kPlaced.contains(field.path) || (ofShards && !m_form.isReproducible() && !wrong)) continue;
        const bool ofRun = ofShards || kOfRun.contains(field.path);
        (ofRun ? run : more) << field;
        if (wrong && !ofRun) m_more->setChecked(true);       // no problem stays folded away
    }
    m_runFields->setFields(run);
    m_moreFields->setFields(more);
    m_moreFields->setVisible(m_more->isChecked());
}

void TrainPage::showFooter() {
    const auto& plan = m_answers.plan();
    const auto others = m_form.otherProblems();
    m_problems->tell(others, m_explain);
    const auto count = m_form.problems().size() + m_answers.dataProblems().size();
    QString text;
    if (!m_answers.hasCatalog()) text = m_service.problem() ? QString() : QString("Looking at what this machine offers …");
    else if (m_launcher.isBusy()) text = "Starting: the data is opened and the program compiled …";
    else if (count > 0) text = count == 1 ? QString("One setting needs your attention.")
                                          : QString("%1 settings need your attention.").arg(count);
    else if (!plan.isEmpty()) {
        text = QString("%1 steps of %2 images, %3 steps an epoch; %4 parameters; %5 per device")
                   .arg(countText(plan["total_steps"].toInteger()), countText(m_form.equation().batch),
                        countText(plan["steps_per_epoch"].toInteger()), countText(plan["parameters"].toInteger()),
                        bytesText(plan["bytes_per_device"].toDouble()));
    }
    m_estimate->setText(text);
    m_start->setEnabled(canStart());
    m_copy->setEnabled(m_answers.hasCatalog());
}

void TrainPage::launchFailed(const Problems& problems) { m_launchProblems->tell(problems, m_explain); }

void TrainPage::dragEnterEvent(QDragEnterEvent* event) {
    if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void TrainPage::dropEvent(QDropEvent* event) {
    const auto urls = event->mimeData()->urls();
    if (urls.isEmpty()) return;
    event->acceptProposedAction();
    const auto path = urls.first().toLocalFile();
    if (path.isEmpty()) return m_launchProblems->tell({{"", "drop.not-a-file", {}}}, m_explain);
    m_launchProblems->tell({}, m_explain);
    takeFile(path);
}

// A spec file fills the form; anything else is data to look at.
void TrainPage::takeFile(const QString& path) {
    QFile file(path);
    if (path.endsWith(".json") && QFileInfo(path).isFile() && file.open(QIODevice::ReadOnly) && file.size() < (1 << 20)) {
        const auto spec = QJsonDocument::fromJson(file.readAll()).object();
        if (!spec.isEmpty()) return m_form.setSpec(spec, "Spec " + QFileInfo(path).fileName());
    }
    m_dataset->take(path);
}

}  // namespace lockstep::ui
