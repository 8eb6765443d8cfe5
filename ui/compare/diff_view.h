#pragma once
#include <QAbstractTableModel>
#include <vector>

#include "ui/compare/compare_view.h"
#include "ui/compare/trial_diff.h"

class QCheckBox;
class QLabel;
class QTableView;

namespace lockstep::ui {

// Rows of a diff as a table, those that are equal left out where they are not wanted. The window's thread.
class DiffModel : public QAbstractTableModel {
    Q_OBJECT
public:
    using QAbstractTableModel::QAbstractTableModel;

    void show(std::vector<DiffRow> rows, QStringList names, bool withEqual);
    const std::vector<DiffRow>& rows() const { return m_rows; }
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<DiffRow> m_rows;
    QStringList m_names;
};

// The pinned trials beside each other, or the two best where fewer than two are pinned: settings, results, environment
// and notes; and why the better of two is better.
class DiffView : public CompareView {
    Q_OBJECT
public:
    DiffView(HistoryService* history, TrialSelection* selection, QWidget* parent = nullptr);

    QString title() const override { return tr("Side by side"); }
    QString fileName() const override { return "diff"; }
    QString emptyText() const override;
    QString summary() const override;
    QByteArray csv() const override;
    void paintPicture(QPainter& painter, const QRectF& area) const override;
    QSize sizeHint() const override { return {880, 320}; }

protected:
    void sceneChanged() override;
    void lightChanged() override;

private:
    std::vector<std::int64_t> wanted() const;
    void read();
    void take(std::vector<TrialFacts> facts);
    void redraw();
    QString nameOf(std::int64_t trial) const;

    HistoryService& m_history;
    QCheckBox* m_equal;
    QLabel* m_why;
    QTableView* m_view;
    DiffModel m_model;
    std::vector<TrialFacts> m_facts;
    std::vector<std::int64_t> m_asked;
};

}  // namespace lockstep::ui
