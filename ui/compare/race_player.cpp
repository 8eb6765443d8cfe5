#include "ui/compare/race_player.h"

#include <algorithm>
#include <cmath>

#include "ui/style/update_pace.h"

namespace lockstep::ui {

namespace {

constexpr double kLongestFrame = 0.1, kSettling = 0.12;  // seconds
constexpr double kSettled = 0.002;

std::vector<std::int64_t> runnersOf(const Race& race) {
    std::vector<std::int64_t> trials;
    for (const Runner& each : race.runners()) trials.push_back(each.trial);
    return trials;
}

bool approach(double& now, double to, double part) {
    now += part * (to - now);
    if (std::abs(to - now) < kSettled) now = to;
    return now == to;
}

}  // namespace

RacePlayer::RacePlayer(QObject* parent) : QObject(parent) {
    m_timer.setInterval(UpdatePace::kShortest);
    connect(&m_timer, &QTimer::timeout, this, &RacePlayer::tick);
}

void RacePlayer::setRace(Race race) {
    const bool wasOver = isOver(), isOfOthers = runnersOf(race) != runnersOf(m_race);
    const double part = m_race.end() > 0 ? m_at / m_race.end() : 1;
    const bool isSameClock = race.rules().clock == m_race.rules().clock;
    m_race = std::move(race);
    if (wasOver) m_at = m_race.end();
    else m_at = std::min(isSameClock ? m_at : part * m_race.end(), m_race.end());
    if (isOver()) m_isPlaying = false;
    stand(isOfOthers);
    emit changed();
}

void RacePlayer::setPlaying(bool isPlaying) {
    if (isPlaying == m_isPlaying || (isPlaying && m_race.end() <= 0)) return;
    m_isPlaying = isPlaying;
    if (m_isPlaying && isOver()) m_at = 0;
    stand(false);
    emit changed();
}

void RacePlayer::seek(double at) {
    m_at = std::clamp(at, 0.0, m_race.end());
    const bool stops = m_isPlaying && isOver();
    if (stops) m_isPlaying = false;
    stand(false);
    if (stops) emit changed();
}

void RacePlayer::step(int hundredths) { seek(m_at + m_race.end() * hundredths / 100); }

void RacePlayer::setWatched(const QObject* by, bool isWatched) {
    if (isWatched) m_watchers.insert(by);
    else m_watchers.erase(by);
    if (m_watchers.empty()) m_timer.stop();
    else run();
}

void RacePlayer::run() {
    if (m_watchers.empty() || m_timer.isActive()) return;
    m_since.start();
    m_timer.start();
}

// A frame that comes late, for the window was covered or the machine busy, does not leap.
void RacePlayer::tick() {
    const double passed = std::min(kLongestFrame, static_cast<double>(m_since.restart()) / 1000);
    const bool wasPlaying = m_isPlaying;
    if (m_isPlaying) {
        m_at = std::min(m_race.end(), m_at + passed * m_speed * m_race.end() / kSeconds);
        m_isPlaying = !isOver();
        m_standing = m_race.at(m_at);
    }
    if (settle(1 - std::exp(-passed / kSettling)) && !m_isPlaying) m_timer.stop();
    emit moved();
    if (wasPlaying != m_isPlaying) emit changed();
}

void RacePlayer::stand(bool jumps) {
    m_standing = m_race.at(m_at);
    if (jumps) m_drawn = settled();
    if (!settle(0) || m_isPlaying) run();
    emit moved();
}

std::vector<RacePlayer::Drawn> RacePlayer::settled() const {
    std::vector<Drawn> drawn(m_standing.size());
    for (std::size_t place = 0; place < m_standing.size(); ++place) {
        const RunnerState& state = m_standing[place];
        drawn[state.runner] = {static_cast<double>(place), m_race.progressOf(state.value), state.progress};
    }
    return drawn;
}

// Goes such a part of the way; true: it is at its end.
bool RacePlayer::settle(double part) {
    const auto to = settled();
    if (m_isMotionReduced || m_watchers.empty()) m_drawn = to;
    bool isThere = true;
    for (std::size_t i = 0; i < to.size(); ++i) {
        isThere &= approach(m_drawn[i].lane, to[i].lane, part);
        isThere &= approach(m_drawn[i].value, to[i].value, part);
        isThere &= approach(m_drawn[i].best, to[i].best, part);
    }
    return isThere;
}

}  // namespace lockstep::ui
