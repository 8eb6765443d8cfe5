#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "engine/spec/metrics.h"
#include "engine/spec/train_event.h"

namespace lockstep {

// "reading the data: 12 000 of 60 000 samples, 2 300/s…"; "listing files: 320 000".
std::string dataProgressText(const DataProgress& event);

// Where a run stands and how long it will take, from its events. Plain arithmetic, no terminal.
class Progress {
public:
    void take(const TrainEvent& event);

    // Seconds to the end: the median of the latest step times, which an outlier (an evaluation, a checkpoint, another
    // program) does not move, times the steps left, and the last evaluation's time once for each epoch left. Negative:
    // not yet known.
    double eta() const;

    // "epoch 2/5  step 640/2345 [####------]  5 120 samples/s  loss 0.412  accuracy 85.10 %  ETA 48 s", cut to
    // `columns`.
    std::string line(int columns) const;

    const RunStarted& started() const { return m_started; }
    const StepDone& step() const { return m_step; }
    const TaskMetrics& metrics() const {
        return metricsFor(m_started.task, m_started.chooses());
    }  // what counts for this run
    std::int64_t totalSteps() const { return m_started.stepsPerEpoch * m_started.epochs; }

private:
    static constexpr std::size_t kWindow = 31;
    RunStarted m_started;
    StepDone m_step;
    std::deque<double> m_stepTimes;
    double m_evaluationSeconds = 0;
    bool m_hasStep = false;
};

}  // namespace lockstep
