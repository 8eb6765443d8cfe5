#pragma once
#include <QFrame>

#include "ui/run/run_record.h"

class QLabel;

namespace lockstep::ui {

// The shares of a step as one bar: compute, all-reduce, waiting for data, in the theme's colours.
class ShareBar : public QWidget {
    Q_OBJECT

public:
    explicit ShareBar(QWidget* parent = nullptr);
    void setLoad(const RankLoad& load);
    QSize sizeHint() const override { return {160, 10}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    RankLoad m_load;
};

// One device of a run: how long a step takes there, and what it does in that time.
class DeviceTile : public QFrame {
    Q_OBJECT

public:
    DeviceTile(int rank, const QString& device, bool isVirtual, QWidget* parent = nullptr);
    void setLoad(const RankLoad& load);  // a moving mean

protected:
    void changeEvent(QEvent* event) override;

private:
    void colour();

    QString m_name;
    QLabel* m_time = nullptr;
    QLabel* m_shares[3] = {};
    ShareBar* m_bar = nullptr;
    RankLoad m_load;
};

}  // namespace lockstep::ui
