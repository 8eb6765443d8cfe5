#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <string>

#include "engine/backend/module.h"
#include "engine/core/error.h"
#include "tests/golden/golden.h"
#include "tests/gpu/check/group_checks.h"
#include "tests/support/against_reference.h"

#ifdef LOCKSTEP_GPU_CHECK_ON_HOST
#include "engine/backend/cuda/cuda_backend.h"
#endif

// The CUDA module on a card, without Qt: every case of every op in every precision, graphs as they are fused and
// updates against the reference, whole models against PyTorch, ranks that share cards and give up, and running out of
// memory. Prints as it goes; exit status 1 if anything differs.
//   gpu_check MODULE [NAME]      only what has NAME in its name
using namespace lockstep;
using namespace lockstep::test;

namespace {

class Report {
public:
    explicit Report(std::string only) : m_only(std::move(only)) {}

    template <class Work>
    void check(const std::string& family, const std::string& name, Work work) {
        if (name.find(m_only) == std::string::npos) return;
        begin(family);
        std::string found;
        try {
            found = work();
        } catch (const std::exception& error) {
            found = error.what();
        }
        ++m_done;
        if (found.empty()) return;
        ++m_failed;
        std::printf("  DIFFERS  %s: %s\n", name.c_str(), found.c_str());
        std::fflush(stdout);
    }
    int end() {
        begin("");
        std::printf("%d checks, %d differ\n", m_allDone, m_allFailed);
        return m_allFailed == 0 ? 0 : 1;
    }

private:
    using Clock = std::chrono::steady_clock;

    void begin(const std::string& family) {
        if (family == m_family) return;
        if (!m_family.empty()) {
            const double seconds = std::chrono::duration<double>(Clock::now() - m_since).count();
            std::printf("%-28s %5d checks, %d differ, %.1f s\n", m_family.c_str(), m_done, m_failed, seconds);
            std::fflush(stdout);
        }
        m_allDone += m_done;
        m_allFailed += m_failed;
        m_done = m_failed = 0;
        m_family = family;
        m_since = Clock::now();
    }

    std::string m_only, m_family;
    int m_done = 0, m_failed = 0, m_allDone = 0, m_allFailed = 0;
    Clock::time_point m_since;
};

RunOptions optionsFor(Precision precision) {
    RunOptions options;
    options.precision = precision;
    options.inplace = precision != Precision::Fp32;
    options.scalars = {.seed = 3, .epoch = 1, .step = 5};
    return options;
}

// A card cannot have so much; the error says so, and the device goes on.
std::string outOfMemory(const Backend& backend) {
    const auto device = backend.open({"cuda", 0, 1, false, "cuda:0"});
    try {
        device->allocate(std::size_t{1} << 50);
        return "a petabyte was given";
    } catch (const EngineError& error) {
        if (error.kind() != EngineError::Kind::OutOfMemory) return std::string("another error: ") + error.what();
    }
    device->allocate(1 << 20);
    return {};
}

// Plain loops on the host take their time: one step of the large models, three of the others.
std::string wholeModel(const Backend& backend, const GoldenCase& golden) {
#ifdef LOCKSTEP_GPU_CHECK_ON_HOST
    return differences(backend, golden, golden.isOfZoo() ? 1 : 3, golden.isOfZoo() ? 1e-3 : 1e-5);
#else
    if (golden.isOfZoo()) return differences(backend, golden, golden.comparableSteps(10, 1e-3), 1e-3);
    return differences(backend, golden, golden.model() == "fashion-cnn" ? 2 : 10, 1e-5);
#endif
}

// Ranks that share the first card, or one on each.
std::vector<DeviceChoice> ranksOn(std::size_t cards, std::size_t ranks) {
    std::vector<DeviceChoice> choices;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        const auto card = static_cast<int>(rank % cards);
        choices.push_back({"cuda", card, 1, cards == 1, "cuda:" + std::to_string(card)});
    }
    return choices;
}

std::unique_ptr<Backend> open(const char* file) {
#ifdef LOCKSTEP_GPU_CHECK_ON_HOST
    std::printf("on the host, which stands in for a card (instead of %s)\n", file);
    return std::make_unique<cuda::CudaBackend>(1);
#else
    auto opened = openBackendModule(file);
    if (opened.ok()) return std::move(opened).value();
    const Problem& problem = opened.problems().front();
    std::printf("%s: %s\n", problem.code.c_str(), problem.args.empty() ? "" : problem.args.back().c_str());
    return nullptr;
#endif
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::printf("usage: gpu_check MODULE [NAME]\n");
        return 2;
    }
    const auto backend = open(argv[1]);
    if (!backend) return 1;
    for (const DeviceInfo& device : backend->devices())
        std::printf("%s: %s, %.1f GiB\n", device.id.c_str(), device.name.c_str(),
                    static_cast<double>(device.memoryBytes) / (1 << 30));
    Report report(argc > 2 ? argv[2] : "");
    for (const Precision precision : {Precision::Fp32, Precision::Tf32, Precision::Fp16, Precision::Bf16}) {
        const std::string suffix = std::string(text(precision));
        for (const OpCase& opCase : opCases())
            report.check("ops, " + suffix, opCase.name,
                         [&] { return differences(*backend, opCase, optionsFor(precision), allowance(precision)); });
    }
    // In less than f32 rounding decides about some ReLUs and maxima, whose gradients come or stay away as a whole.
    const auto checkGraph = [&](const GraphCase& graphCase, Precision precision, double decisions) {
        report.check("graphs, " + std::string(text(precision)), graphCase.name, [&, precision, decisions] {
            return differences(*backend, graphCase, optionsFor(precision), decisions * allowance(precision));
        });
    };
    for (const GraphCase& graphCase : graphCases()) checkGraph(graphCase, Precision::Fp32, 1);
    for (const GraphCase& graphCase : graphCases()) checkGraph(graphCase, Precision::Tf32, 4);
    for (const GraphCase& graphCase : graphCases())  // where norms are done by the convolutions around them
        if (graphCase.name.starts_with("residual")) checkGraph(graphCase, Precision::Fp16, 4);
    for (const UpdateCase& updateCase : updateCases())
        report.check("updates", updateCase.name, [&] { return differences(*backend, updateCase); });
    for (const GoldenCase& golden : goldenCases())
        report.check("whole models", golden.name(), [&] { return wholeModel(*backend, golden); });
    std::vector<std::vector<DeviceChoice>> groups{ranksOn(1, 2), ranksOn(1, 4)};
    if (const std::size_t cards = backend->devices().size(); cards > 1) groups.push_back(ranksOn(cards, cards));
    for (const auto& ranks : groups) {
        const std::string name =
            std::to_string(ranks.size()) + (ranks[0].isVirtual ? " ranks on a card" : " ranks on cards");
        report.check("groups", name, [&] { return sums(*backend, ranks); });
        report.check("groups", name + ", aborted", [&] { return abortReachesAll(*backend, ranks); });
    }
    report.check("memory", "out of memory", [&] { return outOfMemory(*backend); });
    return report.end();
}
