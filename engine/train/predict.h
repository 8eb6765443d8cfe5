#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/data/dataset.h"
#include "engine/spec/evaluation.h"
#include "engine/train/checkpoint.h"
#include "engine/train/model_on_device.h"
#include "engine/train/rank_threads.h"

namespace lockstep {

class Loader;

struct PredictRequest {
    const ResolvedSpec& resolved;  // the checkpoint's spec; its devices are those to predict on
    const Checkpoint& checkpoint;
    const DatasetInfo& trained;
    std::shared_ptr<const Dataset> data;                   // fields as trained; labels do not matter
    std::int64_t batch = 64;                               // samples that a device takes at once
    std::function<void(std::int64_t done)> progress = {};  // samples of all devices; any thread, one at a time
    decltype(Watch::onStuck) onStuck = {};                 // see Watch
};
struct PredictResult {
    std::vector<std::optional<Answer>> answers;  // by sample; empty: the logits are no numbers
    double seconds = 0;                          // from the first sample's reading to the last answer
    std::vector<double> batchSeconds;            // of each batch on its device, from having it to its answers
    std::optional<Problem> ofPrecision;          // precisionRemark()
};
// Device r of N takes batches r, r + N, r + 2N… by itself; nothing is exchanged. A batch is the same samples in the
// same program whatever the number of devices, so the answers of devices of one kind and as many threads are the same
// bits. Of classifiers alone. Data that do not come within the spec's timeout end it. Throws ProblemError and
// EngineError.
PredictResult predict(const PredictRequest& request);

// Answers to one sample after the other, with the model open on its device: for whoever waits for each. One more thread
// reads them. One thread asks; what answer() throws is the last that it says.
class Predictor {
public:
    Predictor(const ResolvedSpec& resolved, const Checkpoint& checkpoint, const DatasetInfo& trained);
    ~Predictor();
    std::optional<Answer> answer(std::shared_ptr<const Dataset> one);  // of one sample, with the fields as trained

private:
    class InTurn;

    ModelOnDevice m_model;
    std::shared_ptr<InTurn> m_asked;
    std::unique_ptr<Loader> m_loader;
};

}  // namespace lockstep
