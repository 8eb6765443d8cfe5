#pragma once
#include <QPixmap>
#include <QTimer>
#include <map>
#include <optional>

#include "ui/compare/axis_order.h"
#include "ui/compare/compare_view.h"
#include "ui/compare/parallel_brush.h"
#include "ui/compare/parallel_painter.h"

class QLabel;
class QMenu;
class QSlider;
class QToolButton;

namespace lockstep::ui {

// Parallel coordinates: an axis for each setting that varies, the objective last, and a line for each trial, in the
// colour of how good it is. On an axis a drag brushes, on its title a click turns it over and a drag moves it, or puts
// it away when it leaves the plot. All trials are drawn, however many there are. GUI thread.
class ParallelView : public CompareView {
    Q_OBJECT
public:
    explicit ParallelView(TrialSelection* selection, QWidget* parent = nullptr);

    QString title() const override { return tr("Parallel coordinates"); }
    QString fileName() const override { return "parallel"; }
    QString emptyText() const override;
    QString summary() const override;
    QByteArray csv() const override;
    void paintPicture(QPainter& painter, const QRectF& area) const override;
    void save(QSettings& settings) const override;
    void restore(const QSettings& settings) override;
    QSize sizeHint() const override { return {1000, 380}; }

    const ParallelPlot& plot() const { return m_plot; }  // as it stands on the screen
    void setBestShare(double share);                     // of the trials, the best so many stay coloured; 1: all
    void fillAxesMenu(QMenu& menu);                      // which axes are shown, and their order
    void fillAxisMenu(QMenu& menu, std::size_t axis);    // of the shown ones

protected:
    void sceneChanged() override;
    void lightChanged() override { update(); }
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    class OrderStep;
    struct Press {
        QPointF at;
        ParallelTarget target;
        std::optional<std::size_t> row;  // of the line under it
    };

    // parallel_view.cpp: what is drawn
    void buildBar();
    QRectF plotArea() const;
    ParallelPlot plotIn(const QRectF& area) const;  // without what follows from the table alone
    void arrange();                                 // the axes, and where they stand
    void becomeStale();
    void renew();
    void showWords();
    const Brushes& brushes() const { return selection().brushes(); }
    AxisBrush brushOf(std::size_t axis) const;  // of the shown ones
    const AxisOrder& order() const;
    CompareScene ordered() const;  // the scene with the importance that the axes stand by
    std::vector<ParallelPainter::Pinned> pinned() const;
    AxisOrder withMovedTo(std::size_t axis, std::size_t place) const;  // among the plot's
    void setOrder(const AxisOrder& order, const QString& words);       // as a step that can be taken back
    void becomeOrder(std::int64_t scope, const AxisOrder& order);
    QString axisTip(std::size_t axis) const;

    // parallel_view_input.cpp: what a person does
    std::optional<std::size_t> rowAt(QPointF at) const;
    BrushHit brushHitAt(std::size_t axis, QPointF at) const;
    void showTarget(QPointF at);
    void beginDrag();
    void drag(QPointF at);
    void dragAxis(QPointF at);
    void endDrag(QPointF at);
    void dropDrag();
    bool isDragging() const { return m_brush || m_moved; }
    void click(const Press& press);
    void clickAxis(std::size_t axis, QPointF at);
    void setBrush(std::size_t axis, const AxisBrush& brush);
    bool stepAxes(QKeyEvent& event);
    bool stepTrials(QKeyEvent& event);
    void growBrush(int by);

    QWidget* m_bar;
    QToolButton* m_axesButton;
    QSlider* m_best;
    QLabel* m_bestText;
    std::map<std::int64_t, AxisOrder> m_orders;  // by scope
    ParallelPlot m_plot;
    std::shared_ptr<const CompareTable> m_table;  // that the plot is of
    std::int64_t m_scope = 0;                     // likewise
    std::vector<double> m_importance;             // that the axes stand by

    ParallelLines m_lines;
    QImage m_picture;     // of the lines
    QPixmap m_axesLayer;  // above them
    bool m_isStale = true, m_isDraft = false;
    QTimer m_calm;  // nothing has changed for a while: time for the full picture

    std::optional<Press> m_press;
    std::optional<BrushDrag> m_brush;    // a piece in the pointer's hand
    std::string m_brushed;               // its axis
    SharedScene m_brushScene;            // that its axis is of
    std::optional<std::size_t> m_moved;  // an axis in the pointer's hand, as the table counts
    QPointF m_movedTo;
    AxisOrder m_orderBefore;
    std::size_t m_focused = 0;  // of the shown axes, for the keyboard
};

}  // namespace lockstep::ui
