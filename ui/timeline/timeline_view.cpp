#include "ui/timeline/timeline_view.h"

#include <QFontMetrics>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QSplitter>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/timeline/timeline_canvas.h"
#include "ui/timeline/timeline_painter.h"
#include "ui/timeline/timeline_text.h"

namespace lockstep::ui {

namespace {

constexpr int kTextMs = 300, kTextLines = 6;
constexpr std::int64_t kLiveNs = 3'000'000'000;  // a run whose newest span is no older goes on

bool isLive(const TimelineModel& model) {
    const std::int64_t age = traceNow() - model.range().end;
    return age >= 0 && age < kLiveNs;
}

}  // namespace

TimelineView::TimelineView(QWidget* parent) : QWidget(parent) {
    setAccessibleName(tr("Timeline of the run"));
    m_frameTimer.setSingleShot(true);
    m_textTimer.setSingleShot(true);
    connect(&m_frameTimer, &QTimer::timeout, this, &TimelineView::refresh);
    connect(&m_textTimer, &QTimer::timeout, this, &TimelineView::describe);
    connect(&m_feed, &TimelineFeed::arrived, this, &TimelineView::take);
    m_feed.setPaused(true);

    m_empty = new QLabel;
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_empty->setProperty("role", "muted");
    m_pages = new QStackedWidget;
    m_pages->addWidget(m_empty);
    m_pages->addWidget(makeContent());
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_pages);
    showPage();
}

TimelineView::~TimelineView() {
    m_feed.stop();
    delete m_canvas;  // draws m_state
}

QWidget* TimelineView::makeContent() {
    auto* splitter = new QSplitter(Qt::Vertical);
    m_picture = new QStackedWidget;
    splitter->addWidget(m_picture);
    m_text = new QPlainTextEdit;
    m_text->setReadOnly(true);
    m_text->setTabChangesFocus(true);
    m_text->setAccessibleName(tr("What the timeline shows, in words"));
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    splitter->addWidget(m_text);
    const int textHeight = kTextLines * QFontMetrics(m_text->font()).lineSpacing() + 2 * space::kMedium;
    splitter->setSizes({1000, textHeight});
    splitter->setStretchFactor(0, 1);
    splitter->setStretchFactor(1, 0);

    auto* content = new QWidget;
    auto* layout = new QVBoxLayout(content);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space::kSmall);
    layout->addWidget(makeBar());
    layout->addWidget(splitter, 1);
    return content;
}

// Only once somebody looks: a window with an OpenGL widget in it is composed by OpenGL as a whole, which costs a
// machine without a graphics card far more than painting does.
void TimelineView::makePicture() {
    if (m_picture->count() > 0) return;
    const QString obstacle = ImguiSurface::obstacle();
    if (obstacle.isEmpty()) {
        m_canvas = new TimelineCanvas(m_state);
        connect(m_canvas, &TimelineCanvas::navigated, this, &TimelineView::refresh);
        m_picture->addWidget(m_canvas);
        return;
    }
    auto* why = new QLabel(obstacle);
    why->setAlignment(Qt::AlignCenter);
    why->setWordWrap(true);
    why->setProperty("role", "problem");
    m_picture->addWidget(why);
}

QToolButton* TimelineView::makeButton(const QString& text, const QString& name, const QString& tip, int key) {
    auto* button = new QToolButton;
    button->setText(text);
    button->setAccessibleName(name);
    button->setToolTip(tip);
    button->setFocusPolicy(Qt::StrongFocus);
    connect(button, &QToolButton::clicked, this, [this, key] { press(key); });
    return button;
}

QWidget* TimelineView::makeBar() {
    auto* bar = new QWidget;
    auto* layout = new QHBoxLayout(bar);
    layout->setContentsMargins(space::kMedium, space::kSmall, space::kMedium, 0);
    layout->setSpacing(space::kSmall);
    layout->addWidget(
        makeButton(tr("Fit"), tr("Show the whole timeline"), tr("Show all that was recorded (F)"), Qt::Key_F));
    layout->addWidget(makeButton("−", tr("Zoom out"), tr("Show more time (− or the wheel)"), Qt::Key_Minus));
    layout->addWidget(makeButton("+", tr("Zoom in"), tr("Show less time (+ or the wheel)"), Qt::Key_Plus));
    m_followButton = makeButton(tr("Follow"), tr("Follow the run"), tr("Keep the newest steps in view (L)"), Qt::Key_L);
    m_followButton->setCheckable(true);
    layout->addWidget(m_followButton);
    m_legend = new QLabel;
    m_legend->setTextFormat(Qt::RichText);
    m_legend->setAccessibleName(tr("Colours of the timeline"));
    m_legend->setToolTip(
        tr("A rank is one copy of the model on one device. All-reduce sums the gradients of all ranks; "
           "the ranks wait where computing cannot hide it. A wait's lower edge has the colour of what it waits for."));
    layout->addSpacing(space::kMedium);
    layout->addWidget(m_legend, 1);
    auto* hint = new QLabel(tr("Shift and drag: measure a range · double click: one step"));
    hint->setProperty("role", "muted");
    hint->setMinimumWidth(0);
    hint->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    hint->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    layout->addWidget(hint, 1);
    showLegend();
    return bar;
}

void TimelineView::showLegend() {
    const Theme& theme = currentTheme();
    QStringList entries;
    const auto add = [&](SpanKind kind, const QString& name) {
        entries << QString("<span style='color:%1'>■</span>&nbsp;%2").arg(spanColor(kind, theme).name(), name);
    };
    add(SpanKind::Load, tr("load"));
    add(SpanKind::Compute, tr("compute"));
    add(SpanKind::Reduce, tr("all-reduce"));
    add(SpanKind::Update, tr("update"));
    add(SpanKind::WaitReduce, tr("wait"));
    m_legend->setText(entries.join("&nbsp;&nbsp; "));
}

void TimelineView::follow(const Places& places, std::int64_t trial, std::int64_t attempt) {
    clear();
    m_following = true;
    showPage();
    m_feed.follow(places.trace(trial), attempt);
}

void TimelineView::setModel(TimelineModel model) {
    clear();
    m_state.model = std::move(model);
    dataCame();
}

void TimelineView::clear() {
    m_feed.stop();
    m_following = false;
    const double width = m_state.viewport.width(), height = m_state.height;
    m_state = {};
    m_state.resize(width + TimelineScene::kGutter, height);
    showPage();
    refresh();
}

void TimelineView::take(const TraceChunk& chunk) {
    m_state.model.append(*chunk.names, *chunk.lanes, chunk.spans);
    dataCame();
}

void TimelineView::dataCame() {
    m_state.dataChanged(isLive(m_state.model));
    if (!m_frameTimer.isActive()) m_frameTimer.start(m_pace.next());
}

void TimelineView::press(int key) {
    m_state.press(key);
    refresh();
}

void TimelineView::refresh() {
    showPage();
    m_followButton->setChecked(m_state.viewport.following());
    if (m_canvas) m_canvas->update();
    if (!m_textTimer.isActive()) m_textTimer.start(kTextMs);
}

void TimelineView::describe() {
    if (!isVisible()) return;
    QStringList lines = rangeText(m_state.model, m_state.described());
    lines.front().prepend(m_state.selection ? tr("Selected: ") : tr("In view: "));
    const QString text = lines.join('\n');
    if (text == m_text->toPlainText()) return;  // keeps the reader's place
    const int scrolled = m_text->verticalScrollBar()->value();
    m_text->setPlainText(text);
    m_text->verticalScrollBar()->setValue(scrolled);
    if (m_canvas) m_canvas->setAccessibleDescription(text);
}

void TimelineView::showPage() {
    m_empty->setText(m_following ? tr("No step of this run has been recorded yet.")
                                 : tr("Start a run, or open one that has a timeline"));
    m_pages->setCurrentIndex(m_state.model.empty() ? 0 : 1);
}

void TimelineView::showEvent(QShowEvent* event) {
    makePicture();
    m_feed.setPaused(false);
    refresh();
    QWidget::showEvent(event);
}

void TimelineView::hideEvent(QHideEvent* event) {
    m_feed.setPaused(true);
    QWidget::hideEvent(event);
}

void TimelineView::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange && m_legend) showLegend();
    QWidget::changeEvent(event);
}

TimelineDock::TimelineDock(QWidget* parent) : QDockWidget(tr("Timeline"), parent), m_view(new TimelineView) {
    setObjectName("timeline");  // the window's saved state knows it by that
    setWidget(m_view);
}

}  // namespace lockstep::ui
