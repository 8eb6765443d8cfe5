#include "ui/train/sample_images.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "ui/history/shown_image.h"
#include "ui/style/plain_text.h"
#include "ui/style/theme.h"
#include "ui/train/dataset_text.h"

namespace lockstep::ui {

namespace {

constexpr std::size_t kMostRows = 10;
constexpr int kMostSide = 56, kRowLabel = 48;

}  // namespace

SampleImages::SampleImages(QWidget* parent) : QWidget(parent) {
    setAccessibleName(tr("Sample images, before and after augmentation"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void SampleImages::setSamples(const std::optional<SamplesAnswer>& answer) {
    m_pairs.clear();
    QStringList names;
    for (const ShownSample& each : answer ? answer->samples : std::vector<ShownSample>()) {
        const auto& classes = answer->data.classes;
        const auto label = static_cast<std::size_t>(each.label);
        const auto name = label < classes.size() ? oneLine(classes[label]) : QString();
        m_pairs << Pair{name, imageFrom(each.before), imageFrom(each.after)};
        names << name;
    }
    setAccessibleDescription(names.join(", "));
    setFixedHeight(sizeHint().height());
    update();
}

QSize SampleImages::sizeHint() const { return {480, 2 * side() + space::kSmall}; }

// As high as the two rows are at this width.
void SampleImages::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    setFixedHeight(sizeHint().height());
}

int SampleImages::side() const {
    const int count = std::max(1, static_cast<int>(m_pairs.size()));
    return std::clamp((width() - kRowLabel - (count - 1) * space::kSmall) / count, 8, kMostSide);
}

void SampleImages::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setPen(currentTheme().muted);
    if (m_pairs.isEmpty()) return;
    const int side = this->side(), step = side + space::kSmall;
    painter.drawText(QRect(0, 0, kRowLabel, side), Qt::AlignVCenter, tr("before"));
    painter.drawText(QRect(0, step, kRowLabel, side), Qt::AlignVCenter, tr("after"));
    for (int i = 0; i < m_pairs.size(); ++i) {
        const int x = kRowLabel + i * step;
        painter.setRenderHint(QPainter::SmoothPixmapTransform, m_pairs[i].before.width() > side);
        painter.drawImage(QRect(x, 0, side, side), m_pairs[i].before);
        painter.drawImage(QRect(x, step, side, side), m_pairs[i].after);
    }
}

int SampleImages::indexAt(const QPoint& at) const {
    const int index = (at.x() - kRowLabel) / (side() + space::kSmall);
    return at.x() >= kRowLabel && index < m_pairs.size() ? index : -1;
}

bool SampleImages::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int index = indexAt(help->pos());
    if (index < 0) QToolTip::hideText();
    else QToolTip::showText(help->globalPos(), m_pairs[index].className, this);
    return true;
}

ClassBars::ClassBars(QWidget* parent) : QWidget(parent) {
    setAccessibleName(tr("Images of each class"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void ClassBars::setData(const DescribedData& described) {
    m_names.clear();
    m_counts.clear();
    const auto shown = std::min({described.classes.size(), described.trainPerClass.size(), kMostRows});
    for (std::size_t i = 0; i < shown; ++i) {
        m_names << oneLine(described.classes[i]);
        m_counts << described.trainPerClass[i];
    }
    m_left = static_cast<int>(described.classes.size() - shown);
    QStringList spoken;
    for (int i = 0; i < m_names.size(); ++i) spoken << m_names[i] + ' ' + countText(m_counts[i]);
    setAccessibleDescription(spoken.join(", "));
    updateGeometry();
    update();
}

int ClassBars::rowHeight() const { return fontMetrics().height() + 2; }

QSize ClassBars::sizeHint() const {
    return {320, static_cast<int>(m_names.size() + (m_left > 0 ? 1 : 0)) * rowHeight()};
}

void ClassBars::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const auto& theme = currentTheme();
    const auto metrics = fontMetrics();
    int name = 0;
    for (const auto& each : m_names) name = std::max(name, metrics.horizontalAdvance(each));
    name = std::min(name + 2, width() / 3) + space::kMedium;
    const int number = metrics.horizontalAdvance("0,000,000") + space::kMedium;
    const int room = std::max(0, width() - name - number);
    const qint64 most =
        m_counts.isEmpty() ? 1 : std::max<qint64>(1, *std::max_element(m_counts.begin(), m_counts.end()));
    for (int i = 0; i < m_names.size(); ++i) {
        const QRect row(0, i * rowHeight(), width(), rowHeight());
        painter.setPen(theme.text);
        painter.drawText(row, Qt::AlignVCenter, metrics.elidedText(m_names[i], Qt::ElideRight, name - space::kMedium));
        const int length = static_cast<int>(room * m_counts[i] / most);
        painter.fillRect(QRect(name, row.y() + 4, length, row.height() - 8), theme.compute);
        painter.setPen(theme.muted);
        painter.drawText(row, Qt::AlignVCenter | Qt::AlignRight, countText(m_counts[i]));
    }
    if (m_left == 0) return;
    const QRect last(0, static_cast<int>(m_names.size()) * rowHeight(), width(), rowHeight());
    painter.drawText(last, Qt::AlignVCenter,
                     m_left == 1 ? tr("and 1 more class") : tr("and %1 more classes").arg(m_left));
}

}  // namespace lockstep::ui
