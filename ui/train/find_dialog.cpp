#include "ui/train/find_dialog.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QJsonDocument>
#include <QProgressBar>
#include <QPushButton>

#include "ui/style/theme.h"
#include "ui/train/dataset_text.h"
#include "ui/train/field_editor.h"

namespace lockstep::ui {

namespace {

constexpr int kFindWidth = 780, kFindHeight = 600, kBarHeight = 6;

QPushButton* plainButton(const QString& name, const QString& text, const QString& help) {
    auto* button = new QPushButton(text);
    button->setObjectName(name);
    button->setToolTip(help);
    button->setAccessibleDescription(help);
    button->setAutoDefault(false);
    return button;
}

}  // namespace

FindDialog::FindDialog(Source source, const Look& look, QWidget* parent)
    : QDialog(parent), m_source(std::move(source)), m_engine(m_source.engineProgram) {
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(look.title);
    resize(kFindWidth, kFindHeight);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::kPage, space::kLarge, space::kPage, space::kLarge);
    layout->setSpacing(space::kMedium);
    layout->addWidget(m_heading = new QLabel);
    m_heading->setProperty("role", "heading");
    m_heading->setWordWrap(true);
    layout->addWidget(mutedLabel(look.about));
    layout->addLayout(m_fields = new QHBoxLayout);
    layout->addWidget(m_plot = new PlotView(look.plot), 1);
    m_bar = new QProgressBar;
    m_bar->setTextVisible(false);
    m_bar->setFixedHeight(kBarHeight);
    m_bar->setProperty("thin", true);  // what it looks like
    m_bar->setAccessibleName(tr("Progress"));
    layout->addWidget(m_bar);
    layout->addWidget(m_progress = mutedLabel({}));
    m_result = new QLabel;
    m_result->setObjectName("findResult");
    m_result->setWordWrap(true);
    m_result->setTextInteractionFlags(Qt::TextSelectableByMouse);
    layout->addWidget(m_result);
    layout->addWidget(m_problem = new ProblemLabel);
    layout->addWidget(makeButtons());
    m_again->setDefault(true);  // Enter in a field; which the dialog hears only of a button that it has
    m_plot->setAxis(PlotAxis::Log);
    m_soon.setSingleShot(true);
    connectAll();
}

QString FindDialog::textOf(const QString& setting) const {
    const QJsonValue value = (spec().contains(setting) ? spec() : m_source.defaults)[setting];
    const QJsonValue said = value.isObject() ? value["id"] : value;
    return said.isString() ? said.toString() : countText(said.toInteger());
}

void FindDialog::addField(const QString& label, QWidget* field, const QString& help) {
    auto* name = new QLabel(label);
    name->setBuddy(field);
    field->setAccessibleName(label);
    field->setAccessibleDescription(help);
    field->setToolTip(help);
    m_fields->addWidget(name);
    m_fields->addWidget(field);
}

QWidget* FindDialog::makeButtons() {
    auto* bar = new QWidget;
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(0, space::kMedium, 0, 0);
    m_copy = plainButton("findCopy", tr("Copy as command"),
                         tr("Copies the command line that asks the same from a terminal."));
    m_again = plainButton("findAgain", tr("Measure again"), tr("Asks once more, as the fields above say."));
    m_cancel = plainButton("findCancel", tr("Cancel"), tr("Ends the measurement at once."));
    m_close = plainButton("findClose", tr("Close"), tr("Leaves the form as it is. (Esc)"));
    m_use = plainButton("findUse", {}, tr("Puts the suggestion into the form; this can be undone."));
    m_use->setProperty("primary", true);
    m_use->setAutoDefault(true);
    row->addWidget(m_copy);
    row->addStretch(1);
    for (auto* button : {m_again, m_cancel, m_close, m_use}) row->addWidget(button);
    return bar;
}

void FindDialog::connectAll() {
    connect(&m_soon, &QTimer::timeout, this, &FindDialog::refresh);
    connect(&m_engine, &EngineCommand::lineWritten, this, [this](const QByteArray& line) {
        take(m_at, QJsonDocument::fromJson(line).object());
        if (!m_soon.isActive()) m_soon.start(m_pace.next());
    });
    connect(&m_engine, &EngineCommand::done, this, &FindDialog::next);
    connect(&m_engine, &EngineCommand::failed, this, &FindDialog::fail);
    connect(&m_engine, &EngineCommand::runningChanged, this, &FindDialog::showButtons);
    connect(m_again, &QPushButton::clicked, this, &FindDialog::start);
    connect(m_copy, &QPushButton::clicked, this, &FindDialog::copyCommand);
    connect(m_cancel, &QPushButton::clicked, this, &FindDialog::cancel);
    connect(m_close, &QPushButton::clicked, this, &QDialog::reject);
    connect(m_use, &QPushButton::clicked, this, &FindDialog::use);
}

void FindDialog::start() {
    if (m_engine.isRunning()) return;
    m_questions = questions();
    m_at = 0;
    m_failures.clear();
    m_note.clear();
    begin();
    ask();
    m_cancel->setFocus();
}

void FindDialog::ask() {
    const FindQuestion& question = m_questions[m_at];
    m_engine.start(argumentsOf(question), inputOf(question));
    refresh();
}

void FindDialog::next() {
    if (++m_at < m_questions.size()) return ask();
    refresh();
    const bool isTyping = focusWidget() && !qobject_cast<QAbstractButton*>(focusWidget());
    if (!isTyping) (m_use->isEnabled() ? m_use : m_again)->setFocus();
}

void FindDialog::fail(const Explanation& why) {
    const QString name = m_questions.size() > 1 ? nameOf(m_at) + ": " : QString();
    m_failures << name + withoutInput(why.inOneLine());
    if (m_at == 0) m_at = m_questions.size();
    next();
}

void FindDialog::cancel() {
    m_engine.cancel();
    m_at = m_questions.size();
    m_note = tr("Cancelled.");
    refresh();
    m_close->setFocus();
}

void FindDialog::refresh() {
    m_soon.stop();
    draw();
    const Told now = told();
    const bool isAsking = m_at < m_questions.size();
    m_bar->setVisible(isAsking);
    m_bar->setRange(0, static_cast<int>(now.of));  // 0: it only moves
    m_bar->setValue(static_cast<int>(now.done));
    m_progress->setText(m_note.isEmpty() && isAsking ? now.progress : m_note);
    m_progress->setVisible(!m_progress->text().isEmpty());
    m_result->setText(now.result);
    m_result->setVisible(!now.result.isEmpty());
    m_problem->tell(m_failures);
    m_use->setText(now.suggestion.isEmpty() ? tr("Use") : tr("Use %1").arg(now.suggestion));
    m_use->setEnabled(!now.suggestion.isEmpty());
    showButtons();
    m_plot->refresh();
}

void FindDialog::showButtons() {
    const bool isRunning = m_engine.isRunning();
    auto *shown = isRunning ? m_cancel : m_close, *hidden = isRunning ? m_close : m_cancel;
    const bool hadFocus = hidden->hasFocus();
    m_again->setEnabled(!isRunning);
    shown->show();
    if (hadFocus) shown->setFocus();
    hidden->hide();
}

void FindDialog::copyCommand() {
    QStringList lines;
    for (const FindQuestion& each : questions()) lines << commandOf(each, m_source.defaults);
    QApplication::clipboard()->setText(lines.join('\n'));
    m_note = tr("The command is on the clipboard.");
    refresh();
}

void FindDialog::use() {
    emit used(told().value);
    accept();
}

}  // namespace lockstep::ui
