#pragma once
#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <set>
#include <vector>

#include "ui/compare/race.h"

namespace lockstep::ui {

// The clock of a race: plays it in ten seconds, faster or slower, stands where it is put, and moves what is drawn
// calmly to where runners stand. At most 30 times a second, and only while somebody watches. Begins at the end: the
// result. GUI thread.
class RacePlayer : public QObject {
    Q_OBJECT
public:
    static constexpr double kSeconds = 10;  // of a race at speed 1

    explicit RacePlayer(QObject* parent = nullptr);

    // Of the same runners by the same clock, the clock stands where it stood; by another, it has gone as large a part.
    void setRace(Race race);
    const Race& race() const { return m_race; }

    double at() const { return m_at; }
    bool isOver() const { return m_at >= m_race.end(); }
    bool isPlaying() const { return m_isPlaying; }
    double speed() const { return m_speed; }
    void setSpeed(double speed) { m_speed = speed; }
    void setPlaying(bool isPlaying);  // a race that is over begins anew
    void seek(double at);
    void step(int hundredths);  // of the whole race, back or forth
    void setWatched(const QObject* by, bool isWatched);
    void setMotionReduced(bool isReduced) { m_isMotionReduced = isReduced; }

    const std::vector<RunnerState>& standing() const { return m_standing; }  // the leader first

    // Where a runner is drawn: its lane, 0 the first, and how far its value and its best are, as progressOf().
    struct Drawn {
        double lane = 0, value = 0, best = 0;
    };
    const std::vector<Drawn>& drawn() const { return m_drawn; }  // by runner
    std::vector<Drawn> settled() const;                          // where that will be

signals:
    void moved();    // at(), standing() or drawn()
    void changed();  // isPlaying(), or another race

private:
    void tick();
    void stand(bool jumps);
    bool settle(double part);
    void run();

    Race m_race;
    std::vector<RunnerState> m_standing;
    std::vector<Drawn> m_drawn;
    QTimer m_timer;
    QElapsedTimer m_since;  // the last frame
    double m_at = 0, m_speed = 1;
    std::set<const QObject*> m_watchers;
    bool m_isPlaying = false, m_isMotionReduced = false;
};

}  // namespace lockstep::ui
