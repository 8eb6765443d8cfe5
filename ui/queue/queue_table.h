#pragma once
#include <QTableView>
#include <optional>

#include "ui/queue/queue_table_model.h"

namespace lockstep::ui {

class TrialSelection;

// The queue as a table whose rows are dragged; what is selected stays so while others come and go.
class QueueTable : public QTableView {
    Q_OBJECT
public:
    // Model and selection outlive it.
    QueueTable(QueueTableModel* model, const TrialSelection* selection, QWidget* parent = nullptr);

    ChosenTrials chosen() const;
    void choose(std::int64_t trial);  // it alone, whatever keys are held

protected:
    void focusInEvent(QFocusEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void dragMoveEvent(QDragMoveEvent* event) override;
    void dragLeaveEvent(QDragLeaveEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void showDropLine(std::optional<int> y);
    int lineNear(const QPoint& at) const;  // between two rows, in the viewport

    QueueTableModel& m_model;
    std::optional<int> m_dropLine;  // where what is dragged would go
};

}  // namespace lockstep::ui
