#include "ui/evaluate/sample_gallery.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/evaluate/answer_bars.h"
#include "ui/history/shown_image.h"
#include "ui/plot/run_text.h"
#include "ui/style/plain_text.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr std::size_t kAtOnce = 100;
constexpr int kPicture = 64, kCell = 120, kCaption = kCell - space::kLarge, kBars = 220;
constexpr int kMostText = 90, kWidestName = 200;  // of a text's line: characters, pixels
constexpr int kSampleRole = Qt::UserRole, kTextRole = Qt::UserRole + 1, kFileRole = Qt::UserRole + 2;

// Small ones larger, their pixels as they are; all of them in the middle of a square.
QIcon iconOf(const QImage& image) {
    QPixmap square(2 * kPicture, 2 * kPicture);
    square.fill(Qt::transparent);
    const bool small = std::max(image.width(), image.height()) <= kPicture;
    const QImage scaled =
        image.scaled(square.size(), Qt::KeepAspectRatio, small ? Qt::FastTransformation : Qt::SmoothTransformation);
    QPainter(&square).drawImage((square.width() - scaled.width()) / 2, (square.height() - scaled.height()) / 2, scaled);
    QIcon icon(square);
    icon.addPixmap(square, QIcon::Selected);
    return icon;
}

}  // namespace

SampleGallery::SampleGallery(QWidget* parent) : QFrame(parent) {
    setProperty("card", true);
    setObjectName("samples");
    m_title = new QLabel;
    m_title->setProperty("role", "heading");
    m_hint = new QLabel;
    m_hint->setProperty("role", "muted");
    m_hint->setWordWrap(true);
    m_hintButton = new QPushButton;
    m_hintButton->setObjectName("evaluateForSamples");
    m_more = new QPushButton(tr("Show more"));
    m_more->setObjectName("moreSamples");
    m_list = new QListWidget;
    m_list->setObjectName("sampleList");
    m_list->setAccessibleName(tr("Samples"));
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setResizeMode(QListView::Adjust);
    m_list->setMovement(QListView::Static);
    m_list->setIconSize({kPicture, kPicture});
    m_list->setWordWrap(true);
    m_chosen = new QLabel;
    m_chosen->setObjectName("chosenSample");
    m_chosen->setWordWrap(true);
    auto* head = new QHBoxLayout;
    head->addWidget(m_title, 1);
    head->addWidget(m_more);
    auto* hint = new QHBoxLayout;
    hint->addWidget(m_hint, 1);
    hint->addWidget(m_hintButton);
    auto* left = new QVBoxLayout;
    left->setSpacing(space::kSmall);
    left->addLayout(head);
    left->addLayout(hint);
    left->addWidget(m_list, 1);
    auto* all = new QHBoxLayout(this);
    all->setContentsMargins(space::kMedium, space::kMedium, space::kMedium, space::kMedium);
    all->setSpacing(space::kLarge);
    all->addLayout(left, 1);
    all->addWidget(buildSide());
    connect(m_more, &QPushButton::clicked, this, &SampleGallery::wantMore);
    connect(m_hintButton, &QPushButton::clicked, this, &SampleGallery::hintTaken);
    connect(m_list, &QListWidget::currentItemChanged, this, &SampleGallery::showChosen);
    setMinimumHeight(164);
    setHint({});
}

QWidget* SampleGallery::buildSide() {
    m_side = new QWidget;
    auto* column = new QVBoxLayout(m_side);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(space::kSmall);
    column->addWidget(m_chosen);
    auto* bars = new QHBoxLayout;
    bars->setSpacing(space::kLarge);
    for (int i = 0; i < 2; ++i) {
        m_barTitles.push_back(new QLabel);
        m_barTitles.back()->setProperty("role", "muted");
        m_bars.push_back(new AnswerBars);
        m_bars.back()->setFixedWidth(kBars);
        auto* one = new QVBoxLayout;
        one->addWidget(m_barTitles.back());
        one->addWidget(m_bars.back());
        bars->addLayout(one);
    }
    column->addLayout(bars);
    column->addStretch();
    return m_side;
}

void SampleGallery::setHint(const QString& text, const QString& button) {
    m_list->clear();
    m_samples.clear();
    m_models.clear();
    m_title->setText(tr("Samples"));
    m_hint->setText(text);
    m_hintButton->setText(button);
    m_hintButton->setVisible(!button.isEmpty());
    m_hint->setVisible(!text.isEmpty());
    m_more->hide();
    showChosen();
}

void SampleGallery::setSamples(const QString& title, SampleList samples, std::vector<Answers> models,
                               QStringList classes) {
    setHint({});
    m_samples = std::move(samples);
    m_models = std::move(models);
    m_classes = std::move(classes);
    const auto count = static_cast<double>(m_samples.size());
    m_title->setText(m_samples.empty() ? tr("%1: no samples").arg(title)
                     : m_samples.size() == 1
                         ? tr("%1: one sample").arg(title)
                         : tr("%1: %2 samples, the surest answer first").arg(title, runCount(count)));
    wantMore();
}

void SampleGallery::setHintEnabled(bool on) { m_hintButton->setEnabled(on); }

void SampleGallery::setClasses(QStringList classes) {
    m_classes = std::move(classes);
    for (int i = 0; i < m_list->count(); ++i) label(*m_list->item(i));
    showChosen();
}

void SampleGallery::setProblem(const QString& text) {
    tell(text);
    m_more->setVisible(true);  // once more
}

void SampleGallery::tell(const QString& text) {
    m_hint->setText(text);
    m_hint->setVisible(!text.isEmpty());
}

int SampleGallery::shownCount() const { return m_list->count(); }

void SampleGallery::wantMore() {
    const auto first = static_cast<std::size_t>(m_list->count());
    const std::size_t end = wantedEnd();
    m_more->hide();
    if (first == end) return;
    tell(tr("Reading samples…"));
    emit samplesWanted(
        {m_samples.begin() + static_cast<std::ptrdiff_t>(first), m_samples.begin() + static_cast<std::ptrdiff_t>(end)});
}

std::size_t SampleGallery::wantedEnd() const {
    return std::min(m_samples.size(), static_cast<std::size_t>(m_list->count()) + kAtOnce);
}

void SampleGallery::addUnseen(const QString& why) {
    m_list->setViewMode(QListView::ListMode);
    m_list->setMovement(QListView::Static);
    m_list->setGridSize({});
    const std::size_t end = wantedEnd();
    for (auto i = static_cast<std::size_t>(m_list->count()); i < end; ++i) {
        auto* item = new QListWidgetItem(m_list);
        item->setData(kSampleRole, static_cast<qlonglong>(m_samples[i]));
        item->setData(kTextRole, tr("sample %1").arg(m_samples[i]));
        label(*item);
    }
    endAdding(why);
}

void SampleGallery::addShown(const std::vector<AskedAbout>& shown, const QString& remark) {
    const bool images = !shown.empty() && shown.front().text.empty();
    m_list->setViewMode(images ? QListView::IconMode : QListView::ListMode);
    m_list->setMovement(QListView::Static);
    m_list->setGridSize(images ? QSize(kCell, kPicture + 2 * fontMetrics().height() + space::kMedium) : QSize());
    const auto first = static_cast<std::size_t>(m_list->count());
    for (std::size_t i = 0; i < shown.size() && first + i < m_samples.size(); ++i) {
        auto* item = new QListWidgetItem(m_list);
        item->setData(kSampleRole, static_cast<qlonglong>(m_samples[first + i]));
        if (images) item->setIcon(iconOf(imageFrom(shown[i].image)));
        else item->setData(kTextRole, oneLine(shown[i].text));
        item->setData(kFileRole, oneLine(shown[i].file));
        label(*item);
    }
    endAdding(remark);
}

void SampleGallery::endAdding(const QString& remark) {
    tell(remark);
    m_more->setVisible(static_cast<std::size_t>(m_list->count()) < m_samples.size());
    if (!m_list->currentItem() && m_list->count() > 0) m_list->setCurrentRow(0);
}

// What it was taken for, how surely, and what it is: as short as there is room for, and whole where it is pointed at.
void SampleGallery::label(QListWidgetItem& item) const {
    if (m_models.empty()) return;
    const auto sample = static_cast<std::size_t>(item.data(kSampleRole).toLongLong());
    const LabelledAnswer& answered = m_models.front().evaluation->answers[sample];
    const QString answer = className(answered.answer.classes[0]), label = className(answered.label);
    const QString share = runShare(static_cast<double>(answered.answer.probabilities[0]));
    const QString text = item.data(kTextRole).toString();
    const QString whole = tr("Taken for %1 (%2), is %3").arg(answer, share, label);
    item.setData(Qt::AccessibleTextRole, whole);
    QStringList tip{whole, text, item.data(kFileRole).toString()};
    tip.removeAll(QString());
    item.setToolTip(tip.join('\n'));
    item.setText(text.isEmpty() ? tileOf(answer, share, label) : lineOf(answer, share, label, text));
}

QString SampleGallery::tileOf(const QString& answer, const QString& share, const QString& label) const {
    const QFontMetrics metrics = m_list->fontMetrics();
    const QString sure = ' ' + share;
    const int room = kCaption - metrics.horizontalAdvance(sure);
    return metrics.elidedText(answer, Qt::ElideRight, room) + sure + '\n' +
           metrics.elidedText(tr("is %1").arg(label), Qt::ElideRight, kCaption);
}

QString SampleGallery::lineOf(const QString& answer, const QString& share, const QString& label,
                              const QString& text) const {
    const QFontMetrics metrics = m_list->fontMetrics();
    const auto name = [&metrics](const QString& whole) {
        return metrics.elidedText(whole, Qt::ElideRight, kWidestName);
    };
    const QString begin = text.left(kMostText) + (text.size() > kMostText ? "…" : "");
    return tr("%1 %2, is %3").arg(name(answer), share, name(label)) + "   " + begin;
}

QString SampleGallery::className(std::int64_t id) const {
    return m_classes.value(static_cast<int>(id), QString::number(id));
}

void SampleGallery::showChosen() {
    const auto* item = m_list->currentItem();
    m_side->setVisible(item && !m_models.empty());
    if (!item || m_models.empty()) return;
    const qlonglong sample = item->data(kSampleRole).toLongLong();
    const auto label = m_models.front().evaluation->answers[static_cast<std::size_t>(sample)].label;
    const QString file = item->data(kFileRole).toString(),
                  what = tr("Sample %1 is: %2").arg(sample).arg(className(label));
    const QString path = m_chosen->fontMetrics().elidedText(file, Qt::ElideLeft, kBars);
    m_chosen->setText(file.isEmpty() ? what : what + '\n' + path);
    m_chosen->setToolTip(file);
    for (std::size_t i = 0; i < m_bars.size(); ++i) {
        m_bars[i]->setVisible(i < m_models.size());
        m_barTitles[i]->setVisible(i < m_models.size() && m_models.size() > 1);
        if (i >= m_models.size()) continue;
        const Answer& answer = m_models[i].evaluation->answers[static_cast<std::size_t>(sample)].answer;
        QVector<AnswerBars::Bar> bars;
        for (std::size_t k = 0; k < Answer::kClasses && answer.classes[k] >= 0; ++k)
            bars << AnswerBars::Bar{className(answer.classes[k]), static_cast<double>(answer.probabilities[k]),
                                    answer.classes[k] == label};
        m_barTitles[i]->setText(m_models[i].model);
        m_bars[i]->setBars(bars);
    }
}

}  // namespace lockstep::ui
