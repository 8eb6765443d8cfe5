#include <QtTest>

#include "engine/core/error.h"
#include "engine/ops/elementwise.h"
#include "engine/plan/precision.h"
#include "tests/plan/program_checks.h"
#include "tests/plan/sample_programs.h"

using namespace lockstep;

namespace {

CompileOptions with(const Program& nominal) {
    CompileOptions options;
    options.storage = nominal.storage;
    return options;
}

std::vector<const Step*> stepsOf(const Program& program, Step::Kind kind) {
    std::vector<const Step*> found;
    for (const Step& step : program.steps) {
        if (step.kind == kind) found.push_back(&step);
    }
    return found;
}

}  // namespace

// What the backend decides and the plan carries along: precision, layouts, where batches lie.
class TestLowered : public QObject {
    Q_OBJECT
private slots:
    void singlePrecisionChangesNothing() {
        const Graph graph = sample::model("lenet5", 2, true);
        QCOMPARE(dump(toPrecision(graph, DType::F32)), dump(graph));
    }

    void doublePrecisionReachesEverythingButInputs() {
        const Graph graph = toPrecision(sample::model("resnet18-cifar", 2, true), DType::F64);
        verify(graph);
        for (const Value& value : graph.values()) {
            if (value.role != ValueRole::Input) QVERIFY2(value.type.dtype != DType::F32, value.name.c_str());
        }
        QCOMPARE(graph.typeOf(*graph.find("image")).dtype, DType::F32);
        QCOMPARE(graph.nodes().front().op, &kCast);
        QCOMPARE(graph.assignments().size(), std::size_t{40});
        QCOMPARE(graph.outputs().size(), std::size_t{5});
    }

    void doubleProgramsAreLegal() {
        for (const char* name : {"mlp", "lenet5", "resnet18-cifar"}) {
            const sample::Traits traits{.compute = DType::F64};
            const Program nominal = sample::training(sample::model(name, 2, true), {}, traits);
            QCOMPARE(complaint(nominal), std::string());
            QCOMPARE(nominal.storage->dtype, DType::F64);
            const Program evaluation = sample::evaluation(sample::model(name, 2, false), with(nominal), traits);
            QCOMPARE(complaint(evaluation), std::string());
        }
    }

    // Sums stay f64, and what is kept between steps f32.
    void halfPrecisionLeavesSumsAndBuffers() {
        for (const DType half : {DType::BF16, DType::F16}) {
            const Graph single = sample::model("resnet18-cifar", 2, true), graph = toPrecision(single, half);
            verify(graph);
            for (const ValueId id : graph.withRole(ValueRole::Parameter)) QCOMPARE(graph.typeOf(id).dtype, half);
            for (const ValueId id : graph.withRole(ValueRole::Buffer)) QCOMPARE(graph.typeOf(id).dtype, DType::F32);
            for (const Graph::Assignment& each : graph.assignments())
                QCOMPARE(graph.typeOf(each.value).dtype, DType::F32);
            for (const Graph::Output& output : single.outputs()) {
                const DType before = single.typeOf(output.value).dtype;
                const DType after = graph.typeOf(*graph.output(output.name)).dtype;
                QCOMPARE(after, before == DType::F64 ? DType::F64 : half);
            }
            QCOMPARE(graph.typeOf(*graph.find("image")).dtype, DType::F32);
        }
    }

    void halfProgramsKeepMasters() {
        for (const char* name : {"mlp", "lenet5", "resnet18-cifar"}) {
            const sample::Traits traits{.compute = DType::BF16, .padsWeights = true};
            const Program nominal = sample::training(sample::model(name, 2, true), {}, traits, sample::averaging());
            QCOMPARE(complaint(nominal), std::string());
            const Program evaluation = sample::evaluation(sample::model(name, 2, false), with(nominal), traits);
            QCOMPARE(complaint(evaluation), std::string());
            const StoragePlan& storage = *nominal.storage;
            QCOMPARE(storage.dtype, DType::BF16);
            const auto bytes = [&](Arena arena) { return nominal.arenaBytes[static_cast<std::size_t>(arena)]; };
            QCOMPARE(bytes(Arena::Parameters), storage.parameterBytes);
            QCOMPARE(bytes(Arena::Gradients), storage.parameterBytes);
            QCOMPARE(bytes(Arena::Masters), 2 * storage.parameterBytes);
            QCOMPARE(bytes(Arena::OptimizerState), 2 * storage.parameterBytes);
            QCOMPARE(bytes(Arena::Averages), 3 * storage.parameterBytes);  // in f32, and as evaluation reads them
            for (const StorageEntry& buffer : storage.buffers) QCOMPARE(buffer.value.type.dtype, DType::F32);
        }
    }

    // What is frozen lies behind the others, and only where it is read and kept.
    void frozenParametersLieBehind() {
        const std::vector<std::string> frozen{"stem", "block1", "block8"};
        const sample::Traits traits{.compute = DType::BF16, .padsWeights = true};
        const Program nominal =
            sample::training(sample::model("resnet18-cifar", 2, true, false, frozen), {}, traits, sample::averaging());
        QCOMPARE(complaint(nominal), std::string());
        const Program evaluation =
            sample::evaluation(sample::model("resnet18-cifar", 2, false, false, frozen), with(nominal), traits);
        QCOMPARE(complaint(evaluation), std::string());
        const StoragePlan& storage = *nominal.storage;
        QCOMPARE(storage.frozen.size(), std::size_t{3 * 5});
        QCOMPARE(storage.frozen.front().offset, storage.parameterBytes);
        const auto bytes = [&](Arena arena) { return nominal.arenaBytes[static_cast<std::size_t>(arena)]; };
        QCOMPARE(bytes(Arena::Parameters), storage.parameterBytes + storage.frozenBytes);
        QCOMPARE(bytes(Arena::Masters), 2 * bytes(Arena::Parameters));
        QCOMPARE(bytes(Arena::Gradients), storage.parameterBytes);
        QCOMPARE(bytes(Arena::Averages), 3 * storage.parameterBytes);
        for (const StorageEntry& entry : storage.frozen) QCOMPARE(entry.value.type.dtype, DType::BF16);
        // The statistics of five of twenty norms are not assigned: they come last, and are not staged.
        QCOMPARE(bytes(Arena::Staging), storage.buffers[2 * (20 - 5)].offset);
        QVERIFY(bytes(Arena::Staging) < bytes(Arena::Buffers));
    }

    // Each update names its slice of the masters; together they are the masters, without gap or overlap.
    void updatesCoverTheMasters() {
        CompileOptions options;
        options.bucketBytes = 0;
        const Program program = sample::training(sample::model("lenet5", 2, true), options, {.compute = DType::BF16});
        std::size_t end = 0;
        for (const Step* update : stepsOf(program, Step::Kind::Update)) {
            const Slot& masters = update->outputs[1];
            QCOMPARE(masters.arena, Arena::Masters);
            QCOMPARE(masters.offset, end);
            QCOMPARE(masters.offset % 64, std::size_t{0});
            QCOMPARE(masters.bytes, update->count * sizeof(float));
            end += masters.bytes;
        }
        QCOMPARE(end, program.arenaBytes[static_cast<std::size_t>(Arena::Masters)]);
    }

    void widerTypesHaveNoMasters() {
        for (const DType compute : {DType::F32, DType::F64}) {
            const Program program = sample::training(sample::model("lenet5", 2, true), {}, {.compute = compute});
            QCOMPARE(program.arenaBytes[static_cast<std::size_t>(Arena::Masters)], std::size_t{0});
            for (const Step* update : stepsOf(program, Step::Kind::Update))
                QCOMPARE(update->outputs.size(), std::size_t{2});
        }
    }

    void theCastReadsTheBatch() {
        const Program program = sample::training(sample::model("lenet5", 2, true), {}, {.compute = DType::F64});
        const Step& first = *stepsOf(program, Step::Kind::Kernel).front();
        QCOMPARE(first.name, std::string("cast image"));
        QCOMPARE(first.inputs[0].arena, Arena::Io);
        QCOMPARE(first.outputs[0].arena, Arena::Activations);
    }

    void layoutsDecideTheSizeOfSlots() {
        const sample::Traits traits{.padsWeights = true};
        const Program program = sample::training(sample::model("lenet5", 2, true), {}, traits);
        QCOMPARE(complaint(program), std::string());
        const StorageEntry* weight = program.storage->find("conv1/weight");
        QCOMPARE(weight->bytes, std::size_t{2048});  // 6 x 3 x 5 x 5 floats, padded
        QCOMPARE(weight->value.layout->text(), std::string("padded1024"));
        QVERIFY(!program.storage->find("conv1/bias")->value.layout);
        const Program plain = sample::training(sample::model("lenet5", 2, true));
        QVERIFY(program.storage->signature() != plain.storage->signature());
    }

    void layoutsAreHandedToTheOtherPrograms() {
        const sample::Traits traits{.padsWeights = true};
        const Program nominal = sample::training(sample::model("lenet5", 4, true), {}, traits);
        const Program shorter = sample::training(sample::model("lenet5", 2, true), with(nominal), traits);
        const Graph& graph = *shorter.passes.front().graph;
        QCOMPARE(graph.value(*graph.find("conv1/weight")).layout, nominal.storage->find("conv1/weight")->value.layout);
    }

    void aBackendThatForgetsLayoutsIsCaught() {
        const sample::Traits traits{.padsWeights = true, .forgetsLayouts = true};
        const Program nominal = sample::training(sample::model("lenet5", 4, true), {}, traits);
        const Graph shorter = sample::model("lenet5", 2, true), same = sample::model("lenet5", 4, true);
        QVERIFY_THROWS_EXCEPTION(EngineError, sample::training(shorter, with(nominal), traits));
        QVERIFY_THROWS_EXCEPTION(EngineError, sample::training(same, with(nominal)));
    }

    void batchesAreCopiedToADeviceOfItsOwnMemory() {
        const Program program = sample::training(sample::model("lenet5", 4, true), {}, {.hostMemory = false});
        QCOMPARE(complaint(program), std::string());
        const auto copies = stepsOf(program, Step::Kind::CopyIn);
        QCOMPARE(copies.size(), std::size_t{2});  // image and label; nothing draws random numbers by id
        for (const Step* copy : copies) {
            QCOMPARE(copy->lane, Lane::Copy);
            QVERIFY(copy->inputs == copy->outputs);
        }
        const auto first = std::ranges::find(program.steps, std::string("conv2d conv1"), &Step::name);
        QCOMPARE(first->after, std::vector{0});
    }
};

QTEST_APPLESS_MAIN(TestLowered)
#include "tst_lowered.moc"
