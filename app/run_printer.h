#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "app/progress.h"
#include "app/words.h"
#include "engine/spec/train_event.h"

namespace lockstep {

// Writes a run's events for a person or a program: a live line on a terminal, a line now and then elsewhere, or one
// JSON object per event.
class RunPrinter {
public:
    enum class Style { Live, Plain, Lines, LinesWithoutSteps };
    static Style styleFor(bool json);  // Live where the standard output is a terminal

    RunPrinter(Style style, const Words& words) : m_style(style), m_words(words) {}
    void print(std::int64_t number, const TrainEvent& event);
    void clearLine();  // what is printed beside the events begins on a line of its own

    // Called once, from print(), when the standard output can no longer be written: see outputError().
    void onOutputError(std::function<void(int error)> handler) { m_onOutputError = std::move(handler); }

private:
    void noticeOutputError();
    void say(const RunStarted& event);
    void say(const StepDone& event);
    void say(const EvalDone& event);
    void say(const TextSample& event);
    void say(const CheckpointWritten&) {}
    void say(const StateChanged& event);
    void say(const Message& event);
    void say(const WorldChanged& event);
    void say(const StragglerFound& event);
    void say(const RunFinished& event);
    void say(const RunFailed& event);
    void say(const DataProgress& event);
    void say(const EvalCounts&) {}
    void say(const BindingChanged& event);
    void showLine(const std::string& whole, const std::string& fitting);

    using Clock = std::chrono::steady_clock;
    Style m_style;
    const Words& m_words;
    Progress m_progress;
    Clock::time_point m_lastLine{};
    bool m_lineShown = false, m_outputFailed = false, m_isBound = false;
    std::function<void(int error)> m_onOutputError;
};

// A failed run as a problem of the catalogue: "run.failed.<kind>", or the problem that a person can repair.
Problem problemOf(const RunFailed& failed);

// A sink that hands events to a printer on a thread of its own: a slow terminal never holds up the run. While the
// reader is far behind, step events are dropped; their numbers show it. The destructor prints what is left.
class PrintingSink : public EventSink {
public:
    explicit PrintingSink(RunPrinter& printer);
    ~PrintingSink() override;
    void post(std::int64_t number, const TrainEvent& event) override;
    void flush();  // returns when everything posted so far is printed

private:
    void work();

    static constexpr std::size_t kMostWaiting = 4096;
    RunPrinter& m_printer;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::deque<NumberedEvent> m_waiting;
    bool m_closing = false, m_printing = false;
    std::thread m_thread;
};

}  // namespace lockstep
