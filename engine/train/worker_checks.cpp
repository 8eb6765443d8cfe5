#include <algorithm>
#include <cmath>

#include "engine/core/error.h"
#include "engine/train/worker.h"

// How ranks make sure that they are replicas, and how they make way for another world.

namespace lockstep {

namespace {

struct CheckWord {
    std::uint64_t hash = 0, damaged = 0;
};

// Who differs, by the same words on every rank: a rank that found damage in its own memory, else the one that the
// others outvote. -1: two ranks, or as many of one kind as of the other.
int culpritOf(const std::vector<CheckWord>& words) {
    const auto damaged = std::ranges::find_if(words, [](const CheckWord& word) { return word.damaged != 0; });
    if (damaged != words.end()) return static_cast<int>(damaged - words.begin());
    const auto votes = [&](const CheckWord& word) { return std::ranges::count(words, word.hash, &CheckWord::hash); };
    const auto majority =
        std::ranges::find_if(words, [&](const CheckWord& word) { return 2 * votes(word) > std::ssize(words); });
    if (majority == words.end()) return -1;
    const auto other = std::ranges::find_if(words, [&](const CheckWord& word) { return word.hash != majority->hash; });
    return static_cast<int>(other - words.begin());
}

bool agree(const std::vector<CheckWord>& words) {
    return std::ranges::all_of(
        words, [&](const CheckWord& word) { return word.damaged == 0 && word.hash == words.front().hash; });
}

}  // namespace

void Worker::checkWhenDue(bool asked) {
    const std::int64_t every = spec().checkEvery;
    if (asked || (every > 0 && m_step % every == 0)) checkReplicas();
}

void Worker::checkReplicas() {
    if (m_leaves) return;
    m_replica->inspect();
    const CheckWord own{m_replica->storedHash(), m_replica->damage().empty() ? 0u : 1u};
    std::vector<CheckWord> words(static_cast<std::size_t>(m_group.size()));
    m_group.wait(m_group.allGather(&own, words.data(), sizeof own));
    if (agree(words)) {
        const bool needsNone = spec().checkEvery == 0 && m_run.options.checkpointFolder.empty();
        if (needsNone && chooses() == Split::Test) return;
        if (leads()) keepSnapshot();
        m_group.barrier();  // whoever fails from here on leaves a snapshot behind
        return;
    }
    m_leaves = true;
    const int culprit = culpritOf(words);
    if (culprit == m_rank || (culprit < 0 && leads())) {
        // The others read it once all have left; rank 0 may be among them.
        NextWorld& next = m_run.continuation.next;
        next.kind = NextWorld::Kind::Diverged;
        next.rank = culprit;
        next.what = m_replica->damage();
        if (next.what.empty())
            next.what = culprit < 0 ? "the devices' weights differ, and it cannot be told whose are right"
                                    : "the weights of device " + std::to_string(culprit) + " differ from the others'";
    }
}

void Worker::keepSnapshot() {
    // With one device nobody would be left to go on from the last one if this failed: no need for memory for both.
    if (m_group.size() == 1) m_run.continuation.snapshot.reset();
    const auto lowestLoss = std::isnan(m_best.loss) ? std::nullopt : std::optional(m_best.loss);
    auto snapshot = std::make_shared<Checkpoint>(Checkpoint{spec(),
                                                            m_run.options.trial,
                                                            m_step,
                                                            m_epoch,
                                                            m_stepInEpoch,
                                                            std::isnan(m_best.accuracy) ? -1 : m_best.accuracy,
                                                            lowestLoss,
                                                            m_epochSums.named(),
                                                            m_trainClock.seconds(),
                                                            m_lossScale.value(),
                                                            m_lossScale.updates(),
                                                            m_run.data.fingerprint,
                                                            trainedOn(),
                                                            {}});
    snapshot->score = m_score;
    for (const std::string& name : m_replica->tensorNames()) snapshot->tensors.emplace(name, m_replica->read(name));
    m_run.continuation.snapshot = std::move(snapshot);
}

// Rank 0 alone knows what was asked for; all leave from the same, checked step.
void Worker::changeWorld() {
    NextWorld next;
    if (leads()) {
        next.devices = m_run.control.takeDevices();
        if (next.devices > 0) {
            next.kind = NextWorld::Kind::Scaled;
        } else if (m_run.control.takeBalance() || m_loads.wantsBalance()) {
            next.shares = m_loads.balancedShares();
            if (!next.shares.empty()) next.kind = NextWorld::Kind::Balanced;
        }
    }
    double leaves = next.kind == NextWorld::Kind::None ? 0 : 1;
    m_group.wait(m_group.broadcast(&leaves, sizeof leaves, 0));
    if (leaves == 0) return;
    checkReplicas();
    if (m_leaves) return;
    m_leaves = true;
    if (!leads()) return;
    if (!m_run.continuation.snapshot || m_run.continuation.snapshot->step != m_step) keepSnapshot();
    m_run.continuation.next = std::move(next);
}

}  // namespace lockstep
