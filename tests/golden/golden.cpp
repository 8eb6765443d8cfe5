#include "tests/golden/golden.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <span>
#include <stdexcept>

#include <fmt/format.h>

#include "engine/collective/host_group.h"
#include "engine/data/loader.h"
#include "engine/model/registry.h"
#include "engine/plan/compile.h"
#include "engine/train/made_batch.h"
#include "engine/train/replica.h"
#include "tests/golden/made_numbers.h"

namespace lockstep::test {

namespace {

using Json = nlohmann::json;

UpdateRule ruleOf(const Json& of) {
    const UpdateEntry& entry = *findUpdateRule(of.at("optimizer").get<std::string>());
    std::map<std::string, ParamValue> given{{"weight_decay", of.at("decay").get<double>()},
                                            {"clip_norm", of.at("clip").get<double>()}};
    if (of.contains("nesterov")) given["nesterov"] = of["nesterov"].get<bool>();
    for (const char* name : {"trust", "adam_share"})
        if (of.contains(name)) given[name] = of[name].get<double>();
    return entry.make(ParamValues::from(entry.params, given, "optimizer").value());
}

ModelInput inputOf(const Json& of) {
    ModelInput input{.batch = of.at("batch"), .classes = 10, .labelSmoothing = of.at("smoothing")};
    if (of.contains("tokens")) {
        input.tokens = of["tokens"];
        input.classes = of.at("classes");
        return input;
    }
    const Json& shape = of.at("shape");
    input.channels = shape[0];
    input.height = shape[1];
    input.width = shape[2];
    return input;
}

ParamValues paramsOf(const Json& of, const ModelEntry& model) {
    std::map<std::string, ParamValue> given;
    for (const auto& [name, value] : of.at("params").items()) {
        if (value.is_boolean()) given[name] = value.get<bool>();
        else given[name] = value.get<std::int64_t>();
    }
    return ParamValues::from(model.params, given, "").value();
}

// One replica of one case on one backend.
class Run {
public:
    Run(const Backend& backend, const Json& of, Precision precision = Precision::Fp32) : m_of(of) {
        const ModelInput input = inputOf(of);
        const ModelEntry& model = *findModel(builtinModels(), of.at("model").get<std::string>());
        const Graph forward = buildForward(model, paramsOf(of, model), input, true).value();
        m_batch = batchLayout(infoOf(model.task, input, input.batch), input.batch);
        CompileOptions options;
        options.reduces = false;
        options.precision = precision;
        m_program = std::make_shared<Program>(compileTraining({&forward}, backend, ruleOf(of), m_batch, options));
        m_device = backend.open({std::string(backend.name()), 0, 1, false, std::string(backend.name()) + ":0"});
        m_slot = m_device->allocateStaging(m_batch.bytes());
        m_group = makeHostGroup(1);
        m_replica = std::make_unique<Replica>(*m_device, *m_group[0], std::vector{m_program}, nullptr);
        m_replica->initialize(1);
        setParameters(forward);
    }

    // Runs one step and returns the mean loss.
    double step(int number) {
        fillBatch(number);
        m_replica->run(0, m_slot.data(), {1, 0, number, m_of.at("lr").get<double>()});
        return m_replica->scalar(0, "loss_sum") / m_replica->scalar(0, "weight");
    }
    double gradientNorm() { return m_replica->gate(0).gradientNorm; }

    // The gradient of the mean loss, parameter by parameter as in the graph.
    std::vector<double> gradientNorms() {
        std::vector<double> norms;
        for (const std::string& name : m_parameters) {
            const HostTensor gradient = m_replica->readGradient(name);
            double sum = 0;
            for (std::int64_t i = 0; i < gradient.type().shape.count(); ++i) sum += std::pow(element(gradient, i), 2);
            norms.push_back(std::sqrt(sum) / m_replica->scalar(0, "weight"));
        }
        return norms;
    }

    double absoluteSum(const std::vector<StorageEntry>& entries) {
        double sum = 0;
        for (const StorageEntry& entry : entries) {
            const HostTensor tensor = m_replica->read(entry.name);
            for (std::int64_t i = 0; i < tensor.type().shape.count(); ++i) sum += std::abs(element(tensor, i));
        }
        return sum;
    }
    const StoragePlan& storage() const { return *m_program->storage; }
    const std::vector<std::string>& parameters() const { return m_parameters; }

private:
    static double element(const HostTensor& tensor, std::int64_t i) {
        const auto at = static_cast<std::size_t>(i);
        return tensor.type().dtype == DType::F64 ? tensor.as<double>()[at]
                                                 : static_cast<double>(tensor.as<float>()[at]);
    }

    void setParameters(const Graph& forward) {
        std::uint64_t stream = 0;
        for (const ValueId parameter : forward.withRole(ValueRole::Parameter)) {
            const std::string& name = forward.value(parameter).name;
            m_parameters.push_back(name);
            HostTensor tensor = m_replica->read(name);
            const bool isWeight = name.ends_with("/weight");
            if (tensor.type().dtype == DType::F64) fillMade<double>(tensor, stream++, isWeight);
            else fillMade<float>(tensor, stream++, isWeight);
            m_replica->write(name, tensor);
        }
    }

    void fillBatch(int number) {
        const auto noise = [&](std::size_t i) { return uniform(1000 + static_cast<std::uint64_t>(number), i); };
        const auto image = fieldOf<float>("image");
        for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(2 * noise(i));
        const auto tokens = fieldOf<std::int32_t>("tokens"), targets = fieldOf<std::int32_t>("targets");
        const auto lengths = fieldOf<std::int32_t>("length"), labels = fieldOf<std::int32_t>("label");
        const int classes = inputOf(m_of).classes, longest = m_of.value("tokens", 1);
        const double vocabulary = targets.empty() ? kByteTokens : classes;
        for (std::size_t i = 0; i < tokens.size(); ++i)
            tokens[i] = static_cast<std::int32_t>((noise(i) + 0.5) * vocabulary);
        const auto at = [&](std::size_t i) { return (7 * static_cast<int>(i) + 3 * number) % classes; };
        for (std::size_t i = 0; i < targets.size(); ++i)
            targets[i] = (static_cast<int>(i) + number) % 5 == 0 ? -1 : at(i);
        for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = at(i);
        for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = 1 + (5 * static_cast<int>(i) + number) % longest;
    }

    template <class T>
    std::span<T> fieldOf(const char* name) {
        const int at = m_batch.find(name);
        if (at < 0) return {};
        const auto field = static_cast<std::size_t>(at), count = static_cast<std::size_t>(m_batch.capacity());
        return {reinterpret_cast<T*>(m_slot.data() + m_batch.offset(field)),
                count * m_batch.sampleBytes(field) / sizeof(T)};
    }

    const Json& m_of;
    BatchLayout m_batch;
    std::shared_ptr<const Program> m_program;
    std::unique_ptr<Device> m_device;
    Buffer m_slot;
    std::vector<std::unique_ptr<Collective>> m_group;
    std::unique_ptr<Replica> m_replica;
    std::vector<std::string> m_parameters;
};

// Empty where `value` is within the tolerance.
std::string offBy(const std::string& what, double value, double expected, double tolerance) {
    const double error = std::abs(value - expected) / std::max(1e-12, std::abs(expected));
    return error < tolerance ? "" : fmt::format("{}: {:.12g}, PyTorch {:.12g}", what, value, expected);
}

// Relative to each parameter's own norm, but for those next to nothing, like a bias before batch norm.
std::string gradientsOff(Run& run, const std::vector<double>& expected, double tolerance) {
    const std::vector<double> norms = run.gradientNorms();
    if (norms.size() != expected.size()) return fmt::format("{} gradients, PyTorch {}", norms.size(), expected.size());
    const double largest = *std::ranges::max_element(norms);
    for (std::size_t i = 0; i < norms.size(); ++i) {
        if (std::abs(norms[i] - expected[i]) >= tolerance * std::max(expected[i], 1e-3 * largest))
            return fmt::format("gradient of {}: norm {:.12g}, PyTorch {:.12g}", run.parameters()[i], norms[i],
                               expected[i]);
    }
    return {};
}

Json read(const char* name) {
    const std::string file = std::string(LOCKSTEP_SOURCE_DIR "/tests/golden/") + name;
    std::ifstream in(file);
    if (!in) throw std::runtime_error(file + " cannot be read");
    return Json::parse(in);
}

}  // namespace

std::string GoldenCase::name() const {
    const bool isApart = !of.at("params").value("tied", true);
    return model() + (isApart ? " untied " : " ") + of.at("optimizer").get<std::string>();
}

int GoldenCase::comparableSteps(int steps, double tolerance) const {
    const auto errors = of.at("single_errors").get<std::vector<double>>();
    int count = 1;
    while (count < steps && errors[static_cast<std::size_t>(count)] <= tolerance) ++count;
    return count < steps ? std::max(1, count - 1) : steps;  // the last of them is near its end
}

std::vector<GoldenCase> goldenCases() {
    const Json all = read("pytorch_losses.json"), halves = read("pytorch_bf16_losses.json");
    std::vector<GoldenCase> cases;
    for (const Json& each : all.at("cases")) cases.push_back({each, halves.at("errors").at(cases.size())});
    return cases;
}

std::vector<double> errorsInBf16(const Backend& backend, const GoldenCase& golden) {
    Run run(backend, golden.of, Precision::Bf16);
    std::vector<double> errors;
    for (const double expected : golden.of.at("losses").get<std::vector<double>>())
        errors.push_back(std::abs(run.step(static_cast<int>(errors.size())) - expected) / std::abs(expected));
    return errors;
}

std::string differences(const Backend& backend, const GoldenCase& golden, int steps, double tolerance) {
    Run run(backend, golden.of);
    const auto list = [&](const char* name) { return golden.of.at(name).get<std::vector<double>>(); };
    const auto losses = list("losses"), norms = list("gradient_norms"), gradients = list("first_gradients");
    for (int step = 0; step < steps; ++step) {
        const auto at = static_cast<std::size_t>(step);
        const std::string where = fmt::format("step {}: ", step);
        if (auto off = offBy(where + "loss", run.step(step), losses[at], tolerance); !off.empty()) return off;
        if (auto off = offBy(where + "gradient norm", run.gradientNorm(), norms[at], 100 * tolerance); !off.empty())
            return off;
        if (step > 0 || gradients.empty()) continue;
        if (auto off = gradientsOff(run, gradients, std::min(100 * tolerance, 0.05)); !off.empty()) return off;
    }
    if (std::cmp_less(steps, losses.size())) return {};
    const Json& sums = golden.of.at("absolute_sums");
    if (auto off =
            offBy("parameters", run.absoluteSum(run.storage().parameters), sums.at("parameters"), 10 * tolerance);
        !off.empty())
        return off;
    if (run.storage().buffers.empty()) return {};
    return offBy("buffers", run.absoluteSum(run.storage().buffers), sums.at("buffers"), 100 * tolerance);
}

}  // namespace lockstep::test
