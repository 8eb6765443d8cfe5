#include <QAction>
#include <QComboBox>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QToolBar>

#include "ui/style/line_icon.h"
#include "ui/style/theme.h"
#include "ui/trials/trials_page.h"

// The page's head and its notices.
namespace lockstep::ui {

namespace {

constexpr int kFieldHeight = 28;

QLabel* wrapped(const char* role) {
    auto* label = new QLabel;
    label->setProperty("role", role);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

QIcon trialsIcon() {
    QPainterPath lines;
    for (const int y : {6, 12, 18}) {
        lines.moveTo(4, y);
        lines.lineTo(5, y);
        lines.moveTo(9, y);
        lines.lineTo(20, y);
    }
    return lineIcon(lines);
}

}  // namespace

PageFace TrialsPage::face() { return {"trials", tr("Tr&ials"), &trialsIcon}; }

QWidget* TrialsPage::buildHead() {
    auto* title = new QLabel(tr("Trials"));
    title->setProperty("role", "title");
    m_count = new QLabel;
    m_count->setProperty("role", "muted");
    m_filter = new QLineEdit;
    m_filter->setMinimumHeight(kFieldHeight);
    m_filter->setAccessibleName(tr("Filter the trials"));
    m_filter->setPlaceholderText(
        tr("Filter: words, state:failed, tag:thesis, is:starred, sweep:3, best>0.9, learning_rate>0.01, -word"));
    m_filter->setToolTip(
        tr("Trials whose row has all the words, anywhere. state: model: dataset: devices: title: note: look in"
           " one column, tag: for a whole tag, is:starred for stars, sweep:3 for the trials of a sweep, sweep:none for"
           " those of none; a minus excludes, quotation marks keep words together. Numbers compare by > >= < <= ="
           " and are best test loss best_loss speed duration epoch trial: best>91% loss<0.3 duration<5min. So does"
           " any setting by its name in spec files: batch=64 learning_rate>0.01 optimizer.momentum>=0.9"
           " schedule:cosine augmentation.flip:true optimizer.nesterov:default; default means that the trial does not"
           " state it, and no other condition finds such a trial"));
    m_filter->setClearButtonEnabled(true);
    m_filter->installEventFilter(this);
    m_shelf = new QComboBox;
    m_shelf->setMinimumHeight(kFieldHeight);
    m_shelf->setAccessibleName(tr("Which trials are shown"));
    m_shelf->addItems({tr("Current"), tr("Archived"), tr("Trash")});  // as Shelf
    auto* bar = new QToolBar;
    bar->setAccessibleName(tr("Actions on trials"));
    bar->setMovable(false);
    buildBar(*bar);
    auto* line = new QHBoxLayout;
    line->addWidget(title);
    line->addSpacing(space::kMedium);
    line->addWidget(m_count);
    line->addStretch(1);
    line->addWidget(m_filter, 4);
    line->addWidget(m_shelf);
    auto* head = new QWidget;
    auto* layout = new QVBoxLayout(head);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space::kSmall);
    layout->addLayout(line);
    m_hint = wrapped("muted");
    m_hint->setAccessibleName(tr("What the filter cannot mean"));
    m_hint->hide();
    layout->addWidget(m_hint);
    layout->addWidget(bar);
    return head;
}

void TrialsPage::showHints() {
    m_hint->setText(m_proxy.words().hints().join(' '));
    m_hint->setVisible(!m_hint->text().isEmpty());
}

// What the history takes of the disk, and the way to less.
QWidget* TrialsPage::buildFoot() {
    m_weight = new QLabel;
    m_weight->setProperty("role", "muted");
    m_weight->setAccessibleName(tr("What the history takes of the disk"));
    auto* less = new QPushButton(tr("Free disk space…"));
    less->setToolTip(m_actions.disk->toolTip());
    less->setFlat(true);
    connect(less, &QPushButton::clicked, m_actions.disk, &QAction::trigger);
    m_foot = new QWidget;
    m_foot->hide();  // until there is something
    auto* line = new QHBoxLayout(m_foot);
    line->setContentsMargins(0, 0, 0, 0);
    line->addWidget(m_weight);
    line->addStretch(1);
    line->addWidget(less);
    return m_foot;
}

void TrialsPage::addNotices(QBoxLayout& layout) {
    const auto add = [&](QFrame*& frame, QLabel*& text, const char* role, const QString& button, auto&& clicked) {
        frame = new QFrame;
        frame->setProperty("card", true);
        frame->hide();
        text = wrapped(role);
        auto* press = new QPushButton(button);
        connect(press, &QPushButton::clicked, this, clicked);
        auto* line = new QHBoxLayout(frame);
        line->addWidget(text, 1);
        line->addWidget(press, 0, Qt::AlignTop);
        layout.addWidget(frame);
    };
    add(m_problem, m_problemText, "problem", tr("Dismiss"), [this] { m_problem->hide(); });
    add(m_notice, m_noticeText, "notice", tr("Undo"), [this] {
        m_notice->hide();
        m_undo.undo();
    });
}

}  // namespace lockstep::ui
