#pragma once
#include <QAbstractScrollArea>
#include <QStringList>
#include <optional>
#include <vector>

#include "engine/spec/evaluation.h"

namespace lockstep::ui {

// How well each class is told from the others: a row each, with bars for precision, recall and F1, the worst F1 first.
// A click chooses the class.
class ClassScoresView : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit ClassScoresView(QWidget* parent = nullptr);
    void setScores(std::vector<ClassScore> scores, QStringList classes);
    QSize sizeHint() const override { return {320, 220}; }
    QSize minimumSizeHint() const override { return {200, 80}; }

signals:
    void classChosen(qint64 label);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool viewportEvent(QEvent* event) override;

private:
    int rowHeight() const;
    int rowAt(int y) const;  // -1: none
    void choose(int row);
    void arrange();

    std::vector<ClassScore> m_scores;
    QStringList m_classes;
    std::vector<int> m_order;
    int m_chosen = -1;  // row
};

}  // namespace lockstep::ui
