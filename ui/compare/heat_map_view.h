#pragma once
#include "ui/compare/compare_view.h"
#include "ui/compare/heat_map.h"

namespace lockstep::ui {

class AxisBox;

// The mean of the objective where two settings meet, the two that matter most at first. A click on a cell brushes both.
class HeatMapView : public CompareView {
    Q_OBJECT
public:
    explicit HeatMapView(TrialSelection* selection, QWidget* parent = nullptr);

    QString title() const override { return tr("Heat map"); }
    QString fileName() const override { return "heat-map"; }
    QString emptyText() const override;
    QString summary() const override;
    QByteArray csv() const override;
    void paintPicture(QPainter& painter, const QRectF& area) const override;
    QSize sizeHint() const override { return {440, 320}; }

protected:
    void sceneChanged() override;
    void lightChanged() override { update(); }
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;

private:
    struct Place {
        std::size_t x = 0, y = 0;
    };
    void redraw();
    QRectF canvas() const;  // below the controls
    QRectF cells(const QRectF& area) const;
    QRectF cellAt(const QRectF& cells, Place at) const;
    std::optional<Place> placeAt(QPointF at) const;
    QColor cellColor(double mean) const;
    void paintCell(QPainter& painter, const QRectF& box, Place at) const;
    void paintNames(QPainter& painter, const QRectF& area, const QRectF& cells) const;
    QString words(Place at) const;
    QString meaning() const;  // of the colours
    double nameWidth() const;

    AxisBox *m_x, *m_y;
    HeatMap m_map;
};

}  // namespace lockstep::ui
