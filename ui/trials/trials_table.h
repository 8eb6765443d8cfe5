#pragma once
#include <QTableView>
#include <cstdint>
#include <optional>
#include <vector>

class QMenu;
class QSettings;

namespace lockstep::ui {

class TrialSelection;

// The table of trials: whole rows are selected, columns are moved, hidden (by the header's menu) and sized by the
// person and remembered. Rows that stay selected stay so while others come and go. A sweep's row is folded by its
// triangle, a double click, the space bar or Return, and by the arrows to left and right.
class TrialsTable : public QTableView {
    Q_OBJECT

public:
    explicit TrialsTable(const TrialSelection* selection, QWidget* parent = nullptr);  // which outlives it
    void setModel(QAbstractItemModel* model) override;                                 // a TrialFilterProxy
    void selectOnly(int row);  // whatever keys are held: selectRow() toggles under Ctrl
    void selectNear(int row);  // the next one that can be selected, or the one before
    void editCell();           // the current one or, where nothing can be typed, the row's title
    // Whether any trial belongs to a sweep: the column of cells comes with the first, and goes with the last.
    void setHasCells(bool has);
    std::vector<std::int64_t> sweepsInView() const;  // whose rows are on the screen
    QMenu* columnsMenu() const { return m_columns; }
    QList<int> shownColumns() const;  // as they stand, from the left
    void saveLayout(QSettings& settings) const;
    void restoreLayout(const QSettings& settings);  // without one, columns stay as they are

signals:
    void hovered(const QModelIndex& row);        // invalid: the pointer left
    void foldWanted(qint64 sweep, bool folded);  // wanted by the person

protected:
    bool viewportEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void rowsInserted(const QModelIndex& parent, int first, int last) override;

private:
    void selectSomething();
    void fillColumnsMenu();
    void resetColumns();
    bool fold(const QModelIndex& row, std::optional<bool> wish = std::nullopt);

    QMenu* m_columns;
    bool m_hasCells = false;
};

}  // namespace lockstep::ui
