#include "engine/train/continue_text.h"

#include <utility>

#include "engine/collective/host_group.h"
#include "engine/core/random.h"
#include "engine/core/utf8.h"
#include "engine/train/model_on_device.h"
#include "engine/train/text_writer.h"

namespace lockstep {

namespace {

// A world of the first device alone, whose run writes such a text.
ResolvedSpec writerSpec(const ContinueRequest& request) {
    ResolvedSpec alone = request.resolved;
    alone.devices.resize(1);
    alone.shares.clear();
    alone.spec.mode = "fast";
    alone.spec.accumulation = 1;
    alone.spec.batch = 1;
    alone.spec.samplePrompt = request.prompt;
    alone.spec.sampleLength = request.length;
    return alone;
}

// Hands on what has come up to the last whole character.
class Characters {
public:
    explicit Characters(const std::function<bool(std::string_view)>& out) : m_out(out) {}
    bool add(char byte) {
        m_waiting += byte;
        constexpr std::size_t kLongest = 4;
        const std::size_t broken = findBrokenUtf8(m_waiting);
        const bool mayGoOn = broken != m_waiting.npos && m_waiting.size() - broken < kLongest;
        return mayGoOn || flush();
    }
    bool flush() {
        const std::string text = legible(std::exchange(m_waiting, {}));
        return text.empty() || !m_out || m_out(text);
    }

private:
    const std::function<bool(std::string_view)>& m_out;
    std::string m_waiting;
};

}  // namespace

void requirePrompt(const ResolvedSpec& resolved, const std::string& prompt) {
    if (resolved.model->task != ModelTask::NextTokens)
        throw ProblemError({"--prompt", "predict.no-text", {resolved.model->name}});
    requireUtf8("--prompt", prompt);
}

std::string continueText(const ContinueRequest& request) {
    requirePrompt(request.resolved, request.prompt);
    const ResolvedSpec alone = writerSpec(request);
    DatasetInfo train = request.trained;
    train.count = 1;
    const RunPlan plan = planRun(alone, train, train);
    const RankPrograms& programs = plan.ranks.front();
    if (!programs.writing) throw ProblemError({"--prompt", "predict.no-text", {alone.model->name}});
    const auto device = alone.backend->open(alone.devices.front());
    const auto group = makeHostGroup(1);
    Replica replica(*device, *group.front(), {programs.writing}, nullptr);
    replica.initialize(alone.spec.seed);
    restoreForEvaluation(replica, *programs.writing->storage, request.checkpoint);

    TextWriter writer(replica, 0, *programs.writing, plan.window);
    const CounterRng random(request.seed, streamOf("text"), 0, 0);
    Characters characters(request.onBytes);
    std::string text = request.prompt;
    for (std::int64_t i = 0; i < request.length; ++i) {
        const auto shares =
            byteShares(writer.logitsAfter(text), request.temperature, static_cast<std::size_t>(request.most));
        if (shares.empty()) break;
        text += static_cast<char>(byteAt(shares, random.uniform(static_cast<std::uint32_t>(i))));
        if (!characters.add(text.back())) break;
    }
    characters.flush();
    return text.substr(request.prompt.size());
}

}  // namespace lockstep
