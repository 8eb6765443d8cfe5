#pragma once
#include <cmath>

#include "tests/ui/compare/compare_desktop.h"

namespace lockstep::test {

// A sweep of so many cells with three trials each, of six epochs of ten steps on two devices, an epoch in twelve
// seconds: cell c rises to an accuracy of 0.5 + 0.03 c, its repeats to 0.01 less and more. The last cell was stopped
// after three epochs; the first of all trials has 12,800 bytes of memory, each other one more.
class MadeCurves {
public:
    static constexpr std::int64_t kRepeats = 3, kEpochs = 6, kStepsPerEpoch = 10;

    explicit MadeCurves(MadeQueue& queue, std::int64_t cells) : m_queue(queue), m_sweep(queue.sweep("curves", cells)) {
        for (std::int64_t cell = 0; cell < cells; ++cell)
            for (std::int64_t repeat = 0; repeat < kRepeats; ++repeat) add(cell, repeat, cell == cells - 1);
    }
    std::int64_t sweep() const { return m_sweep; }
    static double accuracyAt(std::int64_t cell, std::int64_t repeat, std::int64_t epoch) {
        const double last = 0.5 + 0.03 * static_cast<double>(cell) + 0.01 * static_cast<double>(repeat - 1);
        return last * (1 - std::exp(-0.9 * static_cast<double>(epoch)));
    }

private:
    void add(std::int64_t cell, std::int64_t repeat, bool isCutShort) {
        const std::int64_t trial = m_queue.wait("", {}, GroupPlace{m_sweep, cell, repeat});
        m_queue.queue().remove(trial);
        const auto sink = m_queue.store->sinkFor(trial, m_queue.store->beginAttempt(trial, 0));
        std::int64_t number = 0;
        RunStarted started;
        started.devices = {"cpu:0", "cpu:1"};
        started.stepsPerEpoch = kStepsPerEpoch, started.trainSamples = 1280, started.epochs = kEpochs;
        started.bytesPerDevice = static_cast<std::uint64_t>(12'799 + trial);
        started.task = "image-classes";
        sink->post(++number, started);
        const std::int64_t epochs = isCutShort ? kEpochs / 2 : kEpochs;
        for (std::int64_t epoch = 1; epoch <= epochs; ++epoch) {
            for (std::int64_t step = 1; step <= kStepsPerEpoch; ++step)
                sink->post(++number, stepAt(cell, (epoch - 1) * kStepsPerEpoch + step));
            sink->post(++number, evaluationAt(cell, repeat, epoch));
        }
        const double best = accuracyAt(cell, repeat, epochs);
        sink->post(++number, RunFinished{isCutShort ? "stopped" : "finished", trial, epochs * kStepsPerEpoch, epochs,
                                         best, 1 - best, best, 100, 12.0 * static_cast<double>(epochs)});
        m_queue.store->flush();
    }

    static StepDone stepAt(std::int64_t cell, std::int64_t step) {
        StepDone done;
        done.step = step, done.epoch = 1 + (step - 1) / kStepsPerEpoch, done.samples = 128;
        done.loss = 3.0 / static_cast<double>(step) + 0.01 * static_cast<double>(cell);
        done.accuracy = 0.5, done.learningRate = 0.1;
        done.seconds = 1.2 * static_cast<double>(step);
        return done;
    }

    static EvalDone evaluationAt(std::int64_t cell, std::int64_t repeat, std::int64_t epoch) {
        EvalDone done;
        done.step = kStepsPerEpoch * epoch, done.epoch = epoch, done.samples = 10'000;
        done.accuracy = accuracyAt(cell, repeat, epoch), done.loss = 1 - done.accuracy;
        done.seconds = 12.0 * static_cast<double>(epoch);
        return done;
    }

    MadeQueue& m_queue;
    const std::int64_t m_sweep;
};

}  // namespace lockstep::test
