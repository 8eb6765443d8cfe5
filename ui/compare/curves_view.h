#pragma once
#include <QElapsedTimer>
#include <QTimer>
#include <array>
#include <memory>
#include <vector>

#include "ui/compare/compare_view.h"
#include "ui/compare/curve_groups.h"
#include "ui/history/trial_progress.h"

class QSplitter;

namespace lockstep::ui {

class CurvePanel;
class CurvesControls;
class HistoryService;
class TargetList;
struct RankedTarget;

// How the trials went: a curve for each setting, its seeds as a mean with a band around it. The ten best and those that
// are pinned have colours, all others that pass are grey behind them. With a target, who reached it and when. A second
// quantity has a plot below, whose crosshair follows.
class CurvesView : public CompareView {
    Q_OBJECT
public:
    // The service outlives the view.
    CurvesView(HistoryService* history, TrialSelection* selection, QWidget* parent = nullptr);
    ~CurvesView() override;

    QString title() const override { return tr("Curves"); }
    QString fileName() const override { return "curves"; }
    QString emptyText() const override;
    QString summary() const override;
    // metric,trials,step,epoch,samples,seconds,device_seconds,value,low,high: a line for each point of each curve.
    QByteArray csv() const override;
    void save(QSettings& settings) const override;
    void restore(const QSettings& settings) override;
    void paintPicture(QPainter& painter, const QRectF& area) const override;
    QSize sizeHint() const override { return {900, 380}; }

protected:
    void sceneChanged() override;
    void lightChanged() override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void build();
    void connectPanel(CurvePanel& panel, CurvePanel& other);
    void takeScene();
    void readTargets();
    void showTargets();
    void fitParts();
    void pointAt(std::optional<qint64> trial);
    void pick(qint64 trial);
    const CurveGroup* groupOf(std::optional<std::int64_t> trial) const;  // null: it is not shown
    std::string objectiveKey() const;                                    // empty: there is none
    QString targetWords() const;

    HistoryService& m_history;
    CurvesControls* m_controls;
    std::array<CurvePanel*, 2> m_panels{};  // the second: below
    TargetList* m_targets;
    SharedScene m_taken;                                      // that is shown; null: none yet
    std::shared_ptr<const std::vector<CurveGroup>> m_groups;  // of it
    std::vector<RankedTarget> m_ranking;
    std::vector<std::int64_t> m_pinned;  // as they were drawn
    QTimer m_soon, m_rest;
    QElapsedTimer m_sinceTaken;
    qint64 m_milliseconds = 0;  // that drawing the latest took
};

}  // namespace lockstep::ui
