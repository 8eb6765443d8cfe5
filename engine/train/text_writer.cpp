#include "engine/train/text_writer.h"

#include <algorithm>
#include <cmath>

#include "engine/core/half.h"
#include "engine/core/utf8.h"

namespace lockstep {

namespace {

template <class T>
std::vector<double> rowOf(const HostTensor& logits, std::size_t row) {
    const auto width = static_cast<std::size_t>(logits.type().shape[2]);
    const auto values = logits.as<T>().subspan(row * width, width);
    return {values.begin(), values.end()};
}

double kthLargest(std::span<const double> values, std::size_t k) {
    std::vector<double> sorted(values.begin(), values.end());
    const auto kth = sorted.begin() + static_cast<std::ptrdiff_t>(k - 1);
    std::ranges::nth_element(sorted, kth, std::ranges::greater());
    return *kth;
}

// A character that the end of `bytes` cuts off goes.
void dropCutCharacter(std::string& bytes) {
    constexpr std::size_t kLongestCharacter = 4;
    const std::size_t broken = findBrokenUtf8(bytes);
    if (broken != bytes.npos && broken > 0 && broken + kLongestCharacter > bytes.size()) bytes.resize(broken);
}

}  // namespace

std::vector<double> byteShares(std::span<const double> logits, double temperature, std::size_t most) {
    const auto largest = std::ranges::max_element(logits);
    if (std::ranges::any_of(logits, [](double x) { return std::isnan(x); }) || !std::isfinite(*largest)) return {};
    std::vector<double> shares(logits.size());
    if (temperature == 0) {
        shares[static_cast<std::size_t>(largest - logits.begin())] = 1;
        return shares;
    }
    const double least =
        most > 0 && most < logits.size() ? kthLargest(logits, most) : *std::ranges::min_element(logits);
    double sum = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        if (logits[i] >= least) sum += shares[i] = std::exp((logits[i] - *largest) / temperature);
    }
    for (double& share : shares) share /= sum;
    return shares;
}

std::size_t byteAt(std::span<const double> shares, double uniform) {
    std::size_t last = 0;
    double below = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        if (shares[i] == 0) continue;
        last = i;
        below += shares[i];
        if (uniform < below) break;
    }
    return last;  // rounding may leave their sum below `uniform`
}

std::string usualPrompt(const Dataset& data) {
    const DatasetInfo& info = data.info();
    std::vector<HostTensor> fields;
    std::vector<std::span<std::byte>> into;
    for (const Field& field : info.fields) fields.emplace_back(field.type);
    for (HostTensor& field : fields) into.emplace_back(field.data(), field.bytes());
    data.read(0, into);
    const auto at = [&](const char* name) {
        const auto field = findField(info.fields, name) - info.fields.data();
        return std::as_const(fields[static_cast<std::size_t>(field)]).as<std::int32_t>();
    };
    const auto tokens = at("tokens"), targets = at("targets");
    std::string prompt;  // what nothing is foretold of may be padding
    for (std::size_t i = 0; i < std::min(tokens.size(), kUsualPromptBytes) && targets[i] >= 0; ++i)
        prompt += static_cast<char>(tokens[i]);
    dropCutCharacter(prompt);
    return prompt.empty() ? "\n" : prompt;
}

TextWriter::TextWriter(Replica& replica, std::size_t which, const Program& program, const BatchLayout& window)
    : m_replica(replica),
      m_which(which),
      m_program(program),
      m_window(window),
      m_slot({Shape{static_cast<std::int64_t>(window.bytes())}, DType::U8}) {
    std::ranges::fill(field("targets"), -1);
}

std::span<std::int32_t> TextWriter::field(const char* name) {
    const auto bytes = m_window.place(m_slot.data(), static_cast<std::size_t>(m_window.find(name)), 0);
    return {reinterpret_cast<std::int32_t*>(bytes.data()), bytes.size() / sizeof(std::int32_t)};
}

// What lies behind the text in the window does not matter: attention is causal.
std::vector<double> TextWriter::logitsAfter(std::string_view text, const StepScalars& scalars) {
    const auto window = field("tokens");
    if (text.size() > window.size()) text.remove_prefix(text.size() - window.size());
    std::ranges::transform(text, window.begin(), [](unsigned char byte) { return std::int32_t{byte}; });
    m_replica.run(m_which, m_slot.data(), scalars);
    const HostTensor logits = widened(m_replica.readOutput(m_program, "logits"));
    const std::size_t last = text.size() - 1;
    return logits.type().dtype == DType::F64 ? rowOf<double>(logits, last) : rowOf<float>(logits, last);
}

}  // namespace lockstep
