#include "ui/compare/compare_card.h"

#include <QBuffer>
#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QImage>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QSaveFile>
#include <QSvgGenerator>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/compare/compare_view.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr double kPictureScale = 2;

}  // namespace

CompareCard::CompareCard(CompareView* view, bool isWide, QWidget* parent)
    : QFrame(parent), m_view(*view), m_isWide(isWide), m_empty(new QLabel), m_enlarge(new QToolButton) {
    setProperty("card", true);
    setObjectName(view->fileName() + "Card");
    auto* title = new QLabel(view->title());
    title->setProperty("role", "heading");
    m_empty->setProperty("role", "muted");
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_enlarge->setCheckable(true);
    m_enlarge->setAutoRaise(true);
    m_enlarge->setObjectName(view->fileName() + "Enlarge");
    auto* more = new QToolButton;
    more->setText(QStringLiteral("…"));
    more->setObjectName(view->fileName() + "More");
    more->setAccessibleName(tr("Take out of the window: %1").arg(view->title()));
    more->setToolTip(tr("Save or copy what this shows"));
    more->setAutoRaise(true);
    more->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(more);
    menu->addAction(tr("Save as…"), this, &CompareCard::chooseFile);
    menu->addAction(tr("Copy picture"), this, &CompareCard::copyPicture);
    menu->addAction(tr("Copy data as CSV"), this, [this] {
        m_view.settle();
        QGuiApplication::clipboard()->setText(QString::fromUtf8(m_view.csv()));
    });
    more->setMenu(menu);
    auto* head = new QHBoxLayout;
    head->addWidget(title);
    head->addStretch(1);
    head->addWidget(m_enlarge);
    head->addWidget(more);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(space::kMedium + space::kSmall, space::kSmall, space::kSmall, space::kMedium);
    column->setSpacing(space::kSmall);
    column->addLayout(head);
    column->addWidget(m_empty, 1);
    column->addWidget(view, 1);
    connect(m_enlarge, &QToolButton::clicked, this, &CompareCard::enlargeWanted);
    connect(view, &CompareView::wordsChanged, this, &CompareCard::showWords);
    setEnlarged(false);
    showWords();
}

void CompareCard::setEnlarged(bool isEnlarged) {
    const QString words = isEnlarged ? tr("Show all views") : tr("Show this view alone");
    m_enlarge->setChecked(isEnlarged);
    m_enlarge->setText(isEnlarged ? QStringLiteral("⤡") : QStringLiteral("⤢"));
    m_enlarge->setToolTip(words);
    m_enlarge->setAccessibleName(words + QStringLiteral(": ") + m_view.title());
}

QSize CompareCard::minimumSizeHint() const {
    QSize hint = QFrame::minimumSizeHint();
    if (!m_enlarge->isChecked()) hint.setHeight(std::max(hint.height(), sizeHint().height()));
    return hint;
}

void CompareCard::showWords() {
    const QString empty = m_view.scene() ? m_view.emptyText() : QString();
    m_empty->setText(empty);
    m_empty->setVisible(!empty.isEmpty());
    m_view.setVisible(empty.isEmpty());
    m_view.setAccessibleName(m_view.title());
    m_view.setAccessibleDescription(m_view.scene() && empty.isEmpty() ? m_view.summary() : empty);
}

QImage CompareCard::picture(double scale) const {
    m_view.settle();
    QImage image(m_view.size() * scale, QImage::Format_ARGB32_Premultiplied);
    image.setDevicePixelRatio(scale);
    image.fill(currentTheme().surface);
    QPainter painter(&image);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(m_view.font());
    m_view.paintPicture(painter, m_view.rect());
    return image;
}

QByteArray CompareCard::svg() const {
    m_view.settle();
    QByteArray bytes;
    QBuffer buffer(&bytes);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setSize(m_view.size());
    generator.setViewBox(m_view.rect());
    generator.setTitle(m_view.title());
    generator.setDescription(m_view.summary());
    QPainter painter(&generator);
    painter.setFont(m_view.font());
    painter.fillRect(m_view.rect(), currentTheme().surface);
    m_view.paintPicture(painter, m_view.rect());
    painter.end();
    return bytes;
}

bool CompareCard::saveTo(const QString& file) const {
    m_view.settle();
    QByteArray bytes;
    if (file.endsWith(".csv", Qt::CaseInsensitive)) {
        bytes = m_view.csv();
    } else if (file.endsWith(".svg", Qt::CaseInsensitive)) {
        bytes = svg();
    } else {
        QBuffer buffer(&bytes);
        if (!picture(kPictureScale).save(&buffer, "PNG")) return false;
    }
    QSaveFile out(file);
    return out.open(QIODevice::WriteOnly) && out.write(bytes) == bytes.size() && out.commit();
}

void CompareCard::chooseFile() {
    const QString file =
        QFileDialog::getSaveFileName(this, tr("Save %1").arg(m_view.title()), m_view.fileName() + ".png",
                                     tr("Pictures, twice as large (*.png);;Vector graphics (*.svg);;Data (*.csv)"));
    if (!file.isEmpty() && !saveTo(file)) emit notSaved(file);
}

void CompareCard::copyPicture() const { QGuiApplication::clipboard()->setImage(picture(kPictureScale)); }

}  // namespace lockstep::ui
