#pragma once
#include <QWidget>
#include <functional>
#include <optional>
#include <vector>

#include "ui/models/plot_model.h"

class QCPGraph;
class QCPItemStraightLine;
class QCustomPlot;
class QHBoxLayout;
class QLabel;
class QToolButton;

namespace lockstep::ui {

// Several curves over steps, epochs or time. Wheel: nearer and farther along x, with Ctrl along y; drag: a rubber band;
// drag with Shift or the middle button: move; double click or 0: everything; arrows, + and -: the same by keys; Ctrl+C:
// the picture. Curves are read when refresh() is called and when the view changes. GUI thread.
class PlotView : public QWidget {
    Q_OBJECT

public:
    using Format = std::function<QString(double)>;
    struct Look {
        QString title, emptyText;
        Format format, tick;                       // of values, and of the numbers at the axis; empty: four digits
        std::optional<PlotRange> bounds;           // of the values' axis while it fits itself
    };
    explicit PlotView(Look look, QWidget* parent = nullptr);

    void setSeries(std::vector<PlotSeries> series);
    void refresh();                                // curves have grown; draws at the next opportunity
    void setSmoothing(double weight);
    void setAxis(PlotAxis axis);
    void setLog(bool log);
    void fit();
    void setCrosshair(std::optional<double> x);    // as if the mouse were there
    PlotModel& model() { return m_model; }
    QString valueText(double value) const;
    QString summary() const { return m_model.summary([this](double value) { return valueText(value); }); }

    // The picture with its legend, at the size on the screen.
    QPixmap pixmap(double scale = 2);
    bool saveTo(const QString& file);              // .png, .svg or .csv; false: could not be written
    void copyPicture();
    void copyData();                               // CSV of what is visible

signals:
    void hovered(std::optional<double> x);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void changeEvent(QEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    struct Entry { QCPGraph *ghost = nullptr, *line = nullptr, *markers = nullptr; QToolButton* button = nullptr; };

    void buildPlot();
    void buildActions();
    void buildEntries();
    void colourEntry(std::size_t index);
    void applyTheme();
    void applyTickers();
    void applyRanges();
    void drawEntry(std::size_t index, int columns);
    void updateWords();
    void moveReadout(double x);
    QString readoutText(double x);
    QString axisText(double x) const;
    void showPart(std::optional<PlotRange> x, std::optional<PlotRange> y);
    void zoom(double factor, std::optional<QPointF> at, bool vertical);
    void pan(double dx, double dy);
    bool key(int key);
    bool mouse(QEvent* event);
    template <class Work> void withLegend(Work&& work);
    void saveAs();

    const Look m_look;
    PlotModel m_model;
    QCustomPlot* m_plot = nullptr;
    QHBoxLayout* m_legend = nullptr;
    QLabel *m_title = nullptr, *m_readout = nullptr, *m_empty = nullptr;
    QCPItemStraightLine* m_crosshair = nullptr;
    std::vector<Entry> m_entries;
    std::optional<PlotRange> m_partX, m_partY;     // what a person chose to see; empty: everything
    std::optional<QPointF> m_panFrom;
};

}  // namespace lockstep::ui
