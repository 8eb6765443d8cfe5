#pragma once
#include <QWidget>

#include "ui/train/field_editor.h"

class QCheckBox;
class QGridLayout;
class QHBoxLayout;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace lockstep::ui {

// Devices as tiles to switch on, and the equation of the batch: per-device batch x devices x accumulation = global
// batch.
class DevicesCard : public QWidget {
    Q_OBJECT
public:
    // `findsBatch`: what finds a batch, by a button beside that.
    DevicesCard(SpecForm& form, const Explain& explain, QAction& findsBatch, QWidget* parent = nullptr);

protected:
    void changeEvent(QEvent* event) override;

private:
    QWidget* makeTextRow();
    QWidget* makeEquation(QAction& findsBatch);
    // `shown` becomes the label of its name; with a `path` its setting can be varied; `beside`: a button of its own.
    QSpinBox* addFactor(QHBoxLayout& into, const QString& name, const QString& signAfter, QLabel** shown = nullptr,
                        const QString& path = {}, QAction* beside = nullptr);
    void addRooms(QLayout& into);
    void explainFields();
    void refresh();
    void showTiles(const DeviceTiles& devices);
    void showEquation(const DeviceTiles& devices);
    void showVaried(const DeviceTiles& devices);
    void showMissing();

    SpecForm& m_form;
    Explain m_explain;
    QGridLayout* m_grid;
    QVector<QPushButton*> m_tiles;
    QLabel* m_missing;
    QLabel* m_virtual;
    QLineEdit* m_text;
    QSpinBox* m_coresEach;
    ProblemLabel* m_problem;
    QSpinBox *m_perDevice, *m_count, *m_passes, *m_batch;
    QLabel *m_passesName, *m_remark;
    QCheckBox* m_keepBatch;
    ProblemLabel* m_batchProblem;
    FieldList* m_parts;
};

}  // namespace lockstep::ui
