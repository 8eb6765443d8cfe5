#include "ui/train/form_answers.h"

#include <QJsonDocument>
#include <algorithm>
#include <type_traits>

#include "ui/plot/run_text.h"

namespace lockstep::ui {

namespace {

constexpr int kPauseMs = 150;
constexpr int kSamples = 10, kCurvePoints = 240;

// Which parts of a spec an answer depends on.
const QStringList kOfCurve{"schedule", "learning_rate", "epochs", "learning_rate_rule", "learning_rate_batch", "batch"};
const QStringList kOfSamples{"dataset", "model", "augmentation", "seed"};
const QStringList kOfPlan{"dataset",       "model",           "devices",       "batch",     "accumulation",
                          "mode",          "shards",          "shard_threads", "optimizer", "epochs",
                          "bucket_bytes",  "label_smoothing", "average_decay", "shares",    "batch_norm",
                          "weights",       "new_head",        "frozen",        "recompute", "sample_length",
                          "sample_prompt", "precision"};

QJsonObject part(const QJsonObject& spec, const QStringList& keys) {
    QJsonObject out;
    for (const auto& key : keys) out[key] = spec[key];
    return out;
}

// "Measured: fp32 264 samples per second, bf16 305 (1.16 times)."
QString speedsText(const SpeedsAnswer& answer) {
    QStringList each;
    for (const auto& [precision, rate] : answer.speeds) {
        const double first = answer.speeds.front().samplesPerSecond;
        const auto name = QString::fromStdString(precision);
        each << (each.isEmpty()
                     ? FormAnswers::tr("%1 %2 samples per second").arg(name, runCount(rate))
                     : FormAnswers::tr("%1 %2 (%3 times)").arg(name, runCount(rate)).arg(rate / first, 0, 'f', 2));
    }
    return each.isEmpty() ? QString() : FormAnswers::tr("Measured: %1.").arg(each.join(", "));
}

}  // namespace

FormAnswers::FormAnswers(EngineService& service, SpecForm& form, QObject* parent)
    : QObject(parent), m_service(service), m_reader(service.program()), m_form(form) {
    m_pause.setSingleShot(true);
    m_pause.setInterval(kPauseMs);
    connect(&m_pause, &QTimer::timeout, this, &FormAnswers::askAll);
    connect(&form, &SpecForm::changed, this, &FormAnswers::formChanged);
    connect(&form, &SpecForm::measuring, this, &FormAnswers::measure);
    connect(&service, &EngineService::available, this, [this] {
        m_asked.clear();  // of a child that is gone
        if (!m_hasCatalog) fetchCatalog();
        else formChanged();
    });
    connect(&m_reader, &EngineService::reading, this, [this](const ServeProgress& progress) {
        m_progress = progress;
        emit progressChanged();
    });
    if (service.isAvailable()) fetchCatalog();
}

void FormAnswers::measure() {
    if (!m_meter) m_meter = std::make_unique<EngineService>(m_service.program());
    m_meter->retry();
    m_meter->ask<SpeedsRequest>({specText()}, this, [this, of = m_form.speedsAreOf()](const auto& reply) {
        m_form.setSpeeds(of, speedsText(reply.answer), reply.problems);
    });
}

void FormAnswers::endMeasuring() {
    m_meter.reset();
    m_form.endMeasuring();
}

bool FormAnswers::isReady() const {
    return m_hasCatalog && m_validated && m_form.problems().empty() && m_dataProblems.empty();
}

void FormAnswers::fetchCatalog() {
    m_arriving = {};
    m_awaited = 0;
    fetch<SettingsRequest>();
    fetch<DatasetsRequest>();
    fetch<ModelsRequest>();
    fetch<DevicesRequest>();
    fetch<PresetsRequest>();
}

template <class Request>
void FormAnswers::fetch() {
    ++m_awaited;
    ask<Request>({}, [this](const EngineReply<Request>& reply) {
        if (!reply.ok()) return;  // the service says what is wrong, and comes back
        m_arriving.take(reply.answer);
        if (--m_awaited > 0) return;
        m_hasCatalog = true;
        m_form.setCatalog(m_arriving);
    });
}

void FormAnswers::formChanged() {
    m_validated = false;
    const auto validation = nameOf<ValidateRequest>();
    if (m_open.contains(validation)) m_service.withdraw(m_open.take(validation));
    m_pause.start();
}

void FormAnswers::askAll() {
    if (!m_hasCatalog || !m_service.isAvailable()) return;
    m_reader.retry();  // where it has died too often
    const auto spec = specText();
    ask<ValidateRequest>({spec}, [this](const auto& reply) { takeProblems(reply); });
    askCurve();
    askIfOther<SamplesRequest>(kOfSamples, {spec, kSamples}, [this](const auto& reply) { takeSamples(reply); });
    askIfOther<PlanRequest>(kOfPlan, {spec}, [this](const auto& reply) { takePlan(reply); });
    emit samplesChanged();  // that they are being read
    emit planChanged();     // that it is old
}

// A warm-up is as long as its epochs have steps, which the plan knows.
void FormAnswers::askCurve() {
    const qint64 steps = m_plan ? m_plan->stepsPerEpoch : ScheduleRequest{}.stepsPerEpoch;
    if (steps != m_curveSteps) m_asked.remove(nameOf<ScheduleRequest>());
    m_curveSteps = steps;
    askIfOther<ScheduleRequest>(kOfCurve, {specText(), kCurvePoints, steps}, [this](const auto& reply) {
        m_curve = reply.answer;
        emit curveChanged();
    });
}

JsonText FormAnswers::specText() const {
    return {QJsonDocument(m_form.spec()).toJson(QJsonDocument::Compact).toStdString()};
}

template <class Request>
void FormAnswers::ask(const Request& request, std::function<void(const EngineReply<Request>&)> take) {
    constexpr bool kReadsData = std::is_same_v<Request, SamplesRequest> || std::is_same_v<Request, PlanRequest> ||
                                std::is_same_v<Request, InspectRequest>;
    EngineService& service = kReadsData ? m_reader : m_service;
    const auto name = nameOf<Request>();
    if constexpr (kReadsData) m_progress.reset();
    if (m_open.contains(name)) service.withdraw(m_open.take(name));
    m_open[name] = service.ask<Request>(request, this, [this, name, take = std::move(take)](const auto& reply) {
        m_open.remove(name);
        if constexpr (kReadsData) m_progress.reset();
        take(reply);
    });
}

template <class Request>
void FormAnswers::askIfOther(const QStringList& about, const Request& request,
                             std::function<void(const EngineReply<Request>&)> take) {
    const auto now = part(m_form.spec(), about);
    const auto name = nameOf<Request>();
    if (m_asked.contains(name) && m_asked[name] == now) return;
    m_asked[name] = now;
    ask<Request>(request, [this, name, about, now, take = std::move(take)](const auto& reply) {
        if (!reply.ok()) m_asked.remove(name);  // what was wrong may lie outside of `about`
        if (part(m_form.spec(), about) == now) take(reply);
    });
}

void FormAnswers::inspect(const QString& path, std::function<void(const EngineReply<InspectRequest>&)> done) {
    ask<InspectRequest>({path.toStdString()}, std::move(done));
}

void FormAnswers::takeProblems(const EngineReply<ValidateRequest>& reply) {
    m_validated = true;
    m_specProblems = reply.problems;
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

void FormAnswers::takePlan(const EngineReply<PlanRequest>& reply) {
    const auto model = m_form.value("model").toString();
    m_planProblems = beyondTheSpec(reply.problems);
    m_planIsOld = !reply.ok() && m_planProblems.empty() && model == m_plannedModel;
    if (!m_planIsOld) m_plan = reply.ok() ? std::optional(reply.answer) : std::nullopt;
    m_plannedModel = model;
    const bool isRemarked = reply.ok() && reply.answer.ofPrecision.has_value();
    m_form.setPrecisionRemark(isRemarked ? QString::fromStdString(reply.answer.ofPrecision->what) : QString());
    collectProblems();
    askCurve();
    emit planChanged();
}

void FormAnswers::takeSamples(const EngineReply<SamplesRequest>& reply) {
    const QStringList dataset{m_form.value("dataset").toString(), m_form.value("dataset.path").toString()};
    m_dataProblems = beyondTheSpec(reply.problems);
    const bool mayStay = m_dataProblems.empty() && dataset == m_sampledDataset;
    if (reply.ok() || !mayStay) m_samples = reply.ok() ? std::optional(reply.answer) : std::nullopt;
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
