#include "engine/session/replay_log.h"

#include <algorithm>
#include <cstring>
#include <ranges>
#include <utility>

namespace lockstep {

namespace {

constexpr std::size_t kBlockBytes = 256 << 10;

}  // namespace

std::int64_t LineRing::add(std::int64_t number, std::string_view text) {
    if (m_lines.size() < m_capacity) {
        m_lines.push_back({number, kept(text)});
        return 0;
    }
    const std::int64_t oldest = m_lines[m_begin].number;
    letGo();
    m_lines[m_begin] = {number, kept(text)};
    m_begin = (m_begin + 1) % m_capacity;
    return oldest;
}

const LineRing::Line* LineRing::next(std::int64_t from) const {
    const auto indices = std::views::iota(std::size_t{0}, m_lines.size());
    const auto found = std::ranges::lower_bound(indices, from, {}, [this](std::size_t i) { return at(i).number; });
    return found == indices.end() ? nullptr : &at(*found);
}

std::string_view LineRing::kept(std::string_view text) {
    if (m_blocks.empty() || m_blocks.back().size - m_blocks.back().used < text.size()) {
        Block block = std::exchange(m_spare, {});
        if (block.size < text.size() || block.size == 0) {
            block.size = std::max(kBlockBytes, text.size());
            block.bytes = std::make_unique_for_overwrite<char[]>(block.size);
        }
        block.used = block.lines = 0;
        m_blocks.push_back(std::move(block));
    }
    Block& block = m_blocks.back();
    char* const place = block.bytes.get() + block.used;
    if (!text.empty()) std::memcpy(place, text.data(), text.size());
    block.used += text.size();
    ++block.lines;
    return {place, text.size()};
}

void LineRing::letGo() {
    if (--m_blocks.front().lines > 0) return;
    m_spare = std::move(m_blocks.front());
    m_blocks.pop_front();
}

void ReplayLog::add(std::int64_t number, bool isStep, std::string_view line) {
    if (m_last == 0) m_firstComplete = number;
    m_last = number;
    const std::int64_t gone = (isStep ? m_steps : m_states).add(number, line);
    m_firstComplete = std::max(m_firstComplete, gone + 1);
}

const LineRing::Line* ReplayLog::next(std::int64_t from) const {
    const LineRing::Line *state = m_states.next(from), *step = m_steps.next(from);
    if (!state || !step) return state ? state : step;
    return state->number < step->number ? state : step;
}

}  // namespace lockstep
