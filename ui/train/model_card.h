#pragma once
#include <QWidget>

#include "ui/train/field_editor.h"
#include "ui/train/form_answers.h"
#include "ui/train/layer_table.h"

class QCustomPlot;
class QTableView;

namespace lockstep::ui {

// The model: picker and settings, what it starts from, and what the plan says of it: parameters, memory per device,
// layers.
class ModelCard : public QWidget {
    Q_OBJECT
public:
    ModelCard(SpecForm& form, FormAnswers& answers, const Explain& explain, QWidget* parent = nullptr);

private:
    void showFields();
    void showPlan();
    SpecForm& m_form;
    FormAnswers& m_answers;
    FieldList *m_fields, *m_headFields;  // apart: what is typed into must not be made anew
    QLabel* m_summary;
    LayerTable m_layers;
    QTableView* m_table;
    std::vector<PlannedLayer> m_shown;
};

// The learning rate over the epochs, as the engine computes it.
class SchedulePreview : public QWidget {
    Q_OBJECT
public:
    SchedulePreview(FormAnswers& answers, QWidget* parent = nullptr);
    QSize sizeHint() const override { return {320, 150}; }

protected:
    void changeEvent(QEvent* event) override;

private:
    void showCurve();
    void colour();
    FormAnswers& m_answers;
    QCustomPlot* m_plot;
};

}  // namespace lockstep::ui
