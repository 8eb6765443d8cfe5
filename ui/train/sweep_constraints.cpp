#include "ui/train/sweep_constraints.h"

#include <QHBoxLayout>
#include <QLabel>

#include "ui/style/theme.h"
#include "ui/train/field_editor.h"
#include "ui/train/quiet_button.h"
#include "ui/train/sweep_form.h"

namespace lockstep::ui {

namespace {

constexpr int kConstraintWidth = 360;

}  // namespace

QString constraintEditor(int index) { return QString("sweep.constraints.%1").arg(index); }

SweepConstraints::SweepConstraints(SpecForm& form, const Explain& explain, QWidget* parent)
    : QWidget(parent), m_form(form), m_explain(explain), m_column(new QVBoxLayout(this)) {
    m_column->setContentsMargins(0, 0, 0, 0);
    m_column->setSpacing(space::kSmall);
    m_more = new QuietButton("sweep.addConstraint", tr("Add constraint"),
                             tr("Leave out combinations of settings: only those are tried for which it holds."));
    m_column->addWidget(m_more, 0, Qt::AlignLeft);
    connect(m_more, &QToolButton::clicked, this, &SweepConstraints::add);
    for (const auto change : {&SpecForm::changed, &SpecForm::problemsChanged})
        connect(&form, change, this, &SweepConstraints::follow);
    follow();
}

SweepConstraints::Row SweepConstraints::makeRow(int index) {
    Row row;
    row.whole = new QWidget;
    auto* column = new QVBoxLayout(row.whole);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    auto* fields = new QHBoxLayout;
    fields->setSpacing(space::kSmall);
    auto* remove = new QuietButton(constraintEditor(index) + ".remove", "✕", tr("Leave this constraint out"),
                                   tr("Remove: %1").arg(SweepForm::constraintName(index)));
    connect(remove, &QToolButton::clicked, this, [this, index] { this->remove(index); });
    fields->addWidget(new QLabel(tr("only where")));
    fields->addWidget(row.line = makeLine(index));
    fields->addWidget(remove);
    fields->addWidget(row.cells = mutedLabel({}));
    fields->addStretch(1);
    row.cells->setWordWrap(false);
    row.cells->setObjectName(constraintEditor(index) + ".cells");
    column->addLayout(fields);
    column->addWidget(row.problem = new ProblemLabel);
    return row;
}

QLineEdit* SweepConstraints::makeLine(int index) {
    auto* line = new FormLine;
    line->setObjectName(constraintEditor(index));
    line->setFixedWidth(kConstraintWidth);
    line->setPlaceholderText("batch / devices >= 16");
    line->setAccessibleName(SweepForm::constraintName(index));
    line->setToolTip(
        tr("Compares numbers and settings, with + - * / and parentheses; devices counts them.\nFor "
           "example: batch / devices >= 16\nOne of: < <= > >= == !="));
    line->setAccessibleDescription(line->toolTip());
    connect(line, &QLineEdit::textEdited, this,
            [this, index](const QString& typed) { m_form.sweep().setConstraint(index, typed); });
    connect(line, &QLineEdit::editingFinished, this, [this] { m_form.endTyping(); });
    return line;
}

void SweepConstraints::add() {
    m_form.sweep().addConstraint();
    m_rows.back().line->setFocus(Qt::OtherFocusReason);
}

void SweepConstraints::remove(int index) {
    m_form.sweep().removeConstraint(index);
    m_more->setFocus(Qt::OtherFocusReason);
}

void SweepConstraints::follow() {
    const auto wanted = static_cast<std::size_t>(m_form.sweep().constraints().size());
    for (; m_rows.size() > wanted; m_rows.pop_back()) {
        m_rows.back().whole->hide();
        m_rows.back().whole->deleteLater();
    }
    while (m_rows.size() < wanted) {
        const auto index = static_cast<int>(m_rows.size());
        m_rows.push_back(makeRow(index));
        m_column->insertWidget(index, m_rows.back().whole);
    }
    for (std::size_t i = 0; i < m_rows.size(); ++i) show(m_rows[i], static_cast<int>(i));
}

void SweepConstraints::show(const Row& row, int index) {
    const auto& sweep = m_form.sweep();
    if (row.line->text() != sweep.constraints()[index]) row.line->setText(sweep.constraints()[index]);
    row.cells->setText(sweep.cellsMeeting(index));
    row.problem->tell(sweep.problemsOfConstraint(index), m_explain);
}

}  // namespace lockstep::ui
