#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/param_schema.h"
#include "engine/core/result.h"

namespace lockstep {

// Something chosen by name from a registry, with the settings that differ from its fallbacks.
struct Choice {
    std::string id;
    std::map<std::string, ParamValue> params;
    bool operator==(const Choice&) const = default;
};

// The whole truth about a run, as plain values; what the form, the command line, the spec file and the history all mean
// by a trial. Paths are absolute once accepted.
struct TrialSpec {
    std::string title;
    Choice dataset{"fashion-mnist", {}};
    std::filesystem::path dataPath;    // empty: the entry's default
    double validationShare = 0;        // of the training samples, held out to choose by; 0: none but the dataset's own
    std::uint64_t validationSeed = 1;  // which ones: the same in trials that are compared, whatever their `seed`
    Choice model{"fashion-cnn", {}};
    std::string weights;         // a safetensors file that the model starts from; empty: from random numbers
    std::string newHead = "no";  // "yes": its head is not taken; "auto": unless it is for as many classes
    std::string frozen;          // layers that are not trained: "stem,block1"; see parseLayers()
    std::string devices = "cpu:2";
    std::int64_t batch = 128;  // global: samples per optimizer update over all devices
    std::int64_t epochs = 5;
    Choice optimizer{"sgd", {}};
    double learningRate = 0.1;
    std::string learningRateRule = "none";  // "sqrt", "linear": times sqrt(k), k = batch / learningRateBatch
    std::int64_t learningRateBatch = 128;   // the global batch that learningRate was chosen for
    Choice schedule{"cosine", {}};
    std::map<std::string, ParamValue> augmentation;
    double labelSmoothing = 0;
    std::int64_t sampleLength = 200;  // language models: bytes written after each evaluation; 0: none
    std::string samplePrompt;         // what they follow; empty: the beginning of the test split
    double sampleTemperature = 0.8;   // of the softmax that they are drawn from; 0: the likeliest byte
    double averageDecay = 0;          // > 0: evaluation uses averages of the weights; see averageDecayAt
    std::uint64_t seed = 1;
    std::string precision = "fp32";   // see Precision
    std::string mode = "fast";        // or "reproducible": the same bits on any number of devices
    std::int64_t accumulation = 1;    // fast: passes of each device per update, one after another
    std::string recompute = "none";   // or "segments": of activations, in the backward pass
    std::int64_t shards = 8;          // reproducible: logical shards of a batch, a power of two
    std::int64_t shardThreads = 1;    // reproducible: kernel threads, whatever the device has
    std::string shares;               // fast: "2,1", weights by rank; "": equal; "balanced": by step times
    std::string batchNorm = "local";  // or "synchronised": over the passes of all ranks at once
    std::int64_t bucketBytes = 4 << 20;
    std::int64_t loaderThreads = 0;             // per device; 0: as many as are worth it
    double loaderLimit = 0;                     // samples per second of all devices, for demonstrations; 0: none
    std::int64_t checkEvery = 100;              // updates between replica checks, each with a snapshot; 0: none
    double checkpointMinutes = 10;              // between checkpoints within an epoch; 0: after epochs only
    std::string keepCheckpoints = "best:1";     // or "last", "best:3": see kept_checkpoints.h
    std::string onLostDevice = "continue";      // or "stop"
    std::string onNonFinite = "stop";           // or "skip"
    std::string onBadSample = "skip";           // or "stop"
    double maxBadShare = 0.01;                  // of all samples; above it a run stops all the same
    double timeout = 300;                       // seconds that ranks wait for one that does not come, or for data
    double linkBandwidth = 0, linkLatency = 0;  // MB/s and µs of a simulated link per device; both 0: none
    bool reproducible() const { return mode == "reproducible"; }
    bool simulatesLinks() const { return linkBandwidth > 0 || linkLatency > 0; }
    bool operator==(const TrialSpec&) const = default;
};
std::string dataName(const TrialSpec& spec);  // its path, or its dataset where that has its usual place
// One name for one folder, whether or not a slash ends it: of a path, or of what dataName() gave once.
std::string withoutLastSlash(std::string path);
// For people, of a dataset's id and such a name: "image-folder /data/photos", "fashion-mnist"; of no id the name alone.
std::string dataText(const std::string& dataset, const std::string& name);

// JSON, one object; absent keys keep their defaults; unknown keys, wrong types and duplicate keys are problems naming
// the path ("optimizer.momentmu"). toJson writes every key, in a fixed order, pretty-printed; it round-trips.
// No allocation is larger than 32 times the text.
std::string toJson(const TrialSpec& spec);
std::string toJsonLine(const TrialSpec& spec);  // the same on one line, without its end
Result<TrialSpec> trialSpecFromJson(std::string_view json, std::string_view fileName);

// A file of at most 1 MiB. Problems: "spec.unreadable", "spec.too-large".
Result<std::string> specFileText(const std::filesystem::path& file);
Result<TrialSpec> trialSpecFromFile(const std::filesystem::path& file);

}  // namespace lockstep
