#include "ui/train/form_answers.h"

#include <algorithm>

namespace lockstep::ui {

namespace {

constexpr int kPauseMs = 150;
constexpr int kSamples = 10, kCurvePoints = 240;

// Which parts of a spec an answer depends on.
const QStringList kOfCurve{"schedule", "learning_rate", "epochs", "learning_rate_rule", "learning_rate_batch", "batch"};
const QStringList kOfSamples{"dataset", "augmentation", "seed"};
const QStringList kOfPlan{
    "dataset",       "model",     "devices",  "batch",        "accumulation",    "mode",          "shards",
    "shard_threads", "optimizer", "epochs",   "bucket_bytes", "label_smoothing", "average_decay", "shares",
    "batch_norm",    "weights",   "new_head", "frozen",       "recompute",       "sample_length", "sample_prompt"};

QJsonObject part(const QJsonObject& spec, const QStringList& keys) {
    QJsonObject out;
    for (const auto& key : keys) out[key] = spec[key];
    return out;
}

}  // namespace

FormAnswers::FormAnswers(EngineService& service, SpecForm& form, QObject* parent)
    : QObject(parent), m_service(service), m_reader(service.program()), m_form(form) {
    m_pause.setSingleShot(true);
    m_pause.setInterval(kPauseMs);
    connect(&m_pause, &QTimer::timeout, this, &FormAnswers::askAll);
    connect(&form, &SpecForm::changed, this, &FormAnswers::formChanged);
    connect(&service, &EngineService::available, this, [this] {
        m_asked.clear();  // of a child that is gone
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
            if (!answer.ok()) return;  // the service says what is wrong, and comes back
            m_arriving.take(request, answer.json);
            if (--m_awaited > 0) return;
            m_hasCatalog = true;
            m_form.setCatalog(m_arriving);
        });
    }
}

void FormAnswers::formChanged() {
    m_validated = false;
    if (m_open.contains("validate")) m_service.withdraw(m_open.take("validate"));
    m_pause.start();
}

void FormAnswers::askAll() {
    if (!m_hasCatalog || !m_service.isAvailable()) return;
    m_reader.retry();  // where it has died too often
    const auto spec = m_form.spec();
    ask("validate", {{"spec", spec}}, [this](const EngineAnswer& answer) { takeProblems(answer); });
    askCurve();
    askIfOther("samples", kOfSamples, {{"spec", spec}, {"count", kSamples}},
               [this](const EngineAnswer& answer) { takeSamples(answer); });
    askIfOther("plan", kOfPlan, {{"spec", spec}}, [this](const EngineAnswer& answer) { takePlan(answer); });
    emit samplesChanged();  // that they are being read
    emit planChanged();     // that it is old
}

// A warm-up is as long as its epochs have steps, which the plan knows.
void FormAnswers::askCurve() {
    const auto spec = m_form.spec();
    const qint64 steps = m_plan.value("steps_per_epoch").toInteger(100);
    if (steps != m_curveSteps) m_asked.remove("schedule");
    m_curveSteps = steps;
    const QJsonObject arguments{{"spec", spec}, {"points", kCurvePoints}, {"steps_per_epoch", steps}};
    askIfOther("schedule", kOfCurve, arguments, [this](const EngineAnswer& answer) {
        m_curve = answer.ok() ? answer.json : QJsonObject();
        emit curveChanged();
    });
}

EngineService& FormAnswers::serviceFor(const QString& request) {
    const bool readsData = request == "samples" || request == "plan" || request == "inspect";
    return readsData ? m_reader : m_service;
}

void FormAnswers::ask(const QString& request, QJsonObject arguments, std::function<void(const EngineAnswer&)> take) {
    EngineService& service = serviceFor(request);
    if (m_open.contains(request)) service.withdraw(m_open.take(request));
    const auto answered = [this, request, take = std::move(take)](const EngineAnswer& answer) {
        m_open.remove(request);
        take(answer);
    };
    m_open[request] = service.ask(request, std::move(arguments), this, answered);
}

void FormAnswers::askIfOther(const QString& request, const QStringList& about, QJsonObject arguments,
                             std::function<void(const EngineAnswer&)> take) {
    const auto now = part(m_form.spec(), about);
    if (m_asked.contains(request) && m_asked[request] == now) return;
    m_asked[request] = now;
    ask(request, std::move(arguments), [this, request, about, now, take = std::move(take)](const EngineAnswer& answer) {
        if (!answer.ok()) m_asked.remove(request);  // what was wrong may lie outside of `about`
        if (part(m_form.spec(), about) == now) take(answer);
    });
}

void FormAnswers::inspect(const QString& path, std::function<void(const EngineAnswer&)> done) {
    ask("inspect", {{"path", path}}, std::move(done));
}

void FormAnswers::takeProblems(const EngineAnswer& answer) {
    m_validated = true;
    m_specProblems = answer.problems;
    collectProblems();
    emit validated();
}

// Whatever reads a spec repeats what validation says of it.
Problems FormAnswers::beyondTheSpec(const Problems& problems) const {
    Problems more;
    for (const auto& each : problems) {
        if (std::ranges::find(m_specProblems, each) == m_specProblems.end()) more.push_back(each);
    }
    return more;
}

void FormAnswers::takePlan(const EngineAnswer& answer) {
    const auto model = m_form.value("model").toString();
    m_planProblems = beyondTheSpec(answer.problems);
    m_planIsOld = !answer.ok() && m_planProblems.empty() && model == m_plannedModel;
    if (!m_planIsOld) m_plan = answer.ok() ? answer.json : QJsonObject();
    m_plannedModel = model;
    collectProblems();
    askCurve();
    emit planChanged();
}

void FormAnswers::takeSamples(const EngineAnswer& answer) {
    const QStringList dataset{m_form.value("dataset").toString(), m_form.value("dataset.path").toString()};
    m_dataProblems = beyondTheSpec(answer.problems);
    const bool mayStay = m_dataProblems.empty() && dataset == m_sampledDataset;
    if (answer.ok() || !mayStay) m_samples = answer.ok() ? answer.json : QJsonObject();
    m_sampledDataset = dataset;
    collectProblems();
    emit samplesChanged();
}

// What opening the data says is told where the data is shown; the plan repeats it.
void FormAnswers::collectProblems() {
    auto all = m_specProblems;
    for (const auto& each : m_planProblems) {
        if (std::ranges::find(m_dataProblems, each) == m_dataProblems.end()) all.push_back(each);
    }
    m_form.setProblems(all);
}

}  // namespace lockstep::ui
