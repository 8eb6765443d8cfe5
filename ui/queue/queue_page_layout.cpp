#include <QAction>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QToolBar>
#include <QVBoxLayout>

#include "ui/queue/queue_page.h"
#include "ui/queue/sweep_list.h"
#include "ui/style/line_icon.h"
#include "ui/style/theme.h"

// Where everything of the page stands.
namespace lockstep::ui {

namespace {

QLabel* roleLabel(const char* role, const QString& text = {}) {
    auto* label = new QLabel(text);
    label->setProperty("role", role);
    return label;
}

QFrame* noticeCard(const char* name, QLabel*& words, QHBoxLayout*& line) {
    auto* frame = new QFrame;
    frame->setObjectName(name);
    frame->setProperty("card", true);
    frame->hide();
    words = roleLabel("muted");
    words->setWordWrap(true);
    words->setTextInteractionFlags(Qt::TextSelectableByMouse);
    line = new QHBoxLayout(frame);
    line->addWidget(words, 1);
    return frame;
}

// The first in line is on its way.
QIcon queueIcon() {
    QPainterPath lines({4, 4});
    lines.lineTo(9, 7);
    lines.lineTo(4, 10);
    lines.closeSubpath();
    lines.moveTo(13, 7);
    lines.lineTo(20, 7);
    for (const int y : {14, 19}) {
        lines.moveTo(4, y);
        lines.lineTo(20, y);
    }
    return lineIcon(lines);
}

}  // namespace

PageFace QueuePage::face() { return {"queue", tr("&Queue"), &queueIcon}; }

QWidget* QueuePage::buildHead() {
    m_count = roleLabel("muted");
    m_count->setObjectName("queueCount");
    auto* bar = new QToolBar;
    bar->setAccessibleName(tr("Actions on queued trials"));
    bar->setMovable(false);
    buildBar(*bar);
    auto* line = new QHBoxLayout;
    line->addWidget(roleLabel("title", tr("Queue")));
    line->addSpacing(space::kMedium);
    line->addWidget(m_count);
    line->addStretch(1);
    auto* head = new QWidget;
    auto* column = new QVBoxLayout(head);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(space::kSmall);
    column->addLayout(line);
    column->addWidget(bar);
    return head;
}

QFrame* QueuePage::buildNotice() {
    QHBoxLayout* line = nullptr;
    m_notice = noticeCard("queueNotice", m_noticeText, line);
    m_noticeCopy = new QPushButton(tr("Copy command"));
    m_noticeCopy->setObjectName("copyQueueCommand");
    auto* close = new QPushButton(tr("Dismiss"));
    line->addWidget(m_noticeCopy, 0, Qt::AlignTop);
    line->addWidget(close, 0, Qt::AlignTop);
    connect(m_noticeCopy, &QPushButton::clicked, m_actions.command, &QAction::trigger);
    connect(close, &QPushButton::clicked, m_notice, &QFrame::hide);
    return m_notice;
}

QFrame* QueuePage::buildStall() {
    QHBoxLayout* line = nullptr;
    QLabel* words = nullptr;
    m_stallCard = noticeCard("queueStall", words, line);
    words->setText(
        tr("Nothing starts what waits here: the machine was started anew, or the process that does so was ended."));
    auto* start = new QPushButton(tr("Start the queue"));
    start->setObjectName("startQueue");
    line->addWidget(start, 0, Qt::AlignTop);
    connect(start, &QPushButton::clicked, m_actions.start, &QAction::trigger);
    return m_stallCard;
}

QWidget* QueuePage::buildSweeps() {
    m_endedButton = new QPushButton;
    m_endedButton->setObjectName("showEndedSweeps");
    m_endedButton->setFlat(true);
    m_endedButton->hide();
    auto* head = new QHBoxLayout;
    head->addWidget(roleLabel("heading", tr("Sweeps")));
    head->addStretch();
    head->addWidget(m_endedButton);
    m_sweepPane = new QWidget;
    m_sweepPane->hide();
    auto* column = new QVBoxLayout(m_sweepPane);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(space::kSmall);
    column->addLayout(head);
    column->addWidget(m_sweeps, 1);
    connect(m_endedButton, &QPushButton::clicked, this, [this] { m_actions.ended->toggle(); });
    return m_sweepPane;
}

}  // namespace lockstep::ui
