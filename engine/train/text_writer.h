#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/batch_layout.h"
#include "engine/data/dataset.h"
#include "engine/train/replica.h"

namespace lockstep {

// Text written by a language model, byte by byte: each is drawn from the softmax of its logits after those before it.

// softmax(logits / temperature); at temperature 0 the first of the largest has all of it. Empty: they are no numbers.
// most > 0: of the `most` largest alone, and those equal to the last of them.
std::vector<double> byteShares(std::span<const double> logits, double temperature, std::size_t most = 0);

// The byte within whose part of [0, 1) `uniform` lies, when the shares lie side by side.
std::size_t byteAt(std::span<const double> shares, double uniform);

// What a text follows where a spec does not say: the first bytes of a split, whole characters as far as it has any; a
// newline where there are none. Throws what Dataset::read() throws.
inline constexpr std::size_t kUsualPromptBytes = 32;
std::string usualPrompt(const Dataset& data);

class TextWriter {
public:
    // `program`, of one sequence, is the replica's number `which`; `window` says where its tokens lie. Both outlive the
    // writer. On the replica's thread.
    TextWriter(Replica& replica, std::size_t which, const Program& program, const BatchLayout& window);

    // Of the byte that follows `text`, of whose end as much counts as the window holds; it is not empty. `scalars`: of
    // the update after which it is written, for traces.
    std::vector<double> logitsAfter(std::string_view text, const StepScalars& scalars = {});

private:
    std::span<std::int32_t> field(const char* name);

    Replica& m_replica;
    const std::size_t m_which;
    const Program& m_program;
    const BatchLayout& m_window;
    HostTensor m_slot;
};

}  // namespace lockstep
