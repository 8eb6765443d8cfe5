#include "engine/train/open_data.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "engine/core/error.h"
#include "engine/data/augment.h"
#include "engine/data/held_out.h"

namespace lockstep {

namespace {

using Clock = std::chrono::steady_clock;

void requireFit(const ResolvedSpec& resolved, const DatasetInfo& info) {
    ModelInput input = modelInput(*resolved.model, info, 1, resolved.spec.labelSmoothing);
    input.frozen = resolved.frozen;
    const auto forward = buildForward(*resolved.model, resolved.modelParams, input, true);
    if (!forward.ok()) throw ProblemError(forward.problems().front());
}

Problem otherData(bool sameCount, bool accepted, const std::string& place, std::vector<std::string> args) {
    const std::string code = sameCount ? "data.other-content" : "data.other-count";
    return {place, accepted ? code + "-accepted" : code, std::move(args)};
}

// Settings that do nothing with these images or others, or something twice.
void warnOfAugmentation(const ResolvedSpec& resolved, DatasetSplits& data) {
    const ParamValues& how = resolved.augmentationParams;
    const auto warn = [&](const char* setting, const char* code) {
        data.remarks.push_back({std::string("augmentation.") + setting, code, {}});
    };
    const bool cuts = how.number("random_resized_crop") > 0;
    if (!cuts && how.number("crop_aspect") != ParamValues(augmentationSchema()).number("crop_aspect"))
        warn("crop_aspect", "augmentation.needs-cut");
    if (cuts && how.integer("crop_padding") > 0) warn("crop_padding", "augmentation.cut-and-shifted");
    if (data.train->info().image().channels != 1) return;
    for (const char* setting : {"jitter_saturation", "jitter_hue"})
        if (how.number(setting) > 0) warn(setting, "augmentation.needs-colours");
}

// How large images are to the model, where no setting but the data and the model said it.
void noteSize(const ResolvedSpec& resolved, DatasetSplits& data) {
    const auto& params = resolved.datasetParams.all();
    const auto size = params.find("size");
    if (size == params.end() || size->second != ParamValue(std::int64_t{0})) return;
    const ImageShape shape = data.train->info().image();
    data.notes.insert(data.notes.begin(),
                      {"dataset.size",
                       "data.image-size",
                       {resolved.model->name, std::to_string(shape.width), std::to_string(shape.height)}});
}

// What is over in a moment is not worth a word.
constexpr auto kMoment = std::chrono::milliseconds(500);

}  // namespace

// A network that halves a large picture five times sees next to nothing of a small one; one for small pictures has many
// times the work with large ones. Of the latter only those have another name for the others.
std::optional<Problem> misfit(const ModelEntry& model, const DatasetInfo& info) {
    constexpr int kLarge = 128, kSmall = 64;
    constexpr std::string_view kForSmall = "-cifar";
    const int side = std::min(info.image().height, info.image().width);
    if (model.task != ModelTask::ImageClasses || side == 0) return std::nullopt;
    const auto warning = [&](const char* code, const std::string& other) {
        return Problem{"model", code, {model.name, std::to_string(model.usual.height), std::to_string(side), other}};
    };
    const auto isThere = [](const std::string& name) { return findModel(builtinModels(), name) != nullptr; };
    const std::string small = model.name + std::string(kForSmall);
    if (model.usual.height >= kLarge && side <= kSmall)
        return warning("data.small-for-model", isThere(small) ? small : std::string("resnet18-cifar"));
    if (!model.name.ends_with(kForSmall) || side < kLarge) return std::nullopt;
    const std::string large = model.name.substr(0, model.name.size() - kForSmall.size());
    return isThere(large) ? std::optional(warning("data.large-for-model", large)) : std::nullopt;
}

Result<DatasetSplits> openData(const ResolvedSpec& resolved, OpeningWatch watch) {
    const auto path = dataPathOf(*resolved.dataset, resolved.spec.dataPath);
    if (!path.ok()) return path.problems();
    if (resolved.model->task == ModelTask::ImageClasses) watch.usualSize = resolved.model->usual.height;
    watch.cuts = augmentationFrom(resolved.augmentationParams).cut.has_value();
    if (watch.trains) watch.described = [&resolved](const DatasetInfo& info) { requireFit(resolved, info); };
    auto splits = resolved.dataset->open(path.value(), resolved.datasetParams, watch);
    if (!splits.ok()) return splits;
    try {
        if (watch.trains) requireFit(resolved, splits.value().train->info());
        if (watch.trains)
            if (auto warning = misfit(*resolved.model, splits.value().train->info()))
                splits.value().remarks.push_back(std::move(*warning));
        if (watch.trains) warnOfAugmentation(resolved, splits.value());
        noteSize(resolved, splits.value());
        splits.value().fingerprint = fingerprintOf(splits.value());
        divideAsAsked(resolved.spec, splits.value());
    } catch (const ProblemError& error) {
        return error.problem();
    } catch (const EngineError& error) {  // of a sample that cannot be read
        return Problem{error.where(), "file.unreadable", {error.what()}};
    }
    return splits;
}

void divideAsAsked(const TrialSpec& spec, DatasetSplits& splits) {
    if (spec.validationShare <= 0 || !splits.train || splits.train->info().count < 2) return;
    if (splits.validation) {
        splits.remarks.push_back(
            {"validation_share", "data.own-validation-unused", {std::to_string(splits.validation->info().count)}});
        if (splits.fingerprint) splits.fingerprint->validation = {};
    }
    HeldOut parts = holdOut(splits.train, spec.validationShare, spec.validationSeed);
    splits.train = std::move(parts.train);
    splits.validation = std::move(parts.validation);
}

Result<DatasetSplits> openData(const ResolvedSpec& resolved, const RunControl& control,
                               const std::vector<EventSink*>& sinks) {
    OpeningWatch watch = watchWithRate([&sinks](const DataProgress& progress) {
        for (EventSink* sink : sinks) sink->post(0, progress);
    });
    watch.stop = control.stopToken();
    return openData(resolved, std::move(watch));
}

// Files are listed and matched with lists before: the rate is that of what goes on.
OpeningWatch watchWithRate(std::function<void(const DataProgress&)> tell) {
    struct Start {
        std::int64_t done = 0, total = 0;
        Clock::time_point time;
    };
    const auto bytes = std::make_shared<std::int64_t>(0);
    OpeningWatch watch;
    watch.makes = [bytes](std::uint64_t made) { *bytes = static_cast<std::int64_t>(made); };
    watch.progress = [tell = std::move(tell), bytes, begin = Clock::now(), start = std::optional<Start>()](
                         std::int64_t done, std::int64_t total) mutable {
        const auto now = Clock::now();
        if (total == 0) return now - begin < kMoment ? void() : tell({done, 0, 0, 0});
        if (!start || start->total != total || done < start->done) start = {done, total, now};
        if (now == start->time || now - begin < kMoment) return;
        const std::chrono::duration<double> passed = now - start->time;
        tell({done, total, static_cast<double>(done - start->done) / passed.count(), *bytes});
    };
    return watch;
}

std::vector<Problem> compareData(const Checkpoint& checkpoint, const ResolvedSpec& resolved, ChangedData changed,
                                 DatasetSplits& data) {
    if (!checkpoint.data || !data.fingerprint) return {};
    const bool accepted = changed == ChangedData::Accept;
    const auto path = dataPathOf(*resolved.dataset, resolved.spec.dataPath);
    const std::string place = path.ok() && !path.value().empty() ? path.value().string() : resolved.dataset->id;
    // It was trained before its dataset was known to have a validation split: it goes on as it began.
    const bool hasOwn = data.validation && data.fingerprint->validation.samples > 0;
    if (hasOwn && checkpoint.data->validation.samples == 0) data.validation.reset();
    std::vector<Problem> changes;
    const auto compare = [&](const char* name, const SplitFingerprint& before, const SplitFingerprint& now) {
        if (before == now) return;
        changes.push_back(otherData(before.samples == now.samples, accepted, place,
                                    {name, std::to_string(before.samples), std::to_string(now.samples)}));
    };
    compare("training", checkpoint.data->train, data.fingerprint->train);
    compare("test", checkpoint.data->test, data.fingerprint->test);
    if (checkpoint.data->validation.samples > 0)
        compare("validation", checkpoint.data->validation, data.fingerprint->validation);
    if (accepted) data.remarks.insert(data.remarks.end(), changes.begin(), changes.end());
    return accepted ? std::vector<Problem>() : changes;
}

bool isCancelled(const std::vector<Problem>& problems) {
    return std::ranges::any_of(problems, [](const Problem& each) { return each.code == "dataset.cancelled"; });
}

}  // namespace lockstep
