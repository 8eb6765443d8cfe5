#pragma once
#include <QObject>
#include <QTimer>
#include <vector>

#include "ui/history/engine_service.h"
#include "ui/train/problem_list.h"
#include "ui/train/spec_form.h"

namespace lockstep::ui {

// Asks the engine, once the person pauses, what it says of the values of a form's sweep, as it says of a trial; the
// sweep is told. GUI thread.
class SweepCheck : public QObject {
    Q_OBJECT
public:
    SweepCheck(EngineService& service, SpecForm& form, QObject* parent = nullptr);

    bool isDone() const { return m_isDone; }  // of the sweep as it is now; also where there is nothing to ask

signals:
    void done();

private:
    void formChanged();
    void askAll();
    void take(const EngineReply<ValidateRequest>& reply);
    void finish();

    EngineService& m_service;
    SpecForm& m_form;
    QTimer m_pause;
    std::vector<qint64> m_open;  // questions
    std::size_t m_awaited = 0;
    Problems m_found;
    bool m_isDone = true;
};

}  // namespace lockstep::ui
