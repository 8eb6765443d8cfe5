#pragma once
#include "ui/compare/compare_view.h"
#include "ui/plot/chart_frame.h"

class QToolButton;

namespace lockstep::ui {

class AxisBox;

// Two settings or metrics across each other, a third as colour; and the trials that nothing beats in both. A drag
// brushes both axes.
class ScatterView : public CompareView {
    Q_OBJECT
public:
    explicit ScatterView(TrialSelection* selection, QWidget* parent = nullptr);

    QString title() const override { return tr("Scatter"); }
    QString fileName() const override { return "scatter"; }
    QString emptyText() const override;
    QString summary() const override;
    QByteArray csv() const override;
    void paintPicture(QPainter& painter, const QRectF& area) const override;
    QSize sizeHint() const override { return {440, 320}; }

protected:
    void sceneChanged() override;
    void lightChanged() override { update(); }
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;

private:
    struct Axes {
        const CompareAxis &x, &y;
        const CompareAxis* color;  // null: none
    };
    std::optional<Axes> axes() const;
    QRectF canvas() const;  // below the controls
    std::optional<ChartFrame> frameIn(const QRectF& area) const;
    std::vector<std::size_t> front() const;
    bool isDrawn(std::size_t row) const;
    QPointF placeOf(const ChartFrame& frame, std::size_t row) const;
    QColor dotColor(std::size_t row) const;
    void paintDot(QPainter& painter, const ChartFrame& frame, std::size_t row, bool isLit) const;
    void paintWords(QPainter& painter, const QRectF& area) const;
    void paintFront(QPainter& painter, const ChartFrame& frame) const;
    std::optional<std::size_t> rowAt(QPointF at) const;
    void redraw();
    void brushDragged(const QRectF& box);

    AxisBox *m_x, *m_y, *m_color;
    QToolButton* m_pareto;
    std::shared_ptr<const CompareTable> m_shownOf;
    std::optional<std::size_t> m_shownX, m_shownY, m_shownColor;  // of the table
    QPixmap m_picture;                                            // of the scene, without what follows the pointer
    std::vector<std::int64_t> m_picturedPins;
    std::optional<QPointF> m_from;
    QRectF m_band;
};

}  // namespace lockstep::ui
