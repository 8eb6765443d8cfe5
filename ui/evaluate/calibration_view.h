#pragma once
#include <QWidget>
#include <vector>

#include "engine/spec/evaluation.h"

namespace lockstep::ui {

// Whether a model is as sure as it is right: accuracy over confidence, a bar for each bin, against the diagonal.
class CalibrationView : public QWidget {
    Q_OBJECT
public:
    explicit CalibrationView(QWidget* parent = nullptr);
    void setBins(std::vector<CalibrationBin> bins);  // empty: nothing is known
    QSize sizeHint() const override { return {320, 220}; }
    QSize minimumSizeHint() const override { return {180, 90}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    QRect plot() const;
    std::vector<CalibrationBin> m_bins;
    std::int64_t m_samples = 0;
};

}  // namespace lockstep::ui
