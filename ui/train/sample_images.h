#pragma once
#include <QImage>
#include <QStringList>
#include <QVector>
#include <QWidget>
#include <optional>

#include "engine/spec/serve_messages.h"

namespace lockstep::ui {

// Images in two rows, before and after augmentation, each pair under its class.
class SampleImages : public QWidget {
    Q_OBJECT
public:
    explicit SampleImages(QWidget* parent = nullptr);
    void setSamples(const std::optional<SamplesAnswer>& answer);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {320, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Pair {
        QString className;
        QImage before, after;
    };
    int side() const;
    int indexAt(const QPoint& at) const;
    QVector<Pair> m_pairs;
};

// How many images each class has, as bars; the numbers follow the name.
class ClassBars : public QWidget {
    Q_OBJECT
public:
    explicit ClassBars(QWidget* parent = nullptr);
    void setData(const DescribedData& described);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {160, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    int rowHeight() const;
    QStringList m_names;
    QVector<qint64> m_counts;
    int m_left = 0;  // classes that are not shown
};

}  // namespace lockstep::ui
