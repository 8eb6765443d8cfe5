#include <rapidcheck.h>

#include <QtTest>

#include "engine/core/error.h"
#include "engine/graph/graph_builder.h"
#include "engine/ops/all_reduce.h"
#include "engine/ops/elementwise.h"
#include "engine/plan/agreement.h"
#include "engine/plan/align.h"
#include "tests/plan/program_checks.h"
#include "tests/plan/sample_programs.h"

using namespace lockstep;

namespace {

std::vector<std::string> reductionsOf(const Program& program) {
    std::vector<std::string> names;
    for (const Step& step : program.steps) {
        if (step.kind == Step::Kind::AllReduce) names.push_back(step.name);
    }
    return names;
}

std::size_t countOf(const Program& program, Step::Kind kind) {
    return static_cast<std::size_t>(std::ranges::count(program.steps, kind, &Step::kind));
}

std::size_t bytesOf(const Program& program, Arena arena) { return program.arenaBytes[static_cast<std::size_t>(arena)]; }

CompileOptions with(const Program& nominal) {
    CompileOptions options;
    options.storage = nominal.storage;
    return options;
}

void modelRows() {
    QTest::addColumn<QString>("model");
    for (const char* name : {"mlp", "lenet5", "resnet18-cifar", "fashion-cnn"}) QTest::newRow(name) << name;
}

}  // namespace

class TestCompile : public QObject {
    Q_OBJECT
private slots:
    void modelsGiveLegalPrograms_data() { modelRows(); }
    void modelsGiveLegalPrograms() {
        QFETCH(QString, model);
        const std::string name = model.toStdString();
        CompileOptions options;
        options.bucketBytes = 64 << 10;
        const Program nominal = sample::training(sample::model(name, 4, true), options);
        QCOMPARE(complaint(nominal), std::string());
        QCOMPARE(complaint(compileEmptyTraining(nominal)), std::string());
        QCOMPARE(complaint(sample::evaluation(sample::model(name, 4, false), with(nominal))), std::string());
        options.reduces = false;
        QCOMPARE(complaint(sample::training(sample::model(name, 4, true), options), false), std::string());
    }

    void anyNetworkGivesLegalPrograms() {
        QVERIFY(rc::check("programs of random networks are legal", [] {
            const auto codes = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, sample::kLayerCodes));
            const auto batch = *rc::gen::inRange<std::int64_t>(1, 9);
            CompileOptions options;
            options.bucketBytes = *rc::gen::inRange<std::size_t>(0, 20000);
            options.reduces = *rc::gen::arbitrary<bool>();
            options.recomputes = *rc::gen::arbitrary<bool>();
            const sample::Traits traits{.compute = *rc::gen::element(DType::F32, DType::F64, DType::BF16, DType::F16),
                                        .hostMemory = *rc::gen::arbitrary<bool>(),
                                        .padsWeights = *rc::gen::arbitrary<bool>()};
            const UpdateRule rule = *rc::gen::arbitrary<bool>() ? sample::averaging() : UpdateRule{};
            const bool synchronises = *rc::gen::arbitrary<bool>();
            const auto forward = [&](std::int64_t samples) {
                return sample::fromCodes(codes, samples, true, synchronises);
            };
            const Program nominal = sample::training(forward(batch), options, traits, rule);
            RC_ASSERT(complaint(nominal, options.reduces) == "");
            options.storage = nominal.storage;
            const Program shorter = sample::training(forward(batch + 1), options, traits, rule);
            RC_ASSERT(complaint(shorter, options.reduces) == "");
            RC_ASSERT(complaint(compileEmptyTraining(nominal), options.reduces) == "");
            requireSameCollectives(nominal, shorter);
            requireSameCollectives(nominal, compileEmptyTraining(nominal));
            RC_ASSERT(complaint(sample::evaluation(sample::fromCodes(codes, batch, false), options, traits)) == "");
        }));
    }

    void collectivesAreCounted_data() { modelRows(); }
    void collectivesAreCounted() {
        QFETCH(QString, model);
        const Program program = sample::training(sample::model(model.toStdString(), 4, true));
        const std::size_t statistics = program.storage->buffers.empty() ? 0 : 1;
        QCOMPARE(reductionsOf(program).size(), program.storage->buckets.size() + 1 + statistics);
        QCOMPARE(countOf(program, Step::Kind::Gate), std::size_t{1});
        QCOMPARE(countOf(program, Step::Kind::Commit), statistics);
        QCOMPARE(countOf(program, Step::Kind::Scale), program.storage->buffers.size());
        QCOMPARE(countOf(program, Step::Kind::CopyIn), std::size_t{0});
    }

    void aWorldOfOneReducesNothing() {
        CompileOptions alone;
        alone.reduces = false;
        const Graph forward = sample::model("resnet18-cifar", 2, true);
        const Program one = sample::training(forward, alone), many = sample::training(forward);
        QVERIFY(reductionsOf(one).empty());
        QCOMPARE(one.steps.size() + reductionsOf(many).size(), many.steps.size());
        QCOMPARE(one.storage->signature(), many.storage->signature());
    }

    void reductionsHaveOneOrderOnAllRanks() {
        const Program nominal = sample::training(sample::model("resnet18-cifar", 4, true));
        const Program shorter = sample::training(sample::model("resnet18-cifar", 3, true), with(nominal));
        QVERIFY(reductionsOf(nominal).size() > 5);
        QCOMPARE(reductionsOf(shorter), reductionsOf(nominal));
        QCOMPARE(reductionsOf(compileEmptyTraining(nominal)), reductionsOf(nominal));
    }

    // Two for each batch norm: of its own sums, and of its gradient's. One all-reduce more in any program would keep
    // the ranks waiting for each other.
    void synchronisedNormsReduceInThePasses() {
        const auto forward = [](std::int64_t batch) { return sample::model("resnet18-cifar", batch, true, true); };
        const Graph four = forward(4), one = forward(1);
        for (const std::size_t count : {1u, 2u, 5u}) {
            ForwardPasses passes(count, &four);
            const Program nominal = compileTraining(passes, *sample::backend({}), {}, sample::batchLayout(20), {});
            QCOMPARE(complaint(nominal), std::string());
            QCOMPARE(reductionsOf(nominal).size(), count * 2 * 20 + nominal.storage->buckets.size() + 2);
            const Program empty = compileEmptyTraining(nominal);
            QCOMPARE(complaint(empty), std::string());
            QCOMPARE(reductionsOf(empty), reductionsOf(nominal));
            QVERIFY(bytesOf(empty, Arena::Activations) <= alignUp((2 * 512 + 1) * sizeof(double)));
            for (const std::size_t full : {1u, 2u, 4u}) {
                ForwardPasses fewer(count, nullptr);
                for (std::size_t i = 0; i < std::min(full, count); ++i) fewer[i] = &one;
                const Program program =
                    compileTraining(fewer, *sample::backend({}), {}, sample::batchLayout(20), with(nominal));
                QCOMPARE(complaint(program), std::string());
                QCOMPARE(reductionsOf(program), reductionsOf(nominal));
            }
        }
    }

    void synchronisedNormsReduceBetweenBuckets() {
        const Program program = sample::training(sample::model("resnet18-cifar", 4, true, true));
        const auto names = reductionsOf(program);
        const auto at = [&](const std::string& name) { return std::ranges::find(names, name) - names.begin(); };
        QVERIFY(at("all-reduce statistics") > at("all-reduce batch_norm_sums block8/norm2"));
        QVERIFY(at("all-reduce 0") < at("all-reduce batch_norm_backward_sums block1/norm1"));
        QVERIFY(at("all-reduce scalars") < at("all-reduce batch_norm_backward_sums block8/norm2"));
    }

    void aWorldOfOneSynchronisesNothing() {
        CompileOptions alone;
        alone.reduces = false;
        const Program program = sample::training(sample::model("resnet18-cifar", 4, true, true), alone);
        QVERIFY(reductionsOf(program).empty());
        QCOMPARE(complaint(program, false), std::string());
    }

    void evaluationSynchronisesNothing() {
        const Program nominal = sample::training(sample::model("resnet18-cifar", 4, true, true));
        const Program local = sample::training(sample::model("resnet18-cifar", 4, true));
        QCOMPARE(nominal.storage->signature(), local.storage->signature());
        const Graph forward = sample::model("resnet18-cifar", 4, false, true);
        QVERIFY(reductionsOf(sample::evaluation(forward, with(nominal))).empty());
    }

    void collectivesThatDifferAreRefused() {
        const Program nominal = sample::training(sample::model("fashion-cnn", 4, true, true));
        const Program shorter = sample::training(sample::model("fashion-cnn", 3, true, true), with(nominal));
        requireSameCollectives(nominal, shorter);
        requireSameCollectives(nominal, compileEmptyTraining(nominal));
        const auto isFirst = [](const Step& step) { return step.kind == Step::Kind::AllReduce; };
        Program fewer = shorter, other = shorter, larger = shorter;
        fewer.steps.erase(std::ranges::find_if(fewer.steps, isFirst));
        std::ranges::find_if(other.steps, isFirst)->name = "all-reduce 7";
        ++std::ranges::find_if(larger.steps, isFirst)->count;
        for (const Program& program : {fewer, other, larger}) {
            QVERIFY_THROWS_EXCEPTION(EngineError, requireSameCollectives(nominal, program));
            QVERIFY_THROWS_EXCEPTION(EngineError, requireSameCollectives(program, nominal));
        }
        const Program local = sample::training(sample::model("fashion-cnn", 3, true), with(nominal));
        QVERIFY_THROWS_EXCEPTION(EngineError, requireSameCollectives(nominal, local));
    }

    void aReducedValueIsReadByNobodyElse() {
        Graph forward = sample::model("fashion-cnn", 2, true, true);
        const auto reduction = std::ranges::find(forward.nodes(), &kAllReduce, &Node::op);
        forward.append(kCast, {reduction->inputs[0]}, Attrs::of(CastAttrs{DType::F32}), "second");
        QVERIFY_THROWS_EXCEPTION(EngineError, sample::training(forward));
    }

    void reductionsOverlapTheBackwardPass() {
        const Program program = sample::training(sample::model("resnet18-cifar", 4, true));
        const auto first = std::ranges::find(program.steps, std::string("all-reduce 0"), &Step::name);
        const auto isKernel = [](const Step& step) { return step.kind == Step::Kind::Kernel; };
        const auto kernelsAfter = std::count_if(first, program.steps.end(), isKernel);
        QVERIFY(kernelsAfter > static_cast<std::ptrdiff_t>(program.passes.front().graph->nodes().size()) / 3);
        QVERIFY(program.storage->parameters.front().name.starts_with("head/"));
    }

    void bucketsFollowTheGivenSize() {
        CompileOptions options;
        options.bucketBytes = 1 << 20;
        const auto buckets = sample::training(sample::model("resnet18-cifar", 2, true), options).storage->buckets;
        QVERIFY(buckets.front().bytes >= (1u << 18));
        for (std::size_t i = 1; i + 1 < buckets.size(); ++i) QVERIFY(buckets[i].bytes >= (1u << 20));
        options.bucketBytes = 0;
        const Program each = sample::training(sample::model("lenet5", 2, true), options);
        QCOMPARE(each.storage->buckets.size(), each.storage->parameters.size());
        options.bucketBytes = std::size_t{1} << 40;
        QCOMPARE(sample::training(sample::model("lenet5", 2, true), options).storage->buckets.size(), std::size_t{1});
    }

    void storageDoesNotDependOnTheBatch_data() { modelRows(); }
    void storageDoesNotDependOnTheBatch() {
        QFETCH(QString, model);
        const Program small = sample::training(sample::model(model.toStdString(), 2, true));
        const Program large = sample::training(sample::model(model.toStdString(), 7, true));
        QCOMPARE(small.storage->signature(), large.storage->signature());
    }

    void programsShareStorage() {
        const Program nominal = sample::training(sample::model("lenet5", 8, true));
        const Program shorter = sample::training(sample::model("lenet5", 3, true), with(nominal));
        const Program evaluation = sample::evaluation(sample::model("lenet5", 8, false), with(nominal));
        QCOMPARE(shorter.storage.get(), nominal.storage.get());
        QCOMPARE(evaluation.storage.get(), nominal.storage.get());
        QCOMPARE(shorter.localBatch, std::int64_t{3});
        QVERIFY(bytesOf(shorter, Arena::Activations) < bytesOf(nominal, Arena::Activations));
    }

    void storageOfAnotherModelIsRefused() {
        const Program nominal = sample::training(sample::model("mlp", 2, true));
        QVERIFY_THROWS_EXCEPTION(EngineError, sample::training(sample::model("lenet5", 2, true), with(nominal)));
        QVERIFY_THROWS_EXCEPTION(EngineError, sample::evaluation(sample::model("lenet5", 2, false), with(nominal)));
    }

    void storageForAnotherUpdateRuleIsRefused() {
        const Program nominal = sample::training(sample::model("mlp", 2, true));
        UpdateRule plain;
        plain.momentum = 0;
        const Graph forward = sample::model("mlp", 2, true);
        for (const UpdateRule& other : {plain, sample::averaging()})
            QVERIFY_THROWS_EXCEPTION(EngineError, sample::training(forward, with(nominal), {}, other));
    }

    void averagesFollowUpdates() {
        const Program plain = sample::training(sample::model("resnet18-cifar", 4, true));
        const Program program = sample::training(sample::model("resnet18-cifar", 4, true), {}, {}, sample::averaging());
        QCOMPARE(complaint(program), std::string());
        QCOMPARE(complaint(compileEmptyTraining(program)), std::string());
        QCOMPARE(countOf(program, Step::Kind::Average), program.storage->buckets.size());
        QCOMPARE(countOf(compileEmptyTraining(program), Step::Kind::Average), program.storage->buckets.size());
        QCOMPARE(program.steps.size(), plain.steps.size() + program.storage->buckets.size());
        QCOMPARE(bytesOf(program, Arena::Averages), program.storage->parameterBytes);
        QCOMPARE(bytesOf(plain, Arena::Averages), std::size_t{0});
        QCOMPARE(countOf(plain, Step::Kind::Average), std::size_t{0});
    }

    void evaluationReadsTheAverages() {
        const Program nominal = sample::training(sample::model("resnet18-cifar", 4, true), {}, {}, sample::averaging());
        const Program program = sample::evaluation(sample::model("resnet18-cifar", 4, false), with(nominal));
        QCOMPARE(complaint(program), std::string());
        std::size_t averages = 0, buffers = 0;
        for (const Step& step : program.steps) {
            for (const Slot& slot : step.inputs) {
                QVERIFY(slot.arena != Arena::Parameters);
                averages += slot.arena == Arena::Averages;
                buffers += slot.arena == Arena::Buffers;
            }
        }
        QCOMPARE(averages, nominal.storage->parameters.size());
        QCOMPARE(buffers, nominal.storage->buffers.size());
    }

    void evaluationOnlyReadsTheModel() {
        const Program program = sample::evaluation(sample::model("resnet18-cifar", 4, false));
        for (const Step& step : program.steps) {
            QCOMPARE(step.kind, Step::Kind::Kernel);
            for (const Slot& slot : step.outputs) {
                QVERIFY(slot.arena == Arena::Activations || slot.arena == Arena::Scalars ||
                        slot.arena == Arena::Outputs);
            }
        }
        QCOMPARE(bytesOf(program, Arena::Gradients), std::size_t{0});
        QCOMPARE(bytesOf(program, Arena::OptimizerState), std::size_t{0});
        QCOMPARE(bytesOf(program, Arena::Staging), std::size_t{0});
        const std::vector<std::string> names{"loss_sum", "weight", "correct1", "correct5"};
        QCOMPARE(program.scalars.names, names);
    }

    void whatDependsOnParametersAloneComesFirstAndStays() {
        const Program nominal = sample::training(sample::rectifiedWeights(3, true));
        const Graph forward = sample::rectifiedWeights(3, false);
        const Program program = sample::evaluation(forward, with(nominal));
        QCOMPARE(complaint(program), std::string());
        const auto isConstant = [](const Step& step) { return step.constant; };
        QCOMPARE(std::ranges::count_if(program.steps, isConstant), 2);
        QVERIFY(program.steps[0].constant && program.steps[1].constant);
        QVERIFY(std::ranges::none_of(nominal.steps, isConstant));
        const auto of = [&](const ForwardPasses& passes) {
            return compileEvaluation(passes, *sample::backend({}), sample::batchLayout(9), with(nominal));
        };
        const Program alike = of({&forward, &forward, nullptr});
        QCOMPARE(complaint(alike), std::string());
        QCOMPARE(std::ranges::count_if(alike.steps, isConstant), 2);
        const Graph shorter = sample::rectifiedWeights(2, false);
        QVERIFY(std::ranges::none_of(of({&forward, &shorter}).steps, isConstant));
    }

    void scalarsAreContiguousAndNamed() {
        const Program program = sample::training(sample::model("lenet5", 4, true));
        const std::vector<std::string> names{"loss_sum", "weight", "samples", "correct1", "correct5", "control"};
        QCOMPARE(program.scalars.names, names);
        QCOMPARE(program.scalars.offsetOf("samples"), std::size_t{16});
        QCOMPARE(program.scalars.gateOffset % 64, std::size_t{0});
        QVERIFY_THROWS_EXCEPTION(EngineError, program.scalars.offsetOf("correct7"));
    }

    void anEmptyRankContributesZerosButItsControl() {
        const Program nominal = sample::training(sample::model("resnet18-cifar", 4, true));
        const Program empty = compileEmptyTraining(nominal);
        QCOMPARE(empty.localBatch, std::int64_t{0});
        QVERIFY(!empty.passes.front().graph);
        QCOMPARE(countOf(empty, Step::Kind::Kernel), std::size_t{0});
        std::vector<Slot> zeroed;
        for (const Step& step : empty.steps) {
            if (step.kind == Step::Kind::Fill) zeroed.insert(zeroed.end(), step.outputs.begin(), step.outputs.end());
        }
        std::vector<Slot> expected{{Arena::Staging, 0, nominal.storage->bufferBytes},
                                   {Arena::Scalars, 0, nominal.scalars.offsetOf("control")}};
        for (const Bucket& bucket : nominal.storage->buckets) {
            expected.push_back({Arena::Gradients, bucket.offset, bucket.bytes});
        }
        QVERIFY(zeroed == expected);
    }

    void everyNumberOfPassesIsOneTree() {
        const Graph four = sample::model("resnet18-cifar", 4, true), three = sample::model("resnet18-cifar", 3, true);
        const Graph test = sample::model("resnet18-cifar", 3, false);
        for (std::size_t count = 1; count <= 9; ++count) {
            ForwardPasses passes(count, &three);
            passes[0] = &four;
            if (count > 2) passes.back() = nullptr;
            for (const bool reduces : {true, false}) {
                CompileOptions options;
                options.reduces = reduces;
                const Program program =
                    compileTraining(passes, *sample::backend({}), {}, sample::batchLayout(30), options);
                const std::string found = complaint(program, reduces);
                QVERIFY2(found.empty(), found.c_str());
                QCOMPARE(program.passes.size(), count);
            }
            const Program program = compileEvaluation(ForwardPasses(count, &test), *sample::backend({}),
                                                      sample::batchLayout(30), with(sample::training(three)));
            QVERIFY2(complaint(program).empty(), complaint(program).c_str());
        }
    }

    void passesReadTheirOwnSamples() {
        const Graph two = sample::model("mlp", 2, true), one = sample::model("mlp", 1, true);
        const BatchLayout batch = sample::batchLayout(5);
        for (const bool hostMemory : {true, false}) {
            const Program program =
                compileTraining({&two, &two, &one}, *sample::backend({.hostMemory = hostMemory}), {}, batch, {});
            QCOMPARE(program.localBatch, std::int64_t{5});
            std::vector<std::size_t> begins;
            for (const Step& step : program.steps) {
                for (const Slot& slot : step.inputs) {
                    const bool label = slot.arena == Arena::Io && slot.offset >= batch.offset(1) &&
                                       slot.offset < batch.offset(2) && step.lane == Lane::Compute;
                    if (label && (begins.empty() || begins.back() != slot.offset)) begins.push_back(slot.offset);
                }
            }
            const std::size_t first = batch.offset(1), each = batch.sampleBytes(1);
            QCOMPARE(begins, (std::vector{first, first + 2 * each, first + 4 * each}));
        }
    }

    void memoryIsReused_data() { modelRows(); }
    void memoryIsReused() {
        QFETCH(QString, model);
        for (const bool training : {true, false}) {
            const Graph forward = sample::model(model.toStdString(), 8, training);
            const Program program = training ? sample::training(forward) : sample::evaluation(forward);
            QVERIFY(bytesOf(program, Arena::Activations) < program.activationBytesWithoutReuse);
        }
    }

    void reluWorksInPlace() {
        const Program program = sample::evaluation(sample::model("lenet5", 8, false));
        int relus = 0;
        for (const Step& step : program.steps) {
            if (!step.name.starts_with("relu ")) continue;
            QVERIFY(step.inputs[0] == step.outputs[0]);
            ++relus;
        }
        QCOMPARE(relus, 4);
    }

    // One tensor is the gradient of two parameters and still read by the pass further back: it is written to one of the
    // places and copied to the other, and neither is reduced before the last reader is through.
    void aSharedGradientIsCopied() {
        CompileOptions options;
        options.bucketBytes = 0;
        const Program program = sample::training(sample::sharedGradient(2), options);
        QCOMPARE(complaint(program), std::string());
        QCOMPARE(countOf(program, Step::Kind::Scale), std::size_t{1});
    }

    void aBatchThatDoesNotFitIsRefused() {
        const Graph forward = sample::model("mlp", 8, true);
        const auto compile = [&](const BatchLayout& batch) {
            return compileTraining({&forward}, *sample::backend({}), {}, batch, {});
        };
        QVERIFY_THROWS_EXCEPTION(EngineError, compile(sample::batchLayout(7)));
        const auto problemOf = [&](const BatchLayout& batch) {
            try {
                compile(batch);
            } catch (const ProblemError& error) {
                return error.problem();
            }
            return Problem{};
        };
        QCOMPARE(problemOf(BatchLayout({{"label", {{1}, DType::I32}}}, 8)),
                 (Problem{"dataset", "data.missing-field", {"image", "label i32[1]"}}));
        const Field bytes{"image", {{sample::kChannels, sample::kExtent, sample::kExtent}, DType::U8}};
        QCOMPARE(problemOf(BatchLayout({bytes, {"label", {{1}, DType::I32}}}, 8)).code, std::string("data.field-type"));
        const Field wide{"image", {{sample::kChannels, sample::kExtent, sample::kExtent + 1}, DType::F32}};
        QCOMPARE(problemOf(BatchLayout({wide, {"label", {{1}, DType::I32}}}, 8)).code, std::string("data.field-type"));
    }

    void aParameterThatTheLossDoesNotReachIsAProblem() {
        Graph forward = sample::model("mlp", 2, true);
        forward.addParameter("idle", {{3}, DType::F32}, {}, true);
        QVERIFY_THROWS_EXCEPTION(ProblemError, sample::training(forward));
    }

    // The checks themselves must be able to complain.
    void brokenProgramsAreNoticed() {
        const Program good = sample::training(sample::model("resnet18-cifar", 2, true));
        Program overlapping = good;
        for (Step& step : overlapping.steps) {
            for (auto* ends : {&step.inputs, &step.outputs}) {
                for (Slot& slot : *ends) slot.offset = slot.arena == Arena::Activations ? 0 : slot.offset;
            }
        }
        QVERIFY(!complaintAboutValues(overlapping).empty());
        Program hasty = good;
        for (Step& step : hasty.steps) step.after.clear();
        QVERIFY(!complaintAboutOrder(hasty).empty());
        Program twice = good;
        twice.steps.push_back(twice.steps.back());
        std::ranges::find(twice.steps, Step::Kind::Update, &Step::kind)->bucket = 1;
        QVERIFY(!complaintAboutUpdates(twice, true).empty());
    }
};

QTEST_APPLESS_MAIN(TestCompile)
#include "tst_compile.moc"
