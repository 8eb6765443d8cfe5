#include "app/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/format.h"

namespace lockstep {

namespace {

std::string bar(double share, int width) {
    const int full = std::clamp(static_cast<int>(share * width), 0, width);
    std::string out = "[";
    out.append(static_cast<std::size_t>(full), '#');
    out.append(static_cast<std::size_t>(width - full), '-');
    return out + "]";
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

}  // namespace

std::string dataProgressText(const DataProgress& event) {
    if (event.total == 0) return fmt::format("listing files: {}", countText(event.done));
    const auto left = static_cast<double>(event.total - event.done) / event.samplesPerSecond;
    return fmt::format("reading the data{}: {} of {}, {}{}",
                       event.bytes > 0 ? " into a file of about " + bytesText(event.bytes) : "", countText(event.done),
                       countText(event.total), rateText(event.samplesPerSecond),
                       std::isfinite(left) ? ", " + durationText(left) + " left" : "");
}

void Progress::take(const TrainEvent& event) {
    if (const auto* started = std::get_if<RunStarted>(&event)) {
        m_started = *started;
    } else if (const auto* evaluated = std::get_if<EvalDone>(&event)) {
        if (m_hasStep) m_evaluationSeconds = std::max(0.0, evaluated->seconds - m_step.seconds);
    } else if (const auto* step = std::get_if<StepDone>(&event)) {
        const auto steps = step->step - m_step.step;
        if (m_hasStep && steps > 0) {
            m_stepTimes.push_back((step->seconds - m_step.seconds) / static_cast<double>(steps));
            if (m_stepTimes.size() > kWindow) m_stepTimes.pop_front();
        }
        m_step = *step;
        m_hasStep = true;
    }
}

double Progress::eta() const {
    if (m_stepTimes.empty() || m_started.stepsPerEpoch <= 0) return -1;
    const auto stepsLeft = std::max<std::int64_t>(0, totalSteps() - m_step.step);
    const auto epochsLeft = m_started.epochs - m_step.step / m_started.stepsPerEpoch;
    return median({m_stepTimes.begin(), m_stepTimes.end()}) * static_cast<double>(stepsLeft) +
           m_evaluationSeconds * static_cast<double>(std::max<std::int64_t>(0, epochsLeft));
}

std::string Progress::line(int columns) const {
    const double share = totalSteps() > 0 ? static_cast<double>(m_step.step) / static_cast<double>(totalSteps()) : 0;
    const auto left = eta();
    std::vector<std::string> parts = {
        fmt::format("epoch {}/{}", m_step.epoch, m_started.epochs),
        fmt::format("step {}/{} {}", m_step.step, totalSteps(), bar(share, 12)),
        rateText(m_step.samplesPerSecond),
        fmt::format("loss {:.4f}", m_step.loss),
        namedText(*metrics().training, valueIn(m_step, *metrics().training)),
        left < 0 ? std::string("ETA …") : "ETA " + durationText(left),
    };
    std::string out;
    for (const auto& part : parts) {
        if (!out.empty() && columnsOf(out) + 2 + columnsOf(part) > columns) break;
        out += (out.empty() ? "" : "  ") + part;
    }
    return out;
}

}  // namespace lockstep
