#include "app/predict_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "app/format.h"

namespace lockstep {

// By the nearest rank.
static double percentile(const std::vector<double>& sorted, double share) {
    if (sorted.empty()) return 0;
    const auto at = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    return sorted[std::clamp<std::size_t>(at, 1, sorted.size()) - 1];
}

PredictSummary::PredictSummary(const PredictResult& result, const TrialSpec& spec, std::int64_t batch,
                               std::int64_t failed, std::int64_t blankLines)
    : m_spec(spec),
      m_samples(std::ssize(result.answers)),
      m_batch(batch),
      m_failed(failed),
      m_blankLines(blankLines),
      m_seconds(result.seconds),
      m_rate(m_seconds > 0 ? static_cast<double>(m_samples) / m_seconds : 0) {
    std::vector<double> times = result.batchSeconds;
    std::ranges::sort(times);
    m_p50 = 1000 * percentile(times, 0.5);
    m_p95 = 1000 * percentile(times, 0.95);
    m_p99 = 1000 * percentile(times, 0.99);
}

void PredictSummary::print() const {
    if (m_blankLines > 0) fmt::print(stderr, "{} passed over: no path is empty\n", plural(m_blankLines, "blank line"));
    if (m_failed == m_samples) {
        fmt::print(stderr, "no answers: {} could not be answered\n", samplesText(m_failed));
        return;
    }
    fmt::print(stderr, "{} on {} in {}: {}, {}; a batch of {} takes {:.1f} ms (p95 {:.1f}, p99 {:.1f})\n",
               samplesText(m_samples), printable(m_spec.devices), m_spec.precision, durationText(m_seconds),
               rateText(m_rate), std::min(m_batch, m_samples), m_p50, m_p95, m_p99);
    if (m_failed > 0) fmt::print(stderr, "{} could not be answered\n", countText(m_failed));
}

void PredictSummary::printJson(Json remarks) const {
    const bool isSettled = m_spec.precision != kAutoPrecision;  // it is not where nothing was computed
    fmt::print("{}\n", lineOf({{"summary",
                                {{"samples", m_samples},
                                 {"failed", m_failed},
                                 {"blank_lines", m_blankLines},
                                 {"devices", m_spec.devices},
                                 {"precision", isSettled ? Json(m_spec.precision) : Json()},
                                 {"seconds", m_seconds},
                                 {"samples_per_second", m_rate},
                                 {"batch", m_batch},
                                 {"batch_ms", {{"p50", m_p50}, {"p95", m_p95}, {"p99", m_p99}}},
                                 {"remarks", std::move(remarks)}}}}));
}

}  // namespace lockstep
