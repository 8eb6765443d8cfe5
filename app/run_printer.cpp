#include "app/run_printer.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "app/format.h"
#include "app/standard_streams.h"
#include "engine/spec/bandwidths.h"

namespace lockstep {

namespace {

constexpr auto kLivePeriod = std::chrono::milliseconds(100);
constexpr auto kPlainPeriod = std::chrono::seconds(10);

int terminalColumns() {
    winsize size = {};
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// "accuracy 91.83 %", "perplexity 7.413, 2.890 bits per byte"
std::string qualityText(const EvalDone& evaluation, const TaskMetrics& metrics) {
    const std::string text = namedText(*metrics.quality, valueIn(evaluation, *metrics.quality));
    return metrics.aside ? text + ", " + namedText(*metrics.aside, valueIn(evaluation, *metrics.aside)) : text;
}

std::string testText(const RunFinished& event, const RunStarted& started) {
    const TaskMetrics& metrics = metricsFor(started.task, Split::Test);
    const bool chooses = started.chooses() == Split::Test;
    const bool knowsBest = metrics.quality->evaluated == &EvalDone::accuracy && !std::isnan(event.bestAccuracy);
    const std::string best =
        knowsBest ? fmt::format("best {}{}", chooses ? "" : "validation accuracy ", percentText(event.bestAccuracy))
                  : "";
    if (std::isnan(event.testAccuracy)) return best.empty() ? "not evaluated yet" : best + ", not tested yet";
    EvalDone last;
    last.loss = event.testLoss;
    last.accuracy = event.testAccuracy;
    return fmt::format("test {}{}, test loss {:.4f}", qualityText(last, metrics),
                       best.empty() ? "" : fmt::format(" ({})", best), event.testLoss);
}

std::string linkText(double bandwidth, double latency) {
    const auto carries = bandwidth > 0 ? fmt::format("{:g} MB/s", bandwidth) : std::string("any rate");
    return fmt::format("{}, {:g} µs per message", carries, latency);
}

std::string changeText(const WorldChanged& event) {
    if (event.reason == "lost-device") return fmt::format("device {} was lost ({})", event.rank, printable(event.what));
    if (event.reason == "diverged") return printable(event.what);
    return event.reason == "balanced" ? "the parts of the batch were balanced" : "the number of devices was changed";
}

std::string causeText(const std::string& cause) {
    if (cause == "data") return "waiting for its data";
    return cause == "compute" ? "computing longer" : "its part of the summing";
}

}  // namespace

Problem problemOf(const RunFailed& failed) {
    if (auto problem = problemIn(failed)) return std::move(*problem);
    const auto who = failed.rank < 0 ? std::string("The run") : fmt::format("Rank {}", failed.rank);
    return {failed.where, "run.failed." + failed.kind, {failed.what, fmt::format("{} at step {}", who, failed.step)}};
}

RunPrinter::Style RunPrinter::styleFor(bool json) {
    if (json) return Style::Lines;
    return isatty(STDOUT_FILENO) ? Style::Live : Style::Plain;
}

void RunPrinter::print(std::int64_t number, const TrainEvent& event) {
    m_progress.take(event);
    if (m_style == Style::LinesWithoutSteps && isStepEvent(event)) return;
    if (m_style == Style::Lines || m_style == Style::LinesWithoutSteps) {
        std::puts(toJsonLine(event, number).c_str());
        if (const auto* failed = std::get_if<RunFailed>(&event)) say(*failed);
        if (const auto* message = std::get_if<Message>(&event); message && m_outputFailed) say(*message);
    } else {
        std::visit([&](const auto& each) { say(each); }, event);
    }
    std::fflush(stdout);
    noticeOutputError();
}

void RunPrinter::noticeOutputError() {
    if (m_outputFailed || outputError() == 0) return;
    m_outputFailed = true;
    if (m_onOutputError) m_onOutputError(outputError());
}

void RunPrinter::clearLine() {
    if (m_lineShown) std::fputs("\r\033[K", stdout);
    m_lineShown = false;
}

// On a terminal in place of the last such line; elsewhere now and then.
void RunPrinter::showLine(const std::string& whole, const std::string& fitting) {
    const auto now = Clock::now();
    if (now - m_lastLine < (m_style == Style::Live ? Clock::duration(kLivePeriod) : kPlainPeriod)) return;
    if (m_style == Style::Live) fmt::print("\r\033[K{}", fitting);
    else fmt::print("{}\n", whole);
    m_lineShown = m_style == Style::Live;
    m_lastLine = now;
}

void RunPrinter::say(const DataProgress& event) {
    const auto line = dataProgressText(event);
    showLine(line, line);
}

void RunPrinter::say(const RunStarted& event) {
    clearLine();
    if (event.trial > 0) fmt::print("Trial {}", event.trial);
    else fmt::print("A run without history");
    fmt::print("{} on {} ({}), {} parameters, {} per device\n",
               event.attempt > 1 ? fmt::format(", attempt {},", event.attempt) : "", printable(event.deviceText),
               plural(static_cast<std::int64_t>(event.devices.size()), "device"), countText(event.parameters),
               bytesText(event.bytesPerDevice));
    if (event.virtualDevices) fmt::print("{}\n", kVirtualDevices);
    if (event.linkBandwidth > 0 || event.linkLatency > 0)
        fmt::print("The links between the devices are simulated: {}.\n",
                   linkText(event.linkBandwidth, event.linkLatency));
    const auto validation =
        event.validationSamples > 0 ? fmt::format(", {} validation", countText(event.validationSamples)) : "";
    fmt::print("{} training{} and {}; {} of {}{}\n", countText(event.trainSamples), validation,
               plural(event.testSamples, "test sample"), plural(event.epochs, "epoch"),
               plural(event.stepsPerEpoch, "step"),
               event.firstStep > 0 ? fmt::format(", continuing after step {}", event.firstStep) : "");
}

void RunPrinter::say(const StepDone&) { showLine(m_progress.line(1000), m_progress.line(terminalColumns() - 1)); }

void RunPrinter::say(const EvalDone& event) {
    clearLine();
    const auto left = m_progress.eta();
    m_lastLine = Clock::now();
    const TaskMetrics& metrics = metricsFor(m_progress.started().task, event.split);
    if (event.split != m_progress.started().chooses()) {
        fmt::print("epoch {} on the {} samples: loss {:.4f} {}\n", event.epoch, text(event.split), event.loss,
                   qualityText(event, metrics));
        return;
    }
    fmt::print("epoch {}/{}  train loss {:.4f} {}  {} loss {:.4f} {}{}  {}{}\n", event.epoch,
               m_progress.started().epochs, event.trainLoss, namedText(*metrics.epoch, valueIn(event, *metrics.epoch)),
               text(event.split), event.loss, qualityText(event, metrics), event.best ? " (best)" : "",
               rateText(event.samplesPerSecond), left > 0 ? "  ETA " + durationText(left) : "");
}

void RunPrinter::say(const TextSample& event) {
    clearLine();
    fmt::print("{}", sampleText(event));
}

void RunPrinter::say(const StateChanged& event) {
    if (event.state != "paused" && event.state != "stopping") return;
    clearLine();
    fmt::print("{} at step {}\n", event.state, event.step);
}

void RunPrinter::say(const Message& event) {
    clearLine();
    std::fflush(stdout);
    fmt::print(stderr, "{}{}\n", event.level == "warning" ? "warning: " : "", m_words.what(event.text));
    const auto remedy = m_words.remedy(event.text);
    if (!remedy.empty()) fmt::print(stderr, "  → {}\n", remedy);
}

void RunPrinter::say(const WorldChanged& event) {
    clearLine();
    const auto again = event.reached - event.step;
    fmt::print("{} at step {}: going on after step {} with {}{}\n", changeText(event), event.reached, event.step,
               plural(static_cast<std::int64_t>(event.devices.size()), "device"),
               again > 0 ? fmt::format(", {} again", plural(again, "step")) : "");
}

void RunPrinter::say(const StragglerFound& event) {
    clearLine();
    fmt::print("rank {} keeps the others waiting: {:.1f} ms per update, {} of its time, by {}\n", event.rank,
               event.seconds * 1e3, percentText(event.share), causeText(event.cause));
}

// That training binds is as it should be, unless something else did before.
void RunPrinter::say(const BindingChanged& event) {
    const bool isUsual = event.binding != text(Binding::Loading) && event.binding != text(Binding::Cores);
    if (isUsual && !m_isBound) return;
    m_isBound = true;
    clearLine();
    const Problem verdict = verdictOf(event);
    fmt::print("{}\n", m_words.what(verdict));
    if (const auto remedy = m_words.remedy(verdict); !remedy.empty()) fmt::print("  → {}\n", remedy);
}

void RunPrinter::say(const RunFinished& event) {
    clearLine();
    for (std::size_t rank = 0; rank < event.heldUp.size(); ++rank) {
        if (event.heldUp[rank] > 0)
            fmt::print("In all, rank {} kept the others waiting for {}\n", rank, durationText(event.heldUp[rank]));
    }
    if (event.unreadable > 0)
        fmt::print("{} could not be read and had no part in it\n", plural(event.unreadable, "image"));
    const auto who = event.trial > 0 ? fmt::format("Trial {}", event.trial) : std::string("The run");
    if (event.step == 0) {
        fmt::print("{} was stopped before its first step\n", who);
        if (event.trial > 0) fmt::print("It begins again with: lockstep resume {}\n", event.trial);
        return;
    }
    fmt::print("{} {} after {} in {}: {}, {} in training\n", who,
               event.outcome == "stopped" ? "was stopped" : "finished", plural(event.step, "step"),
               durationText(event.seconds), testText(event, m_progress.started()),
               rateText(event.trainSamplesPerSecond));
    if (event.trial == 0) return;
    if (event.outcome == "stopped")
        fmt::print("It goes on from its checkpoint with: lockstep resume {}\n", event.trial);
    else fmt::print("Look at it again with: lockstep show {}\n", event.trial);
}

void RunPrinter::say(const RunFailed& event) {
    clearLine();
    std::fflush(stdout);
    fmt::print(stderr, "{}", m_words.report({problemOf(event)}));
}

PrintingSink::PrintingSink(RunPrinter& printer) : m_printer(printer), m_thread([this] { work(); }) {}

PrintingSink::~PrintingSink() {
    {
        const std::lock_guard lock(m_mutex);
        m_closing = true;
    }
    m_changed.notify_all();
    m_thread.join();
    m_printer.clearLine();
    std::fflush(stdout);
}

void PrintingSink::post(std::int64_t number, const TrainEvent& event) {
    {
        const std::lock_guard lock(m_mutex);
        if (isStepEvent(event) && m_waiting.size() >= kMostWaiting) return;
        m_waiting.push_back({number, event});
    }
    m_changed.notify_all();
}

void PrintingSink::flush() {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [&] { return m_waiting.empty() && !m_printing; });
}

void PrintingSink::work() {
    std::unique_lock lock(m_mutex);
    for (;;) {
        m_changed.wait(lock, [&] { return m_closing || !m_waiting.empty(); });
        if (m_waiting.empty()) return;
        const auto next = std::move(m_waiting.front());
        m_waiting.pop_front();
        m_printing = true;
        lock.unlock();
        m_printer.print(next.number, next.event);
        lock.lock();
        m_printing = false;
        m_changed.notify_all();
    }
}

}  // namespace lockstep
