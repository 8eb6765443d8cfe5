#pragma once
#include <qcustomplot.h>

#include <vector>

#include "ui/models/compared_curves.h"

namespace lockstep::ui {

// Curves over steps with a legend; wheel and drag zoom and pan along the steps, a double click shows all again.
class CurvePlot : public QCustomPlot {
    Q_OBJECT

public:
    explicit CurvePlot(QWidget* parent = nullptr);
    void show(std::vector<ComparedCurve> curves, const QString& quantity);

protected:
    void changeEvent(QEvent* event) override;

private:
    void add(const ComparedCurve& curve);
    void draw();

    std::vector<ComparedCurve> m_curves;
    bool m_zoomed = false;
};

}  // namespace lockstep::ui
