#pragma once
#include <QAbstractTableModel>
#include <QTableView>
#include <optional>
#include <vector>

#include "ui/compare/compare_scene.h"
#include "ui/history/trial_selection.h"

namespace lockstep::ui {

// The trials that the brushes leave, with what they differ in and came to: the best first, or by a column. The window's
// thread.
class CompareListModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum { RowRole = Qt::UserRole };  // the row of the scene's table
    using QAbstractTableModel::QAbstractTableModel;

    void setScene(SharedScene scene);
    std::optional<std::size_t> rowAt(int place) const;  // of the scene's table
    int placeOf(std::int64_t trial) const;              // -1: it is not among them
    const SharedScene& scene() const { return m_scene; }
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    // Whatever comes later stands so, too. -1: the best first again.
    void sort(int column, Qt::SortOrder order = Qt::AscendingOrder) override;
    int sortedBy() const;  // the column; -1: the best first

private:
    void fill();
    QVariant text(std::size_t row, int column) const;
    const CompareAxis* axisAt(int column) const;  // null: the column of the trials

    SharedScene m_scene;
    std::vector<std::size_t> m_places;      // rows of the table, as they are shown
    std::vector<std::size_t> m_axes;        // of the columns behind the first
    std::optional<std::string> m_sortedBy;  // the key of an axis, or "", the trial; empty: the ranking
    bool m_descends = false;
};

// The same as a table: its rows are hovered, pinned by Space or a click on their mark, and opened by Return or a double
// click.
class CompareList : public QTableView {
    Q_OBJECT
public:
    // The selection outlives the list.
    explicit CompareList(TrialSelection* selection, QWidget* parent = nullptr);
    void setScene(SharedScene scene);
    std::vector<std::int64_t> chosen() const;  // that are selected in it, as they stand
    QByteArray csv() const;                    // as it stands, numbers unrounded

signals:
    void openWanted(qint64 trial);
    void chosenChanged();

protected:
    bool viewportEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void selectionChanged(const QItemSelection& now, const QItemSelection& before) override;

private:
    // What changes the rows, with those chosen staying so.
    template <class Change>
    void keepChosen(Change&& change);
    void togglePin(const QModelIndex& index);
    void showHovered();
    std::optional<std::int64_t> trialAt(const QModelIndex& index) const;

    TrialSelection& m_selection;
    CompareListModel m_model;
};

}  // namespace lockstep::ui
