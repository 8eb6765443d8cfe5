#pragma once
#include <QScrollArea>
#include <optional>
#include <vector>

#include "ui/plot/plot_model.h"

class QBoxLayout;

namespace lockstep::ui {

class LegendEntry;

// A button for each curve that shows and hides it: a few in a row, which leaves out values where it is narrow, many as
// a column that scrolls. Long names are cut and stand whole in the tooltip. A click with Ctrl, and the menu, show one
// curve alone.
class PlotLegend : public QScrollArea {
    Q_OBJECT

public:
    explicit PlotLegend(QString plot, QWidget* parent = nullptr);
    void setSeries(const std::vector<PlotSeries>& series);
    void setState(std::size_t index, bool shown, const QString& value);  // value: the newest, in words
    void followInTabOrder(QWidget* before);                              // its buttons come after this one
    bool isColumn() const { return m_column; }
    void setRoom(int width);  // of the plot and its legend: where there is more, a column may be wider
    QSize sizeHint() const override;

signals:
    void toggled(std::size_t index, bool shown);
    void aloneRequested(std::size_t index);
    void allRequested();
    void pointed(std::optional<std::size_t> index);  // the mouse is on that one's name; or has left it

protected:
    void contextMenuEvent(QContextMenuEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    LegendEntry* addEntry(std::size_t index, const PlotSeries& series);
    void fitValues();
    void fitColumn();
    int rowWidth() const;  // with all values

    const QString m_plot;
    QWidget* m_body;
    QBoxLayout* m_layout;
    std::vector<LegendEntry*> m_entries;
    bool m_column = false;
    int m_room = 0;
};

}  // namespace lockstep::ui
