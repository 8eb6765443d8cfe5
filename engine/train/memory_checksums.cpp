#include "engine/train/memory_checksums.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace lockstep {

namespace {

// As BitSums has them. One flipped bit changes it by a power of two.
std::uint32_t sumOf(const std::byte* at, std::size_t bytes) {
    constexpr std::size_t kLanes = 16, kWord = sizeof(std::uint32_t);
    std::uint32_t sums[kLanes] = {}, words[kLanes];
    std::size_t i = 0;
    for (; i + sizeof words <= bytes; i += sizeof words) {
        std::memcpy(words, at + i, sizeof words);
        for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += words[lane];
    }
    std::uint32_t total = 0;
    for (; i < bytes; i += kWord) {
        std::uint32_t word = 0;
        std::memcpy(&word, at + i, std::min(kWord, bytes - i));
        total += word;
    }
    for (const std::uint32_t sum : sums) total += sum;
    return total;
}

class GuardedKernel final : public Kernel {
public:
    GuardedKernel(MemoryChecksums& sums, std::string name, std::vector<ChecksummedKernel> parts)
        : m_sums(sums), m_name(std::move(name)), m_parts(std::move(parts)) {
        std::size_t most = 0;
        for (const ChecksummedKernel& part : m_parts) most = std::max(most, part.outputs.size());
        m_added.resize(most);
    }

    std::size_t workspaceBytes() const override {
        std::size_t most = 0;
        for (const ChecksummedKernel& part : m_parts) most = std::max(most, part.kernel->workspaceBytes());
        return most;
    }

    void run(const KernelCall& call) override {
        for (const ChecksummedKernel& part : m_parts) {
            const KernelCall own{part.inputs, part.outputs, call.workspace, call.scalars, call.stream};
            const std::span added = std::span(m_added).first(part.outputs.size());
            std::ranges::fill(added, BitSums());
            if (part.kernel->runSummed(own, added)) {
                for (std::size_t i = 0; i < added.size(); ++i) {
                    m_sums.check(m_name, part.outputs[i], added[i]);
                    m_sums.remember(part.outputs[i], part.outputBytes[i], added[i]);
                }
                continue;
            }
            for (std::size_t i = 0; i < added.size(); ++i) m_sums.check(m_name, part.outputs[i], part.outputBytes[i]);
            part.kernel->run(own);
            for (std::size_t i = 0; i < added.size(); ++i) m_sums.remember(part.outputs[i], part.outputBytes[i]);
        }
    }

private:
    MemoryChecksums& m_sums;
    std::string m_name;
    std::vector<ChecksummedKernel> m_parts;
    std::vector<BitSums> m_added;  // by the part that runs
};

}  // namespace

void MemoryChecksums::check(const std::string& name, const std::byte* at, std::size_t bytes) {
    if (m_damage.empty() && m_sums.contains(at)) check(name, at, BitSums{.found = sumOf(at, bytes)});
}

void MemoryChecksums::check(const std::string& name, const std::byte* at, const BitSums& sums) {
    const auto left = m_sums.find(at);
    if (left == m_sums.end() || !m_damage.empty() || left->second.sum == sums.found) return;
    m_damage = "memory changed between two updates that nobody wrote to, found by \"" + name + "\"";
}

void MemoryChecksums::checkAll() {
    for (const auto& [at, left] : m_sums) check("replica check", at, left.bytes);
}

void MemoryChecksums::remember(const std::byte* at, std::size_t bytes) { m_sums[at] = {bytes, sumOf(at, bytes)}; }

std::unique_ptr<Kernel> withChecksums(MemoryChecksums& sums, std::string name, std::vector<ChecksummedKernel> parts) {
    return std::make_unique<GuardedKernel>(sums, std::move(name), std::move(parts));
}

}  // namespace lockstep
