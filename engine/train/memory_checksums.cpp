#include "engine/train/memory_checksums.h"

#include <algorithm>
#include <cstring>

namespace lockstep {

namespace {

// Modulo 2^64: one flipped bit changes it by a power of two.
std::uint64_t sumOf(const std::byte* at, std::size_t bytes) {
    constexpr std::size_t kLanes = 8, kWord = sizeof(std::uint64_t);
    std::uint64_t sums[kLanes] = {}, words[kLanes];
    std::size_t i = 0;
    for (; i + sizeof words <= bytes; i += sizeof words) {
        std::memcpy(words, at + i, sizeof words);
        for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += words[lane];
    }
    std::uint64_t total = 0;
    for (; i < bytes; i += kWord) {
        std::uint64_t word = 0;
        std::memcpy(&word, at + i, std::min(kWord, bytes - i));
        total += word;
    }
    for (const std::uint64_t sum : sums) total += sum;
    return total;
}

class GuardedKernel final : public Kernel {
public:
    GuardedKernel(MemoryChecksums& sums, std::string name, std::vector<ChecksummedKernel> parts)
        : m_sums(sums), m_name(std::move(name)), m_parts(std::move(parts)) {}

    std::size_t workspaceBytes() const override {
        std::size_t most = 0;
        for (const ChecksummedKernel& part : m_parts) most = std::max(most, part.kernel->workspaceBytes());
        return most;
    }

    void run(const KernelCall& call) override {
        for (const ChecksummedKernel& part : m_parts) {
            for (std::size_t i = 0; i < part.outputs.size(); ++i)
                m_sums.check(m_name, part.outputs[i], part.outputBytes[i]);
            part.kernel->run({part.inputs, part.outputs, call.workspace, call.scalars, call.stream});
            for (std::size_t i = 0; i < part.outputs.size(); ++i) m_sums.remember(part.outputs[i], part.outputBytes[i]);
        }
    }

private:
    MemoryChecksums& m_sums;
    std::string m_name;
    std::vector<ChecksummedKernel> m_parts;
};

}  // namespace

void MemoryChecksums::check(const std::string& name, const std::byte* at, std::size_t bytes) {
    const auto left = m_sums.find(at);
    if (left == m_sums.end() || !m_damage.empty() || left->second.sum == sumOf(at, bytes)) return;
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
