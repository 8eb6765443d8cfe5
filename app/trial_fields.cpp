#include "app/trial_fields.h"

#include "engine/spec/trial_spec.h"

namespace lockstep {

namespace {

ParamSchema makeFields() {
    const TrialSpec usual;
    return {
        {"title", usual.title, {}, {}, {}, "", "A name for the list of trials."},
        {"devices", usual.devices, {}, {}, {}, "",
         "Where to train: cpu:2 (two devices that share the cores), cpu:2x1 (one core each), cuda:0,1, cuda:all."},
        {"batch", usual.batch, 1, 1 << 24, {}, "images", "Images per update of the weights, over all devices together."},
        {"accumulation", usual.accumulation, 1, 1024, {}, "passes",
         "Passes of each device per update, one after another; more take less memory for the same batch."},
        {"epochs", usual.epochs, 1, 1'000'000, {}, "epochs", "How often the run sees every training image."},
        {"learning_rate", usual.learningRate, 0, 1000, {}, "",
         "How far an update moves the weights; the schedule varies it over the run."},
        {"label_smoothing", usual.labelSmoothing, 0, 0.99, {}, "",
         "The share of each label that is spread over all classes, against overconfidence."},
        {"average_decay", usual.averageDecay, 0, 0.999999, {}, "",
         "0, or how much of the average of the weights stays at each update, near 1: evaluation then uses the averages."},
        {"seed", static_cast<std::int64_t>(usual.seed), 0, {}, {}, "",
         "Where the random numbers start: the same seed gives the same order of images and the same first weights."},
        {"mode", usual.mode, {}, {}, {"fast", "reproducible"}, "",
         "fast: each device takes its part of the batch at once; reproducible: the same bits on 1, 2, 4 or 8 devices."},
        {"shards", usual.shards, 1, 4096, {}, "shards",
         "Reproducible mode: parts of a batch, a power of two that the number of devices divides."},
        {"shard_threads", usual.shardThreads, 1, 256, {}, "threads",
         "Reproducible mode: kernel threads per device, whatever cores it has."},
        {"bucket_bytes", usual.bucketBytes, 4096, 1 << 30, {}, "bytes",
         "Gradients are summed over the devices in slices of about this size, while the rest is still computed."},
        {"loader_threads", usual.loaderThreads, 1, 64, {}, "threads", "Threads that prepare images for each device."},
    };
}

}  // namespace

const ParamSchema& trialFields() {
    static const ParamSchema fields = makeFields();
    return fields;
}

}  // namespace lockstep
