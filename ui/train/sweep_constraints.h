#pragma once
#include <QVBoxLayout>
#include <QWidget>
#include <vector>

#include "ui/style/explanation.h"
#include "ui/train/spec_form.h"

class QLabel;
class QLineEdit;

namespace lockstep::ui {

class ProblemLabel;
class QuietButton;

QString constraintEditor(int index);  // the object's name

// What must hold between settings of a sweep, a line each as the command line takes it; what is wrong with one, and how
// many cells of a grid fulfil it, stand beside it. A few words until there is one. GUI thread.
class SweepConstraints : public QWidget {
    Q_OBJECT
public:
    SweepConstraints(SpecForm& form, const Explain& explain, QWidget* parent = nullptr);

private:
    struct Row {
        QWidget* whole = nullptr;
        QLineEdit* line = nullptr;
        QLabel* cells = nullptr;
        ProblemLabel* problem = nullptr;
    };
    Row makeRow(int index);
    QLineEdit* makeLine(int index);
    void add();
    void remove(int index);
    void follow();
    void show(const Row& row, int index);

    SpecForm& m_form;
    const Explain m_explain;
    std::vector<Row> m_rows;
    QVBoxLayout* m_column;
    QuietButton* m_more;
};

}  // namespace lockstep::ui
