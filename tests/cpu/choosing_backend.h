#pragma once
#include <map>

#include "engine/backend/cpu/conv_timings.h"
#include "engine/backend/cpu/cpu_backend.h"
#include "engine/backend/cpu/cpu_device.h"
#include "engine/backend/cpu/lay_out.h"

namespace lockstep::test {

// The CPU, where something else chooses the algorithms of convolutions, and says what multiplies bf16.
class ChoosingBackend final : public Backend {
public:
    explicit ChoosingBackend(cpu::ConvChoice choose, onednn::Bf16Units units = onednn::bf16Units())
        : m_choose(std::move(choose)), m_units(units) {}

    std::string_view name() const override { return m_cpu->name(); }
    std::vector<DeviceInfo> devices() const override { return m_cpu->devices(); }
    bool offers(Precision precision) const override { return m_cpu->offers(precision); }
    DType computeType(Precision precision) const override { return m_cpu->computeType(precision); }
    Graph lower(const Graph& graph, const LowerOptions& options) const override {
        const cpu::TeamOf team(options.threads);
        return cpu::lowerGraph(graph, options, m_choose, m_units);
    }
    std::unique_ptr<Device> open(const DeviceChoice& choice) const override { return m_cpu->open(choice); }

private:
    cpu::ConvChoice m_choose;
    onednn::Bf16Units m_units;
    std::unique_ptr<Backend> m_cpu = makeCpuBackend();
};

// One of the algorithms of tiles wherever it suits, else the library's of bf16.
inline cpu::ConvChoice wherever(cpu::ConvAlgorithm ofTiles) {
    return
        [=](const cpu::ConvPass& pass) { return cpu::suits(ofTiles, pass) ? ofTiles : cpu::ConvAlgorithm::DirectBf16; };
}

inline cpu::ConvAlgorithm byTheLibraryInBf16(const cpu::ConvPass&) { return cpu::ConvAlgorithm::DirectBf16; }
inline cpu::ConvAlgorithm byRuleInBf16(const cpu::ConvPass& pass) {
    const cpu::ConvAlgorithm rule = cpu::chooseByRule(pass);
    return cpu::isOwn(rule) ? rule : cpu::ConvAlgorithm::DirectBf16;
}

// The CPU as it is where there are pairs of bf16 alone.
inline const ChoosingBackend& ofPairs() {
    static const ChoosingBackend backend(byRuleInBf16, onednn::Bf16Units::Pairs);
    return backend;
}
inline const ChoosingBackend& ofPairsByTheLibrary() {
    static const ChoosingBackend backend(byTheLibraryInBf16, onednn::Bf16Units::Pairs);
    return backend;
}

// As it is where there are tiles; or by one of our own algorithms of those wherever that can be.
inline const ChoosingBackend& ofTiles() {
    static const ChoosingBackend backend(byTheLibraryInBf16, onednn::Bf16Units::Tiles);
    return backend;
}
inline const ChoosingBackend& ofTilesByRule() {
    static const ChoosingBackend backend(byRuleInBf16, onednn::Bf16Units::Tiles);
    return backend;
}
inline const ChoosingBackend& ofTiles(cpu::ConvAlgorithm algorithm) {
    static const std::map<cpu::ConvAlgorithm, ChoosingBackend> backends = [] {
        std::map<cpu::ConvAlgorithm, ChoosingBackend> all;
        for (const cpu::ConvAlgorithm each : cpu::kOfTiles)
            all.try_emplace(each, wherever(each), onednn::Bf16Units::Tiles);
        return all;
    }();
    return backends.at(algorithm);
}

// As timing could choose: by the shape, the pass and the seed, the rule's algorithm or the library's.
inline cpu::ConvChoice anyChoice(std::uint64_t seed) {
    return [=](const cpu::ConvPass& pass) {
        const std::uint64_t mixed = (std::hash<std::string>()(describe(pass, 1)) ^ seed) * 0x9E3779B97F4A7C15u;
        return mixed >> 63 ? cpu::chooseByRule(pass) : cpu::ConvAlgorithm::Direct;
    };
}

}  // namespace lockstep::test
