#include "ui/train/spec_form.h"

#include <QUndoCommand>
#include <algorithm>
#include <utility>

#include "engine/spec/trial_settings.h"
#include "ui/history/setting_text.h"
#include "ui/train/sweep_form.h"

namespace lockstep::ui {

namespace {

constexpr qint64 kMergeMs = 1500;
constexpr std::int64_t kMostBatch = std::int64_t{1} << 24;

// Where a group's id and settings lie: "sgd" is short for {"id": "sgd"}.
QJsonObject objectOf(const QJsonValue& choice) {
    return choice.isString() ? QJsonObject{{"id", choice}} : choice.toObject();
}

SettingPath pathOf(const QString& text) { return SettingPath::from(text.toStdString()).value_or(SettingPath()); }
bool isGroup(const QString& name) { return isChoice(name.toStdString()); }

const FormField* find(const QVector<FormField>& fields, const QString& path) {
    const auto found = std::find_if(fields.begin(), fields.end(), [&](const auto& each) { return each.path == path; });
    return found == fields.end() ? nullptr : &*found;
}

QJsonObject with(QJsonObject spec, const QString& path, const QJsonValue& value) {
    const auto [group, name] = pathOf(path);
    if (group.empty() || isGroup(path)) {
        spec[path] = value;
        return spec;
    }
    const auto outer = QString::fromStdString(group);
    auto inner = objectOf(spec[outer]);
    inner[QString::fromStdString(name)] = value;
    spec[outer] = inner;
    return spec;
}

std::int64_t atLeastOne(const QJsonValue& value) { return std::clamp<std::int64_t>(value.toInteger(1), 1, kMostBatch); }

}  // namespace

class SpecEdit : public QUndoCommand {
public:
    SpecEdit(SpecForm& form, FormState after, const QString& what, QString mergeKey)
        : QUndoCommand(what),
          m_form(form),
          m_before(form.m_state),
          m_after(std::move(after)),
          m_key(std::move(mergeKey)),
          m_time(form.m_clock.elapsed()),
          m_typing(form.m_typing) {}
    void undo() override { m_form.show(m_before); }
    void redo() override { m_form.show(m_after); }
    int id() const override { return 1; }
    bool mergeWith(const QUndoCommand* other) override {
        const auto& next = static_cast<const SpecEdit&>(*other);
        const bool apart = next.m_key != m_key || next.m_typing != m_typing || next.m_time - m_time > kMergeMs;
        if (m_key.isEmpty() || apart) return false;
        m_after = next.m_after;
        m_time = next.m_time;
        setObsolete(m_after == m_before);
        return true;
    }

private:
    SpecForm& m_form;
    FormState m_before, m_after;
    QString m_key;
    qint64 m_time;
    int m_typing;
};

SpecForm::SpecForm(QObject* parent) : QObject(parent) {
    m_clock.start();
    m_sweep = std::make_unique<SweepForm>(*this);  // hears of changes before all others
    connect(m_sweep.get(), &SweepForm::problemsChanged, this, &SpecForm::problemsChanged);
}

SpecForm::~SpecForm() = default;

void SpecForm::setCatalog(FormCatalog catalog) {
    m_catalog = std::move(catalog);
    if (m_state.spec.isEmpty()) m_state.spec = m_catalog.defaults;
    emit catalogChanged();
    emit changed();
}

void SpecForm::setSpec(const QJsonObject& spec, const QString& what) { setState({spec, {}}, what); }

void SpecForm::setState(FormState state, const QString& what, const QString& mergeKey) {
    state.sweep = withoutOrphans(state, m_catalog);
    if (state == m_state) return;
    m_history.push(new SpecEdit(*this, std::move(state), what, mergeKey));
}

QJsonValue SpecForm::value(const QString& path) const {
    const auto where = pathOf(path);
    const auto group = QString::fromStdString(where.group), name = QString::fromStdString(where.name);
    if (where.isChoice())
        return objectOf(m_state.spec.contains(group) ? m_state.spec[group] : m_catalog.defaults[group])[name];
    const auto outer = group.isEmpty() ? m_state.spec : objectOf(m_state.spec[group]);
    if (outer.contains(name)) return outer[name];
    const auto known = group.isEmpty() ? m_catalog.trial : fields(group);
    const auto* field = find(known, path);
    return field ? field->fallback : QJsonValue();
}

void SpecForm::setValue(const QString& path, const QJsonValue& value, Edit edit) {
    if (this->value(path) == value) return;
    const auto* field = trialField(path);
    auto spec = with(m_state.spec, path, value);
    if (path == "mode" && value == "reproducible" && spec.contains("accumulation")) spec["accumulation"] = 1;
    put(spec, field ? field->label : labelOf(path.section('.', -1)), edit == Edit::Typing ? path : QString());
}

void SpecForm::choose(const QString& group, const QString& id) {
    if (value(group) == id) return;
    put(with(m_state.spec, group, QJsonObject{{"id", id}}), labelOf(group) + ' ' + id);
}

const FormOption* SpecForm::chosen(const QString& group) const {
    return m_catalog.option(group, value(group).toString());
}

QVector<FormField> SpecForm::fields(const QString& group) const {
    if (group == "augmentation") return m_catalog.augmentation;
    const auto* option = chosen(group);
    return option ? option->fields : QVector<FormField>();
}

const FormField* SpecForm::trialField(const QString& name) const { return find(m_catalog.trial, name); }

BatchEquation SpecForm::equation() const {
    BatchEquation equation;
    equation.batch = atLeastOne(value("batch"));
    equation.devices = std::max(devices().count(), 1);
    equation.passes = atLeastOne(value("accumulation"));
    if (isReproducible()) equation.passes = std::max<std::int64_t>(1, atLeastOne(value("shards")) / equation.devices);
    return equation;
}

void SpecForm::setPerDevice(std::int64_t perDevice) {
    const auto batch = static_cast<qint64>(withPerDevice(equation(), perDevice).batch);
    if (value("batch") == batch) return;
    put(with(m_state.spec, "batch", batch), tr("Per-device batch"), "per-device");
}

void SpecForm::setPasses(std::int64_t passes) {
    if (isReproducible() || passes == equation().passes) return;
    auto spec = with(m_state.spec, "accumulation", static_cast<qint64>(passes));
    spec["batch"] = static_cast<qint64>(withPasses(equation(), passes, m_hold).batch);
    put(spec, tr("Accumulation"), "accumulation");
}

void SpecForm::setDevices(const QString& text, Edit edit) {
    if (value("devices") == text) return;
    auto spec = with(m_state.spec, "devices", text);
    const int count = DeviceTiles(m_catalog.devices, text).count();
    if (count > 0) spec["batch"] = static_cast<qint64>(withDevices(equation(), count, m_hold).batch);
    put(spec, tr("Devices"), edit == Edit::Typing ? "devices" : QString());
}

QStringList SpecForm::unknownSettings() const {
    QStringList unknown;
    for (auto it = m_state.spec.begin(); it != m_state.spec.end(); ++it) {
        const bool choice = isGroup(it.key());
        if (!choice && it.key() != "augmentation") {
            if (!trialField(it.key())) unknown << it.key();
            continue;
        }
        if (choice && !chosen(it.key())) continue;
        const auto known = fields(it.key());
        const auto settings = it.value().toObject();
        for (auto each = settings.begin(); each != settings.end(); ++each) {
            const bool own = choice && (each.key() == "id" || (it.key() == "dataset" && each.key() == "path"));
            const auto path = it.key() + '.' + each.key();
            if (!own && !find(known, path)) unknown << path;
        }
    }
    return unknown;
}

void SpecForm::leaveOutUnknown() {
    auto spec = m_state.spec;
    for (const auto& path : unknownSettings()) {
        const auto outer = path.section('.', 0, 0);
        if (outer == path) {
            spec.remove(path);
            continue;
        }
        auto inner = spec[outer].toObject();
        inner.remove(path.mid(outer.size() + 1));
        spec[outer] = inner;
    }
    put(spec, tr("Unknown settings left out"));
}

void SpecForm::setProblems(Problems problems) {
    if (problems == m_problems) return;
    m_problems = std::move(problems);
    emit problemsChanged();
}

QString SpecForm::noteAt(const QString& path) const {
    if (path != "precision") return {};
    if (m_isMeasuring) return tr("The model trains in each precision by turns, for some seconds…");
    if (value(path).toString() == "auto" && value("mode").toString() == "reproducible")
        return tr("A reproducible run takes fp32: a measurement is not the same every time.");
    if (m_speeds && m_speeds->of == speedsAreOf()) return m_speeds->words;
    if (value(path).toString() != "bf16" || !devices().onCpu()) return {};
    if (!m_precisionRemark.isEmpty()) return m_precisionRemark;
    const double speed = m_catalog.bf16Speed;
    if (speed <= 0) return {};
    return tr("On this processor products of matrices run at %1 times the speed of fp32.").arg(speed, 0, 'f', 2);
}

void SpecForm::measure() {
    if (std::exchange(m_isMeasuring, true)) return;
    emit notesChanged();
    emit measuring();
}

void SpecForm::endMeasuring() {
    if (std::exchange(m_isMeasuring, false)) emit notesChanged();
}

void SpecForm::setPrecisionRemark(const QString& words) {
    if (std::exchange(m_precisionRemark, words) != words) emit notesChanged();
}

QJsonObject SpecForm::speedsAreOf() const {
    QJsonObject of;
    for (const char* each : {"dataset", "model", "frozen", "devices", "shares", "link_bandwidth", "link_latency",
                             "batch", "accumulation", "mode", "shards", "shard_threads", "recompute", "batch_norm",
                             "bucket_bytes", "optimizer", "average_decay", "augmentation", "label_smoothing"})
        of[each] = m_state.spec[each];
    return of;
}

void SpecForm::setSpeeds(const QJsonObject& of, const QString& words, Problems problems) {
    m_speeds = Speeds{of, words, std::move(problems)};
    m_isMeasuring = false;
    emit notesChanged();
    emit problemsChanged();
}

Problems SpecForm::problemsAt(const QString& path) const {
    Problems found = m_sweep->problemsAt(path);
    if (path == "precision" && m_speeds && m_speeds->of == speedsAreOf())
        std::ranges::copy(m_speeds->problems, std::back_inserter(found));
    std::ranges::copy_if(m_problems, std::back_inserter(found),
                         [&](const Problem& each) { return QString::fromStdString(each.field) == path; });
    return found;
}

Problems SpecForm::otherProblems() const {
    Problems found;
    std::ranges::copy_if(m_problems, std::back_inserter(found),
                         [&](const Problem& each) { return !isShown(QString::fromStdString(each.field)); });
    return found;
}

bool SpecForm::isShown(const QString& path) const {
    if (isGroup(path) || path == "dataset.path" || trialField(path)) return true;
    const auto group = path.section('.', 0, 0);
    const auto known = fields(group) + m_sweep->fieldsBeside(group);
    return find(known, path) != nullptr;
}

void SpecForm::put(QJsonObject spec, const QString& what, const QString& mergeKey) {
    setState({std::move(spec), m_state.sweep}, what, mergeKey);
}

void SpecForm::show(const FormState& state) {
    m_state = state;
    emit changed();
}

}  // namespace lockstep::ui
