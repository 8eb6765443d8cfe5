#include "ui/controllers/form_answers.h"

#include <algorithm>

namespace lockstep::ui {

namespace {

constexpr int kPauseMs = 150;
constexpr int kSamples = 10, kCurvePoints = 240;

QJsonObject part(const QJsonObject& spec, std::initializer_list<const char*> keys) {
    QJsonObject out;
    for (const char* key : keys) out[key] = spec[key];
    return out;
}

}  // namespace

FormAnswers::FormAnswers(EngineService& service, SpecForm& form, QObject* parent)
    : QObject(parent), m_service(service), m_form(form) {
    m_pause.setSingleShot(true);
    m_pause.setInterval(kPauseMs);
    connect(&m_pause, &QTimer::timeout, this, &FormAnswers::askAll);
    connect(&form, &SpecForm::changed, this, &FormAnswers::formChanged);
    connect(&service, &EngineService::available, this, [this] {
        m_asked.clear();                                     // of a child that is gone
        if (!m_hasCatalog) fetchCatalog();
        else formChanged();
    });
    if (service.isAvailable()) fetchCatalog();
}

bool FormAnswers::isReady() const {
    return m_hasCatalog && m_validated && m_form.problems().empty() && m_dataProblems.empty();
}

void FormAnswers::fetchCatalog() {
    m_arriving = {};
    m_awaited = static_cast<int>(FormCatalog::requests().size());
    for (const auto& request : FormCatalog::requests()) {
        ask(request, {}, [this, request](const EngineAnswer& answer) {
            if (!answer.ok()) return;                        // the service says what is wrong, and comes back
            m_arriving.take(request, answer.json);
            if (--m_awaited > 0) return;
            m_hasCatalog = true;
            m_form.setCatalog(m_arriving);
        });
    }
}

void FormAnswers::formChanged() {
    m_validated = false;
    m_pause.start();
}

void FormAnswers::askAll() {
    if (!m_hasCatalog || !m_service.isAvailable()) return;
    const auto spec = m_form.spec();
    ask("validate", {{"spec", spec}}, [this](const EngineAnswer& answer) {
        m_validated = true;
        m_specProblems = answer.problems;
        collectProblems();
        emit validated();
    });
    const QJsonObject forCurve{{"spec", spec}, {"points", kCurvePoints}, {"steps_per_epoch", m_plan["steps_per_epoch"].toInt(100)}};
    askIfOther("schedule", part(spec, {"schedule", "learning_rate", "epochs"}), forCurve, [this](const EngineAnswer& answer) {
        m_curve = answer.ok() ? answer.json : QJsonObject();
        emit curveChanged();
    });
    askIfOther("samples", part(spec, {"dataset", "augmentation", "seed"}), {{"spec", spec}, {"count", kSamples}},
               [this](const EngineAnswer& answer) { takeSamples(answer); });
    askIfOther("plan", part(spec, {"dataset", "model", "devices", "batch", "accumulation", "mode", "shards", "shard_threads",
                                   "optimizer", "epochs", "bucket_bytes", "label_smoothing", "average_decay"}),
               {{"spec", spec}}, [this](const EngineAnswer& answer) { takePlan(answer); });
    emit samplesChanged();                                   // that they are being read
}

void FormAnswers::ask(const QString& request, QJsonObject arguments, std::function<void(const EngineAnswer&)> take) {
    if (m_open.contains(request)) m_service.withdraw(m_open.take(request));
    m_open[request] = m_service.ask(request, std::move(arguments), this, [this, request, take](const EngineAnswer& answer) {
        m_open.remove(request);
        take(answer);
    });
}

void FormAnswers::askIfOther(const QString& request, const QJsonObject& about, QJsonObject arguments,
                             std::function<void(const EngineAnswer&)> take) {
    if (m_asked.contains(request) && m_asked[request] == about) return;
    m_asked[request] = about;
    ask(request, std::move(arguments), std::move(take));
}

void FormAnswers::inspect(const QString& path, std::function<void(const EngineAnswer&)> done) {
    ask("inspect", {{"path", path}}, std::move(done));
}

void FormAnswers::takePlan(const EngineAnswer& answer) {
    m_plan = answer.ok() ? answer.json : QJsonObject();
    m_planProblems = answer.problems;
    collectProblems();
    emit planChanged();
}

void FormAnswers::takeSamples(const EngineAnswer& answer) {
    m_samples = answer.ok() ? answer.json : QJsonObject();
    m_dataProblems = answer.problems;
    collectProblems();
    emit samplesChanged();
}

// The plan repeats what validation says, and what opening the data says.
void FormAnswers::collectProblems() {
    auto all = m_specProblems;
    for (const auto* more : {&m_planProblems, &m_dataProblems}) {
        for (const auto& each : *more) {
            if (std::ranges::find(all, each) == all.end()) all.push_back(each);
        }
    }
    std::erase_if(all, [this](const Problem& each) {
        const bool ofData = std::ranges::find(m_dataProblems, each) != m_dataProblems.end();
        return ofData && std::ranges::find(m_specProblems, each) == m_specProblems.end();
    });
    m_form.setProblems(all);
}

}  // namespace lockstep::ui
