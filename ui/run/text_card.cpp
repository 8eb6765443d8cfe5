#include "ui/run/text_card.h"

#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr int kLines = 8;
constexpr const char* kToCome = QT_TRANSLATE_NOOP(
    "lockstep::ui::TextCard",
    "After each epoch's evaluation the model writes some text here. How much, and from which prompt it goes on, is set "
    "on the train page, with the model.");
constexpr const char* kNone = QT_TRANSLATE_NOOP(
    "lockstep::ui::TextCard",
    "This run has written no text: its length was set to 0, or the run ended before its first evaluation.");

}  // namespace

TextCard::TextCard(QWidget* parent) : QFrame(parent) {
    setProperty("card", true);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(space::kMedium, space::kMedium, space::kMedium, space::kMedium);
    column->setSpacing(space::kSmall);
    auto* head = new QHBoxLayout;
    auto* title = new QLabel(tr("Text that it writes"));
    title->setProperty("role", "heading");
    m_epochs = new QComboBox;
    m_epochs->setObjectName("textEpochs");
    m_epochs->setAccessibleName(tr("Epoch after which the text was written"));
    m_epochs->setToolTip(tr("After which epoch the text was written; the prompt is in bold letters"));
    head->addWidget(title);
    head->addStretch();
    head->addWidget(m_epochs);
    column->addLayout(head);
    m_text = new QPlainTextEdit;
    m_text->setObjectName("writtenText");
    m_text->setReadOnly(true);
    m_text->setTabChangesFocus(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_text->setAccessibleName(tr("Text that the model writes"));
    m_text->setPlaceholderText(tr(kToCome));
    m_text->setFrameShape(QFrame::NoFrame);
    m_text->setFixedHeight(kLines * fontMetrics().lineSpacing() + 2 * space::kMedium);
    column->addWidget(m_text);
    m_epochs->hide();
    connect(m_epochs, &QComboBox::currentIndexChanged, this, &TextCard::showSample);
}

void TextCard::setSamples(const std::vector<TextSample>& samples, bool isOver) {
    m_text->setPlaceholderText(tr(isOver ? kNone : kToCome));
    if (samples == m_samples) return;
    m_samples = samples;
    listEpochs();
}

// Whoever looks at an older one stays with it.
void TextCard::listEpochs() {
    const QSignalBlocker quiet(m_epochs);
    const bool followsNewest = m_epochs->currentIndex() == m_epochs->count() - 1;
    const QString chosen = m_epochs->currentText();
    m_epochs->clear();
    for (const TextSample& each : m_samples) m_epochs->addItem(tr("After epoch %1").arg(each.epoch));
    const int kept = followsNewest ? -1 : m_epochs->findText(chosen);
    m_epochs->setCurrentIndex(kept >= 0 ? kept : m_epochs->count() - 1);
    m_epochs->setVisible(m_samples.size() > 1);
    showSample(m_epochs->currentIndex());
}

void TextCard::showSample(int index) {
    m_text->clear();
    if (index < 0) return;
    const TextSample& sample = m_samples[static_cast<std::size_t>(index)];
    QTextCharFormat given, written;
    given.setForeground(currentTheme().accent);
    given.setFontWeight(QFont::Bold);
    written.setForeground(currentTheme().text);
    QTextCursor cursor(m_text->document());
    cursor.insertText(QString::fromStdString(sample.prompt), given);
    cursor.insertText(QString::fromStdString(sample.text), written);
}

void TextCard::changeEvent(QEvent* event) {
    QFrame::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_epochs) showSample(m_epochs->currentIndex());
}

}  // namespace lockstep::ui
