#include "engine/backend/cpu/cpu_backend.h"

#include <algorithm>
#include <fstream>
#include <mutex>

#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include "engine/backend/cpu/conv_timings.h"
#include "engine/backend/cpu/cpu_device.h"
#include "engine/backend/cpu/lay_out.h"
#include "engine/backend/cpu/onednn.h"
#include "engine/backend/cpu/product_speed.h"
#include "engine/backend/host_memory.h"

namespace lockstep {

namespace {

// Of the first processor; empty: the system does not say.
std::string processorInfo(std::string_view key) {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        const std::size_t colon = line.find(": ");
        if (line.starts_with(key) && colon != std::string::npos) return line.substr(colon + 2);
    }
    return {};
}

std::string processorName() {
    const std::string name = processorInfo("model name");
    return name.empty() ? "CPU" : name;
}

// By which timings are kept: virtual machines give the same name to several kinds.
std::string processorKind() {
    std::string kind = processorName();
    for (const char* number : {"cpu family\t", "model\t", "stepping\t"}) kind.append("-").append(processorInfo(number));
    return kind;
}

bool hasTiles() { return (processorInfo("flags") + ' ').find(" amx_bf16 ") != std::string::npos; }

int permittedCores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

bool isTrained(const Graph& graph) {
    const std::vector<ValueId> parameters = graph.withRole(ValueRole::Parameter);
    return std::ranges::any_of(parameters, [&](ValueId each) { return graph.gradientOf(each).has_value(); });
}

class CpuBackend final : public Backend {
public:
    explicit CpuBackend(std::filesystem::path timings) : m_timings(std::move(timings), processorKind()) {}

    std::string_view name() const override { return "cpu"; }

    std::vector<DeviceInfo> devices() const override {
        const int cores = permittedCores();
        const auto memory =
            static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE));
        const std::string count = std::to_string(cores) + (cores == 1 ? " core" : " cores");
        DeviceInfo info{"cpu", processorName() + ", " + count, "cpu", memory, cores};
        info.facts.freeBytes = availableHostMemory();
        info.facts.libraries = "oneDNN " + onednn::version();
        return {info};
    }

    Graph lower(const Graph& graph, const LowerOptions& options) const override {
        refuseHalves(graph, name(), computeType(options.precision));
        const cpu::TeamOf team(options.threads);
        const DType operands = options.precision == Precision::Bf16 ? DType::BF16 : DType::F32;
        const cpu::ConvTimings::Run run{options.threads, options.algorithms, operands, !isTrained(graph)};
        const cpu::ConvChoice choose = [&](const cpu::ConvPass& pass) { return m_timings.choose(pass, run); };
        return cpu::lowerGraph(graph, options, choose, onednn::bf16Units());
    }

    bool offers(Precision precision) const override {
        return precision == Precision::Fp32 || precision == Precision::Bf16;
    }

    DType computeType(Precision precision) const override {
        return precision == Precision::Bf16 ? DType::BF16 : DType::F32;
    }

    double productSpeed(Precision precision) const override {
        if (precision != Precision::Bf16) return precision == Precision::Fp32 ? 1 : 0;
        std::call_once(m_measured, [this] {
            const cpu::TeamOf team(1);
            m_bf16Speed = cpu::measureBf16Speed();
        });
        return m_bf16Speed;
    }

    ProductUnits productUnits(Precision precision) const override {
        if (precision != Precision::Bf16) return ProductUnits::Unknown;
        return cpu::productUnitsOf(onednn::bf16Units(), hasTiles(), cpu::pairsOfProcessor());
    }

    std::unique_ptr<Device> open(const DeviceChoice& choice) const override {
        return std::make_unique<cpu::CpuDevice>(choice);
    }

private:
    mutable cpu::ConvTimings m_timings;
    mutable std::once_flag m_measured;
    mutable double m_bf16Speed = 0;
};

}  // namespace

std::unique_ptr<Backend> makeCpuBackend(std::filesystem::path timings) {
    return std::make_unique<CpuBackend>(std::move(timings));
}

}  // namespace lockstep
