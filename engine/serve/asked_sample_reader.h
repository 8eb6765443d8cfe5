#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/data/dataset.h"
#include "engine/spec/serve_messages.h"
#include "engine/spec/trial_spec.h"
#include "engine/train/environment.h"

namespace lockstep {

// The samples that a model was evaluated on. Keeps open what it was last asked about: the next question is answered at
// once. One thread.
class AskedSampleReader {
public:
    // Whoever asks about no sample wants the classes, and where they are known no data are opened. Throws ProblemError:
    // "serve.no-sample", "serve.too-many-samples" beyond AskedSamplesRequest::kMost, and what `lockstep evaluate` says
    // of such data.
    AskedSamplesAnswer read(const TrialSpec& spec, const AskedSamplesRequest& request, const Environment& environment);

private:
    // What was asked, but for the samples.
    struct Question {
        TrialSpec spec;
        std::string data, split, dataset, fingerprint, trainedOn, checkpoint;
        bool operator==(const Question&) const = default;
    };
    struct Opened {
        Question question = {};
        std::vector<std::string> changed = {};  // then there are no samples
        std::vector<std::string> classes = {};  // that the model knows
        std::shared_ptr<const Dataset> samples = nullptr;
    };
    void open(Question question, const std::optional<DatasetInfo>& known, const Environment& environment);

    std::optional<Opened> m_opened;
};

}  // namespace lockstep
