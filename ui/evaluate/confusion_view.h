#pragma once
#include <QAbstractScrollArea>
#include <QStringList>
#include <optional>
#include <vector>

#include "engine/spec/evaluation.h"
#include "ui/evaluate/sample_lists.h"

namespace lockstep::ui {

// A confusion matrix: a row per true class, a column per answer; right answers in one colour, mistakes in another, the
// darker the larger their share of the row. As large as there is room for; Ctrl and the wheel make cells larger, and
// then it scrolls, until a matrix of another size is shown. A cell is chosen by a click or the arrow keys.
class ConfusionView : public QAbstractScrollArea {
    Q_OBJECT
public:
    struct Cell {
        std::int64_t label = 0, answer = 0;
        bool operator==(const Cell&) const = default;
    };
    explicit ConfusionView(QWidget* parent = nullptr);

    // Empty: there is none. The chosen cell stays where it is still there.
    void setMatrix(std::optional<ConfusionMatrix> matrix, QStringList classes);
    void setOrder(ClassOrder order, std::size_t most);
    void setShares(bool shares);  // numbers are shares of the row instead of counts
    std::optional<Cell> chosen() const { return m_chosen; }
    void choose(std::optional<Cell> cell);
    QString className(std::int64_t id) const;  // its number where it has no name
    // One line: the classes, count and share of the cell under the pointer, else of the chosen one, else how to see
    // them where there is no room for their names.
    QString told() const;

    QRect rectOf(const Cell& cell) const;  // in the viewport
    QSize sizeHint() const override { return {420, 420}; }
    QSize minimumSizeHint() const override { return {220, 200}; }

signals:
    void cellChosen(qint64 label, qint64 answer);
    void toldChanged(const QString& told);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void arrange();
    void resetZoom();
    void hover(std::optional<Cell> cell);
    void tell();
    bool hasRoomForNames() const;  // all of them, a line each
    void paintCells(QPainter& painter);
    void paintNames(QPainter& painter);
    QString textOf(const Cell& cell) const;
    QString toldOf(const Cell& cell) const;
    double shareOf(const Cell& cell) const;
    std::optional<Cell> cellAt(const QPoint& at) const;
    QRect rectAt(int row, int column) const;
    int place(std::int64_t id) const;  // among those shown; -1: not there
    int count() const { return static_cast<int>(m_shown.size()); }

    std::optional<ConfusionMatrix> m_matrix;
    std::vector<std::int64_t> m_ofClass;
    QStringList m_classes;
    std::vector<std::int64_t> m_shown;
    ClassOrder m_order = ClassOrder::AsTheyAre;
    std::size_t m_most = 0;
    bool m_shares = false;
    double m_zoom = 1;
    int m_side = 16, m_left = 0, m_top = 0;  // of a cell; where cells begin
    std::optional<Cell> m_chosen, m_hovered;
    QString m_told;  // last
};

}  // namespace lockstep::ui
