#include "engine/spec/trial_fields.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <type_traits>

#include "engine/spec/json_text.h"

namespace lockstep {

namespace {

constexpr std::uint64_t kLargestWhole = std::numeric_limits<std::int64_t>::max();

TrialField field(TrialField::Member member, std::string name, std::optional<double> low, std::optional<double> high,
                 std::string unit, std::string meaning) {
    TrialField made{{std::move(name), {}, low, high, {}, std::move(unit), std::move(meaning)}, member};
    made.field.fallback = made.valueIn({});
    return made;
}

TrialField choice(std::string TrialSpec::*member, std::string name, std::vector<std::string> choices,
                  std::string meaning) {
    TrialField made = field(member, std::move(name), {}, {}, "", std::move(meaning));
    made.field.choices = std::move(choices);
    return made;
}

std::vector<TrialField> ofTheBatch() {
    using S = TrialSpec;
    return {
        field(&S::title, "title", {}, {}, "", "A name for the list of trials."),
        field(
            &S::validationShare, "validation_share", 0, 0.9, "",
            "The share of the training samples that is held out: they choose the best epoch, and the test samples are "
            "looked at once, at the end. 0: the data's own validation samples choose or, without those, the test "
            "samples."),
        field(&S::validationSeed, "validation_seed", 0, {}, "",
              "Which samples are held out: trials that are to be compared have the same."),
        field(&S::devices, "devices", {}, {}, "",
              "Where to train: cpu:2 (two devices that share the cores), cpu:2x1 (one core each), cuda:0,1, cuda:all; "
              "auto: "
              "every card, or where there is none all cores as one device."),
        field(&S::batch, "batch", 1, 1 << 24, "samples",
              "Samples per update of the weights, over all devices together."),
        field(&S::accumulation, "accumulation", 1, 1024, "passes",
              "Passes of each device per update, one after another; more take less memory for the same batch."),
        choice(&S::recompute, "recompute", {"none", "segments"},
               "none: what the forward pass makes is kept for the backward pass; segments: most of it is forgotten and "
               "made again, part by part: less memory for a fifth to a half more computing, and the same gradients."),
        field(&S::epochs, "epochs", 1, 1'000'000, "epochs", "How often the run sees every training sample."),
        field(&S::learningRate, "learning_rate", 0, 1000, "",
              "How far an update moves the weights; the schedule varies it over the run."),
        choice(
            &S::learningRateRule, "learning_rate_rule", {"none", "sqrt", "linear"},
            "How the learning rate follows the batch: not at all, by its square root, or in proportion; a warm-up then "
            "starts from the unscaled rate."),
        field(&S::learningRateBatch, "learning_rate_batch", 1, 1 << 24, "samples",
              "With a rule: the batch for which the learning rate was chosen."),
        field(&S::labelSmoothing, "label_smoothing", 0, 0.99, "",
              "The share of each label that is spread over all classes, against overconfidence."),
        field(&S::averageDecay, "average_decay", 0, 0.999999, "",
              "0, or how much of the average of the weights stays at each update, near 1: evaluation then uses the "
              "averages."),
        field(
            &S::seed, "seed", 0, {}, "",
            "Where the random numbers start: the same seed gives the same order of images and the same first weights."),
    };
}

std::vector<TrialField> ofFineTuning() {
    using S = TrialSpec;
    return {
        field(&S::weights, "weights", {}, {}, "file",
              "Trained weights that the model starts from, as safetensors: of a trial, or of torchvision's ResNets and "
              "VGGs; "
              "empty: random ones."),
        choice(&S::newHead, "new_head", {"no", "auto", "yes"},
               "With weights: whether the last layer starts fresh; auto: if the weights are for another number of "
               "classes."),
        field(&S::frozen, "frozen", {}, {}, "",
              "Layers that stay as they are, each with all below it, for example stem,block1; empty: all are trained."),
    };
}

std::vector<TrialField> ofTheText() {
    using S = TrialSpec;
    return {
        field(&S::sampleLength, "sample_length", 0, 100'000, "bytes",
              "Language models: how much text the model writes after each evaluation, to show what it has learnt; 0: "
              "none."),
        field(&S::samplePrompt, "sample_prompt", {}, {}, "",
              "Language models: the text that it goes on from; empty: the beginning of the test data."),
        field(&S::sampleTemperature, "sample_temperature", 0, 100, "",
              "Language models: how freely it writes; 0: always the likeliest byte, 1: by the model's probabilities."),
    };
}

std::vector<TrialField> ofTheDevices() {
    using S = TrialSpec;
    return {
        choice(
            &S::precision, "precision", {"fp32", "tf32", "bf16", "fp16", "auto"},
            "fp32; tf32, bf16 or fp16: fewer bits, and faster where the device has units for it. Weights are kept in "
            "fp32 besides, and fp16 scales its loss. On CPU devices bf16 is what products of matrices and "
            "convolutions read, where that is faster. auto: of fp32, tf32 and bf16 the fastest for the model, measured "
            "as the run begins; fp32 in reproducible mode."),
        choice(&S::mode, "mode", {"fast", "reproducible"},
               "fast: each device takes its part of the batch at once; reproducible: the same bits on 1, 2, 4 or 8 "
               "devices."),
        field(&S::shards, "shards", 1, 4096, "shards",
              "Reproducible mode: parts of a batch, a power of two that the number of devices divides."),
        field(&S::shardThreads, "shard_threads", 1, 256, "threads",
              "Reproducible mode: kernel threads per device, whatever cores it has."),
        field(&S::shares, "shares", {}, {}, "",
              "Fast mode: each device's part of the batch, for example 2,1; empty: equal parts; balanced: as the "
              "measured "
              "step times ask for."),
        choice(
            &S::batchNorm, "batch_norm", {"local", "synchronised"},
            "local: each device normalises over its own images (in reproducible mode over each shard); synchronised: "
            "over those of all devices."),
        field(&S::bucketBytes, "bucket_bytes", 4096, 1 << 30, "bytes",
              "Gradients are summed over the devices in slices of about this size, while the rest is still computed."),
        field(&S::loaderThreads, "loader_threads", 0, 64, "threads",
              "Threads that make the samples for each device; 0: as many as turn out to be worth it."),
    };
}

std::vector<TrialField> ofItsFaults() {
    using S = TrialSpec;
    return {
        field(&S::checkEvery, "check_every", 0, 1'000'000, "updates",
              "Every so often the devices' weights are compared and a snapshot is kept in memory; 0: at checkpoints "
              "only."),
        field(&S::checkpointMinutes, "checkpoint_minutes", 0, 100'000, "minutes",
              "Within an epoch a checkpoint is written every so often; 0: after each epoch only."),
        field(&S::keepCheckpoints, "keep_checkpoints", {}, {}, "",
              "Which checkpoints stay on the disk: last, the newest alone; best:3, the newest and those of the three "
              "best "
              "epochs."),
        choice(&S::onLostDevice, "on_lost_device", {"continue", "stop"},
               "When a device fails: continue on the others from the last snapshot, or stop."),
        choice(&S::onNonFinite, "on_non_finite", {"stop", "skip"},
               "When a loss or gradient is not a finite number: stop the run, or skip that update on all devices."),
        choice(&S::onBadSample, "on_bad_sample", {"skip", "stop"},
               "When a streamed image cannot be read: skip it, which counts for nothing then, or stop the run."),
        field(&S::maxBadShare, "max_bad_share", 0, 1, "",
              "Of all samples, how many may be skipped before the run stops."),
        field(&S::timeout, "timeout", 0.1, 86'400, "seconds",
              "How long devices wait for one that does not answer, or for images, before the run is broken off."),
        field(&S::loaderLimit, "loader_limit", 0, 1e9, "samples/s",
              "For demonstrations: loading is held at so many samples per second of all devices; 0: it is not."),
        field(&S::linkBandwidth, "link_bandwidth", 0, 1e6, "MB/s",
              "For demonstrations: a simulated link between the devices that carries this much; 0: none."),
        field(&S::linkLatency, "link_latency", 0, 1e6, "µs",
              "For demonstrations: what the simulated link takes for each message on top; 0: none."),
    };
}

std::optional<Problem> write(std::string_view path, const ParamValue& value, std::string& out) {
    const auto* text = std::get_if<std::string>(&value);
    if (!text) return wrongType(path, value, "text");
    out = *text;
    return std::nullopt;
}

std::optional<Problem> write(std::string_view path, const ParamValue& value, std::int64_t& out) {
    const auto* whole = std::get_if<std::int64_t>(&value);
    if (!whole) return wrongType(path, value, "a whole number");
    out = *whole;
    return std::nullopt;
}

std::optional<Problem> write(std::string_view path, const ParamValue& value, double& out) {
    const auto* whole = std::get_if<std::int64_t>(&value);
    const auto* real = std::get_if<double>(&value);
    if (!whole && !real) return wrongType(path, value, "a number");
    out = whole ? static_cast<double>(*whole) : *real;
    return std::nullopt;
}

std::optional<Problem> write(std::string_view path, const ParamValue& value, std::uint64_t& out) {
    constexpr auto kLargest = std::numeric_limits<std::uint64_t>::max();
    const auto* whole = std::get_if<std::int64_t>(&value);
    const auto* digits = std::get_if<std::string>(&value);
    std::uint64_t seed = whole ? static_cast<std::uint64_t>(*whole) : 0;
    bool fits = whole && *whole >= 0;
    if (digits) {
        const auto end = digits->data() + digits->size();
        const auto [stop, error] = std::from_chars(digits->data(), end, seed);
        const bool beyond = error == std::errc::result_out_of_range || seed > kLargestWhole;
        if (stop != end || error == std::errc::invalid_argument || !beyond) digits = nullptr;
        fits = error == std::errc();
    }
    if (!whole && !digits) return wrongType(path, value, "a whole number from 0");
    if (!fits) return Problem{std::string(path), "spec.out-of-range", {text(value), "0", std::to_string(kLargest)}};
    out = seed;
    return std::nullopt;
}

}  // namespace

Problem wrongType(std::string_view path, const ParamValue& value, std::string_view wanted) {
    const auto json = std::visit([](const auto& each) { return nlohmann::json(each); }, value);
    return {std::string(path), "spec.wrong-type", {shortText(json), std::string(wanted)}};
}

ParamValue TrialField::valueIn(const TrialSpec& spec) const {
    return std::visit(
        [&]<class T>(T TrialSpec::*at) -> ParamValue {
            if constexpr (std::is_same_v<T, std::uint64_t>) {
                if (spec.*at > kLargestWhole) return std::to_string(spec.*at);
                return static_cast<std::int64_t>(spec.*at);
            } else {
                return spec.*at;
            }
        },
        member);
}

std::optional<Problem> TrialField::writeTo(TrialSpec& spec, const ParamValue& value) const {
    return std::visit([&](auto at) { return write(field.name, value, spec.*at); }, member);
}

const std::vector<TrialField>& trialFields() {
    static const std::vector<TrialField> fields = [] {
        std::vector<TrialField> all = ofTheBatch();
        for (auto* more : {&ofFineTuning, &ofTheText, &ofTheDevices, &ofItsFaults}) {
            for (TrialField& each : more()) all.push_back(std::move(each));
        }
        return all;
    }();
    return fields;
}

const TrialField* findTrialField(std::string_view name) {
    const auto found = std::ranges::find(trialFields(), name, [](const auto& each) { return each.field.name; });
    return found == trialFields().end() ? nullptr : &*found;
}

}  // namespace lockstep
