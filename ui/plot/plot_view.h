#pragma once
#include <QTimer>
#include <QWidget>
#include <functional>
#include <optional>
#include <vector>

#include "ui/plot/plot_graphs.h"
#include "ui/plot/plot_highlights.h"
#include "ui/plot/plot_lines.h"
#include "ui/plot/plot_model.h"

class QCPItemStraightLine;
class QCustomPlot;
class QHBoxLayout;
class QLabel;
class QMenu;
class QToolButton;

namespace lockstep::ui {

class PlotBackdrop;
class PlotLegend;

// Several curves over steps, epochs or time. Wheel: nearer and farther along x, with Ctrl along y; drag: a rubber band,
// along one axis where it is thin; drag with Shift or the middle button: move; double click or Home: everything;
// arrows,
// + and -: the same by keys; Ctrl+C: the picture. Curves are read when refresh() is called and when the view changes;
// those that did not change cost nothing. Where full detail takes longer than a frame, there is less of it while
// somebody zooms and moves, and all of it as soon as they rest. GUI thread.
class PlotView : public QWidget {
    Q_OBJECT

public:
    using Format = std::function<QString(double)>;
    struct Look {
        QString title, emptyText;
        Format format, tick;              // of values, and of the numbers at the axis; empty: four digits
        std::optional<PlotRange> bounds;  // values lie within: the axis counts no farther
        bool fromZero = false;            // the axis of values begins there
        // Of PlotAxis::Log: what x is, in words ("rate 0.03") and at the axis, and the least that is shown of it.
        Format along = {}, alongTick = {};
        std::optional<PlotRange> span = std::nullopt;
        double base = 10;  // of the numbers at that axis
    };
    explicit PlotView(Look look, QWidget* parent = nullptr);
    void setLook(Look look);  // another quantity

    void setSeries(std::vector<PlotSeries> series);
    void setBehind(std::vector<PlotSeries> lines);  // any number of them, see PlotModel::setBehind()
    void setRaised(std::vector<PlotSeries> lines);  // on top of all, without drawing the others anew
    void setTarget(std::optional<double> value);    // as a level line
    void setMoments(std::vector<PlotMoment> moments) { m_lines->set(std::move(moments)); }  // as upright lines
    void refresh();  // curves have grown; draws at the next opportunity
    void setSmoothing(double weight);
    void setAxis(PlotAxis axis);
    void setLog(bool log);
    void fit();
    void setCrosshair(std::optional<double> x);    // as if the mouse were there
    void setLit(std::optional<std::int64_t> key);  // curves of this PlotSeries::key stand out, if there are any
    // Lines, those behind too, can be pointed at, clicked and double clicked: then the signals say their keys.
    void setPicking(bool picks) { m_picks = picks; }
    std::optional<std::int64_t> keyAt(QPointF pixel) const;  // of the line there, in the plot's own pixels
    void setBare(bool isBare);                               // without title and menu: somebody else shows them
    void setLegendShown(bool isShown);
    bool isMoving() const { return m_isMoving; }  // just now: what is seen may be coarse
    PlotRange shownX() const;
    static QString axisText(PlotAxis axis, double x);  // "step 1,200", "12 s"
    PlotModel& model() { return m_model; }
    QString valueText(double value, std::optional<double> deviation = std::nullopt) const;
    QString summary() const;

    // The picture with its legend, at the size on the screen.
    QPixmap pixmap(double scale = 2);
    void paintInto(QPainter& painter, const QRectF& area);  // the same there
    bool saveTo(const QString& file);                       // .png, .svg or .csv; false: could not be written
    void copyPicture();
    void copyData();  // CSV of what is visible

signals:
    void hovered(std::optional<double> x);
    void pointed(std::optional<qint64> key);  // when it changes
    void picked(qint64 key);
    void opened(qint64 key);
    void rested();  // zooming and moving have come to an end

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    void buildHead();
    void buildPlot();
    void buildActions();
    void fillMenu(QMenu& menu);
    void showHelp();
    void buildGraphs();
    void applyTheme();
    void colourGraphs();
    void applyTickers();
    PlotRange everythingAlong() const;
    bool applyRanges();
    bool drawGraphs();
    void updateWords();
    void setHidden(std::size_t index, bool hidden);
    void showAlone(std::size_t index);
    void showAll();
    void showBand(QRect band);
    void point(std::optional<QPointF> pixel);
    void pick(QPointF pixel);
    bool isCoarse() const { return m_isMoving && m_fullMilliseconds > kInAFrame; }
    void setMoving(bool isMoving);
    void moveReadout(double x);
    std::vector<PlotModel::Reading> toldOf(const std::vector<PlotModel::Reading>& readings, std::size_t rows);
    QString readoutText(double x, double read, const std::vector<PlotModel::Reading>& readings, std::size_t more);
    void showPart(std::optional<PlotRange> x, std::optional<PlotRange> y);
    void zoom(double factor, std::optional<QPointF> at, bool vertical);
    void pan(double dx, double dy);
    bool key(int key);
    bool mouse(QEvent* event);
    template <class Work>
    void withLegend(Work&& work);
    void saveAs();

    static constexpr double kInAFrame = 8;  // milliseconds

    Look m_look;
    PlotModel m_model;
    QCustomPlot* m_plot = nullptr;
    PlotBackdrop* m_backdrop = nullptr;
    DenseCurves* m_dense = nullptr;
    PlotLegend* m_legend = nullptr;
    QToolButton* m_more = nullptr;
    QHBoxLayout *m_head = nullptr, *m_body = nullptr;  // the legend's place: a row or a column
    QLabel *m_title = nullptr, *m_readout = nullptr, *m_empty = nullptr;
    QCPItemStraightLine* m_crosshair = nullptr;
    std::optional<PlotLines> m_lines;
    std::optional<PlotHighlights> m_highlights;
    std::vector<PlotGraphs> m_graphs;
    bool m_graphsAreNew = false;
    std::optional<std::int64_t> m_lit;
    std::optional<PlotRange> m_partX, m_partY;  // what a person chose to see; empty: everything
    std::optional<QPointF> m_panFrom;
    QPointF m_pressed;
    std::optional<double> m_pointerY;  // value under the mouse
    QTimer m_wordsLater, m_drawSoon, m_detailLater;
    bool m_wordsDue = false, m_picks = false, m_isBare = false, m_isLegendShown = true;
    bool m_isMoving = false;  // somebody zooms or moves just now
    // What the last picture in full detail took, and of that to find its points.
    double m_fullMilliseconds = 0, m_preparing = 0;
    bool m_isFull = true;
    std::optional<std::int64_t> m_pointed;
};

}  // namespace lockstep::ui
