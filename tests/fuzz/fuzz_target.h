#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

// Parsers of foreign bytes, each as a function of bytes: for libFuzzer (fuzz_driver.cpp) and for the replay of the
// corpus in the ordinary suite (tst_fuzz_corpus.cpp).
namespace lockstep::fuzz {

using Input = std::span<const std::uint8_t>;

struct FuzzTarget {
    const char* name;  // of its corpus, too: corpus/<name>/
    // Feeds the parser; whether it accepted the input, in part at least. What must never happen ends the process:
    // a signal, a sanitizer's report, an exception, require().
    bool (*run)(Input input);
    // The largest single allocation that the parser's header admits for an input of so many bytes.
    std::size_t (*cap)(std::size_t bytes);
};

// The explicit list.
std::span<const FuzzTarget> fuzzTargets();

// Ends the process, saying what does not hold.
void require(bool holds, const char* what);

// Takes values from the front of an input; zeros once it is used up.
class Slicer {
public:
    explicit Slicer(Input input) : m_left(input) {}

    template <class T>
    T number() {
        T value{};
        const Input bytes = take(sizeof(T));
        if (!bytes.empty()) std::memcpy(&value, bytes.data(), bytes.size());
        return value;
    }
    Input take(std::size_t bytes) {
        const Input front = m_left.first(bytes < m_left.size() ? bytes : m_left.size());
        m_left = m_left.subspan(front.size());
        return front;
    }
    bool more() const { return !m_left.empty(); }
    Input rest() { return take(m_left.size()); }

private:
    Input m_left;
};

constexpr std::size_t kSmallChange = 128 << 10;  // streams, messages, decompressors: whatever the input's size

}  // namespace lockstep::fuzz
