#pragma once
#include <QDialog>
#include <memory>
#include <optional>
#include <vector>

#include "ui/style/explanation.h"
#include "ui/trials/disk_choices.h"
#include "ui/trials/disk_feed.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QLayout;
class QLineEdit;
class QPushButton;
class QSpinBox;
class QTableWidget;

namespace lockstep::ui {

// "Free disk space…": the heaviest trials, what to free, and what would go, as it is chosen. The feed outlives it.
class DiskDialog : public QDialog {
    Q_OBJECT

public:
    // `selected`: the trials to offer where only some are to be freed.
    DiskDialog(DiskFeed* feed, const std::vector<std::int64_t>& selected, Explain explain, QWidget* parent = nullptr);

private:
    QLayout* buildChoices(const QString& selected);
    QLayout* buildButtons();
    void connectFeed();
    DiskChoices choices() const;
    void choose();
    void showWeight();
    void showPlan();
    void showFreed(const Freed& freed);
    void showProblem(const Problem& problem);
    void showFailure();
    void free();

    DiskFeed& m_feed;
    const Explain m_explain;
    std::shared_ptr<const FreePlan> m_plan;
    std::optional<Problem> m_failure;
    QLabel *m_line, *m_parts, *m_told, *m_spared, *m_problem, *m_failed, *m_done;
    QTableWidget* m_table;
    QCheckBox *m_checkpoints, *m_traces, *m_older, *m_these, *m_caches, *m_orphans;
    QComboBox* m_keep;
    QSpinBox *m_best, *m_days;
    QLineEdit* m_trials;
    QPushButton *m_again, *m_free, *m_close;
};

}  // namespace lockstep::ui
