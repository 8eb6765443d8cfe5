#pragma once
#include <QTableView>
#include <cstdint>
#include <vector>

class QMenu;
class QSettings;

namespace lockstep::ui {

// The table of trials: whole rows are selected, columns are moved, hidden (by the header's menu) and sized by the
// person and remembered. Rows that stay selected stay so while others come and go.
class TrialsTable : public QTableView {
    Q_OBJECT

public:
    explicit TrialsTable(QWidget* parent = nullptr);
    void setModel(QAbstractItemModel* model) override;  // a TrialFilterProxy
    void selectOnly(int row);                           // whatever keys are held: selectRow() toggles under Ctrl
    void editCell();  // the current one or, where nothing can be typed, the row's title
    QMenu* columnsMenu() const { return m_columns; }
    QList<int> shownColumns() const;  // as they stand, from the left
    void saveLayout(QSettings& settings) const;
    void restoreLayout(const QSettings& settings);  // without one, columns stay as they are

signals:
    void hovered(const QModelIndex& row);  // invalid: the pointer left

protected:
    bool viewportEvent(QEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void rowsInserted(const QModelIndex& parent, int first, int last) override;

private:
    void selectSomething();
    void fillColumnsMenu();
    void resetColumns();

    QMenu* m_columns;
};

}  // namespace lockstep::ui
