#pragma once
#include <memory>
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
    // Throws ProblemError: "serve.no-sample", "serve.too-many-samples" beyond AskedSamplesRequest::kMost, and what
    // `lockstep evaluate` says of such data.
    AskedSamplesAnswer read(const TrialSpec& spec, const AskedSamplesRequest& request, const Environment& environment);

private:
    struct Opened {
        TrialSpec spec;
        std::string data, split;
        std::shared_ptr<const Dataset> samples = nullptr;
        bool operator==(const Opened&) const = default;
    };
    void open(const TrialSpec& spec, const AskedSamplesRequest& request, const Environment& environment);

    Opened m_opened;
};

}  // namespace lockstep
