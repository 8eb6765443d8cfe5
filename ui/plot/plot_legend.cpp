#include "ui/plot/plot_legend.h"

#include <QBoxLayout>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>
#include <QToolButton>
#include <functional>

#include "ui/plot/plot_marks.h"

namespace lockstep::ui {

namespace {

constexpr std::size_t kInRow = 3;  // more stand in a column
constexpr float kFaint = 0.4f;     // of a curve's colour, where it stands behind another
constexpr int kColumnWidth = 230, kLongestName = 160, kLeastName = 24, kPadding = 5;
constexpr int kScrollBar = 14, kColumnPart = 4;  // kColumnPart: of the plot's width, where lines are long

}  // namespace

// Paints itself: fifty style sheets would take longer than the plot.
class LegendEntry : public QToolButton {
public:
    LegendEntry(const PlotSeries& series, QWidget* parent) : QToolButton(parent), m_series(series) {
        setCheckable(true);
        setChecked(true);
        setFont(parent->font());
        setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
        setText(series.name);
    }

    std::function<void()> alone, focused;
    std::function<void(bool isIn)> pointed;

    void setValue(const QString& value) {
        if (value == m_value) return;
        const bool grows = value.size() > m_value.size();
        m_value = value;
        setText(value.isEmpty() ? m_series.name : m_series.name + "  " + value);
        if (grows) updateGeometry();
        update();
    }

    // Where a row has no room for all values; the text has it all the same.
    void setValueShown(bool shown) {
        if (shown == m_showsValue) return;
        m_showsValue = shown;
        updateGeometry();
        update();
    }
    int valueWidth() const {
        return m_value.isEmpty() ? 0 : fontMetrics().horizontalAdvance(m_value) + 2 * space::kSmall;
    }
    int fullWidth() const { return sized(nameWidth()).width() + (m_showsValue ? 0 : valueWidth()); }

    int wholeWidth() const { return sized(fontMetrics().horizontalAdvance(m_series.name)).width(); }

    QSize sizeHint() const override { return sized(nameWidth()); }
    QSize minimumSizeHint() const override { return sized(kLeastName); }

protected:
    void enterEvent(QEnterEvent* event) override {
        QToolButton::enterEvent(event);
        pointed(true);
    }

    void leaveEvent(QEvent* event) override {
        QToolButton::leaveEvent(event);
        pointed(false);
    }

    void focusInEvent(QFocusEvent* event) override {
        QToolButton::focusInEvent(event);
        focused();
    }

    void nextCheckState() override {
        if (QGuiApplication::keyboardModifiers().testFlag(Qt::ControlModifier)) alone();
        else QToolButton::nextCheckState();
    }

    void paintEvent(QPaintEvent*) override {
        const Theme& theme = currentTheme();
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        if (hasFocus() || underMouse()) {
            painter.setPen(theme.accent);
            painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
        }
        const QRect inside = rect().adjusted(kPadding, 0, -kPadding, 0);
        QColor color = isChecked() ? seriesColor(m_series.color, theme) : theme.border;
        if (m_series.faint) color.setAlphaF(kFaint);
        paintSample(painter, QRect(inside.left(), 0, kSampleWidth, height()), m_series.marker, color, m_series.dashed);
        QFont name = font();
        name.setStrikeOut(!isChecked());
        painter.setFont(name);
        painter.setPen(isChecked() ? theme.text : theme.muted);
        const QString value = m_showsValue ? m_value : QString();
        const int taken = value.isEmpty() ? 0 : fontMetrics().horizontalAdvance(value) + space::kSmall;
        const QRect words = inside.adjusted(kSampleWidth + space::kSmall, 0, -taken, 0);
        painter.drawText(words, Qt::AlignVCenter | Qt::AlignLeft,
                         fontMetrics().elidedText(m_series.name, Qt::ElideMiddle, words.width()));
        painter.setFont(font());
        painter.drawText(inside, Qt::AlignVCenter | Qt::AlignRight, value);
    }

private:
    int nameWidth() const { return std::min(fontMetrics().horizontalAdvance(m_series.name), kLongestName); }
    QSize sized(int name) const {
        const int value = m_showsValue ? valueWidth() : 0;
        return {2 * kPadding + kSampleWidth + space::kSmall + name + value + 2, fontMetrics().height() + 6};
    }

    const PlotSeries m_series;
    QString m_value;
    bool m_showsValue = true;
};

PlotLegend::PlotLegend(QString plot, QWidget* parent)
    : QScrollArea(parent), m_plot(std::move(plot)), m_body(new QWidget) {
    m_layout = new QBoxLayout(QBoxLayout::LeftToRight, m_body);
    m_layout->setContentsMargins(0, 0, 0, 0);
    m_layout->setSpacing(0);
    setWidget(m_body);
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::NoFocus);  // its buttons take the focus, and it follows them
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    viewport()->setAutoFillBackground(false);
    m_body->setAutoFillBackground(false);
}

void PlotLegend::setSeries(const std::vector<PlotSeries>& series) {
    for (LegendEntry* entry : m_entries) delete entry;
    m_entries.clear();
    while (QLayoutItem* item = m_layout->takeAt(0)) delete item;
    m_column = series.size() > kInRow;
    m_layout->setDirection(m_column ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
    for (std::size_t i = 0; i < series.size(); ++i) m_layout->addWidget(m_entries.emplace_back(addEntry(i, series[i])));
    if (m_column) m_layout->addStretch();
    const int height = m_entries.empty() ? 0 : m_entries.front()->sizeHint().height();
    setVerticalScrollBarPolicy(m_column ? Qt::ScrollBarAsNeeded : Qt::ScrollBarAlwaysOff);
    setMinimumSize(0, m_column ? 0 : height);
    setMaximumSize(QWIDGETSIZE_MAX, m_column ? QWIDGETSIZE_MAX : height);
    setSizePolicy(m_column ? QSizePolicy::Fixed : QSizePolicy::Preferred,
                  m_column ? QSizePolicy::Ignored : QSizePolicy::Fixed);
    setVisible(!series.empty());
    fitColumn();
    updateGeometry();
    fitValues();
}

void PlotLegend::setRoom(int width) {
    m_room = width;
    fitColumn();
}

// As wide as its longest line, and no more than a part of the plot.
void PlotLegend::fitColumn() {
    if (!m_column) return;
    int widest = 0;
    for (const LegendEntry* entry : m_entries) widest = std::max(widest, entry->wholeWidth());
    setFixedWidth(std::clamp(widest + kScrollBar, kColumnWidth, std::max(kColumnWidth, m_room / kColumnPart)));
}

// In a row that is too narrow the last values go first: names tell the curves apart.
void PlotLegend::fitValues() {
    int width = rowWidth();
    for (auto entry = m_entries.rbegin(); entry != m_entries.rend(); ++entry) {
        const bool fits = m_column || width <= viewport()->width();
        (*entry)->setValueShown(fits);
        if (!fits) width -= (*entry)->valueWidth();
    }
}

int PlotLegend::rowWidth() const {
    int width = 0;
    for (const LegendEntry* entry : m_entries) width += entry->fullWidth();
    return width;
}

void PlotLegend::resizeEvent(QResizeEvent* event) {
    QScrollArea::resizeEvent(event);
    fitValues();
}

LegendEntry* PlotLegend::addEntry(std::size_t index, const PlotSeries& series) {
    auto* entry = new LegendEntry(series, m_body);
    entry->setAccessibleName(tr("Show %1 in %2").arg(series.name, m_plot));
    const bool hasMeaning = series.band && !series.band->meaning.isEmpty();
    const QString said = hasMeaning ? tr("%1\n±: %2, at its end").arg(series.name, series.band->meaning) : series.name;
    entry->setToolTip(tr("%1\nClick: show or hide. Ctrl+click: this one alone, and again all.").arg(said));
    entry->alone = [this, index] { emit aloneRequested(index); };
    entry->pointed = [this, index](bool isIn) { emit pointed(isIn ? std::optional(index) : std::nullopt); };
    entry->focused = [this, entry] { ensureWidgetVisible(entry, 0, 0); };
    connect(entry, &QToolButton::toggled, this, [this, index](bool shown) { emit toggled(index, shown); });
    return entry;
}

void PlotLegend::setState(std::size_t index, bool shown, const QString& value) {
    const QSignalBlocker quiet(m_entries[index]);
    m_entries[index]->setChecked(shown);
    const int before = m_entries[index]->fullWidth();
    m_entries[index]->setValue(value);
    if (m_entries[index]->fullWidth() != before) {
        fitColumn();
        updateGeometry();
        fitValues();
    }
    m_entries[index]->update();
}

void PlotLegend::followInTabOrder(QWidget* before) {
    for (LegendEntry* entry : m_entries) {
        setTabOrder(before, entry);
        before = entry;
    }
}

QSize PlotLegend::sizeHint() const {
    return m_column ? QSize(width(), 0) : QSize(rowWidth(), m_body->sizeHint().height());
}

bool PlotLegend::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::LayoutRequest) updateGeometry();  // of the body: values have grown
    return QScrollArea::eventFilter(watched, event);
}

void PlotLegend::contextMenuEvent(QContextMenuEvent* event) {
    QMenu menu(this);
    for (std::size_t i = 0; i < m_entries.size(); ++i) {
        const bool meant = event->reason() == QContextMenuEvent::Keyboard
                               ? m_entries[i]->hasFocus()
                               : m_entries[i]->rect().contains(m_entries[i]->mapFromGlobal(event->globalPos()));
        if (meant) menu.addAction(tr("Show this curve alone"), this, [this, i] { emit aloneRequested(i); });
    }
    menu.addAction(tr("Show all curves"), this, &PlotLegend::allRequested);
    menu.exec(event->globalPos());
}

}  // namespace lockstep::ui
