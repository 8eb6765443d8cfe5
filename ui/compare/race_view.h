#pragma once
#include <QPointer>

#include "ui/compare/compare_view.h"
#include "ui/compare/race_picture.h"
#include "ui/history/trial_progress.h"
#include "ui/style/motion_preference.h"

namespace lockstep::ui {

class RaceControls;
class RaceWindow;

// The selected trials run again on one clock: the pinned ones where there are two or more, else the ten best that pass.
// With a target there is a finish line, and the order is by when it was reached. Their evaluations are read on the
// history's thread.
class RaceView : public CompareView {
    Q_OBJECT
public:
    // The service outlives the view.
    RaceView(HistoryService* history, TrialSelection* selection, QWidget* parent = nullptr);
    ~RaceView() override;

    RacePlayer& player() { return m_player; }
    void setClock(PlotAxis clock);
    void showLarge();

    QString title() const override { return tr("Race"); }
    QString fileName() const override { return "race"; }
    QString emptyText() const override;
    QString summary() const override;
    QByteArray csv() const override;
    void paintPicture(QPainter& painter, const QRectF& area) const override;
    void save(QSettings& settings) const override;  // the clock
    void restore(const QSettings& settings) override;
    QSize sizeHint() const override { return {640, 360}; }

protected:
    void sceneChanged() override;
    void lightChanged() override;
    bool event(QEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;

private:
    // What is asked of the history. The same trials of another table may have come farther.
    struct Asked {
        std::shared_ptr<const CompareTable> table = nullptr;
        std::vector<std::int64_t> trials = {};
        std::string metric = {};
        bool operator==(const Asked&) const = default;
    };

    Asked wanted() const;
    bool ask();
    bool isCurrent() const;  // what was read is what is wanted
    void take(const Asked& asked, const ProgressOfTrials& progress);
    void makeRace();
    RaceLook lookOf(const Race& race) const;
    RunnerFate fateOf(std::size_t row) const;
    QRectF canvas() const;
    RacePicture picture(const std::vector<RacePlayer::Drawn>& drawn, const QRectF& area) const;
    std::optional<std::size_t> rowAt(QPointF at) const;
    std::optional<std::size_t> litRunner() const;
    QString tip(std::size_t row) const;

    HistoryService& m_history;
    RacePlayer m_player;
    MotionPreference m_motion;
    PlotAxis m_clock = PlotAxis::Epoch;
    Asked m_asked, m_read;
    ProgressOfTrials m_progress;  // of m_read
    bool m_isRead = false;
    RaceLook m_look;
    RaceControls* m_controls;
    QPointer<RaceWindow> m_window;
};

}  // namespace lockstep::ui
