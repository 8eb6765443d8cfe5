#include "ui/train/sweep_check.h"

#include <algorithm>
#include <utility>

#include "engine/search/sweep_probes.h"
#include "ui/train/sweep_form.h"

namespace lockstep::ui {

namespace {

constexpr int kCheckPauseMs = 150;

}  // namespace

SweepCheck::SweepCheck(EngineService& service, SpecForm& form, QObject* parent)
    : QObject(parent), m_service(service), m_form(form) {
    m_pause.setSingleShot(true);
    m_pause.setInterval(kCheckPauseMs);
    connect(&m_pause, &QTimer::timeout, this, &SweepCheck::askAll);
    connect(&form, &SpecForm::changed, this, &SweepCheck::formChanged);
    connect(&service, &EngineService::available, this, &SweepCheck::formChanged);
}

void SweepCheck::formChanged() {
    for (const qint64 each : std::exchange(m_open, {})) m_service.withdraw(each);
    m_isDone = !m_form.sweep().made().has_value();
    if (!m_isDone) return m_pause.start();
    m_pause.stop();
    m_form.sweep().setAnswers({});
}

void SweepCheck::askAll() {
    if (!m_service.isAvailable()) return;
    const auto& sweep = m_form.sweep();
    const auto probes = probesOf(*sweep.made(), *sweep.space());
    m_found.clear();
    m_awaited = probes.size();
    for (const TrialSpec& each : probes) {
        ValidateRequest request;
        request.spec.text = toJsonLine(each);
        m_open.push_back(m_service.ask<ValidateRequest>(request, this, [this](const auto& reply) { take(reply); }));
    }
}

void SweepCheck::take(const EngineReply<ValidateRequest>& reply) {
    for (const Problem& each : reply.problems) {
        if (std::ranges::find(m_found, each) == m_found.end()) m_found.push_back(each);
    }
    if (--m_awaited == 0) finish();
}

void SweepCheck::finish() {
    m_open.clear();
    m_isDone = true;
    m_form.sweep().setAnswers(m_found);
    emit done();
}

}  // namespace lockstep::ui
