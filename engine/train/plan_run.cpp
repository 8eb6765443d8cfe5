#include "engine/train/plan_run.h"

#include <algorithm>
#include <map>

#include "engine/core/error.h"
#include "engine/data/loader.h"
#include "engine/ops/synchronised_norm.h"
#include "engine/plan/agreement.h"
#include "engine/plan/compile.h"
#include "engine/spec/evaluation.h"
#include "engine/train/text_writer.h"

namespace lockstep {

namespace {

std::string describe(const DatasetInfo& info) {
    return std::to_string(info.classes.size()) + " classes of " + text(info.fields);
}

void requireUsable(const TrialSpec& spec, const DatasetInfo& train, const DatasetInfo& test) {
    const auto classes = train.classes.size();
    if (classes < 2) throw ProblemError({"dataset", "data.too-few-classes", {train.id, std::to_string(classes)}});
    if (train.count < 1) throw ProblemError({"dataset", "data.empty-split", {train.id, "training"}});
    if (test.count < 1) throw ProblemError({"dataset", "data.empty-split", {train.id, "test"}});
    if (train.fields != test.fields || classes != test.classes.size())
        throw ProblemError({"dataset", "data.splits-differ", {train.id, describe(train), describe(test)}});
    if (spec.batch > train.count)
        throw ProblemError(
            {"batch", "spec.batch-too-large", {std::to_string(spec.batch), train.id, std::to_string(train.count)}});
}

bool hasBatchNorm(const Graph& forward) {
    return std::ranges::any_of(forward.nodes(), [](const Node& node) {
        return node.op == &kBatchNormTrain || node.op == &kBatchNormTrainFromSums;
    });
}

std::int64_t tokensOf(const std::vector<Field>& fields) { return findField(fields, "tokens")->type.shape.count(); }

using PassSizes = std::vector<std::int64_t>;

// Compiles each program once, whatever the number of ranks that run it.
class Compiler {
public:
    // `kept`: images of the dataset that devices keep.
    Compiler(const ResolvedSpec& resolved, const DatasetInfo& info, const BatchLayout& batch, ImagesAs images,
             std::int64_t kept, AlgorithmChoice algorithms)
        : m_resolved(resolved), m_info(info), m_batch(batch), m_images(images), m_kept(kept) {
        m_options.bucketBytes = static_cast<std::size_t>(resolved.spec.bucketBytes);
        m_options.precision = resolved.precision();
        m_options.reduces = resolved.devices.size() > 1;
        m_options.recomputes = resolved.spec.recompute == "segments";
        m_options.algorithms = resolved.spec.reproducible() ? AlgorithmChoice::ByRule : algorithms;
    }

    // The first call is for the nominal program and decides storage and layouts for all others.
    std::shared_ptr<const Program> training(const PassSizes& passes, int threads) {
        if (passes.front() == 0) return emptyTraining();
        auto& program = m_training[{passes, threads}];
        if (program) return program;
        const ForwardGraphs graphs(*this, passes, true);
        program = std::make_shared<const Program>(
            compileTraining(graphs.passes(), *m_resolved.backend, m_resolved.update, m_batch, options(threads)));
        if (!m_options.storage) {
            m_options.storage = program->storage;
            m_nominal = program;
            m_hasBatchNorm = hasBatchNorm(*graphs.passes().front());
        }
        requireSameCollectives(*m_nominal, *program);
        return program;
    }

    // Null without samples: such a rank has nothing to evaluate.
    std::shared_ptr<const Program> evaluation(const PassSizes& passes, int threads) {
        if (passes.front() == 0) return nullptr;
        auto& program = m_evaluation[{passes, threads}];
        if (!program) {
            const ForwardGraphs graphs(*this, passes, false);
            program = std::make_shared<const Program>(
                compileEvaluation(graphs.passes(), *m_resolved.backend, m_batch, options(threads)));
        }
        return program;
    }

    // Of one sequence, of another length than those of the samples.
    std::shared_ptr<const Program> writing(const BatchLayout& window, int threads) const {
        ModelInput input = modelInput(*m_resolved.model, m_info, 1, 0);
        input.tokens = static_cast<int>(tokensOf(window.fields()));
        const Graph graph = forward(std::move(input), false);
        return std::make_shared<const Program>(
            compileEvaluation({&graph}, *m_resolved.backend, window, options(threads)));
    }

    std::int64_t parameters() const { return parameterCount(*m_nominal->passes.front().graph); }

    // Over what batch norm takes its statistics, as RunStarted says it.
    std::string batchNorm() const {
        if (!m_hasBatchNorm) return "";
        return m_resolved.spec.reproducible() ? "per shard" : m_resolved.spec.batchNorm;
    }

private:
    using Key = std::pair<PassSizes, int>;

    // One forward graph for each size among the passes.
    class ForwardGraphs {
    public:
        ForwardGraphs(const Compiler& compiler, const PassSizes& sizes, bool training) {
            for (const std::int64_t size : sizes) {
                if (size > 0 && !m_graphs.contains(size)) m_graphs.emplace(size, compiler.forward(size, training));
                m_passes.push_back(size > 0 ? &m_graphs.at(size) : nullptr);
            }
        }
        const ForwardPasses& passes() const { return m_passes; }

    private:
        std::map<std::int64_t, Graph> m_graphs;
        ForwardPasses m_passes;
    };

    std::shared_ptr<const Program> emptyTraining() {
        if (!m_empty) {
            m_empty = std::make_shared<const Program>(compileEmptyTraining(*m_nominal));
            requireSameCollectives(*m_nominal, *m_empty);
        }
        return m_empty;
    }

    CompileOptions options(int threads) const {
        CompileOptions options = m_options;
        options.threads = threads;
        return options;
    }

    Graph forward(std::int64_t batch, bool training) const {
        const double smoothing = training ? m_resolved.spec.labelSmoothing : 0;
        return forward(modelInput(*m_resolved.model, m_info, batch, smoothing), training);
    }

    Graph forward(ModelInput input, bool training) const {
        input.synchronisesNorm = m_resolved.spec.batchNorm == "synchronised" && m_options.reduces;
        input.mixes = m_resolved.mixes();
        if (m_images != ImagesAs::Made) input.pixels = {m_kept, m_info.mean, m_info.deviation};
        input.frozen = m_resolved.frozen;
        Result<Graph> graph = buildForward(*m_resolved.model, m_resolved.modelParams, input, training);
        if (!graph.ok()) throw ProblemError(graph.problems().front());
        return std::move(graph).value();
    }

    const ResolvedSpec& m_resolved;
    const DatasetInfo& m_info;
    const BatchLayout& m_batch;
    ImagesAs m_images;
    std::int64_t m_kept;
    CompileOptions m_options;
    std::shared_ptr<const Program> m_nominal, m_empty;
    bool m_hasBatchNorm = false;
    std::map<Key, std::shared_ptr<const Program>> m_training, m_evaluation;
};

// Of what constant steps make of weights, which lies among the activations.
std::size_t constantBytes(const Program& program) {
    std::size_t bytes = 0;
    for (const Step& step : program.steps) {
        if (!step.constant) continue;
        const Graph& graph = *program.graphOf(step);
        for (const ValueId output : graph.node(*step.node).outputs) bytes += graph.value(output).bytes();
    }
    return bytes;
}

// Arenas are as large as the hungriest program needs; activations are shared, too. A device with memory of its own has
// the next batch there beside the step's.
MemoryUse memoryOf(const RankPrograms& programs, bool hostMemory) {
    MemoryUse use;
    for (std::size_t arena = 0; arena < kArenaCount; ++arena) {
        std::size_t most = 0;
        const Program* hungriest = nullptr;
        for (const auto* program : {&programs.training, &programs.lastTraining, &programs.evaluation,
                                    &programs.lastEvaluation, &programs.writing}) {
            if (!*program || (*program)->arenaBytes[arena] <= most) continue;
            most = (*program)->arenaBytes[arena];
            hungriest = program->get();
        }
        if (arena == static_cast<std::size_t>(Arena::Activations) && hungriest) {
            const std::size_t constants = std::min(most, constantBytes(*hungriest));
            use.weights += constants;
            most -= constants;
        }
        const bool isBatch = arena == static_cast<std::size_t>(Arena::Io);
        const bool isActivation =
            arena == static_cast<std::size_t>(Arena::Activations) || arena == static_cast<std::size_t>(Arena::Outputs);
        const bool isDataset = arena == static_cast<std::size_t>(Arena::Dataset);
        if (isBatch && !hostMemory) most *= 2;
        (isBatch ? use.batches : isActivation ? use.activations : isDataset ? use.dataset : use.weights) += most;
    }
    return use;
}

// Of a rank's batches. Rounded parts need not grow with the batch, so the largest batch alone does not tell.
std::int64_t capacityFor(const Partition& partition, const std::vector<std::int64_t>& batches) {
    std::int64_t most = 0;
    for (const std::int64_t batch : batches) {
        for (int rank = 0; rank < partition.world(); ++rank) most = std::max(most, partition.share(batch, rank).count);
    }
    return most;
}

// Only where the tokens are bytes. Where there are none, the model's own look at the fields says so.
bool writesText(const ResolvedSpec& resolved, const DatasetInfo& info) {
    return resolved.model->task == ModelTask::NextTokens && resolved.spec.sampleLength > 0 &&
           info.classes.size() == kByteTokens && findField(info.fields, "tokens");
}

// One sequence: the prompt and all but the last byte of the text, or as much as a sample has.
BatchLayout windowFor(const TrialSpec& spec, const DatasetInfo& info) {
    const std::size_t prompt = spec.samplePrompt.empty() ? kUsualPromptBytes : spec.samplePrompt.size();
    const std::int64_t whole = static_cast<std::int64_t>(prompt) + spec.sampleLength - 1;
    DatasetInfo window = info;
    window.fields = languageFields(std::min(tokensOf(info.fields), whole));
    return batchLayout(window, 1);
}

// Who makes the images, and from what. Devices with memory of their own do, and keep all pixels where those of their
// ranks take a quarter of it at most.
ImagesAs imagesFor(const ResolvedSpec& resolved, const DatasetInfo& train, const DatasetInfo& test) {
    if (resolved.backend->hostMemory() || resolved.model->task != ModelTask::ImageClasses) return ImagesAs::Made;
    if (!train.inMemory || !test.inMemory || augmentationFrom(resolved.augmentationParams).cut) return ImagesAs::Pixels;
    const std::size_t image = findField(train.fields, "image")->type.bytes();
    const std::size_t bytes = static_cast<std::size_t>(train.count + test.count) * image;
    for (const DeviceInfo& device : resolved.backend->devices()) {
        const auto ranks = std::ranges::count(resolved.devices, device.id, &DeviceChoice::id);
        if (bytes * static_cast<std::size_t>(ranks) > device.memoryBytes / 4) return ImagesAs::Pixels;
    }
    return ImagesAs::Recipes;
}

// A language's tokens are no classes that somebody would tell apart.
std::int64_t countedClassesOf(const ModelEntry& model, const DatasetInfo& info) {
    const auto classes = static_cast<std::int64_t>(info.classes.size());
    return model.task == ModelTask::NextTokens || classes > kMostCountedClasses ? 0 : classes;
}

int rankOfMost(const Partition& partition, std::int64_t batch) {
    int best = 0;
    for (int rank = 1; rank < partition.world(); ++rank) {
        if (partition.share(batch, rank).count > partition.share(batch, best).count) best = rank;
    }
    return best;
}

}  // namespace

bool ResolvedSpec::mixes() const { return augmentationFrom(augmentationParams).mixes(); }

MemoryUse& MemoryUse::operator+=(const MemoryUse& other) {
    weights += other.weights;
    activations += other.activations;
    batches += other.batches;
    dataset += other.dataset;
    return *this;
}

Partition partitionOf(const ResolvedSpec& resolved) {
    const int world = static_cast<int>(resolved.devices.size());
    const TrialSpec& spec = resolved.spec;
    if (spec.reproducible()) return Partition::byShards(world, static_cast<int>(spec.shards));
    const int accumulation = static_cast<int>(spec.accumulation);
    return resolved.shares.empty() ? Partition::byRanks(world, accumulation)
                                   : Partition::byWeights(resolved.shares, accumulation);
}

ModelInput modelInput(const ModelEntry& model, const DatasetInfo& info, std::int64_t batch, double labelSmoothing) {
    const char* name = model.task == ModelTask::ImageClasses ? "image" : "tokens";
    const Field* field = findField(info.fields, name);
    if (!field) throw ProblemError({"dataset", "data.missing-field", {name, text(info.fields)}});
    ModelInput input{
        .batch = batch, .classes = static_cast<int>(info.classes.size()), .labelSmoothing = labelSmoothing};
    if (model.task != ModelTask::ImageClasses) {
        input.tokens = static_cast<int>(field->type.shape.count());
        return input;
    }
    const ImageShape image = info.image();
    input.channels = image.channels;
    input.height = image.height;
    input.width = image.width;
    input.mayMiss = info.isCut;
    return input;
}

RunPlan planRun(const ResolvedSpec& resolved, const DatasetInfo& train, const DatasetInfo& test,
                AlgorithmChoice algorithms) {
    const TrialSpec& spec = resolved.spec;
    requireUsable(spec, train, test);
    const int world = static_cast<int>(resolved.devices.size());
    const std::int64_t evaluationBatch = std::min(spec.batch, test.count);
    const Sampler trainSampler(train.count, spec.batch, spec.seed, Sampler::Order::Shuffled);
    const Sampler testSampler(test.count, evaluationBatch, spec.seed, Sampler::Order::Sequential);
    const auto lastBatch = [](const Sampler& sampler) { return sampler.batchSize(sampler.stepsPerEpoch() - 1); };

    RunPlan plan;
    const Partition partition = partitionOf(resolved);
    const std::vector<std::int64_t> batches{spec.batch, lastBatch(trainSampler), evaluationBatch,
                                            lastBatch(testSampler)};
    const ImagesAs images = imagesFor(resolved, train, test);
    if (images == ImagesAs::Recipes) plan.keptImages = train.count + test.count;
    plan.batch = batchLayout(train, capacityFor(partition, batches), resolved.mixes(), images);
    plan.stepsPerEpoch = trainSampler.stepsPerEpoch();
    plan.totalSteps = plan.stepsPerEpoch * spec.epochs;
    Compiler compiler(resolved, train, plan.batch, images, plan.keptImages, algorithms);
    const auto threadsOf = [&](int rank) { return resolved.devices[static_cast<std::size_t>(rank)].threads; };
    if (writesText(resolved, train)) plan.window = windowFor(spec, train);
    const int nominal = rankOfMost(partition, spec.batch);
    compiler.training(partition.passSizes(spec.batch, nominal), threadsOf(nominal));
    for (int rank = 0; rank < world; ++rank) {
        const int threads = threadsOf(rank);
        const auto passes = [&](std::int64_t batch) { return partition.passSizes(batch, rank); };
        plan.shares.push_back(partition.share(spec.batch, rank).count);
        RankPrograms programs;
        programs.training = compiler.training(passes(spec.batch), threads);
        programs.lastTraining = compiler.training(passes(lastBatch(trainSampler)), threads);
        programs.evaluation = compiler.evaluation(passes(evaluationBatch), threads);
        programs.lastEvaluation = compiler.evaluation(passes(lastBatch(testSampler)), threads);
        if (rank == 0 && plan.window.capacity() > 0) programs.writing = compiler.writing(plan.window, threads);
        plan.memory.push_back(memoryOf(programs, resolved.backend->hostMemory()));
        plan.bytesPerDevice = std::max(plan.bytesPerDevice, plan.memory.back().total());
        plan.ranks.push_back(std::move(programs));
    }
    plan.countedClasses = countedClassesOf(*resolved.model, train);
    plan.parameters = compiler.parameters();
    plan.batchNorm = compiler.batchNorm();
    return plan;
}

}  // namespace lockstep
