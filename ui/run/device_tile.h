#pragma once
#include <QFrame>

#include "ui/run/run_record.h"

class QLabel;

namespace lockstep::ui {

class PartsBar;

// One device of a run: how long a step takes there, and what it does in that time: compute, all-reduce,
// waiting for data.
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
    PartsBar* m_bar = nullptr;
    RankLoad m_load;
};

}  // namespace lockstep::ui
