#include <QEvent>
#include <QHBoxLayout>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QToolButton>

#include "ui/style/line_icon.h"
#include "ui/style/menu_button.h"
#include "ui/style/theme.h"
#include "ui/train/dataset_card.h"
#include "ui/train/devices_card.h"
#include "ui/train/field_editor.h"
#include "ui/train/model_card.h"
#include "ui/train/sweep_settings_card.h"
#include "ui/train/train_page.h"

// What the train page is built of; what it does is in train_page.cpp.
namespace lockstep::ui {

namespace {

// A card without a heading of its own beside its text.
QHBoxLayout* addNotice(QFrame& frame) {
    frame.setProperty("card", true);
    auto* layout = new QHBoxLayout(&frame);
    layout->setContentsMargins(space::kLarge, space::kLarge, space::kLarge, space::kLarge);
    layout->setSpacing(space::kLarge);
    return layout;
}

QIcon trainIcon() {
    QPainterPath lines({7, 4});
    lines.lineTo(20, 12);
    lines.lineTo(7, 20);
    lines.closeSubpath();
    return lineIcon(lines);
}

}  // namespace

QAction* TrainPage::makeAction(const QString& id, const QString& text, const QString& help, void (TrainPage::*slot)()) {
    auto* action = new QAction(text, this);
    action->setObjectName("train." + id);
    action->setToolTip(help);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(action, &QAction::triggered, this, [this, slot] { (this->*slot)(); });
    addAction(action);
    return action;
}

void TrainPage::makeActions() {
    m_startAction = makeAction("start", tr("Start training"), {}, &TrainPage::start);
    m_startAction->setShortcuts({QKeySequence("Ctrl+Return"), QKeySequence("Ctrl+Enter")});
    m_presetAction = makeAction("preset", tr("Train the preset"), tr("Starts the trial that comes with the program."),
                                &TrainPage::startPreset);
    m_datasetAction = makeAction("choose-dataset", tr("Choose a dataset folder…"),
                                 tr("Choose a folder; its format is recognised."), &TrainPage::chooseDataset);
    m_copyAction =
        makeAction("copy-command", tr("Copy as command"),
                   tr("Copies the command line that starts the same from a terminal."), &TrainPage::copyCommand);
    m_copyAction->setShortcut(QKeySequence("Ctrl+Shift+C"));
    m_findRateAction =
        makeAction("find-rate", tr("Find a learning rate…"),
                   tr("One short run, in a process of its own, shows which rates teach."), &TrainPage::findRate);
    m_findBatchAction =
        makeAction("find-batch", tr("Find a batch size…"),
                   tr("Measures, in a process of its own, how fast batches are and which fit."), &TrainPage::findBatch);
    for (auto* action : {m_findRateAction, m_findBatchAction}) action->setIconText(tr("Find…"));
    m_measureAction =
        makeAction("measure", tr("Measure the precisions"),
                   tr("The model trains in each precision by turns, for some seconds, in a process of its own."),
                   &TrainPage::measure);
    m_measureAction->setIconText(tr("Measure"));
    m_problemAction = makeAction("show-problem", tr("Show problem"),
                                 tr("Goes to the first setting that needs attention. (F8)"), &TrainPage::goToProblem);
    m_problemAction->setShortcut(QKeySequence("F8"));
    m_unknownAction =
        makeAction("leave-out-unknown", tr("Leave out unknown settings"), {}, &TrainPage::leaveOutUnknown);
    m_resetAction =
        makeAction("reset", tr("Reset the form"), tr("All settings go back to their defaults; this can be undone."),
                   &TrainPage::resetForm);
    m_retryAction = new QAction(tr("Try the engine again"), this);
    m_retryAction->setObjectName("train.retry-engine");
    connect(m_retryAction, &QAction::triggered, &m_service, &EngineService::retry);
    makeWindowCommands();
}

void TrainPage::makeWindowCommands() {
    auto* fresh = new QAction(tr("&New trial"), this);
    fresh->setObjectName("train.new");
    fresh->setShortcut(QKeySequence::New);
    connect(fresh, &QAction::triggered, this, &Page::raised);
    auto* open = new QAction(tr("&Open a spec file…"), this);
    open->setToolTip(
        tr("Fills the form from a trial's spec, as `lockstep show ID --spec` prints it, or from a sweep's file."));
    open->setObjectName("train.open-spec");
    open->setShortcut(QKeySequence::Open);
    connect(open, &QAction::triggered, this, &TrainPage::chooseSpecFile);
    m_windowCommands = {fresh, open};
}

PageFace TrainPage::face() { return {"train", tr("&Train"), &trainIcon}; }

QList<QAction*> TrainPage::commands() const {
    return {m_startAction, m_presetAction, m_datasetAction, m_findRateAction, m_findBatchAction, m_measureAction,
            m_copyAction,  m_resetAction,  m_problemAction, m_unknownAction,  m_retryAction};
}

// A button that does and says what the action does and says.
QPushButton* TrainPage::makeButton(QAction* action) {
    auto* button = new QPushButton;
    const auto follow = [button, action] {
        button->setText(action->text());
        button->setEnabled(action->isEnabled());
        button->setToolTip(action->toolTip());
        button->setAccessibleDescription(action->toolTip());
    };
    follow();
    connect(action, &QAction::changed, button, follow);
    connect(button, &QPushButton::clicked, action, &QAction::trigger);
    return button;
}

QWidget* TrainPage::makeHeader() {
    auto* header = new QWidget;
    auto* layout = new QHBoxLayout(header);
    layout->setContentsMargins(space::kPage, space::kLarge, space::kPage, space::kMedium);
    auto* title = new QLabel(tr("Train"));
    title->setProperty("role", "title");
    m_presets = new QMenu(this);
    m_recent = new QMenu(this);
    layout->addWidget(title);
    layout->addStretch(1);
    layout->addWidget(menuButton(tr("Presets"), m_presets, tr("Trials that come with the program, ready to start")));
    layout->addWidget(menuButton(tr("Recent"), m_recent, tr("What you started last")));
    return header;
}

QWidget* TrainPage::makeForm() {
    m_scroll = new QScrollArea;
    m_scroll->setWidgetResizable(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setFocusPolicy(Qt::NoFocus);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* content = new QWidget;
    auto* layout = new QVBoxLayout(content);
    layout->setContentsMargins(space::kPage, space::kMedium, space::kPage, space::kLarge);
    layout->setSpacing(space::kLarge);
    layout->addWidget(m_notice = makeNotice());
    layout->addWidget(m_fileNotice = makeFileNotice());
    layout->addWidget(m_welcome = makeWelcome());
    m_body = new QWidget;
    m_columns = new QHBoxLayout(m_body);
    m_columns->setContentsMargins(0, 0, 0, 0);
    m_columns->setSpacing(space::kLarge);
    auto *left = new QVBoxLayout, *right = new QVBoxLayout;
    for (auto* column : {left, right}) {
        column->setSpacing(space::kLarge);
        m_columns->addLayout(column, 1);
    }
    const auto archives = QString::fromStdString((m_launcher.places().data / "datasets").string());
    left->addWidget(m_dataset = new DatasetCard(m_form, m_answers, m_explain, archives));
    left->addWidget(new ModelCard(m_form, m_answers, m_explain));
    left->addStretch(1);
    right->addWidget(new DevicesCard(m_form, m_explain, *m_findBatchAction));
    addMethodCard(*right);
    addRunCard(*right);
    right->addStretch(1);
    layout->addWidget(m_body);
    layout->addWidget(new SweepSettingsCard(m_form, m_answers, m_explain));
    layout->addStretch(1);
    m_scroll->setWidget(content);
    for (QObject* watched : std::initializer_list<QObject*>{m_scroll->viewport(), m_body})
        watched->installEventFilter(this);
    return m_scroll;
}

// One below the other where they do not fit side by side.
void TrainPage::foldColumns() {
    int sideBySide = m_columns->spacing() + 2 * space::kPage;
    for (int i = 0; i < m_columns->count(); ++i) sideBySide += m_columns->itemAt(i)->minimumSize().width();
    m_columns->setDirection(m_scroll->viewport()->width() < sideBySide ? QBoxLayout::TopToBottom
                                                                       : QBoxLayout::LeftToRight);
}

bool TrainPage::eventFilter(QObject* watched, QEvent* event) {
    const bool hasOtherRoom = event->type() == QEvent::Resize && watched == m_scroll->viewport();
    if (hasOtherRoom || (event->type() == QEvent::LayoutRequest && watched == m_body)) foldColumns();
    return QWidget::eventFilter(watched, event);
}

QFrame* TrainPage::makeWelcome() {
    auto* holder = new QVBoxLayout;
    auto* card = addCard(*holder, tr("New here?"));
    auto* frame = qobject_cast<QFrame*>(card->parentWidget());
    delete holder;
    m_welcomeText = new QLabel;
    m_welcomeText->setWordWrap(true);
    m_welcomeButton = makeButton(m_presetAction);
    m_welcomeButton->setProperty("primary", true);
    m_welcomeButton->setObjectName("startPreset");
    auto* row = new QHBoxLayout;
    row->setSpacing(space::kLarge);
    row->addWidget(m_welcomeText, 1);
    row->addWidget(m_welcomeButton);
    card->addLayout(row);
    return frame;
}

QFrame* TrainPage::makeNotice() {
    auto* frame = new QFrame;
    auto* layout = addNotice(*frame);
    m_noticeText = new ProblemLabel;
    auto* retry = new QPushButton(tr("Try again"));
    retry->setObjectName("retry");
    retry->setAccessibleName(tr("Try again to start the engine"));
    connect(retry, &QPushButton::clicked, m_retryAction, &QAction::trigger);
    layout->addWidget(m_noticeText, 1);
    layout->addWidget(retry);
    return frame;
}

QFrame* TrainPage::makeFileNotice() {
    auto* frame = new QFrame;
    auto* layout = addNotice(*frame);
    auto* text = new QVBoxLayout;
    m_fileTitle = new QLabel;
    m_fileTitle->setProperty("role", "heading");
    m_fileProblems = new ProblemLabel;
    text->addWidget(m_fileTitle);
    text->addWidget(m_fileProblems);
    auto* close = new QPushButton(tr("Close"));
    close->setToolTip(tr("Closes this message. (Esc)"));
    connect(close, &QPushButton::clicked, frame, &QWidget::hide);
    layout->addLayout(text, 1);
    layout->addWidget(close, 0, Qt::AlignTop);
    frame->hide();
    return frame;
}

QWidget* TrainPage::makeQueuedNotice() {
    auto* notice = new QWidget;
    auto* layout = new QHBoxLayout(notice);
    layout->setContentsMargins(0, 0, 0, 0);
    m_queuedText = new QLabel;
    m_queuedText->setObjectName("queuedText");
    auto* show = new QPushButton(tr("Show queue"));
    show->setObjectName("showQueue");
    show->setToolTip(tr("What runs, what waits, and what came out."));
    connect(show, &QPushButton::clicked, this, [this] { emit commandWanted("page.queue"); });
    layout->addWidget(m_queuedText, 1);
    layout->addWidget(show);
    notice->hide();
    return notice;
}

void TrainPage::addMethodCard(QVBoxLayout& into) {
    auto* card = addCard(into, tr("Optimizer and schedule"));
    card->addWidget(new ChoiceForm(m_form, "optimizer", m_explain, ChoiceForm::Label::Shown));
    card->addWidget(m_rateFields = new FieldList(m_form, m_explain));
    m_rateFields->setBeside("learning_rate", m_findRateAction);
    card->addWidget(new ChoiceForm(m_form, "schedule", m_explain, ChoiceForm::Label::Shown));
    card->addWidget(new SchedulePreview(m_answers));
}

void TrainPage::addRunCard(QVBoxLayout& into) {
    auto* card = addCard(into, tr("Run"));
    card->addWidget(m_runFields = new FieldList(m_form, m_explain));
    m_runFields->setBeside("precision", m_measureAction);
    m_more = addFold(*card, "moreSettings", tr("More settings"), tr("Settings that most trials leave as they are."));
    m_faults =
        addFold(*card, "faultSettings", tr("Faults and simulated links"),
                tr("What happens when a device fails, and links between the devices that are slower than they are."));
}

TrainPage::Fold TrainPage::addFold(QVBoxLayout& into, const QString& name, const QString& words, const QString& help) {
    auto* button = new QToolButton;
    button->setObjectName(name);
    button->setText(words);
    button->setToolTip(help);
    button->setCheckable(true);
    button->setFocusPolicy(Qt::StrongFocus);
    button->setArrowType(Qt::RightArrow);
    button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    button->setAutoRaise(true);
    auto* fields = new FieldList(m_form, m_explain);
    into.addWidget(button);
    into.addWidget(fields);
    connect(button, &QToolButton::toggled, fields, [button, fields](bool on) {
        button->setArrowType(on ? Qt::DownArrow : Qt::RightArrow);
        fields->setVisible(on);
    });
    return {button, fields};
}

QWidget* TrainPage::makeFooter() {
    auto* footer = new QWidget;
    auto* outer = new QVBoxLayout(footer);
    outer->setContentsMargins(space::kPage, space::kMedium, space::kPage, space::kLarge);
    m_problems = new ProblemLabel;
    m_launchProblems = new ProblemLabel;
    auto* row = new QHBoxLayout;
    m_estimate = mutedLabel({});
    m_estimate->setObjectName("estimate");
    m_start = makeButton(m_startAction);
    m_start->setObjectName("startTraining");
    m_start->setProperty("primary", true);
    auto* unknown = makeButton(m_unknownAction);
    auto* problem = makeButton(m_problemAction);
    const auto whereUsed = [](QPushButton* button, QAction* action) {
        const auto follow = [button, action] { button->setVisible(action->isEnabled()); };
        connect(action, &QAction::changed, button, follow);
        follow();
    };
    row->addWidget(m_estimate, 1);
    for (auto* button : {unknown, problem, makeButton(m_copyAction), m_start}) row->addWidget(button);
    outer->addWidget(m_problems);
    outer->addWidget(m_launchProblems);
    outer->addWidget(m_queued = makeQueuedNotice());
    outer->addLayout(row);
    whereUsed(unknown, m_unknownAction);
    whereUsed(problem, m_problemAction);
    return footer;
}

}  // namespace lockstep::ui
