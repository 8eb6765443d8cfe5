#include "ui/train/field_editor.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QFrame>
#include <QHBoxLayout>
#include <QJsonDocument>
#include <QKeyEvent>
#include <QWheelEvent>
#include <algorithm>

#include "ui/history/setting_text.h"
#include "ui/style/theme.h"
#include "ui/train/number_steps.h"
#include "ui/train/sweep_form.h"
#include "ui/train/vary_room.h"
#include "ui/train/vary_toggle.h"

namespace lockstep::ui {

namespace {

constexpr int kLabelWidth = 128, kNumberWidth = 96;

// Numbers go up and down with the arrow keys.
class NumberLine : public FormLine {
public:
    explicit NumberLine(FormField field) : m_field(std::move(field)) {}

    void step(int by) {
        const QString next = steppedNumber(m_field, text(), by);
        if (next.isEmpty()) return;
        setText(next);
        emit textEdited(next);
    }
    void keyPressEvent(QKeyEvent* event) override {
        const int by = event->key() == Qt::Key_Up ? 1 : event->key() == Qt::Key_Down ? -1 : 0;
        if (by == 0) return QLineEdit::keyPressEvent(event);
        step(by);
    }

private:
    const FormField m_field;
};

void clear(QLayout& layout) {
    while (auto* item = layout.takeAt(0)) {
        if (item->widget()) item->widget()->deleteLater();
        delete item;
    }
}

}  // namespace

void CalmComboBox::wheelEvent(QWheelEvent* event) { event->ignore(); }
CalmSpinBox::CalmSpinBox() {
    auto* line = new FormLine;
    line->setObjectName("qt_spinbox_lineedit");  // as Qt calls its own: a part, not a control
    setLineEdit(line);
}
void CalmSpinBox::wheelEvent(QWheelEvent* event) { event->ignore(); }

bool FormLine::event(QEvent* event) {
    if (event->type() != QEvent::ShortcutOverride) return QLineEdit::event(event);
    const auto* key = static_cast<QKeyEvent*>(event);
    if (!key->matches(QKeySequence::Undo) && !key->matches(QKeySequence::Redo)) return QLineEdit::event(event);
    event->ignore();
    return false;
}

ProblemLabel::ProblemLabel(QWidget* parent) : QLabel(parent) {
    setProperty("role", "problem");
    setWordWrap(true);
    setTextInteractionFlags(Qt::TextSelectableByMouse);
    hide();
}

void ProblemLabel::tell(const Problems& problems, const Explain& explain, std::size_t most) {
    QStringList lines;
    for (std::size_t i = 0; i < std::min(most, problems.size()); ++i) {
        const auto words = explain(problems[i]);
        const bool ends = words.what.endsWith('.') || words.what.endsWith('!') || words.what.endsWith('?');
        const auto stop = ends || words.remedy.isEmpty() ? QString() : QStringLiteral(".");
        lines << (words.what + stop + ' ' + words.remedy).trimmed();
    }
    if (problems.size() > most) lines << tr("… and %1 more.").arg(problems.size() - most);
    tell(lines);
}

void ProblemLabel::tell(const QStringList& lines) {
    setText(lines.join('\n'));
    setAccessibleName(lines.isEmpty() ? QString() : tr("Problem: %1").arg(lines.join(' ')));
    setVisible(!lines.isEmpty());
}

QLabel* mutedLabel(const QString& text) {
    auto* label = new QLabel(text);
    label->setProperty("role", "muted");
    label->setWordWrap(true);
    return label;
}

QVBoxLayout* addCard(QLayout& into, const QString& heading) {
    auto* frame = new QFrame;
    frame->setProperty("card", true);
    frame->setAccessibleName(heading);
    auto* layout = new QVBoxLayout(frame);
    layout->setContentsMargins(space::kLarge, space::kLarge, space::kLarge, space::kLarge);
    layout->setSpacing(space::kMedium);
    auto* title = new QLabel(heading);
    title->setProperty("role", "heading");
    layout->addWidget(title);
    into.addWidget(frame);
    return layout;
}

QToolButton* besideButton(QAction& action, const QString& name) {
    auto* button = new QToolButton;
    button->setDefaultAction(&action);
    button->setObjectName(name);
    button->setProperty("beside", true);  // what it looks like
    button->setFocusPolicy(Qt::StrongFocus);
    button->setAccessibleName(action.text());
    button->setAccessibleDescription(action.toolTip());
    return button;
}

FieldEditor::FieldEditor(SpecForm& form, const FormField& field, const Explain& explain, Of of, QAction* beside)
    : m_form(form), m_field(field), m_explain(explain) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2);
    setToolTip(field.help());
    layout->addLayout(makeRow(of, beside));
    if (isVariable()) layout->addWidget(new VaryRoom(form, field.path));
    layout->addWidget(m_problem = new ProblemLabel);
    layout->addWidget(m_note = mutedLabel({}));
    connectAll();
    showValue();
    showVaried();
    showProblems();
    showNote();
}

QHBoxLayout* FieldEditor::makeRow(Of of, QAction* beside) {
    auto* row = new QHBoxLayout;
    row->setSpacing(space::kMedium);
    auto* label = new QLabel(m_field.label);
    label->setMinimumWidth(kLabelWidth);
    m_editor = makeEditor();
    m_editor->setAccessibleName(m_field.label);
    m_editor->setAccessibleDescription(m_field.help());
    m_editor->setToolTip(m_field.help());
    m_editor->setObjectName(m_field.path);
    for (QWidget* each : std::initializer_list<QWidget*>{m_editor, m_steps}) {
        if (each) each->setEnabled(of == Of::Trial);
    }
    label->setBuddy(m_editor);
    row->addWidget(label);
    const bool wide = isText();
    auto* field = new QHBoxLayout;
    field->setSpacing(2);
    field->addWidget(m_editor, wide ? 1 : 0);
    if (m_steps) field->addWidget(m_steps);
    row->addLayout(field, wide ? 1 : 0);
    row->addWidget(m_several = mutedLabel({}), wide ? 1 : 0);
    m_several->setWordWrap(false);
    if (m_field.kind == FormField::Kind::File) row->addWidget(m_fileButton = makeFileButton());
    if (!m_field.unit.isEmpty()) row->addWidget(mutedLabel(m_field.unit));
    if (beside) row->addWidget(m_beside = besideButton(*beside, m_field.path + ".find"));
    if (!wide) row->addStretch(1);
    if (isVariable()) row->addWidget(new VaryToggle(m_form, m_field.path, m_field.label));
    return row;
}

void FieldEditor::connectAll() {
    connect(&m_form, &SpecForm::changed, this, [this] {
        showValue();
        showVaried();
    });
    for (const auto change : {&SpecForm::changed, &SpecForm::catalogChanged, &SpecForm::notesChanged})
        connect(&m_form, change, this, [this] { showNote(); });
    connect(&m_form, &SpecForm::problemsChanged, this, [this] { showProblems(); });
}

// All but what a trial is called.
bool FieldEditor::isVariable() const { return m_field.path != "title"; }

QWidget* FieldEditor::makeEditor() {
    if (m_field.kind == FormField::Kind::Flag) {
        auto* box = new QCheckBox;
        connect(box, &QCheckBox::toggled, this, [this](bool on) { m_form.setValue(m_field.path, on); });
        return box;
    }
    if (m_field.kind == FormField::Kind::Choice) {
        auto* box = new CalmComboBox;
        box->addItems(m_field.choices);
        connect(box, &QComboBox::textActivated, this,
                [this](const QString& text) { m_form.setValue(m_field.path, text); });
        return box;
    }
    return makeLine();
}

QLineEdit* FieldEditor::makeLine() {
    QLineEdit* line = isText() ? new FormLine : makeNumberLine();
    line->setPlaceholderText(m_field.whenEmpty());
    connect(line, &QLineEdit::textEdited, this,
            [this](const QString& text) { m_form.setValue(m_field.path, parsed(text), Edit::Typing); });
    connect(line, &QLineEdit::editingFinished, this, [this] { m_form.endTyping(); });
    return line;
}

QLineEdit* FieldEditor::makeNumberLine() {
    auto* line = new NumberLine(m_field);
    line->setAlignment(Qt::AlignRight);
    line->setFixedWidth(kNumberWidth);
    m_steps = new NumberSteps(m_field);
    connect(m_steps, &NumberSteps::stepped, line, &NumberLine::step);
    return line;
}

QPushButton* FieldEditor::makeFileButton() {
    auto* button = new QPushButton(tr("Choose…"));
    button->setObjectName(m_field.path + ".choose");
    button->setToolTip(m_field.help());
    button->setAccessibleName(tr("Choose a file: %1").arg(m_field.label));
    connect(button, &QPushButton::clicked, this, [this] {
        const auto file = QFileDialog::getOpenFileName(this, m_field.label, m_form.value(m_field.path).toString());
        if (!file.isEmpty()) m_form.setValue(m_field.path, file);
    });
    return button;
}

QJsonValue FieldEditor::parsed(const QString& text) const {
    bool whole = false, number = false;
    const auto asWhole = text.trimmed().toLongLong(&whole);
    const auto asNumber = text.trimmed().toDouble(&number);
    if (isText()) return text;
    if (whole) return asWhole;
    return number ? QJsonValue(asNumber) : QJsonValue(text);
}

void FieldEditor::showValue() {
    const auto stated = m_form.value(m_field.path);
    const auto value = stated.isNull() ? m_field.fallback : stated;
    if (auto* box = qobject_cast<QCheckBox*>(m_editor)) {
        const QSignalBlocker quiet(box);
        box->setChecked(value.toBool());
    } else if (auto* choice = qobject_cast<QComboBox*>(m_editor)) {
        choice->setPlaceholderText(numberText(value));
        choice->setCurrentIndex(choice->findText(value.toString()));
    } else if (auto* line = qobject_cast<QLineEdit*>(m_editor)) {
        if (parsed(line->text()) != value || line->text().isEmpty()) line->setText(numberText(value));
    }
}

void FieldEditor::showVaried() {
    const bool varied = m_form.sweep().isVaried(m_field.path);
    for (QWidget* each : std::initializer_list<QWidget*>{m_editor, m_steps, m_fileButton, m_beside}) {
        if (each) each->setVisible(!varied);
    }
    m_several->setVisible(varied);
    if (varied) m_several->setText(m_form.sweep().countText(m_field.path));
}

void FieldEditor::showProblems() { m_problem->tell(m_form.problemsAt(m_field.path), m_explain); }

void FieldEditor::showNote() {
    const auto note = m_form.noteAt(m_field.path);
    m_note->setText(note);
    m_note->setVisible(!note.isEmpty());
}

FieldList::FieldList(SpecForm& form, const Explain& explain, FieldEditor::Of of)
    : m_form(form), m_explain(explain), m_of(of) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space::kSmall);
}

void FieldList::setFields(const QVector<FormField>& fields) {
    QStringList paths;
    for (const auto& field : fields) paths << field.path + '|' + field.help();
    if (paths == m_shown) return;
    m_shown = paths;
    clear(*layout());
    for (const auto& field : fields)
        layout()->addWidget(new FieldEditor(m_form, field, m_explain, m_of, m_beside.value(field.path)));
    setVisible(!fields.isEmpty());
}

ChoiceForm::ChoiceForm(SpecForm& form, const QString& group, const Explain& explain, Label label)
    : m_form(form), m_group(group), m_explain(explain) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space::kSmall);
    addChoice(*layout, label);
    m_meaning = mutedLabel({});
    m_problem = new ProblemLabel;
    m_fields = new FieldList(form, explain);
    m_besideTitle = mutedLabel(tr("Of the others that are tried; they have their defaults unless they are varied:"));
    m_beside = new FieldList(form, explain, FieldEditor::Of::OtherChoice);
    for (QWidget* each : std::initializer_list<QWidget*>{m_meaning, new VaryRoom(form, group), m_problem, m_fields,
                                                         m_besideTitle, m_beside})
        layout->addWidget(each);
    connect(m_choice, &QComboBox::activated, this,
            [this](int index) { m_form.choose(m_group, m_choice->itemData(index).toString()); });
    connect(&form, &SpecForm::catalogChanged, this, [this] { fill(); });
    connect(&form, &SpecForm::changed, this, [this] { refresh(); });
    connect(&form, &SpecForm::problemsChanged, this,
            [this] { m_problem->tell(m_form.problemsAt(m_group), m_explain); });
    fill();
    refresh();
}

void ChoiceForm::addChoice(QVBoxLayout& into, Label label) {
    m_choice = new CalmComboBox;
    m_choice->setObjectName(m_group);
    m_choice->setAccessibleName(labelOf(m_group));
    auto* row = new QHBoxLayout;
    row->setSpacing(space::kMedium);
    if (label == Label::Shown) {
        auto* name = new QLabel(labelOf(m_group));
        name->setMinimumWidth(kLabelWidth);
        name->setBuddy(m_choice);
        row->addWidget(name);
    }
    row->addWidget(m_choice, 1);
    row->addWidget(m_several = mutedLabel({}), 1);
    row->addWidget(new VaryToggle(m_form, m_group, labelOf(m_group)));
    into.addLayout(row);
}

void ChoiceForm::fill() {
    m_choice->clear();
    for (const auto& option : m_form.catalog().options(m_group)) {
        const bool absent = option.state == "absent";
        m_choice->addItem(absent ? tr("%1 (not installed)").arg(option.title) : option.title, option.id);
        m_choice->setItemData(m_choice->count() - 1, absent ? option.remedy : option.meaning, Qt::ToolTipRole);
    }
}

void ChoiceForm::refresh() {
    const auto id = m_form.value(m_group).toString();
    m_choice->setCurrentIndex(m_choice->findData(id));
    m_choice->setPlaceholderText(id.isEmpty() ? tr("Choose one") : tr("%1 (unknown)").arg(id));
    const auto* option = m_form.chosen(m_group);
    m_meaning->setText(option ? option->meaning : QString());
    m_choice->setToolTip(help(option));
    m_choice->setAccessibleDescription(help(option));
    m_fields->setFields(m_form.fields(m_group));
    showVaried();
}

void ChoiceForm::showVaried() {
    const bool varied = m_form.sweep().isVaried(m_group);
    const auto beside = m_form.sweep().fieldsBeside(m_group);
    m_choice->setVisible(!varied);
    m_meaning->setVisible(!varied && !m_meaning->text().isEmpty());
    m_several->setVisible(varied);
    if (varied) m_several->setText(m_form.sweep().countText(m_group));
    m_besideTitle->setVisible(!beside.isEmpty());
    m_beside->setFields(beside);
    m_beside->setVisible(!beside.isEmpty());
}

QString ChoiceForm::help(const FormOption* option) const {
    QStringList titles;
    for (const auto& each : m_form.catalog().options(m_group)) titles << each.title;
    const auto standard = m_form.catalog().defaults[m_group];
    const auto id = standard.isString() ? standard.toString() : standard["id"].toString();
    const auto* usual = m_form.catalog().option(m_group, id);
    QStringList lines{tr("Default: %1").arg(usual ? usual->title : id), tr("One of: %1").arg(titles.join(", "))};
    if (option && !option->meaning.isEmpty()) lines.prepend(option->meaning);
    return lines.join('\n');
}

}  // namespace lockstep::ui
