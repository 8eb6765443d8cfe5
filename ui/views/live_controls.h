#pragma once
#include <QWidget>
#include <vector>

class QHBoxLayout;

namespace lockstep::ui {

class PlotView;

// One row that governs several plots: smoothing, what x means, logarithmic values, everything in view.
class LiveControls : public QWidget {
    Q_OBJECT

public:
    explicit LiveControls(std::vector<PlotView*> plots, QWidget* parent = nullptr);

private:
    void addSmoothing(QHBoxLayout& row);
    void addAxis(QHBoxLayout& row);
    void addLog(QHBoxLayout& row);

    std::vector<PlotView*> m_plots;
};

}  // namespace lockstep::ui
