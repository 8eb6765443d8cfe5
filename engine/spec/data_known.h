#pragma once
#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/data_fingerprint.h"

namespace lockstep {

// {"version":1,"train":{"samples":60000,"content":"fedcba9876543210"},"test":{…}}, with "validation" where there is
// one.
std::string fingerprintText(const DataFingerprint& data);
// Empty: of another kind than this version would compare with. Throws BadJsonField where it is of no such form.
std::optional<DataFingerprint> fingerprintFrom(const nlohmann::json& json);
std::optional<DataFingerprint> fingerprintIn(std::string_view text);  // empty also where it is of no such form

// Which of the samples that a question about `split` ("test", "validation", "train", "all") reads are others now:
// "training", "validation", "test". Of "all" the validation samples count where there were and are any.
std::vector<std::string> changedSplits(const DataFingerprint& before, const DataFingerprint& now,
                                       std::string_view split = "all");

// What is kept of a trial's data beside them, so that its model can be read when they are others, and its checkpoints
// gone.
struct DataKnown {
    std::string trainedOn;  // trainedOnText() of train/trained_on.h; empty: not kept
    std::optional<DataFingerprint> fingerprint = {};
    bool operator==(const DataKnown&) const = default;
};
// Names in label order; of a language's fields: of its tokens. Empty: nobody knows.
std::vector<std::string> classesOf(const DataKnown& known);
// Whether both have samples of the same form, so that fingerprints of the same data are the same for both.
bool readAlike(const DataKnown& one, const DataKnown& other);

}  // namespace lockstep
