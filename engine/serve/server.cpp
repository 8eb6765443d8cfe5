#include "engine/serve/server.h"

#include <algorithm>

#include "datasets/catalog.h"
#include "engine/core/error.h"
#include "engine/data/held_out.h"
#include "engine/train/choose_precision.h"
#include "engine/train/disk_need.h"
#include "engine/train/memory_need.h"
#include "engine/train/open_data.h"
#include "engine/train/precision_remark.h"
#include "engine/train/schedule.h"
#include "engine/train/weights.h"

namespace lockstep {

namespace {

constexpr int kMostSamples = 40, kMostPoints = 1000;

template <class T>
T valueOf(Result<T> result) {
    if (!result.ok()) throw ProblemError(result.problems().front());
    return std::move(result).value();
}

TrialSpec specOf(const JsonText& spec) { return valueOf(trialSpecFromJson(spec.text, "")); }

}  // namespace

std::string Server::reply(std::string_view line) {
    const Question question = questionFrom(line);
    m_id = question.id;
    const auto refuse = [&](const std::vector<Problem>& problems) {
        return refusalLine(question.id, toldAll(problems, m_host.words));
    };
    try {
        if (!question.request.ok()) return refuse(question.request.problems());
        return std::visit([&](const auto& request) { return replyLine(question.id, answer(request)); },
                          question.request.value());
    } catch (const ProblemError& error) {
        return refuse({error.problem()});
    } catch (const EngineError& error) {
        return refuse({{error.where(), "app.engine-error", {error.what()}}});
    } catch (const std::exception& error) {
        return refuse({{"request", "app.engine-error", {error.what()}}});
    }
}

InspectAnswer Server::answer(const InspectRequest& request) {
    const auto* entry = valueOf(recogniseDataset(m_host.environment().datasets(), request.path));
    return inspection(valueOf(entry->inspect(request.path, ParamValues(entry->params), watch())), m_host.words);
}

ValidateAnswer Server::answer(const ValidateRequest& request) {
    const auto spec = trialSpecFromJson(request.spec.text, "");
    return {toldAll(spec.ok() ? validate(spec.value(), m_host.environment()) : spec.problems(), m_host.words)};
}

PlanAnswer Server::answer(const PlanRequest& request) {
    const TrialSpec spec = specOf(request.spec);
    const auto resolved = valueOf(resolve(spec, m_host.environment()));
    const Glimpse& data = glimpse(spec);
    DatasetInfo train = data.train, choosing = data.choosing;
    if (spec.validationShare > 0 && train.count > 1) {
        choosing = train;
        choosing.count = heldOutCount(train.count, spec.validationShare);
        train.count -= choosing.count;
    }
    const auto run = planRun(resolved, train, choosing);
    if (const auto problem = shortOfMemory(resolved, run, train, choosing)) throw ProblemError(*problem);
    ModelInput input = modelInput(*resolved.model, train, 1, spec.labelSmoothing);
    input.frozen = resolved.frozen;
    if (const auto problems = weightsProblems(resolved, train); !problems.empty()) throw ProblemError(problems.front());
    const auto forward = valueOf(buildForward(*resolved.model, resolved.modelParams, input, true));
    const DiskNeed need = diskNeed(resolved, run);
    PlanAnswer answer{plannedLayers(forward),
                      run.parameters,
                      run.stepsPerEpoch,
                      run.totalSteps,
                      run.bytesPerDevice,
                      {},
                      need.each,
                      need.kept};
    if (auto remark = precisionRemark(resolved, *run.ranks.front().training)) {
        remark->field.clear();  // it is said beside it
        answer.ofPrecision = m_host.words.told(*remark);
    }
    for (const auto& device : resolved.devices) answer.devices.push_back({device.id, device.threads, device.isVirtual});
    return answer;
}

SpeedsAnswer Server::answer(const SpeedsRequest& request) {
    const TrialSpec spec = specOf(request.spec);
    const auto resolved = valueOf(resolve(spec, m_host.environment()));
    const ModelInput input = modelInput(*resolved.model, glimpse(spec).train, spec.batch, spec.labelSmoothing);
    SpeedsAnswer answer;
    for (const PrecisionSpeed& each : timePrecisions(resolved, input, {}))
        answer.speeds.push_back({std::string(text(each.precision)), each.samplesPerSecond});
    return answer;
}

SamplesAnswer Server::answer(const SamplesRequest& request) {
    const TrialSpec spec = specOf(request.spec);
    const auto how = valueOf(ParamValues::from(augmentationSchema(), spec.augmentation, "augmentation"));
    const Glimpse& seen = glimpse(spec);
    SamplesAnswer answer = shownSamples(seen, request.count, augmentationFrom(how), spec.seed, m_host.words);
    const ModelEntry* const model = m_host.environment().model(spec.model.id);
    const auto warning = model ? misfit(*model, seen.train) : std::nullopt;
    if (warning) answer.data.warnings.push_back(m_host.words.told(*warning));
    return answer;
}

AskedSamplesAnswer Server::answer(const AskedSamplesRequest& request) {
    return m_asked.read(specOf(request.spec), request, m_host.environment());
}

ScheduleAnswer Server::answer(const ScheduleRequest& request) {
    const TrialSpec spec = specOf(request.spec);
    const auto* entry = findSchedule(spec.schedule.id);
    if (!entry) throw ProblemError({"schedule", "spec.unknown-schedule", {spec.schedule.id, "see \"settings\""}});
    const auto steps = std::clamp<std::int64_t>(request.stepsPerEpoch, 1, 1 << 24);
    const auto epochs = std::clamp<std::int64_t>(spec.epochs, 1, 1'000'000);
    const int points = std::clamp(request.points, 2, kMostPoints);
    const double factor = rateFactor(spec.learningRateRule, std::max<std::int64_t>(spec.batch, 1),
                                     std::max<std::int64_t>(spec.learningRateBatch, 1));
    const Schedule schedule(entry->name, valueOf(ParamValues::from(entry->params, spec.schedule.params, "schedule")),
                            spec.learningRate * factor, steps * epochs, steps, factor > 1 ? 1 / factor : 0);
    ScheduleAnswer answer;
    for (int i = 0; i < points; ++i) {
        const std::int64_t step = (steps * epochs - 1) * i / (points - 1);
        answer.epochs.push_back(static_cast<double>(step) / static_cast<double>(steps));
        answer.rates.push_back(schedule.at(step));
    }
    return answer;
}

OpeningWatch Server::watch() const {
    OpeningWatch watch{.glances = true};
    if (m_host.tell)
        watch.progress = [this](std::int64_t done, std::int64_t total) {
            m_host.tell(progressLine(m_id, {done, total}));
        };
    return watch;
}

// What was last looked at is kept, so that a form which changes the augmentation or the batch reads no data again.
const Glimpse& Server::glimpse(const TrialSpec& spec) {
    const auto* entry = m_host.environment().dataset(spec.dataset.id);
    if (!entry) throw ProblemError({"dataset", "spec.unknown-dataset", {spec.dataset.id, "see `lockstep datasets`"}});
    const auto params = valueOf(ParamValues::from(entry->params, spec.dataset.params, "dataset"));
    const auto path = valueOf(dataPathOf(*entry, spec.dataPath));
    OpeningWatch watch = this->watch();
    const ModelEntry* const model = m_host.environment().model(spec.model.id);
    if (model && model->task == ModelTask::ImageClasses) watch.usualSize = model->usual.height;
    const auto how = ParamValues::from(augmentationSchema(), spec.augmentation, "augmentation");
    watch.cuts = how.ok() && augmentationFrom(how.value()).cut.has_value();
    const Seen seen{spec.dataset, path, watch.usualSize, watch.cuts};
    if (!m_glimpse || m_seen != seen) {
        m_glimpse.reset();
        m_glimpse = valueOf(glimpseAt(*entry, path, params, watch, kMostSamples));
        m_seen = seen;
    }
    return *m_glimpse;
}

}  // namespace lockstep
