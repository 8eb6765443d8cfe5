#pragma once
#include <QWidget>
#include <optional>
#include <string>
#include <vector>

#include "ui/compare/compare_table.h"
#include "ui/history/compared_curves.h"
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
    CurveChoice choice()
        const;  // of what is offered: a quantity that these trials do not have gives way to the objective
    // What trials of a table can be compared by: of evaluations what they have a value of. Another choice is kept.
    void offer(const CompareTable& table);
    // For the next window; of what was kept, what is no choice is left out.
    void save(QSettings& settings) const;
    void restore(const QSettings& settings);

signals:
    void chosen();

private:
    void addQuantities();
    void showQuantities();
    void addAxes();
    void makeMenu();
    void addBands(QMenu& menu);
    void addSecond(QMenu& menu);
    void addSmoothing(QMenu& menu);
    void addSwitch(QMenu& menu, const QString& text, const QString& name, bool CurveChoice::*member);
    template <class Value>
    void choose(Value CurveChoice::*member, Value value);

    CurveChoice m_choice;
    std::vector<ComparedMetric> m_offered;  // beside the objective
    QComboBox *m_metric, *m_axis;
    QToolButton* m_more;
};

}  // namespace lockstep::ui
