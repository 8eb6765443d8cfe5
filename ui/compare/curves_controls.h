#pragma once
#include <QWidget>
#include <optional>
#include <string>

#include "ui/history/mean_curve.h"
#include "ui/plot/plot_model.h"

class QAction;
class QComboBox;
class QHBoxLayout;
class QMenu;
class QSettings;
class QSlider;
class QToolButton;

namespace lockstep::ui {

// What a person chose to see of curves.
struct CurveChoice {
    std::string metric = {};                 // empty: the objective
    std::optional<std::string> second = {};  // in a plot below it; empty: there is none
    PlotAxis axis = PlotAxis::Epoch;
    std::optional<BandKind> band = BandKind::Deviation;  // empty: none
    bool hasMembers = false, isLog = false;
    double smoothing = 0.6;  // of what is noisy
    bool operator==(const CurveChoice&) const = default;
};

// One row to choose it with, as narrow as a card: the quantity, what x is, and a menu for the rest. GUI thread.
class CurvesControls : public QWidget {
    Q_OBJECT
public:
    explicit CurvesControls(QWidget* parent = nullptr);
    const CurveChoice& choice() const { return m_choice; }
    // For the next window; of what was kept, what is no choice is left out.
    void save(QSettings& settings) const;
    void restore(const QSettings& settings);
    void setObjective(const QString& name);  // what the first quantity is; empty: there is none

signals:
    void chosen();

private:
    void addQuantities();
    void addAxes();
    void makeMenu();
    void addBands(QMenu& menu);
    void addSecond(QMenu& menu);
    void addSmoothing(QMenu& menu);
    void addSwitch(QMenu& menu, const QString& text, const QString& name, bool CurveChoice::*member);
    template <class Value>
    void choose(Value CurveChoice::*member, Value value);

    CurveChoice m_choice;
    QComboBox *m_metric, *m_axis;
    QToolButton* m_more;
};

}  // namespace lockstep::ui
