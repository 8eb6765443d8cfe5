#include "tests/train/train_fixture.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "engine/backend/null/null_backend.h"
#include "engine/backend/reference/reference_backend.h"
#include "engine/core/random.h"
#ifdef LOCKSTEP_TESTS_CPU
#include "engine/backend/cpu/cpu_backend.h"
#endif

namespace lockstep {

PatternDataset::PatternDataset(std::int64_t count, ImageShape shape, int classes, std::uint64_t seed, double noise)
    : m_seed(seed), m_noise(noise) {
    m_info.id = "patterns";
    m_info.count = count;
    m_info.fields = imageFields(shape);
    for (int i = 0; i < classes; ++i) m_info.classes.push_back("class " + std::to_string(i));
    m_info.mean.assign(static_cast<std::size_t>(shape.channels), 0.5f);
    m_info.deviation.assign(static_cast<std::size_t>(shape.channels), 0.25f);
}

void PatternDataset::read(std::int64_t index, std::span<const std::span<std::byte>> into) const {
    if (beforeRead) beforeRead(index);
    const auto label = static_cast<std::int32_t>(index % static_cast<std::int64_t>(m_info.classes.size()));
    const CounterRng pattern(99, streamOf("pattern"), 0, static_cast<std::uint64_t>(label));
    const CounterRng noise(m_seed, streamOf("noise"), 0, static_cast<std::uint64_t>(index));
    for (std::size_t i = 0; i < into[0].size(); ++i) {
        const auto element = static_cast<std::uint32_t>(i);
        const double pixel = 255 * pattern.uniform(element) + m_noise * noise.normal(element);
        into[0][i] = static_cast<std::byte>(std::clamp(pixel, 0.0, 255.0));
    }
    std::memcpy(into[1].data(), &label, sizeof label);
}

SentenceDataset::SentenceDataset(std::int64_t count, ModelTask task, std::uint64_t seed) : m_seed(seed) {
    m_info.id = "sentences";
    m_info.count = count;
    m_info.fields = task == ModelTask::NextTokens ? languageFields(kTokens) : textFields(kTokens);
    for (int i = 0; i < kWords; ++i) m_info.classes.push_back("word " + std::to_string(i));
}

void SentenceDataset::read(std::int64_t index, std::span<const std::span<std::byte>> into) const {
    const CounterRng rng(m_seed, streamOf("sentence"), 0, static_cast<std::uint64_t>(index));
    const auto field = [&](std::size_t f) { return reinterpret_cast<std::int32_t*>(into[f].data()); };
    const auto word = [&](std::uint32_t i) { return static_cast<std::int32_t>(rng.below(kWords, i)); };
    const auto following = [&](std::int32_t now, std::uint32_t i) {
        return word(i) == 0 ? word(i + 100) : (2 * now + 1) % kWords;
    };
    std::int32_t* tokens = field(0);
    tokens[0] = static_cast<std::int32_t>(index % kWords);
    for (std::uint32_t t = 1; t < kTokens; ++t) tokens[t] = following(tokens[t - 1], t);
    if (into.size() == 2) {
        for (std::uint32_t t = 0; t < kTokens; ++t)
            field(1)[t] = t < index % (kTokens + 1) ? -1 : following(tokens[t], t + 1);
        return;
    }
    *field(1) = static_cast<std::int32_t>(1 + index % kTokens);
    *field(2) = tokens[0];
}

bool readsImages(const std::string& model) {
    return findModel(builtinModels(), model)->task == ModelTask::ImageClasses;
}

DatasetSplits dataFor(const std::string& model, std::int64_t train, std::int64_t test) {
    const ModelTask task = findModel(builtinModels(), model)->task;
    if (task == ModelTask::ImageClasses) return patterns(train, test);
    return {std::make_shared<SentenceDataset>(train, task, 1), std::make_shared<SentenceDataset>(test, task, 2)};
}

DatasetSplits patterns(std::int64_t train, std::int64_t test, ImageShape shape, int classes) {
    return {std::make_shared<PatternDataset>(train, shape, classes, 1),
            std::make_shared<PatternDataset>(test, shape, classes, 2)};
}

bool hasCpuBackend() {
#ifdef LOCKSTEP_TESTS_CPU
    return true;
#else
    return false;
#endif
}

Environment environmentOf(std::unique_ptr<Backend> backend) {
    Environment environment;
    environment.add(std::move(backend));
    for (const ModelEntry& model : builtinModels()) environment.add(model);
    DatasetEntry entry;
    entry.id = "patterns";
    entry.needsPath = false;
    environment.add(entry);
    return environment;
}

Environment makeTestEnvironment() {
    Environment e = environmentOf(makeReferenceBackend());
    e.add(makeNullBackend());
#ifdef LOCKSTEP_TESTS_CPU
    e.add(makeCpuBackend());
#endif
    DatasetEntry filed;
    filed.id = "filed";
    filed.remedy = "Install it.";
    e.add(filed);
    return e;
}

const Environment& testEnvironment() {
    static const Environment environment = makeTestEnvironment();
    return environment;
}

TrialSpec smallSpec(const std::string& model, const std::string& devices) {
    TrialSpec spec;
    spec.dataset = {"patterns", {}};
    spec.model = {model, {}};
    spec.devices = devices;
    spec.batch = 8;
    spec.epochs = 2;
    spec.learningRate = 0.02;
    spec.bucketBytes = 4096;
    if (model == "mlp") spec.model.params = {{"width", std::int64_t{16}}, {"depth", std::int64_t{1}}};
    if (model == "vit") {
        spec.model.params = {{"layers", std::int64_t{1}}, {"width", std::int64_t{8}}, {"heads", std::int64_t{2}}};
    }
    if (model == "gpt" || model == "text-encoder") {
        spec.model.params = {{"layers", std::int64_t{1}},
                             {"width", std::int64_t{8}},
                             {"heads", std::int64_t{2}},
                             {"context", std::int64_t{SentenceDataset::kTokens + 2}}};
    }
    if (model == "fashion-cnn") spec.model.params = {{"width", std::int64_t{2}}};
    return spec;
}

ResolvedSpec resolved(const TrialSpec& spec, const Environment& environment) {
    Result<ResolvedSpec> result = resolve(spec, environment);
    if (result.ok()) return std::move(result).value();
    std::string text;
    for (const Problem& problem : result.problems()) {
        text += problem.field + ": " + problem.code;
        for (const std::string& arg : problem.args) text += " " + arg;
        text += "; ";
    }
    throw std::runtime_error(text);
}

void Recorder::post(std::int64_t number, const TrainEvent& event) {
    numbers.push_back(number);
    events.push_back(event);
    if (onEvent) onEvent(event);
}

std::string Recorder::order() const {
    std::string text;
    std::string_view last;
    for (const TrainEvent& event : events) {
        const std::string_view name = nameOf(event);
        if (name == "step_done" && last == name) continue;
        text += (text.empty() ? "" : " ") + std::string(name);
        if (const auto* state = std::get_if<StateChanged>(&event)) text += ":" + state->state;
        if (const auto* checkpoint = std::get_if<CheckpointWritten>(&event)) text += ":" + checkpoint->role;
        last = name;
    }
    return text;
}

std::map<std::string, HostTensor> allTensors(Replica& replica) {
    std::map<std::string, HostTensor> tensors;
    for (const std::string& name : replica.tensorNames()) tensors.emplace(name, replica.read(name));
    return tensors;
}

Run run(RunRequest request) {
    Run out;
    RunControl control;
    std::mutex mutex;
    out.recorder.onEvent = [&](const TrainEvent& event) {
        if (request.onEvent) request.onEvent(event, control);
    };
    const auto given = request.options.afterStep;
    request.options.afterStep = [&](int rank, std::int64_t step, Replica& replica) {
        if (given) given(rank, step, replica);
        auto tensors = rank == 0 ? allTensors(replica) : std::map<std::string, HostTensor>();
        const std::uint64_t hash = request.hashes ? replica.hash() : 0;
        const std::lock_guard lock(mutex);
        if (rank == 0) out.tensors = std::move(tensors);
        if (request.hashes) out.hashes[step].push_back(hash);
    };
    out.result =
        runTrial(resolved(request.spec, *request.environment), request.data, request.options, control, {&out.recorder});
    out.recorder.onEvent = nullptr;
    return out;
}

std::vector<double> lossesOf(const Run& run) {
    std::vector<double> losses;
    for (const StepDone& step : run.recorder.all<StepDone>()) losses.push_back(step.loss);
    return losses;
}

bool sameBits(const std::map<std::string, HostTensor>& a, const std::map<std::string, HostTensor>& b) {
    return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
        return x.first == y.first && x.second.type() == y.second.type() &&
               std::memcmp(x.second.data(), y.second.data(), x.second.bytes()) == 0;
    });
}

namespace {

template <class T>
double differenceOf(std::span<const T> a, std::span<const T> b) {
    double difference = 0, largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference = std::max(difference, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
        largest = std::max(largest, std::abs(static_cast<double>(a[i])));
    }
    if (difference == 0) return 0;
    return largest > 0 ? difference / largest : 1;
}

}  // namespace

double relativeDifference(const std::map<std::string, HostTensor>& a, const std::map<std::string, HostTensor>& b) {
    double worst = a.size() == b.size() ? 0 : 1;
    for (const auto& [name, tensor] : a) {
        const auto other = b.find(name);
        if (other == b.end() || !(other->second.type() == tensor.type())) return 1;
        const double difference = tensor.type().dtype == DType::F64
                                      ? differenceOf(tensor.as<double>(), other->second.as<double>())
                                      : differenceOf(tensor.as<float>(), other->second.as<float>());
        worst = std::isnan(difference) ? 1 : std::max(worst, difference);
    }
    return worst;
}

}  // namespace lockstep
