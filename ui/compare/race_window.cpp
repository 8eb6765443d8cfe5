#include "ui/compare/race_window.h"

#include <QKeyEvent>
#include <QPainter>
#include <QScreen>
#include <algorithm>

#include "ui/compare/race_controls.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr double kLinesBesideLanes = 4;  // of the picture: head and ticks
constexpr double kTypeShare = 0.42;      // of a lane
constexpr double kColumns = 52;          // of a line, in sizes of its type
constexpr int kMargin = 32, kSmallestType = 16, kLargestType = 40;

}  // namespace

RaceWindow::RaceWindow(RacePlayer* player, std::function<const RaceLook&()> look, QWidget* parent)
    : QWidget(parent, Qt::Window),
      m_player(*player),
      m_look(std::move(look)),
      m_controls(new RaceControls(player, true, this)) {
    setObjectName("raceWindow");
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Race"));
    setAccessibleName(tr("Race, large"));
    setFocusPolicy(Qt::StrongFocus);
    connect(player, &RacePlayer::moved, this, qOverload<>(&QWidget::update));
    connect(player, &RacePlayer::changed, this, qOverload<>(&QWidget::update));
    connect(m_controls, &RaceControls::largeWanted, this, &QWidget::close);
    setGeometry(parent->screen()->geometry());  // where no window manager does it
    m_player.setWatched(this, true);
}

RaceWindow::~RaceWindow() { m_player.setWatched(this, false); }

void RaceWindow::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    const int high = m_controls->sizeHint().height();
    m_controls->setGeometry(kMargin, height() - kMargin / 2 - high, width() - 2 * kMargin, high);
}

void RaceWindow::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), currentTheme().surface);
    const RaceLook& look = m_look();
    const double high = m_controls->y() - kMargin;
    const auto lanes = static_cast<double>(std::max<std::size_t>(1, look.lanes.size()));
    QFont type = font();
    const int size =
        static_cast<int>(std::min(kTypeShare * high / (lanes + kLinesBesideLanes * kTypeShare), width() / kColumns));
    type.setPixelSize(std::clamp(size, kSmallestType, kLargestType));
    painter.setFont(type);
    painter.setPen(currentTheme().muted);
    const double line = QFontMetricsF(type).height();
    const QRectF area = QRectF(kMargin, kMargin / 2.0, width() - 2 * kMargin, high);
    painter.drawText(QRectF(area.left(), area.top(), area.width(), line), Qt::AlignLeft, look.objective);
    RacePicture(m_player, m_player.drawn(), look, area.adjusted(0, 1.2 * line, 0, 0), type)
        .paint(painter, std::nullopt);
}

void RaceWindow::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape || event->key() == Qt::Key_F11) close();
    else if (!RaceControls::handleKey(m_player, event->key())) QWidget::keyPressEvent(event);
}

}  // namespace lockstep::ui
