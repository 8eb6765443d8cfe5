#include <algorithm>
#include <bit>

#include "engine/core/number_text.h"
#include "engine/data/augment.h"
#include "engine/ops/update.h"
#include "engine/spec/kept_checkpoints.h"
#include "engine/spec/layer_list.h"
#include "engine/spec/shares.h"
#include "engine/spec/trial_fields.h"
#include "engine/train/plan_run.h"
#include "engine/train/schedule.h"
#include "engine/train/weights.h"

namespace lockstep {

namespace {

template <class Entries, class Name>
std::string namesOf(const Entries& entries, Name name) {
    std::string names;
    for (const auto& entry : entries) names += (names.empty() ? "" : ", ") + entry.*name;
    return names;
}

// Resolves a spec field by field and remembers what is wrong with each.
class Resolver {
public:
    Resolver(const TrialSpec& spec, const Environment& environment) : m_spec(spec), m_environment(environment) {}

    Result<ResolvedSpec> resolve() {
        m_resolved.spec = m_spec;
        resolveDataset();
        resolveModel();
        resolveDevices();
        resolvePrecision();
        resolveOptimizer();
        resolveSchedule();
        resolveMode();
        resolveAugmentation();
        checkLoaderLimit();
        if (const auto kept = parseKept(m_spec.keepCheckpoints); kept.ok()) m_resolved.kept = kept.value();
        else m_problems.push_back(kept.problems().front());
        for (const TrialField& each : trialFields()) {
            if (auto problem = problemOf(each)) m_problems.push_back(std::move(*problem));
            else requireLanguage(each);
        }
        if (!m_problems.empty()) return std::move(m_problems);
        return std::move(m_resolved);
    }

private:
    // Held at less, a batch would not come in time.
    void checkLoaderLimit() {
        const double least = 2 * static_cast<double>(m_spec.batch) / m_spec.timeout;
        if (m_spec.loaderLimit <= 0 || m_spec.loaderLimit >= least) return;
        add("loader_limit", "spec.loader-limit",
            {formatted("%g", m_spec.loaderLimit), std::to_string(m_spec.batch), formatted("%g", m_spec.timeout),
             formatted("%.3g", least)});
    }

    void add(std::string field, std::string code, std::vector<std::string> args) {
        m_problems.push_back({std::move(field), std::move(code), std::move(args)});
    }

    std::optional<ParamValues> params(const ParamSchema& schema, const std::map<std::string, ParamValue>& given,
                                      std::string_view field) {
        Result<ParamValues> values = ParamValues::from(schema, given, field);
        if (values.ok()) return std::move(values).value();
        m_problems.insert(m_problems.end(), values.problems().begin(), values.problems().end());
        return std::nullopt;
    }

    void resolveDataset() {
        const DatasetEntry* entry = m_environment.dataset(m_spec.dataset.id);
        if (!entry)
            return add("dataset", "spec.unknown-dataset",
                       {m_spec.dataset.id, namesOf(m_environment.datasets(), &DatasetEntry::id)});
        m_resolved.dataset = entry;
        if (auto values = params(entry->params, m_spec.dataset.params, "dataset")) m_resolved.datasetParams = *values;
        if (const auto path = dataPathOf(*entry, m_spec.dataPath); !path.ok())
            m_problems.push_back(path.problems().front());
    }

    void resolveModel() {
        const ModelEntry* entry = m_environment.model(m_spec.model.id);
        if (!entry)
            return add("model", "spec.unknown-model",
                       {m_spec.model.id, namesOf(m_environment.models(), &ModelEntry::name)});
        m_resolved.model = entry;
        if (auto values = params(entry->params, m_spec.model.params, "model")) m_resolved.modelParams = *values;
        m_resolved.frozen = parseLayers(m_spec.frozen);
        if (!m_resolved.frozen.empty() && m_problems.empty()) requireLayers(*entry);
    }

    // Names of layers do not depend on the images.
    void requireLayers(const ModelEntry& entry) {
        ModelInput input = usualInput(entry, m_resolved.modelParams);
        input.frozen = m_resolved.frozen;
        const auto forward = buildForward(entry, m_resolved.modelParams, input, true);
        if (!forward.ok() && forward.problems().front().field == "frozen")
            m_problems.push_back(forward.problems().front());
    }

    void resolveDevices() {
        const DeviceRequest request = m_environment.deviceRequest(m_spec.devices);
        m_resolved.spec.devices = namedDevices(m_spec.devices, request);
        Result<std::vector<DeviceChoice>> devices = parseDevices(m_resolved.spec.devices, request);
        if (!devices.ok()) {
            m_problems.insert(m_problems.end(), devices.problems().begin(), devices.problems().end());
            return;
        }
        m_resolved.devices = std::move(devices).value();
        m_resolved.backend = m_environment.backend(m_resolved.devices.front().backend);
    }

    void resolvePrecision() {
        const Backend* backend = m_resolved.backend;
        const auto precision = precisionOf(m_spec.precision);
        if (!backend || !precision || backend->offers(*precision)) return;  // an unknown one is the spec's own problem
        add("precision", "spec.no-such-precision", {m_spec.precision, std::string(backend->name())});
    }

    void resolveOptimizer() {
        const UpdateEntry* entry = findUpdateRule(m_spec.optimizer.id);
        if (!entry)
            return add("optimizer", "spec.unknown-optimizer",
                       {m_spec.optimizer.id, namesOf(updateRules(), &UpdateEntry::name)});
        if (auto values = params(entry->params, m_spec.optimizer.params, "optimizer"))
            m_resolved.update = entry->make(*values);
        m_resolved.update.averageDecay = m_spec.averageDecay;
    }

    void resolveSchedule() {
        const ScheduleEntry* entry = findSchedule(m_spec.schedule.id);
        if (!entry)
            return add("schedule", "spec.unknown-schedule",
                       {m_spec.schedule.id, namesOf(schedules(), &ScheduleEntry::name)});
        if (auto values = params(entry->params, m_spec.schedule.params, "schedule"))
            m_resolved.scheduleParams = *values;
        if (!isGood("batch") || !isGood("learning_rate_batch")) return;
        const double factor = rateFactor(m_spec.learningRateRule, m_spec.batch, m_spec.learningRateBatch);
        m_resolved.learningRate = m_spec.learningRate * factor;
        m_resolved.warmupFrom = factor > 1 ? 1 / factor : 0;
    }

    void resolveAugmentation() {
        auto values = params(augmentationSchema(), m_spec.augmentation, "augmentation");
        if (!values) return;
        m_resolved.augmentationParams = std::move(*values);
        if (!m_resolved.model || m_resolved.model->task == ModelTask::ImageClasses) return;
        if (augmentationFrom(m_resolved.augmentationParams) == Augmentation{}) return;
        add("augmentation", "spec.augmentation-of-text", {m_resolved.model->name});
    }

    // What is said of the text that a model is to write.
    void requireLanguage(const TrialField& each) {
        if (!m_resolved.model || m_resolved.model->task == ModelTask::NextTokens || m_spec.sampleLength == 0) return;
        if (!each.field.name.starts_with("sample_") || each.valueIn(m_spec) == each.field.fallback) return;
        add(each.field.name, "spec.writes-no-text", {text(each.valueIn(m_spec)), m_resolved.model->name});
    }

    void resolveMode() {
        const auto devices = static_cast<std::int64_t>(m_resolved.devices.size());
        if (m_spec.reproducible()) resolveShards(devices);
        else if (devices > 0) requireSamples(devices);
        if (devices > 0) resolveShares();
    }

    // One thread count for all shards, so that the same kernels run on any number of devices.
    void resolveShards(std::int64_t devices) {
        const std::string shards = std::to_string(m_spec.shards);
        if (m_spec.accumulation != 1)
            add("accumulation", "spec.accumulation-of-shards", {std::to_string(m_spec.accumulation)});
        if (m_spec.batchNorm == "synchronised") add("batch_norm", "spec.synchronised-shards", {});
        if (!isGood("shards") || !isGood("shard_threads")) return;
        if (!std::has_single_bit(static_cast<std::uint64_t>(m_spec.shards)))
            return add("shards", "spec.shards-not-a-power", {shards});
        if (devices > 0 && m_spec.shards % devices != 0)
            add("devices", "spec.shards-undivided", {std::to_string(devices), shards});
        if (m_spec.batch >= 1 && m_spec.batch < m_spec.shards)
            add("batch", "spec.batch-below-shards", {std::to_string(m_spec.batch), shards});
        for (DeviceChoice& device : m_resolved.devices) {
            device.isVirtual = device.isVirtual || m_spec.shardThreads > device.threads;
            device.threads = static_cast<int>(m_spec.shardThreads);
        }
    }

    void requireSamples(std::int64_t devices) {
        const std::int64_t passes = m_spec.accumulation;
        if (!isGood("batch") || !isGood("accumulation") || m_spec.batch >= devices * passes) return;
        const std::string batch = std::to_string(m_spec.batch), each = std::to_string(devices);
        if (passes == 1) return add("batch", "spec.batch-too-small", {batch, each});
        add("batch", "spec.batch-below-accumulation",
            {batch, each, std::to_string(passes), std::to_string(devices * passes)});
    }

    void resolveShares() {
        if (m_spec.shares.empty()) return;
        if (m_spec.reproducible()) return add("shares", "spec.shares-of-shards", {m_spec.shares});
        if (m_spec.shares == kBalanced) return;
        auto weights = parseShares(m_spec.shares, m_resolved.devices.size());
        if (weights.ok()) m_resolved.shares = std::move(weights).value();
        else m_problems.push_back(weights.problems().front());
    }

    std::optional<Problem> problemOf(const TrialField& each) const {
        return check(each.field, each.valueIn(m_spec), each.field.name);
    }

    bool isGood(std::string_view name) const { return !problemOf(*findTrialField(name)); }

    const TrialSpec& m_spec;
    const Environment& m_environment;
    ResolvedSpec m_resolved;
    std::vector<Problem> m_problems;
};

}  // namespace

Result<ResolvedSpec> resolve(const TrialSpec& spec, const Environment& environment) {
    return Resolver(spec, environment).resolve();
}

std::vector<Problem> validate(const TrialSpec& spec, const Environment& environment) {
    const auto resolved = resolve(spec, environment);
    return resolved.ok() ? weightsProblems(resolved.value()) : resolved.problems();
}

}  // namespace lockstep
