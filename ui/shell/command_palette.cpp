#include "ui/shell/command_palette.h"

#include <QAction>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include "ui/shell/command_match.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr int kCommandRole = Qt::UserRole, kKeysRole = kCommandRole + 1;
constexpr int kRowHeight = 30;

// A command's name, and its keys at the right.
class CommandDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        return {QStyledItemDelegate::sizeHint(option, index).width(), kRowHeight};
    }
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        QStyledItemDelegate::paint(painter, option, index);
        const bool selected = option.state & QStyle::State_Selected;
        painter->setPen(selected ? option.palette.color(QPalette::HighlightedText) : currentTheme().muted);
        painter->drawText(option.rect.adjusted(0, 0, -space::kMedium, 0), Qt::AlignRight | Qt::AlignVCenter,
                          index.data(kKeysRole).toString());
    }
};

QString titleOf(const QAction* action) {
    QString title = action->text();
    return title.remove('&').remove(QStringLiteral("…"));
}

}  // namespace

CommandPalette::CommandPalette(QList<QAction*> commands, QWidget* parent)
    : QDialog(parent, Qt::Dialog | Qt::FramelessWindowHint), m_input(new QLineEdit), m_list(new QListWidget) {
    for (QAction* command : commands) {
        if (command->isEnabled() && !command->isSeparator() && !command->text().isEmpty()) m_commands << command;
    }
    setWindowTitle(tr("Commands"));
    setAttribute(Qt::WA_DeleteOnClose);
    m_input->setPlaceholderText(tr("What do you want to do?"));
    m_input->setAccessibleName(tr("Search commands"));
    m_input->installEventFilter(this);
    m_list->setAccessibleName(tr("Commands found"));
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setItemDelegate(new CommandDelegate(m_list));
    m_list->setFrameShape(QFrame::NoFrame);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::kMedium, space::kMedium, space::kMedium, space::kMedium);
    layout->addWidget(m_input);
    layout->addWidget(m_list);
    resize(480, 360);
    connect(m_input, &QLineEdit::textChanged, this, &CommandPalette::refresh);
    connect(m_input, &QLineEdit::returnPressed, this, &CommandPalette::run);
    connect(m_list, &QListWidget::itemClicked, this, &CommandPalette::run);
    refresh();
}

void CommandPalette::refresh() {
    QStringList titles;
    for (const QAction* command : m_commands) titles << titleOf(command);
    m_list->clear();
    for (const int index : matchingCommands(m_input->text(), titles)) {
        auto* item = new QListWidgetItem(titles[index], m_list);
        item->setData(kCommandRole, index);
        item->setData(kKeysRole, m_commands[index]->shortcut().toString(QKeySequence::NativeText));
    }
    if (m_list->count() == 0) {
        auto* item = new QListWidgetItem(tr("No command has these letters in its name"), m_list);
        item->setFlags(Qt::NoItemFlags);
    }
    m_list->setCurrentRow(0);
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
    if (watched != m_input || event->type() != QEvent::KeyPress) return QDialog::eventFilter(watched, event);
    const int key = static_cast<QKeyEvent*>(event)->key();
    const int step = key == Qt::Key_Down ? 1 : key == Qt::Key_Up ? -1 : 0;
    if (step == 0) return false;
    m_list->setCurrentRow(qBound(0, m_list->currentRow() + step, m_list->count() - 1));
    return true;
}

void CommandPalette::run() {
    const QListWidgetItem* item = m_list->currentItem();
    if (!item || !item->data(kCommandRole).isValid()) return;
    QAction* command = m_commands[item->data(kCommandRole).toInt()];
    accept();
    command->trigger();
}

}  // namespace lockstep::ui
