#pragma once
#include <QVariantMap>
#include <QWidget>
#include <optional>
#include <vector>

#include "ui/history/history_service.h"
#include "ui/history/spec_diff.h"
#include "ui/history/trial_selection.h"
#include "ui/style/explanation.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QPlainTextEdit;
class QTableView;

namespace lockstep::ui {

class PlotControls;
class PlotView;

// What is known of the selected trials: their curves over one another, how their specs differ, the note of a single
// one.
class ComparePane : public QWidget {
    Q_OBJECT

public:
    ComparePane(const TrialSelection* selection, Explain explain, QWidget* parent = nullptr);

    // The selection changed, or what its rows say: keeps what is being typed unless the trial is another one.
    void setTrials(const std::vector<TrialRow>& rows);
    void setCurves(const TrialCurves& curves);
    void setHovered(std::optional<std::int64_t> trial);  // its curve stands out
    void editNote();                                     // takes the focus to it
    void saveNote();                                     // what is being typed counts

    std::string metric() const;  // ComparedMetric::key
    void setMetric(const std::string& metric);
    bool bySeeds() const;
    void setBySeeds(bool bySeeds);
    QVariantMap controls() const;  // of PlotControls
    void setControls(const QVariantMap& state);

signals:
    void curvesAsked();  // other ones than are shown
    void noteEdited(qint64 trial, const QString& note);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* buildPlotSide();
    QWidget* buildFactSide();
    void draw();
    QString emptyText() const;
    void describe();
    void lightHovered();
    void showSpecs();

    const TrialSelection& m_selection;
    Explain m_explain;
    std::vector<TrialRow> m_rows;
    TrialCurves m_curves;
    std::optional<std::int64_t> m_hovered;
    CurveRequest m_drawn;
    std::optional<std::int64_t> m_noted;  // the trial whose note is shown
    QComboBox* m_metric = nullptr;
    QCheckBox* m_bySeeds = nullptr;
    PlotView* m_plot = nullptr;
    PlotControls* m_controls = nullptr;
    QLabel* m_hint = nullptr;
    QLabel* m_factTitle = nullptr;
    QTableView* m_diff = nullptr;
    SpecDiffModel* m_diffModel = nullptr;
    QPlainTextEdit* m_note = nullptr;
};

}  // namespace lockstep::ui
