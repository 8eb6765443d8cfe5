#pragma once
#include <QString>
#include <QVector>
#include <QWidget>

namespace lockstep::ui {

// A model's likeliest classes with their probabilities, as bars.
class AnswerBars : public QWidget {
    Q_OBJECT
public:
    struct Bar {
        QString name;
        double probability = 0;
        bool isTrue = false;  // the sample's own class
    };
    explicit AnswerBars(QWidget* parent = nullptr);
    void setBars(QVector<Bar> bars);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {160, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    int rowHeight() const { return fontMetrics().height() + 6; }
    QVector<Bar> m_bars;
};

}  // namespace lockstep::ui
