#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/train/replica.h"
#include "engine/train/trainer.h"

namespace lockstep {

// A handful of small images in memory: one random pattern per class, plus noise.
class PatternDataset final : public Dataset {
public:
    PatternDataset(std::int64_t count, ImageShape shape, int classes, std::uint64_t seed, double noise = 40);
    const DatasetInfo& info() const override { return m_info; }
    void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override;

    std::function<void(std::int64_t index)> beforeRead;  // for fault injection

private:
    DatasetInfo m_info;
    std::uint64_t m_seed;
    double m_noise;
};

// Sentences in which each word follows from the one before it but for some noise, with 5 words. For language models
// some words do not count, of some sentences none; for classification the class is where the sentence began, and its
// length varies.
class SentenceDataset final : public Dataset {
public:
    SentenceDataset(std::int64_t count, ModelTask task, std::uint64_t seed);
    const DatasetInfo& info() const override { return m_info; }
    void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override;

    static constexpr int kTokens = 7, kWords = 5;

private:
    DatasetInfo m_info;
    std::uint64_t m_seed;
};

// What the model can be trained on: patterns or sentences.
bool readsImages(const std::string& model);
DatasetSplits dataFor(const std::string& model, std::int64_t train, std::int64_t test);
DatasetSplits patterns(std::int64_t train, std::int64_t test, ImageShape shape = {1, 12, 12}, int classes = 4);

// That backend, all models, and one entry "patterns".
Environment environmentOf(std::unique_ptr<Backend> backend);
// With the reference and null backends (and the CPU's where it is built), and an entry "filed" that needs files.
Environment makeTestEnvironment();
const Environment& testEnvironment();
bool hasCpuBackend();

TrialSpec smallSpec(const std::string& model, const std::string& devices);
ResolvedSpec resolved(const TrialSpec& spec, const Environment& environment = testEnvironment());
// throws std::runtime_error naming the problems

class Recorder final : public EventSink {
public:
    void post(std::int64_t number, const TrainEvent& event) override;
    std::function<void(const TrainEvent&)> onEvent;
    std::vector<std::int64_t> numbers;
    std::vector<TrainEvent> events;

    template <class T>
    std::vector<T> all() const {
        std::vector<T> found;
        for (const TrainEvent& event : events) {
            if (const T* each = std::get_if<T>(&event)) found.push_back(*each);
        }
        return found;
    }
    std::string order() const;  // names, runs of step_done as one
};

// One run, and what its replicas held at the end and after each step.
struct Run {
    RunResult result;
    Recorder recorder;
    std::map<std::string, HostTensor> tensors;                  // of rank 0, after the last step
    std::map<std::int64_t, std::vector<std::uint64_t>> hashes;  // by step, then rank
};
struct RunRequest {
    TrialSpec spec;
    DatasetSplits data;
    RunOptions options;
    std::function<void(const TrainEvent&, RunControl&)> onEvent;
    bool hashes = false;
    const Environment* environment = &testEnvironment();
};
Run run(RunRequest request);
std::vector<double> lossesOf(const Run& run);  // of each step

std::map<std::string, HostTensor> allTensors(Replica& replica);
bool sameBits(const std::map<std::string, HostTensor>& a, const std::map<std::string, HostTensor>& b);
// The largest difference over all tensors, relative to each tensor's largest element.
double relativeDifference(const std::map<std::string, HostTensor>& a, const std::map<std::string, HostTensor>& b);

}  // namespace lockstep
