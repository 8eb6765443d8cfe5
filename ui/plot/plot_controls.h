#pragma once
#include <QVariantMap>
#include <QWidget>
#include <vector>

class QCheckBox;
class QComboBox;
class QHBoxLayout;
class QSlider;

namespace lockstep::ui {

class PlotView;

// One row that governs several plots: smoothing, what x means, logarithmic values, everything in view.
class PlotControls : public QWidget {
    Q_OBJECT

public:
    explicit PlotControls(std::vector<PlotView*> plots, QWidget* parent = nullptr);
    QVariantMap state() const;               // to be remembered
    void restore(const QVariantMap& state);  // what it does not say stays as it is

private:
    void addSmoothing(QHBoxLayout& row);
    void addAxis(QHBoxLayout& row);
    void addLog(QHBoxLayout& row);

    std::vector<PlotView*> m_plots;
    QSlider* m_smoothing = nullptr;
    QComboBox* m_axis = nullptr;
    QCheckBox* m_log = nullptr;
};

}  // namespace lockstep::ui
