#include "ui/style/empty_view.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr int kReadableWidth = 520, kLeastWidth = 260;

QLabel* wrapped(const char* role) {
    auto* label = new QLabel;
    label->setProperty("role", role);
    label->setWordWrap(true);
    label->setAlignment(Qt::AlignHCenter);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

}  // namespace

EmptyView::EmptyView(QWidget* parent)
    : QFrame(parent), m_title(wrapped("title")), m_text(wrapped("muted")), m_buttons(new QHBoxLayout) {
    auto* words = new QWidget;  // as high as its text is at this width
    words->setMinimumWidth(kLeastWidth);
    words->setMaximumWidth(kReadableWidth);
    auto* column = new QVBoxLayout(words);
    column->setSpacing(space::kLarge);
    column->addWidget(m_title);
    column->addWidget(m_text);
    column->addLayout(m_buttons);
    auto* middle = new QHBoxLayout;  // an alignment would take the height of a single line
    middle->addStretch();
    middle->addWidget(words, 1);
    middle->addStretch();
    auto* layout = new QVBoxLayout(this);
    layout->addStretch();
    layout->addLayout(middle);
    layout->addStretch();
}

void EmptyView::show(const EmptyState& state) {
    m_title->setText(state.title);
    m_text->setText(state.text);
    QStringList wanted;
    for (const auto& way : state.ways) wanted << way.command << way.words;
    if (wanted == m_shown) return;  // a button that has the focus keeps it
    m_shown = wanted;
    while (QLayoutItem* item = m_buttons->takeAt(0)) {
        if (QWidget* button = item->widget()) button->hide(), button->deleteLater();
        delete item;
    }
    m_buttons->addStretch();
    for (const auto& way : state.ways) {
        auto* button = new QPushButton(way.words);
        button->setProperty("primary", m_buttons->count() == 1);
        button->setAccessibleName(way.words);
        connect(button, &QPushButton::clicked, this, [this, command = way.command] { emit chosen(command); });
        m_buttons->addWidget(button);
    }
    m_buttons->addStretch();
}

}  // namespace lockstep::ui
