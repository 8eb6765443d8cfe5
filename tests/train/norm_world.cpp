#include "tests/train/norm_world.h"

#include <cstring>
#include <exception>
#include <numeric>
#include <thread>

#include "engine/backend/host_memory.h"
#include "engine/collective/host_group.h"
#include "engine/core/random.h"
#include "engine/data/batch_layout.h"
#include "engine/model/layers.h"
#include "engine/ops/elementwise.h"
#include "engine/plan/agreement.h"
#include "engine/plan/compile.h"

namespace lockstep {

namespace {

constexpr int kClasses = 4;

std::int64_t sum(const std::vector<std::int64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

BatchLayout layoutFor(std::int64_t capacity) {
    return BatchLayout({{"image", {{kNormImage.channels, kNormImage.height, kNormImage.width}, DType::F32}},
                        {"label", {{1}, DType::I32}},
                        {"ids", {{1}, DType::I64}}},
                       capacity);
}

void writeSample(const BatchLayout& layout, std::byte* batch, std::int64_t at, std::int64_t id) {
    const auto place = [&](std::size_t field) {
        return layout.place(batch, field, static_cast<std::size_t>(at)).data();
    };
    const CounterRng rng(7, streamOf("sample"), 0, static_cast<std::uint64_t>(id));
    auto* pixels = reinterpret_cast<float*>(place(0));
    const auto count = static_cast<std::uint32_t>(layout.sampleBytes(0) / sizeof(float));
    // Samples differ in mean and contrast, so that statistics differ between the parts of a batch.
    const auto contrast = static_cast<float>(0.5 + rng.uniform(count));
    const auto mean = static_cast<float>(rng.normal(count + 1));
    for (std::uint32_t i = 0; i < count; ++i) pixels[i] = mean + contrast * static_cast<float>(rng.normal(i));
    const auto label = static_cast<std::int32_t>(id % kClasses);
    std::memcpy(place(1), &label, sizeof label);
    std::memcpy(place(2), &id, sizeof id);
}

// The programs of all ranks, and their batches.
class Plan {
public:
    explicit Plan(const NormWorld& world) : m_world(world) {
        std::size_t most = 0;
        for (std::size_t r = 0; r < world.shares.size(); ++r)
            if (sum(world.shares[r]) > sum(world.shares[most])) most = r;
        layout = layoutFor(sum(world.shares[most]));
        m_options.bucketBytes = 512;
        m_options.reduces = world.shares.size() > 1;
        const Program nominal = compile(world.shares[most]);
        m_options.storage = nominal.storage;
        for (const auto& passes : world.shares) {
            Program program = passes.front() == 0 ? compileEmptyTraining(nominal) : compile(passes);
            programs.push_back(std::make_shared<const Program>(std::move(program)));
            requireSameCollectives(nominal, *programs.back());
        }
    }

    Buffer batch(std::size_t rank, int step) const {
        Buffer bytes = allocateHost(layout.bytes());
        std::int64_t id = 1000 * step, at = 0;
        for (std::size_t pass = 0; pass < m_world.shares[rank].size(); ++pass) {
            for (std::size_t r = 0; r < m_world.shares.size(); ++r) {
                for (std::int64_t i = 0; i < m_world.shares[r][pass]; ++i, ++id)
                    if (r == rank) writeSample(layout, bytes.data(), at++, id);
            }
        }
        return bytes;
    }

    BatchLayout layout;
    std::vector<std::shared_ptr<const Program>> programs;

private:
    Program compile(const std::vector<std::int64_t>& passes) const {
        std::map<std::int64_t, Graph> graphs;
        ForwardPasses forward;
        for (const std::int64_t samples : passes) {
            const ModelInput input{samples, kNormImage.channels, kNormImage.height, kNormImage.width, kClasses,
                                   0.1,     m_world.synchronises};
            if (samples > 0 && !graphs.contains(samples))
                graphs.emplace(samples,
                               buildForward(m_world.model, ParamValues(m_world.model.params), input, true).value());
            forward.push_back(samples > 0 ? &graphs.at(samples) : nullptr);
        }
        return compileTraining(forward, *m_world.backend, m_world.update, layout, m_options);
    }

    const NormWorld& m_world;
    CompileOptions m_options;
};

class RankRun {
public:
    RankRun(const NormWorld& world, const Plan& plan, Collective& group)
        : m_world(world),
          m_plan(plan),
          m_rank(static_cast<std::size_t>(group.rank())),
          m_device(world.backend->open({.backend = std::string(world.backend->name()), .id = "test"})),
          m_replica(*m_device, group, {plan.programs[m_rank]}, nullptr) {
        m_replica.initialize(3);
    }

    void run(NormWorld::Result& result) {
        for (int step = 0; step < m_world.steps; ++step) {
            const Buffer batch = m_plan.batch(m_rank, step);
            m_replica.run(0, batch.data(), {.seed = 3, .epoch = 0, .step = step, .learningRate = 0.05});
            const auto at = static_cast<std::size_t>(step);
            result.hashes[at][m_rank] = m_replica.hash();
            if (m_rank == 0) record(result);
        }
    }

private:
    void record(NormWorld::Result& result) {
        NormWorld::Tensors tensors, gradients;
        for (const std::string& name : m_replica.tensorNames()) tensors.emplace(name, m_replica.read(name));
        for (const StorageEntry& entry : m_plan.programs[0]->storage->parameters)
            gradients.emplace(entry.name, m_replica.readGradient(entry.name));
        result.tensors.push_back(std::move(tensors));
        result.gradients.push_back(std::move(gradients));
        result.losses.push_back(m_replica.scalar(0, "loss_sum"));
    }

    const NormWorld& m_world;
    const Plan& m_plan;
    std::size_t m_rank;
    std::unique_ptr<Device> m_device;
    Replica m_replica;
};

ValueId block(GraphBuilder& b, ValueId x, int out) {
    const auto scope = b.enter("block");
    const ValueId y = relu(b, batchNormLayer(b, convLayer(b, x, {.out = out, .stride = 2}, "conv1"), "norm1"), "relu1");
    const ValueId deep = batchNormLayer(b, convLayer(b, y, {.out = out}, "conv2"), "norm2");
    const ValueId flat = convLayer(b, x, {.out = out, .kernel = 1, .stride = 2, .padding = 0}, "shortcut/conv");
    return relu(b, add(b, deep, batchNormLayer(b, flat, "shortcut/norm"), "add"), "relu2");
}

}  // namespace

NormWorld::Result NormWorld::run() const {
    const Plan plan(*this);
    Result result;
    result.hashes.assign(static_cast<std::size_t>(steps), std::vector<std::uint64_t>(shares.size()));
    const auto group = makeHostGroup(static_cast<int>(shares.size()));
    std::vector<std::exception_ptr> failures(shares.size());
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < shares.size(); ++rank) {
        threads.emplace_back([&, rank] {
            try {
                RankRun(*this, plan, *group[rank]).run(result);
            } catch (...) {
                failures[rank] = std::current_exception();
                group[rank]->abort({.rank = static_cast<int>(rank), .kind = "test", .where = "", .what = ""});
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
    return result;
}

NormWorld NormWorld::onOneDevice() const {
    NormWorld one = *this;
    std::vector<std::int64_t> passes(shares.front().size());
    for (const auto& rank : shares)
        for (std::size_t pass = 0; pass < passes.size(); ++pass) passes[pass] += rank[pass];
    one.shares = {passes};
    one.synchronises = false;
    return one;
}

ModelEntry smallNormModel() {
    const auto build = [](GraphBuilder& b, ValueId image, ValueId, const ModelInput& input, const ParamValues&) {
        ValueId x = convNormRelu(b, batchNormLayer(b, image, "input/norm"), {.out = 6}, "stem");
        x = block(b, maxPool2d(b, x, {}, "pool"), 5);
        return denseLayer(b, flatten(b, x, "flatten"), input.classes, "head");
    };
    return {.name = "small-norm", .meaning = "", .params = {}, .build = build};
}

ModelEntry flatNormModel() {
    const auto build = [](GraphBuilder& b, ValueId image, ValueId, const ModelInput& input, const ParamValues&) {
        const ValueId x = denseLayer(b, flatten(b, image, "flatten"), 19, "hidden");
        return denseLayer(b, batchNormLayer(b, relu(b, x, "relu"), "norm"), input.classes, "head");
    };
    return {.name = "flat-norm", .meaning = "", .params = {}, .build = build};
}

}  // namespace lockstep
