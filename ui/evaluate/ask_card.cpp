#include "ui/evaluate/ask_card.h"

#include <QApplication>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QImageReader>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QPointer>
#include <QPushButton>
#include <QSpinBox>
#include <QThreadPool>
#include <QUrl>
#include <QVBoxLayout>

#include "engine/spec/shell_words.h"
#include "ui/history/command_text.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr int kPreview = 76;

// As large as it is shown, never larger: a picture of 100,000 pixels a side is none of the window's business.
QImage previewOf(const QString& path) {
    QImageReader reader(path);
    reader.setAutoTransform(true);
    const QSize size = reader.size();
    if (size.isValid()) reader.setScaledSize(size.scaled(2 * kPreview, 2 * kPreview, Qt::KeepAspectRatio));
    QImageReader::setAllocationLimit(128);
    QImage preview = reader.read();
    preview.setDevicePixelRatio(2);
    return preview;
}

QLabel* muted(const QString& text) {
    auto* label = new QLabel(text);
    label->setProperty("role", "muted");
    label->setWordWrap(true);
    return label;
}

}  // namespace

AskCard::AskCard(const QString& engineProgram, QWidget* parent) : QFrame(parent), m_asker(engineProgram) {
    setProperty("card", true);
    setObjectName("ask");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(space::kMedium, space::kMedium, space::kMedium, space::kMedium);
    column->setSpacing(space::kSmall);
    m_title = new QLabel(tr("Ask the model"));
    m_title->setProperty("role", "heading");
    column->addWidget(m_title);
    column->addWidget(m_hint = muted({}));
    column->addWidget(m_images = buildImageRow());
    column->addWidget(m_texts = buildTextRow());
    column->addWidget(m_language = buildLanguage(), 1);
    column->addWidget(m_said = muted({}));
    m_said->setObjectName("said");
    m_said->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addStretch();
    connect(&m_asker, &Asker::answered, this, &AskCard::showAnswer);
    connect(&m_asker, &Asker::failed, this, &AskCard::showProblem);
    connect(&m_asker, &Asker::wrote, this, [this](const QString& text) {
        m_written->moveCursor(QTextCursor::End);
        m_written->insertPlainText(text);
    });
    connect(&m_asker, &Asker::busyChanged, this, [this](bool busy) {
        m_write->setText(busy && m_kind == Kind::Language ? tr("Stop") : tr("Go on"));
        if (busy && m_kind != Kind::Language) m_said->setText(tr("Asking…"));
    });
    connect(m_prompt, &QPlainTextEdit::textChanged, this, &AskCard::questionChanged);
    setModel(Kind::None, {}, {});
}

QWidget* AskCard::buildImageRow() {
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    m_picture = new QLabel;
    m_picture->setObjectName("askedPicture");
    m_picture->setFixedSize(kPreview, kPreview);
    m_picture->setAlignment(Qt::AlignCenter);
    m_picture->setWordWrap(true);
    m_picture->setProperty("role", "muted");
    m_picture->setStyleSheet("border: 1px dashed palette(mid); border-radius: 6px;");
    m_picture->setText(tr("Drop an image"));
    m_choose = new QPushButton(tr("Choose image…"));
    m_choose->setObjectName("chooseImage");
    connect(m_choose, &QPushButton::clicked, this, &AskCard::chooseImage);
    auto* left = new QVBoxLayout;
    left->addWidget(m_picture, 0, Qt::AlignHCenter);
    left->addWidget(m_choose);
    left->addStretch();
    layout->addLayout(left);
    m_bars = new AnswerBars;
    m_bars->setObjectName("answers");
    layout->addWidget(m_bars, 1, Qt::AlignTop);
    return row;
}

QWidget* AskCard::buildTextRow() {
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    m_text = new QLineEdit;
    m_text->setObjectName("askedText");
    m_text->setAccessibleName(tr("Text to ask about"));
    m_text->setPlaceholderText(tr("Type a text"));
    auto* ask = new QPushButton(tr("Ask"));
    layout->addWidget(m_text, 1);
    layout->addWidget(ask);
    connect(m_text, &QLineEdit::returnPressed, this, &AskCard::askText);
    connect(ask, &QPushButton::clicked, this, &AskCard::askText);
    return row;
}

QWidget* AskCard::buildLanguage() {
    auto* box = new QWidget;
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    m_prompt = new QPlainTextEdit;
    m_prompt->setObjectName("prompt");
    m_prompt->setAccessibleName(tr("Prompt"));
    m_prompt->setPlaceholderText(tr("How the text begins"));
    m_prompt->setTabChangesFocus(true);
    m_prompt->setFixedHeight(3 * fontMetrics().lineSpacing() + space::kMedium);
    m_written = new QPlainTextEdit;
    m_written->setObjectName("written");
    m_written->setReadOnly(true);
    m_written->setTabChangesFocus(true);
    m_written->setAccessibleName(tr("What the model writes"));
    column->addWidget(m_prompt);
    column->addLayout(buildSampling());
    column->addWidget(m_written, 1);
    return box;
}

QLayout* AskCard::buildSampling() {
    const TextSampling usual;
    m_length = new QSpinBox;
    m_length->setObjectName("textLength");
    m_length->setRange(1, 100'000);
    m_length->setValue(usual.bytes);
    m_length->setSuffix(tr(" bytes"));
    m_length->setAccessibleName(tr("How much to write"));
    m_length->setToolTip(tr("How much to write"));
    m_temperature = new QDoubleSpinBox;
    m_temperature->setObjectName("textTemperature");
    m_temperature->setRange(0, 5);
    m_temperature->setSingleStep(0.1);
    m_temperature->setValue(usual.temperature);
    m_temperature->setPrefix(tr("temperature "));
    m_temperature->setAccessibleName(tr("Temperature"));
    m_temperature->setToolTip(tr("Of the softmax that bytes are drawn from: 0 takes the likeliest, more is bolder"));
    m_topK = new QSpinBox;
    m_topK->setObjectName("textTopK");
    m_topK->setRange(0, 256);
    m_topK->setValue(usual.topK);
    m_topK->setPrefix(tr("top-k "));
    m_topK->setSpecialValueText(tr("top-k off"));
    m_topK->setAccessibleName(tr("Top-k"));
    m_topK->setToolTip(tr("Bytes are drawn from so many of the likeliest; off: from all"));
    m_write = new QPushButton(tr("Go on"));
    m_write->setObjectName("goOn");
    connect(m_write, &QPushButton::clicked, this, &AskCard::goOn);
    auto* row = new QHBoxLayout;
    row->setSpacing(space::kSmall);
    for (auto* each : std::initializer_list<QWidget*>{m_length, m_temperature, m_topK}) row->addWidget(each);
    row->addStretch();
    row->addWidget(m_write);
    return row;
}

TextSampling AskCard::sampling() const { return {m_length->value(), m_temperature->value(), m_topK->value()}; }

void AskCard::setNone(const QString& why) {
    setModel(Kind::None, {}, {});
    m_hint->setText(why);
}

void AskCard::setModel(Kind kind, const QStringList& arguments, const QString& name) {
    const bool same = kind == m_kind && arguments == m_model;
    m_kind = kind;
    m_model = arguments;
    m_title->setText(name.isEmpty() ? tr("Ask the model") : tr("Ask %1").arg(name));
    m_images->setVisible(kind == Kind::Images || kind == Kind::Texts);
    m_picture->setVisible(kind == Kind::Images);
    m_choose->setVisible(kind == Kind::Images);
    m_texts->setVisible(kind == Kind::Texts);
    m_language->setVisible(kind == Kind::Language);
    m_hint->setVisible(kind == Kind::None);
    if (same) return;
    m_asker.setModel(arguments);
    clear();
}

void AskCard::clear() {
    m_asked.clear();
    m_bars->setBars({});
    m_picture->setText(tr("Drop an image"));
    m_said->clear();
    m_written->clear();
    emit questionChanged();
}

bool AskCard::hasQuestion() const {
    return m_kind == Kind::Language ? !m_prompt->toPlainText().isEmpty() : m_kind != Kind::None && !m_asked.isEmpty();
}

QString AskCard::command() const {
    const QStringList words = QStringList{"predict"} + m_model;
    if (m_kind == Kind::Language)
        return commandLine(words + QStringList{"--prompt", m_prompt->toPlainText()} +
                           m_asker.textArguments(sampling()));
    if (m_kind == Kind::Images) return commandLine(words + QStringList{m_asked});
    const QString text = QString::fromStdString(shellQuoted(m_asked.toStdString()));
    return "printf '%s\\n' " + text + " | " + commandLine(words + QStringList{"-"});
}

// A file is an image here; other models are told texts.
bool AskCard::takes(const QMimeData* mime) const {
    const QList<QUrl> urls = mime->urls();
    if (m_kind == Kind::Images) return mime->hasImage() || (!urls.isEmpty() && urls.first().isLocalFile());
    return m_kind != Kind::None && mime->hasText() && urls.isEmpty();
}

void AskCard::take(const QMimeData* mime) {
    if (!takes(mime)) return;
    if (m_kind == Kind::Images && mime->hasUrls()) return askAbout(mime->urls().first().toLocalFile());
    if (m_kind == Kind::Images) {
        const QString file = m_pasted.filePath("pasted.png");
        if (qvariant_cast<QImage>(mime->imageData()).save(file)) askAbout(file);
    } else if (m_kind == Kind::Texts) {
        m_text->setText(mime->text());
        askText();
    } else {
        m_prompt->setPlainText(mime->text());
    }
}

void AskCard::chooseImage() {
    const QString file = QFileDialog::getOpenFileName(
        this, tr("Image to ask about"), {}, tr("Images (*.png *.jpg *.jpeg *.PNG *.JPG *.JPEG);;All files (*)"));
    if (!file.isEmpty()) askAbout(file);
}

void AskCard::askAbout(const QString& path) {
    if (m_kind != Kind::Images) return;
    m_asked = path;
    m_bars->setBars({});
    m_picture->setText({});
    m_picture->setToolTip(path);
    emit questionChanged();
    if (path.contains('\n')) return showProblem({tr("A path with an end of line in it cannot be asked about."), {}});
    m_asker.ask(path);
    QThreadPool::globalInstance()->start([card = QPointer(this), path] {
        const QImage preview = previewOf(path);
        QMetaObject::invokeMethod(qApp, [card, path, preview] {
            if (card && card->m_asked == path) card->showPreview(preview);
        });
    });
}

void AskCard::showPreview(const QImage& preview) {
    if (preview.isNull()) m_picture->setText(tr("no preview"));
    else m_picture->setPixmap(QPixmap::fromImage(preview));
}

void AskCard::askText() {
    if (m_text->text().trimmed().isEmpty()) return;
    m_asked = m_text->text();
    emit questionChanged();
    m_asker.ask(m_asked);
}

void AskCard::goOn() {
    if (m_asker.isBusy()) return m_asker.stop();
    if (m_prompt->toPlainText().isEmpty()) {
        m_prompt->setFocus();
        return m_said->setText(tr("Type how the text begins."));
    }
    m_said->clear();
    m_written->clear();
    m_asker.goOn(m_prompt->toPlainText(), sampling());
}

void AskCard::showAnswer(const QVector<AnswerBars::Bar>& bars, double milliseconds) {
    m_bars->setBars(bars);
    const QString name = m_kind == Kind::Images ? QFileInfo(m_asked).fileName() : m_asked;
    m_said->setText(tr("%1, after %2 ms")
                        .arg(fontMetrics().elidedText(name, Qt::ElideMiddle, width() / 2),
                             QString::number(milliseconds, 'f', milliseconds < 10 ? 1 : 0)));
}

void AskCard::showProblem(const Explanation& why) {
    m_bars->setBars({});
    m_said->setText(why.inOneLine());
}

}  // namespace lockstep::ui
