#pragma once
#include <QColor>
#include <QFont>
#include <QPainter>
#include <QRectF>
#include <QString>
#include <functional>
#include <optional>
#include <vector>

#include "ui/compare/race_player.h"

namespace lockstep::ui {

// What is shown of a race beside its numbers.
struct RaceLook {
    struct Lane {
        QString name = {}, words = {};  // "#12 wide net", "learning_rate=0.01"
        QColor color = {};
        std::optional<int> place = std::nullopt;  // of a pinned trial
    };
    std::vector<Lane> lanes = {};  // by runner
    QString objective = {};
    std::function<QString(double)> text = nullptr;  // of a value of the objective
};

// A race at the moment at which it stands: a lane per runner with its name, a bar that grows along the objective to the
// finish line, the value, and when it reached the target. Solid as far as the last evaluation, faint as far as the
// best. In the theme as it is now; race, states and look outlive it.
class RacePicture {
public:
    // `drawn`: by runner. `font` is that of the lanes, and smaller where these would not fit.
    RacePicture(const RacePlayer& player, const std::vector<RacePlayer::Drawn>& drawn, const RaceLook& look,
                const QRectF& area, const QFont& font);

    void paint(QPainter& painter, std::optional<std::size_t> lit) const;  // lit: a runner
    std::optional<std::size_t> runnerAt(QPointF at) const;

private:
    void findColumns();
    double widest(const std::function<QString(std::size_t)>& text) const;
    QRectF laneOf(std::size_t runner) const;
    double x(double progress) const { return m_track.left() + progress * m_track.width(); }
    QString valueText(double value) const;
    QString finishText(const RunnerState& state) const;
    void paintHead(QPainter& painter) const;
    void paintTicks(QPainter& painter) const;
    void paintFinish(QPainter& painter) const;
    void paintLane(QPainter& painter, std::size_t place, bool isLit) const;
    void paintName(QPainter& painter, const QRectF& lane, std::size_t place) const;
    void paintMark(QPainter& painter, QPointF at, const RaceLook::Lane& lane) const;
    void paintFlag(QPainter& painter, const QRectF& box, const QString& words) const;
    void paintBar(QPainter& painter, const QRectF& lane, std::size_t runner) const;
    void write(QPainter& painter, const QRectF& box, int how, const QColor& color, const QString& text) const;

    const RacePlayer& m_player;
    const Race& m_race;
    const std::vector<RacePlayer::Drawn>& m_drawn;
    const RaceLook& m_look;
    QRectF m_area;
    QFont m_font, m_bold;
    double m_head = 0, m_ticks = 0, m_lane = 0;          // heights
    QRectF m_place, m_name, m_track, m_value, m_finish;  // columns, of all lanes
};

}  // namespace lockstep::ui
