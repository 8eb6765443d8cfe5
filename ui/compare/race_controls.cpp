#include "ui/compare/race_controls.h"

#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QPainterPath>
#include <QSignalBlocker>
#include <QSlider>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "ui/compare/race_text.h"
#include "ui/style/line_icon.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr double kSpeeds[] = {0.5, 1, 2, 4, 8, 16, 32};
constexpr int kSliderSteps = 1000;

QIcon cornersIcon(bool isInward) {
    QPainterPath lines;
    for (const double x : {-1.0, 1.0})
        for (const double y : {-1.0, 1.0}) {
            const double corner = isInward ? 4 : 8, arm = isInward ? 8 : 4;
            lines.moveTo(12 + x * corner, 12 + y * arm);
            lines.lineTo(12 + x * corner, 12 + y * corner);
            lines.lineTo(12 + x * arm, 12 + y * corner);
        }
    return lineIcon(lines);
}

}  // namespace

RaceControls::RaceControls(RacePlayer* player, bool isLarge, QWidget* parent)
    : QWidget(parent),
      m_player(*player),
      m_play(new QToolButton),
      m_large(new QToolButton),
      m_slider(new QSlider(Qt::Horizontal)),
      m_speed(new QComboBox),
      m_clock(new QComboBox),
      m_isLarge(isLarge) {
    if (isLarge) enlarge();
    m_play->setObjectName("racePlay");
    m_play->setText(tr("Pause"));  // the longer word: its place stays
    m_play->setFixedWidth(m_play->sizeHint().width() + space::kMedium);
    m_large->setObjectName("raceLarge");
    m_large->setIcon(cornersIcon(m_isLarge));
    m_large->setAutoRaise(true);
    m_large->setToolTip(isLarge ? tr("Leave the large view (Esc)") : tr("Large, for a projector (F11)"));
    m_large->setAccessibleName(m_large->toolTip());
    m_slider->setObjectName("raceSlider");
    m_slider->setRange(0, kSliderSteps);
    m_slider->setSingleStep(kSliderSteps / 100);
    m_slider->setPageStep(kSliderSteps / 10);
    m_slider->setMinimumWidth(60);
    m_slider->setAccessibleName(tr("Moment of the race"));
    fillSpeeds();
    fillClocks();
    auto* line = new QHBoxLayout(this);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(isLarge ? space::kLarge : space::kSmall);
    line->addWidget(m_play);
    line->addWidget(m_slider, 1);
    line->addWidget(m_speed);
    line->addWidget(m_clock);
    line->addWidget(m_large);
    connect(m_play, &QToolButton::clicked, this, [this] { m_player.setPlaying(!m_player.isPlaying()); });
    connect(m_slider, &QSlider::valueChanged, this,
            [this](int value) { m_player.seek(m_player.race().end() * value / kSliderSteps); });
    connect(m_large, &QToolButton::clicked, this, &RaceControls::largeWanted);
    connect(player, &RacePlayer::moved, this, &RaceControls::showState);
    connect(player, &RacePlayer::changed, this, &RaceControls::showState);
    showState();
}

// To be seen by those who stand before the screen.
void RaceControls::enlarge() {
    constexpr double kLarger = 1.6;
    constexpr int kIcon = 32;
    QFont type = font();
    type.setPointSizeF(kLarger * type.pointSizeF());
    for (QWidget* each :
         {static_cast<QWidget*>(m_play), static_cast<QWidget*>(m_speed), static_cast<QWidget*>(m_clock)})
        each->setFont(type);
    m_large->setIconSize({kIcon, kIcon});
}

void RaceControls::fillSpeeds() {
    m_speed->setObjectName("raceSpeed");
    m_speed->setAccessibleName(tr("Speed of the race"));
    m_speed->setToolTip(tr("At ×1 a race takes %1 seconds").arg(RacePlayer::kSeconds));
    for (const double speed : kSpeeds) m_speed->addItem(QStringLiteral("×%1").arg(speed), speed);
    connect(m_speed, &QComboBox::activated, this,
            [this](int index) { m_player.setSpeed(m_speed->itemData(index).toDouble()); });
}

void RaceControls::fillClocks() {
    m_clock->setObjectName("raceClock");
    m_clock->setAccessibleName(tr("Clock of the race"));
    m_clock->setToolTip(tr("By what the trials are timed"));
    for (const PlotAxis clock : kRaceClocks) m_clock->addItem(raceClockName(clock), static_cast<int>(clock));
    connect(m_clock, &QComboBox::activated, this,
            [this](int index) { emit clockChosen(kRaceClocks[static_cast<std::size_t>(index)]); });
}

void RaceControls::setClock(PlotAxis clock) { m_clock->setCurrentIndex(m_clock->findData(static_cast<int>(clock))); }

void RaceControls::showState() {
    const QSignalBlocker blocker(m_slider);
    const double end = m_player.race().end();
    m_play->setText(m_player.isPlaying() ? tr("Pause") : tr("Play"));
    m_play->setEnabled(end > 0);
    m_slider->setEnabled(end > 0);
    m_slider->setValue(end > 0 ? static_cast<int>(std::lround(kSliderSteps * m_player.at() / end)) : kSliderSteps);
    m_speed->setCurrentIndex(m_speed->findData(m_player.speed()));
}

void RaceControls::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) m_large->setIcon(cornersIcon(m_isLarge));
}

bool RaceControls::handleKey(RacePlayer& player, int key) {
    switch (key) {
        case Qt::Key_Space: player.setPlaying(!player.isPlaying()); return true;
        case Qt::Key_Left: player.step(-1); return true;
        case Qt::Key_Right: player.step(1); return true;
        case Qt::Key_Home: player.seek(0); return true;
        case Qt::Key_End: player.seek(player.race().end()); return true;
        default: return false;
    }
}

}  // namespace lockstep::ui
