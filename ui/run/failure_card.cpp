#include "ui/run/failure_card.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/style/theme.h"

namespace lockstep::ui {

FailureCard::FailureCard(QWidget* parent) : QFrame(parent) {
    setProperty("card", true);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(space::kLarge, space::kMedium, space::kLarge, space::kMedium);
    column->setSpacing(space::kSmall);
    for (QLabel** label : {&m_what, &m_why, &m_next}) {
        *label = new QLabel;
        (*label)->setWordWrap(true);
        (*label)->setTextInteractionFlags(Qt::TextSelectableByMouse);
        column->addWidget(*label);
    }
    m_what->setProperty("role", "problem");
    m_details = new QPlainTextEdit;
    m_details->setReadOnly(true);
    m_details->setAccessibleName(tr("Details of the failure"));
    m_details->setFixedHeight(110);
    m_details->hide();

    auto* buttons = new QHBoxLayout;
    m_resume = new QPushButton(tr("Resume from the last checkpoint"));
    m_resume->setProperty("primary", true);
    connect(m_resume, &QPushButton::clicked, this, &FailureCard::resumeRequested);
    auto* show = new QPushButton(tr("Details"));
    show->setCheckable(true);
    show->setToolTip(tr("Show everything known about the failure"));
    connect(show, &QPushButton::toggled, m_details, &QWidget::setVisible);
    auto* copy = new QPushButton(tr("Copy details"));
    copy->setToolTip(tr("For a bug report or a colleague"));
    connect(copy, &QPushButton::clicked, this, [this] {
        QGuiApplication::clipboard()->setText(
            QStringList{m_what->text(), m_why->text(), m_next->text(), "", m_details->toPlainText()}.join('\n'));
    });
    for (QPushButton* button : {m_resume, show, copy}) {
        button->setAccessibleName(button->text());
        buttons->addWidget(button);
    }
    buttons->addStretch();
    column->addLayout(buttons);
    column->addWidget(m_details);
}

void FailureCard::setText(const FailureText& text, bool canResume) {
    m_what->setText(text.what);
    m_why->setText(text.why);
    m_next->setText(text.next);
    if (m_details->toPlainText() != text.details) m_details->setPlainText(text.details);
    m_resume->setVisible(canResume);
}

}  // namespace lockstep::ui
