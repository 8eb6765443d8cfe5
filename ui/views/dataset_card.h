#pragma once
#include <QWidget>

#include "ui/controllers/form_answers.h"
#include "ui/views/field_editor.h"

namespace lockstep::ui {

class SampleImages;
class ClassBars;

// The dataset: picker, path, images before and after augmentation, counts, balance, and the augmentation's settings.
class DatasetCard : public QWidget {
public:
    DatasetCard(SpecForm& form, FormAnswers& answers, const Explain& explain, QWidget* parent = nullptr);
    // A file or folder that a person dropped or chose: looked at, then taken, or the problem is shown.
    void take(const QString& path);

private:
    QWidget* makePathRow();
    void taken(const QString& path, const EngineAnswer& answer);
    void showSamples();
    void showPath();
    QString summary(const QJsonObject& report) const;

    SpecForm& m_form;
    FormAnswers& m_answers;
    Explain m_explain;
    class QLineEdit* m_path;
    QLabel* m_notice;
    ProblemLabel* m_problem;
    QLabel* m_summary;
    QLabel* m_warnings;
    SampleImages* m_images;
    ClassBars* m_bars;
    FieldList* m_augmentation;
    Problems m_dropProblems;
};

}  // namespace lockstep::ui
